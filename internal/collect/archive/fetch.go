package archive

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"strings"
	"time"

	"gate/internal/hostfs"
	"gate/internal/strictjson"
)

// A Collector is where records are fetched from that no archive has yet.
type Collector struct {
	URL    string // "https://host:port", without a path
	Token  string // of a reviewer
	Client *http.Client
}

// Limits of what a collector answers.
const (
	maxDays = 16 << 20       // bytes of the list
	maxLine = MaxBody + 4096 // of a record with what the collector knows of it
)

// Fetch writes the days of a span that a collector has records of, both ends included and
// "" for no bound, into the archive.
func (a *Archive) Fetch(ctx context.Context, c Collector, from, to string) error {
	answer, err := c.get(ctx, "/v1/days", nil)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	text, err := hostfs.ReadAll(answer.Body, maxDays)
	if err != nil {
		return fmt.Errorf("the collector's list of days: %w", err)
	}
	var list struct {
		Days []struct {
			Day     string `json:"day"`
			Records int64  `json:"records"`
		} `json:"days"`
	}
	if err := json.Unmarshal(text, &list); err != nil {
		return errors.New("the collector's list of days is none that this gate reads")
	}
	for _, d := range list.Days {
		if d.Records == 0 || checkDay(d.Day) != nil || d.Day < from || to != "" && d.Day > to {
			continue
		}
		if _, err := a.Write(ctx, d.Day, c.rows(ctx, d.Day)); err != nil {
			return fmt.Errorf("the collector's records of %s: %w", d.Day, err)
		}
	}
	return nil
}

func (c Collector) get(ctx context.Context, path string, query url.Values) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(c.URL, "/")+path+"?"+query.Encode(), nil)
	if err != nil {
		return nil, err
	}
	if c.Token != "" {
		request.Header.Set("Authorization", "Bearer "+c.Token)
	}
	answer, err := c.Client.Do(request)
	if err != nil {
		return nil, err
	}
	if answer.StatusCode != http.StatusOK {
		answer.Body.Close()
		return nil, fmt.Errorf("the collector answered %s with status %d", path, answer.StatusCode)
	}
	return answer, nil
}

// rows yields the records of a day, page after page.
func (c Collector) rows(ctx context.Context, day string) iter.Seq2[*Row, error] {
	return func(yield func(*Row, error) bool) {
		for after, more := "", true; more; {
			query := url.Values{"day": {day}}
			if after != "" {
				query.Set("after", after)
			}
			answer, err := c.get(ctx, "/v1/records", query)
			if err != nil {
				yield(nil, err)
				return
			}
			next, ok := page(answer, yield)
			answer.Body.Close()
			if !ok {
				return
			}
			after, more = next, next != "" && next != after
		}
	}
}

// page yields the records of one answer, and returns where the next one begins; "" is the
// end. An answer that broke off is an error.
func page(answer *http.Response, yield func(*Row, error) bool) (next string, ok bool) {
	for line, err := range strictjson.Lines(answer.Body, maxLine) {
		if err != nil {
			return "", yield(nil, err) && false
		}
		var l struct {
			Machine  string          `json:"machine"`
			Team     string          `json:"team"`
			Received time.Time       `json:"received"`
			Record   json.RawMessage `json:"record"`
			End      bool            `json:"end"`
			Next     string          `json:"next"`
		}
		if err := json.Unmarshal(line.Text, &l); err != nil || line.Long {
			return "", yield(nil, errors.New("a line is no record of a collector's")) && false
		}
		if l.End || l.Next != "" {
			return l.Next, true
		}
		row, err := RowOf(l.Machine, l.Team, l.Received, bytes.Clone(l.Record))
		if err == nil && row == nil {
			err = errors.New("a line is no record of a collector's")
		}
		if !yield(row, err) || err != nil {
			return "", false
		}
	}
	return "", yield(nil, errors.New("the answer broke off")) && false
}
