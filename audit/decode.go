package audit

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"gate/hook"
	"gate/strictjson"
)

// MaxRecord is the longest line that is read as a record, in bytes. Append
// writes none that is longer.
const MaxRecord = 1 << 20

// Parse reads one line of a log. Fields that it does not know, of a newer
// gate, are ignored; a line that is no record is an error.
func Parse(line []byte) (Record, error) {
	doc, err := strictjson.Object(line, strictjson.Limits{Bytes: MaxRecord, Depth: maxNested + 10})
	if err != nil {
		return Record{}, err
	}
	f := fields(doc)
	r := Record{
		Version: int(f.number("v")), ID: f.text("id"), Agent: f.text("agent"), Session: f.text("session"),
		Event: hook.Name(f.text("event")), Tool: f.text("tool"), Dir: f.text("cwd"), Project: f.text("project"),
		Call: f.text("call"), Result: hook.Result(f.text("result")), Took: time.Duration(f.number("took_us")) * time.Microsecond,
		Reasons: f.reasons("reasons"), Warned: f.reasons("warnings"), Changed: f.texts("changed_by"), Faults: f.texts("faults"),
		Policies: f.policies(),
	}
	r.Halt, _ = doc["halt"].(bool)
	if r.Version < 1 {
		return Record{}, errors.New("it has no version: no record of a decision")
	}
	if r.Effect, err = f.effect("effect"); err != nil {
		return Record{}, err
	}
	if r.Time, err = time.Parse(time.RFC3339Nano, f.text("time")); err != nil {
		return Record{}, fmt.Errorf("time %q: not a time", clip(f.text("time"), 40))
	}
	if input, ok := doc["input"].(map[string]any); ok {
		r.Kept = &Kept{Input: input, Rewrite: doc["rewrite"], Redacted: f.texts("redacted")}
		for _, c := range f.objects("cut") {
			r.Kept.Cut = append(r.Kept.Cut, Cut{c.text("at"), int(c.number("bytes"))})
		}
	}
	return r, nil
}

// fields are those of an object that may hold anything.
type fields map[string]any

func (f fields) text(key string) string {
	s, _ := f[key].(string)
	return s
}

func (f fields) number(key string) int64 {
	n, _ := f[key].(json.Number)
	i, _ := n.Int64()
	return i
}

func (f fields) effect(key string) (hook.Effect, error) {
	for e := hook.Pass; e <= hook.Deny; e++ {
		if e.String() == f.text(key) {
			return e, nil
		}
	}
	return hook.Pass, fmt.Errorf("effect %q: want pass, allow, ask or deny", clip(f.text(key), 40))
}

func (f fields) texts(key string) []string {
	list, _ := f[key].([]any)
	var out []string
	for _, v := range list {
		if s, ok := v.(string); ok {
			out = append(out, s)
		}
	}
	return out
}

func (f fields) objects(key string) []fields {
	list, _ := f[key].([]any)
	var out []fields
	for _, v := range list {
		if m, ok := v.(map[string]any); ok {
			out = append(out, m)
		}
	}
	return out
}

func (f fields) reasons(key string) []Reason {
	var out []Reason
	for _, m := range f.objects(key) {
		effect, _ := m.effect("effect")
		out = append(out, Reason{m.text("id"), effect, m.text("reason"), m.text("source"), m.text("pos")})
	}
	return out
}

func (f fields) policies() []Policy {
	var out []Policy
	for _, m := range f.objects("policies") {
		effect, _ := m.effect("effect")
		p := Policy{ID: m.text("id"), Source: m.text("source"), Effect: effect, Digest: m.text("digest")}
		p.Took = time.Duration(m.number("took_us")) * time.Microsecond
		if u, ok := m["usage"].(map[string]any); ok {
			f := fields(u)
			p.Usage = &hook.Usage{
				Provider: f.text("provider"), Model: f.text("model"), Turns: int(f.number("turns")),
				InputTokens: f.number("input_tokens"), OutputTokens: f.number("output_tokens"),
			}
			p.Usage.Cached, _ = u["cached"].(bool)
		}
		out = append(out, p)
	}
	return out
}

// ErrNotKept reports a record without its event: of an older gate, or made
// while settings said "record": false.
var ErrNotKept = errors.New("the event was not recorded with this decision")

// Restore returns the event that was decided about, redacted and cut as the log
// has it. Its Facts are nil: Kept.Input["facts"] holds their document.
func (r *Record) Restore() (hook.Event, error) {
	if r.Kept == nil {
		return hook.Event{}, ErrNotKept
	}
	in := fields(r.Kept.Input)
	ev := hook.Event{Agent: r.Agent, Name: r.Event, Fields: map[string]any{}}
	for key, v := range in {
		switch key {
		case "agent", "facts", "native", "session", "gate":
		default:
			ev.Fields[key] = v
		}
	}
	ev.Native, _ = in["native"].(map[string]any)
	ev.Memory, _ = in["session"].(map[string]any)
	gate, _ := in["gate"].(map[string]any)
	g := fields(gate)
	ev.Gate = hook.Gate{Now: r.Time, User: g.text("user"), OS: g.text("os")}
	ev.Gate.Interactive, _ = gate["interactive"].(bool)
	if labels, ok := gate["labels"].(map[string]any); ok && len(labels) > 0 {
		ev.Gate.Labels = map[string]string{}
		for k := range labels {
			ev.Gate.Labels[k] = fields(labels).text(k)
		}
	}
	return ev, nil
}

// Lost lists what of the record is not as the decision saw it: the pointers of
// what was cut or redacted that begin with one of the prefixes.
func (k *Kept) Lost(prefixes ...string) (cut, redacted []string) {
	below := func(at string) bool {
		for _, p := range prefixes {
			if at == p || strings.HasPrefix(at, p+"/") {
				return true
			}
		}
		return false
	}
	for _, c := range k.Cut {
		if below(c.At) {
			cut = append(cut, c.At)
		}
	}
	for _, at := range k.Redacted {
		if below(at) {
			redacted = append(redacted, at)
		}
	}
	return cut, redacted
}
