package audit

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"gate/hook"
	"gate/internal/moment"
	"gate/internal/strictjson"
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
	r, err := Record{}, error(nil)
	if custom, ok := doc["custom"].(map[string]any); ok {
		r, err = parse(fields(doc), fields(custom).object("gate"))
	} else {
		r, err = parseOld(fields(doc))
	}
	if err == nil && r.Version < 1 {
		err = errors.New("it has no version: no record of a decision")
	}
	if err != nil {
		return Record{}, err
	}
	return r, nil
}

// parse reads a record in the form of OPA's.
func parse(f, own fields) (Record, error) {
	result := f.object("result")
	r, err := common(own, result, f.text("timestamp"))
	if err != nil {
		return Record{}, err
	}
	r.Key, r.User = f.text("decision_id"), f.text("requested_by")
	r.Sync, r.Review = syncOf(f.text("path"), result), reviewOf(f.text("path"), result, &r)
	metrics := f.object("metrics")
	r.Took, r.Whole = time.Duration(metrics.number("timer_gate_decision_ns")), time.Duration(metrics.number("timer_gate_call_ns"))
	if labels := f.object("labels"); len(labels) > 0 {
		r.Labels = map[string]string{}
		for name := range labels {
			r.Labels[name] = labels.text(name)
		}
	}
	bundles := f.object("bundles")
	for _, name := range slices.Sorted(maps.Keys(bundles)) {
		b := bundles.object(name)
		r.Bundles = append(r.Bundles, Bundle{name, b.text("revision"), b.text("digest")})
	}
	if _, ok := own["chain"]; ok {
		if r.Place, err = placeOf(own.object("chain")); err != nil {
			return Record{}, err
		}
	}
	if input, ok := f["input"].(map[string]any); ok {
		r.Marks.Full = own.texts("marks_full")
		r.Kept = &Kept{Input: input, Rewrite: result["rewrite"], Redacted: f.texts("masked"), Cut: own.cuts()}
	}
	return r, nil
}

// parseOld reads a record of version 1 or 2.
func parseOld(f fields) (Record, error) {
	r, err := common(f, f, f.text("time"))
	if err != nil {
		return Record{}, err
	}
	r.Took = time.Duration(f.number("took_us")) * time.Microsecond
	if input, ok := f["input"].(map[string]any); ok {
		r.Kept = &Kept{Input: input, Rewrite: f["rewrite"], Redacted: f.texts("redacted"), Cut: f.cuts()}
		for i, at := range r.Kept.Redacted {
			r.Kept.Redacted[i] = newPointer(at)
		}
		for i := range r.Kept.Cut {
			r.Kept.Cut[i].At = newPointer(r.Kept.Cut[i].At)
		}
	}
	return r, nil
}

// newPointer is where a value of an older record stands today.
func newPointer(at string) string {
	if at == "/rewrite" || strings.HasPrefix(at, "/rewrite/") {
		return "/result" + at
	}
	return at
}

// common reads what records of all versions say about the call, and about the
// decision.
func common(call, result fields, at string) (Record, error) {
	r := Record{
		Version: int(call.number("v")), ID: call.text("id"), Agent: call.text("agent"), Session: call.text("session"), Trace: moment.TraceParent(call.text("traceparent")),
		Event: hook.Name(call.text("event")), Tool: call.text("tool"), Dir: call.text("cwd"), Project: call.text("project"),
		Call: call.text("call"), Policies: call.policies(), Result: hook.Result(result.text("result")),
		Reasons: result.reasons("reasons"), Warned: result.reasons("warnings"), Changed: result.texts("changed_by"), Faults: result.texts("faults"),
	}
	r.Remembered, r.Marks.All = call.marks("remembered"), call.marks("marks")
	r.Halt, _ = result["halt"].(bool)
	r.Approved, _ = call["approved"].(bool)
	confined := call.object("confined")
	r.Confined, r.Refused = confined.text("profile"), confined.texts("refused")
	var err error
	if r.Effect, err = result.effect("effect"); err != nil {
		return Record{}, err
	}
	if r.Time, err = time.Parse(time.RFC3339Nano, at); err != nil {
		return Record{}, fmt.Errorf("time %q: not a time", clip(at, 40))
	}
	return r, nil
}

// fields are those of an object that may hold anything.
type fields map[string]any

func (f fields) text(key string) string {
	s, _ := f[key].(string)
	return s
}

func (f fields) object(key string) fields {
	m, _ := f[key].(map[string]any)
	return m
}

func (f fields) cuts() []Cut {
	var out []Cut
	for _, c := range f.objects("cut") {
		out = append(out, Cut{c.text("at"), int(c.number("bytes"))})
	}
	return out
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
		p.Kind, p.Outcome, p.Runs = m.text("kind"), hook.Outcome(m.text("outcome")), max(1, int(m.number("runs")))
		if u, ok := m["usage"].(map[string]any); ok {
			f := fields(u)
			p.Usage = &hook.Usage{
				Provider: f.text("provider"), Model: f.text("model"), Turns: int(f.number("turns")),
				InputTokens: f.number("input_tokens"), OutputTokens: f.number("output_tokens"),
			}
			p.Usage.Cached, _ = u["cached"].(bool)
		}
		if u, ok := m["would"].(map[string]any); ok {
			f := fields(u)
			p.Would = &Would{Reason: f.text("reason"), Rewrite: u["rewrite"] == true, Spared: f.text("spared_by")}
			p.Would.Effect, _ = f.effect("effect")
		}
		out = append(out, p)
	}
	return out
}

// ErrNotKept reports a record without its event: of an older gate, or made
// while settings said "record": false.
var ErrNotKept = errors.New("the event was not recorded with this decision")

// errNoCall reports a record of what became of a bundle, or of what a person said.
var errNoCall = errors.New("this record is about a bundle or a review, not about a call")

// Restore returns the event that was decided about, redacted and cut as the log
// has it. Its Facts are nil: Kept.Input["facts"] holds their document.
func (r *Record) Restore() (hook.Event, error) {
	if !r.IsDecision() {
		return hook.Event{}, errNoCall
	}
	if r.Kept == nil {
		return hook.Event{}, ErrNotKept
	}
	in := fields(r.Kept.Input)
	ev := hook.Event{Agent: r.Agent, Name: r.Event, Fields: map[string]any{}}
	for key, v := range in {
		switch key {
		case "agent", "facts", "flow", "native", "session", "gate":
		default:
			ev.Fields[key] = v
		}
	}
	ev.Native, _ = in["native"].(map[string]any)
	ev.Memory, _ = in["session"].(map[string]any)
	ev.Marks = r.Marks
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
