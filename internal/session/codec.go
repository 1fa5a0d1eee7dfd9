package session

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"gate/hook"
	"gate/internal/format"
	"gate/internal/mark"
	"gate/internal/strictjson"
)

// encode writes a memory as one JSON object.
func encode(k Key, m *Memory) ([]byte, error) {
	calls := make([]any, len(m.order))
	for i, call := range m.order {
		calls[i] = []any{call, m.same[call]}
	}
	byPolicy := map[string]any{}
	for policy, n := range m.ByPolicy {
		byPolicy[policy] = n
	}
	told := map[string]any{}
	for policy, at := range m.Round.Told {
		told[policy] = at.UnixMilli()
	}
	done := make([]any, len(m.done))
	for i, mark := range m.done {
		done[i] = mark
	}
	waiting := make([]any, len(m.Injections))
	for i, in := range m.Injections {
		waiting[i] = map[string]any{
			"text": in.Text, "matcher": in.Matcher, "strategy": string(in.Strategy), "sequence": in.Sequence,
			"created": millis(in.Created), "expires": millis(in.Expires),
		}
	}
	registered := make([]any, len(m.Registered))
	for i := range m.Registered {
		registered[i] = m.Registered[i].document()
	}
	marks := make([]any, len(m.Marks.All))
	for i, k := range m.Marks.All {
		marks[i] = []any{k.Source, k.Name, k.Value, k.Round, k.Policy, k.Trial}
	}
	data := strictjson.Append(nil, map[string]any{
		"v": format.Session.Number(), "agent": digestOf(k.Agent), "session": digestOf(k.Session),
		"started": millis(m.Started), "latest": millis(m.Latest),
		"calls": m.Calls, "denials": m.Denials, "in_a_row": m.InARow, "by_policy": byPolicy,
		"denied": calls, "minute": seconds(m.minute), "done": done, "sequence": m.Sequence, "injections": waiting,
		"registrations": m.Registrations, "registered": registered,
		"marks": marks, "marks_full": m.Marks.Full, "effects": talliesOf(m),
		"round": map[string]any{
			"number": m.Round.Number, "started": millis(m.Round.Started), "calls": m.Round.Calls, "denials": m.Round.Denials, "told": told,
		},
	})
	if len(data) > maxFile {
		return nil, fmt.Errorf("it would have more than %d bytes", maxFile)
	}
	return append(data, '\n'), nil
}

func seconds(list []second) []any {
	out := make([]any, len(list))
	for i, s := range list {
		out[i] = []any{s.at, s.calls}
	}
	return out
}

func talliesOf(m *Memory) map[string]any {
	out := make(map[string]any, len(m.effects))
	for kind, t := range m.effects {
		out[kind] = []any{t.session, t.round, seconds(t.minute)}
	}
	return out
}

func digestOf(name string) string { return Key{Session: name}.Name() }

// millis is 0 for the zero time.
func millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

// decode reads what encode wrote, and nothing else. Where k is not nil it must
// be that session's.
func decode(k *Key, data []byte) (*Memory, error) {
	doc, err := strictjson.Object(data, strictjson.Limits{Bytes: maxFile + 1, Depth: 8, Keys: 40_000})
	if err != nil {
		return nil, err
	}
	r := &reader{}
	version := r.number(doc, "v")
	if err := format.Session.Check(int64(version)); err != nil && r.err == nil {
		return nil, err // it might forbid something
	}
	agent, session := r.text(doc, "agent"), r.text(doc, "session")
	if k != nil && (agent != digestOf(k.Agent) || session != digestOf(k.Session)) {
		return nil, errors.New("it is another session's")
	}
	round := r.object(doc, "round")
	m := &Memory{
		Started: r.time(doc, "started"), Latest: r.time(doc, "latest"),
		Calls: r.number(doc, "calls"), Denials: r.number(doc, "denials"), InARow: r.number(doc, "in_a_row"),
		Sequence: r.number(doc, "sequence"), ByPolicy: r.numbers(doc, "by_policy"),
		Round: Round{
			Number: r.number(round, "number"), Started: r.time(round, "started"),
			Calls: r.number(round, "calls"), Denials: r.number(round, "denials"), Told: r.times(round, "told"),
		},
	}
	r.denied(doc, m)
	m.minute = r.perSecond("minute", doc["minute"])
	for _, v := range r.list(doc, "done", maxDone) {
		m.done = append(m.done, r.string("done", v))
	}
	for _, v := range r.list(doc, "injections", MaxWaiting) {
		m.Injections = append(m.Injections, r.injection(v))
	}
	m.Registrations = r.number(doc, "registrations")
	for _, v := range r.list(doc, "registered", MaxRegistered) {
		m.Registered = append(m.Registered, r.registration(v, version))
	}
	if version > 2 { // format 2 had neither marks nor effects
		r.marks(doc, m)
		r.effects(doc, m)
		r.only(doc, 20)
	} else {
		r.only(doc, 17)
	}
	r.only(round, 5)
	return m, r.err
}

// A reader takes a document apart. The first mistake stays in err.
type reader struct{ err error }

func (r *reader) fail(key, format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf(key+": "+format, args...)
	}
}

