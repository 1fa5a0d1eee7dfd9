// Package conformance drives vectors and probes of standards against any implementation and
// says what held.
//
// It is a client: it signs, sends and judges answers, and knows no implementation, gate's own
// included. It says which vectors it could not try, and never counts them as passed. Start
// with [ACS].
package conformance

import (
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"gate/internal/acs"
	"gate/internal/strictjson"
)

//go:embed testdata/acs/*.json
var acsFiles embed.FS

// An Outcome says how one vector or probe ended.
type Outcome string

const (
	Held          Outcome = "as its file says"
	Differs       Outcome = "differs"
	NotApplicable Outcome = "not applicable"                // there is no request to a Guardian in it
	NotDriven     Outcome = "cannot be driven from outside" // it needs a clock, a policy or an approval
)

// A Finding is the outcome of one vector or probe.
type Finding struct {
	ID      string
	About   string
	Outcome Outcome
	Why     string // what was answered, or why nothing was asked
}

// A Target is a Guardian to be asked.
type Target struct {
	// Send hands a request over and returns the whole answer.
	Send func(ctx context.Context, body []byte) ([]byte, error)

	Key acs.Key // what it signs with
	Dir string  // the working directory that steps name; "": none

	// Prepare brings the Guardian into the state that a vector describes, where somebody
	// can: a policy that asks about or bounds a tool, and none for the zero Need. nil:
	// nobody can.
	Prepare func(Need) error

	// Approve lets a person approve what the Guardian's last answer asked about. nil:
	// nobody can.
	Approve func(answer map[string]any) error

	// Now is the Guardian's clock; nil: the clock of this machine.
	Now func() time.Time
}

// A Need is a policy that a vector describes.
type Need struct {
	Ask   string // the tool whose calls a person must approve
	Bound string // the tool of which a turn has so many calls:
	Most  int64
}

// A Vector is one file of the suite.
type Vector struct {
	ID      string
	Kind    string // accept, reject, indeterminate
	Family  string
	Basis   string // substrate, artifact
	Payload map[string]any
	Verdict string // allow, deny, unmeasurable
	Code    string // name of the error that is expected, "" for any
	Value   int64
	Because string // why it cannot be measured
}

// Vectors are the 43 of the suite, in the order of their names.
func Vectors() ([]Vector, error) {
	names, err := fs.Glob(acsFiles, "testdata/acs/*.json")
	if err != nil {
		return nil, err
	}
	var list []Vector
	for _, name := range names {
		data, err := acsFiles.ReadFile(name)
		if err != nil {
			return nil, err
		}
		doc, err := strictjson.Object(data, strictjson.Limits{})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path.Base(name), err)
		}
		expected, _ := doc["expected"].(map[string]any)
		value, _ := expected["codeValue"].(json.Number)
		v := Vector{
			ID: text(doc, "id"), Kind: text(doc, "kind"), Family: text(doc, "family"), Basis: text(doc, "evidenceBasis"),
			Verdict: text(expected, "verdict"), Code: text(expected, "code"), Because: text(expected, "unmeasurableBecause"),
		}
		v.Value, _ = value.Int64()
		v.Payload, _ = doc["payload"].(map[string]any)
		list = append(list, v)
	}
	return list, nil
}

func text(doc map[string]any, name string) string {
	s, _ := doc[name].(string)
	return s
}

// ACS drives all vectors against a target.
func ACS(ctx context.Context, t Target) ([]Finding, error) {
	vectors, err := Vectors()
	if err != nil {
		return nil, err
	}
	var list []Finding
	for _, v := range vectors {
		list = append(list, t.vector(ctx, v))
	}
	return list, nil
}

// vector drives one.
func (t Target) vector(ctx context.Context, v Vector) Finding {
	f := Finding{ID: v.ID, About: v.Family + " " + v.Kind}
	plan, why := translate(v)
	if plan == nil {
		f.Outcome, f.Why = NotApplicable, why
		return f
	}
	switch {
	case t.Prepare == nil && plan.need != Need{}:
		f.Outcome, f.Why = NotDriven, "it needs a policy"
		return f
	case t.Prepare != nil:
		if err := t.Prepare(plan.need); err != nil {
			f.Outcome, f.Why = NotDriven, err.Error()
			return f
		}
	}
	if (plan.approve || plan.lend != nil) && t.Approve == nil {
		f.Outcome, f.Why = NotDriven, "it needs an approval"
		return f
	}
	said, err := t.drive(ctx, plan)
	if err == nil {
		err = judge(v, said)
	}
	f.Outcome, f.Why = Held, describe(said)
	if err != nil {
		f.Outcome, f.Why = Differs, err.Error()
	}
	return f
}

// drive sends the requests of a plan in one session each, and returns the answers to those
// that the vector is about.
func (t Target) drive(ctx context.Context, p *plan) (said []answer, err error) {
	sessions := map[string]*client{}
	if p.lend != nil {
		c := t.client(p.lend.agent)
		if a := c.greet(ctx); a.err != nil || a.code != 0 {
			return nil, fmt.Errorf("the hello before it: %s", a)
		}
		a := c.send(ctx, *p.lend)
		if err := t.Approve(a.result); err != nil {
			return nil, fmt.Errorf("%w; the Guardian said: %s", err, a)
		}
	}
	for _, r := range p.requests {
		c := sessions[r.session]
		if c == nil {
			c = t.client(r.agent)
			sessions[r.session] = c
			if !p.greets {
				if a := c.greet(ctx); a.err != nil || a.code != 0 {
					return nil, fmt.Errorf("the hello before it: %s", a)
				}
				for _, before := range p.before {
					if a := c.send(ctx, before); a.err != nil || a.code != 0 {
						return nil, fmt.Errorf("the step before it: %s", a)
					}
				}
			}
		}
		a := c.send(ctx, r)
		if p.approve {
			if err := t.Approve(a.result); err != nil {
				return nil, fmt.Errorf("%w; the Guardian said: %s", err, a)
			}
			again := r
			again.id = ""
			a = c.send(ctx, again)
		}
		said = append(said, a)
	}
	return said, nil
}

// judge holds answers against what the vector's file expects.
func judge(v Vector, said []answer) error {
	for _, a := range said {
		if a.err != nil {
			return fmt.Errorf("no answer that counts: %w", a.err)
		}
	}
	last := said[len(said)-1]
	if v.Verdict == "allow" {
		for i, a := range said {
			if !a.allows() {
				return fmt.Errorf("answer %d of %d is not allow but %s", i+1, len(said), a)
			}
		}
		return nil
	}
	for i, a := range said[:len(said)-1] {
		if !a.allows() {
			return fmt.Errorf("answer %d of %d is %s already, before what is to be denied", i+1, len(said), a)
		}
	}
	if !last.denies() {
		return fmt.Errorf("it is not denied but %s", last)
	}
	// A policy's denial is a decision, whose reason codes may name what an error's code would.
	if v.Code != "" && int64(last.code) != v.Value && !slices.Contains(last.codes(), v.Code) {
		return fmt.Errorf("it is denied, and %s is not the reason but %s", v.Code, last)
	}
	return nil
}

func describe(said []answer) string {
	var list []string
	for _, a := range said {
		list = append(list, a.String())
	}
	return strings.Join(list, "; ")
}
