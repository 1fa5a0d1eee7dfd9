package fleet

import (
	"encoding/json"
	"errors"
	"fmt"

	"gate/internal/audit"
	"gate/internal/audit/ship"
	"gate/internal/strictjson"
)

// A Form writes batches for a collector of a fleet. It is a ship.Form.
type Form struct {
	Machine    *Machine
	Level      Level
	Pseudonyms Pseudonyms

	// Homes returns the spellings of an account's home directory; "" is the account that
	// sends.
	Homes func(account string) []string
}

// Requests implements ship.Form. At [Counts] there are none.
func (f *Form) Requests(batch []audit.Sendable) ([]ship.Request, error) {
	if f.Level == Counts {
		return nil, nil
	}
	body := []byte{'['}
	for i, item := range batch {
		if i > 0 {
			body = append(body, ',')
		}
		r := Reducer{Level: f.Level, Pseudonyms: f.Pseudonyms, Homes: f.Homes(item.User)}
		text, err := r.Reduce(item.Text)
		if err != nil { // an account can write what it likes into its log
			g := audit.Gap{Log: item.After.Log, From: item.After.Seq, To: item.After.Seq, User: item.User}
			if record, err := audit.Parse(item.Text); err == nil {
				g.Before = record.Time
			}
			if text, err = r.Reduce(g.JSON(nil)); err != nil {
				return nil, err
			}
		}
		body = append(body, text...)
	}
	return []ship.Request{{
		Path: LogsPath, Type: "application/json", Body: append(body, ']'), Sign: f.Machine.signs(LogsPath), Answer: taken,
	}}, nil
}

// Tilde has ~ in the place of the home directory of the account that sends.
func (f *Form) Tilde(text string) string {
	return (&Reducer{Homes: f.Homes("")}).tilde(text)
}

// taken reads the answer to a batch: {"taken": N, "again": N, "findings": N}.
func taken(_ string, body []byte) (ship.Refusal, error) {
	doc, err := strictjson.Object(body, strictjson.Limits{})
	if err != nil {
		return ship.Refusal{}, errors.New("this is no answer of gate collect")
	}
	if n, ok := doc["taken"].(json.Number); !ok || n.String() == "" {
		return ship.Refusal{}, errors.New("this is no answer of gate collect: taken is missing")
	}
	if n := number(doc, "findings"); n > 0 {
		return ship.Refusal{Said: fmt.Sprintf("it has %d findings about these records", n)}, nil
	}
	return ship.Refusal{}, nil
}