// only refuses fields besides those that were read, which all exist.
func (r *reader) only(doc map[string]any, fields int) {
	if len(doc) != fields {
		r.fail("file", "%d fields where %d are known", len(doc), fields)
	}
}

func (r *reader) int(key string, v any) int64 {
	n, _ := v.(json.Number)
	i, err := n.Int64()
	if err != nil || i < 0 || i > 1<<53 {
		r.fail(key, "it is no count")
		return 0
	}
	return i
}

func (r *reader) number(doc map[string]any, key string) int { return int(r.int(key, doc[key])) }

func (r *reader) string(key string, v any) string {
	s, ok := v.(string)
	if !ok {
		r.fail(key, "it is no text")
	}
	return s
}

func (r *reader) text(doc map[string]any, key string) string { return r.string(key, doc[key]) }

func (r *reader) object(doc map[string]any, key string) map[string]any {
	m, ok := doc[key].(map[string]any)
	if !ok {
		r.fail(key, "it is no object")
	}
	return m
}

func (r *reader) list(doc map[string]any, key string, most int) []any {
	list, ok := doc[key].([]any)
	if !ok || len(list) > most {
		r.fail(key, "it is no list of at most %d", most)
		return nil
	}
	return list
}

func (r *reader) moment(key string, v any) time.Time {
	if ms := r.int(key, v); ms > 0 {
		return time.UnixMilli(ms).UTC()
	}
	return time.Time{}
}

func (r *reader) time(doc map[string]any, key string) time.Time { return r.moment(key, doc[key]) }

func (r *reader) numbers(doc map[string]any, key string) map[string]int {
	out := map[string]int{}
	for name, v := range r.object(doc, key) {
		out[name] = int(r.int(key, v))
	}
	return out
}

func (r *reader) times(doc map[string]any, key string) map[string]time.Time {
	out := map[string]time.Time{}
	for name, v := range r.object(doc, key) {
		out[name] = r.moment(key, v)
	}
	return out
}

// pair returns the two values of a list of two.
func (r *reader) pair(key string, v any) (a, b any) {
	if list, _ := v.([]any); len(list) == 2 {
		return list[0], list[1]
	}
	r.fail(key, "it is no pair")
	return nil, nil
}

func (r *reader) denied(doc map[string]any, m *Memory) {
	m.same = map[string]int{}
	for _, v := range r.list(doc, "denied", maxCalls) {
		call, n := r.pair("denied", v)
		key := r.string("denied", call)
		if m.same[key] > 0 {
			r.fail("denied", "a call stands there twice")
		}
		m.order = append(m.order, key)
		m.same[key] = max(1, int(r.int("denied", n)))
	}
}

func (r *reader) perSecond(key string, v any) (all []second) {
	list, ok := v.([]any)
	if !ok || len(list) > 61 {
		r.fail(key, "it is no list of at most 61")
		return nil
	}
	for _, v := range list {
		at, calls := r.pair(key, v)
		s := second{r.int(key, at), int(r.int(key, calls))}
		if n := len(all); n > 0 && s.at <= all[n-1].at {
			r.fail(key, "it is not in order")
		}
		all = append(all, s)
	}
	return all
}

func (r *reader) marks(doc map[string]any, m *Memory) {
	for _, v := range r.list(doc, "marks", 2*maxAllMarks) {
		list, _ := v.([]any)
		if len(list) != 6 {
			r.fail("marks", "one has not six parts")
			return
		}
		k := mark.Mark{Source: r.string("marks", list[0]), Name: r.string("marks", list[1]), Value: r.string("marks", list[2])}
		k.Round, k.Policy, k.Trial = list[3] == true, list[4] == true, list[5] == true
		if _, err := strictjson.Decode([]byte(k.Value), strictjson.Limits{}); err != nil {
			r.fail("marks", "%w", err)
		}
		if m.find(&k) >= 0 {
			r.fail("marks", "one stands there twice")
		}
		m.Marks.All = append(m.Marks.All, k)
	}
	for _, v := range r.list(doc, "marks_full", maxFull) {
		m.Marks.Full = append(m.Marks.Full, r.string("marks_full", v))
	}
}

func (r *reader) effects(doc map[string]any, m *Memory) {
	for kind, v := range r.object(doc, "effects") {
		list, _ := v.([]any)
		if len(list) != 3 {
			r.fail("effects", "one has not three parts")
			return
		}
		t := &tally{session: int(r.int("effects", list[0])), round: int(r.int("effects", list[1])), minute: r.perSecond("effects", list[2])}
		if m.effects == nil {
			m.effects = map[string]*tally{}
		}
		m.effects[kind] = t
	}
}

func (r *reader) injection(v any) Injection {
	doc, ok := v.(map[string]any)
	if !ok {
		r.fail("injections", "one is no object")
	}
	in := Injection{
		Text: r.text(doc, "text"), Matcher: r.text(doc, "matcher"), Strategy: hook.Strategy(r.text(doc, "strategy")),
		Sequence: r.number(doc, "sequence"), Created: r.time(doc, "created"), Expires: r.time(doc, "expires"),
	}
	r.only(doc, 6)
	return in
}
