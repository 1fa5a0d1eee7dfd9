package fleet

import (
	"encoding/json"
	"errors"
	"fmt"

	"gate/internal/strictjson"
)

// An Enrollment is what a machine posts to [EnrollPath], with a token in the place of a
// signature.
type Enrollment struct {
	Token   string            `json:"token"`
	Machine string            `json:"machine"`
	Key     string            `json:"key"` // see [ParseKey]
	Host    string            `json:"host"`
	Labels  map[string]string `json:"labels,omitempty"`
}

// ParseEnrollment reads an enrolment. The error is one sentence, without the token.
func ParseEnrollment(data []byte) (Enrollment, error) {
	var e Enrollment
	if _, err := strictjson.Object(data, strictjson.Limits{Bytes: 64 << 10}); err != nil {
		return e, err
	}
	if err := json.Unmarshal(data, &e); err != nil {
		return Enrollment{}, fmt.Errorf("no enrolment: %w", err)
	}
	if e.Token == "" {
		return Enrollment{}, errors.New("token: it is missing")
	}
	if !IsMachine(e.Machine) {
		return Enrollment{}, fmt.Errorf("machine: %w", errNoMachine)
	}
	if _, err := ParseKey(e.Key); err != nil {
		return Enrollment{}, err
	}
	return e, nil
}
