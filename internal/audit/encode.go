package audit

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"gate/internal/mark"
	"gate/internal/strictjson"
)

// stampForm is how records write a time.
const stampForm = "2006-01-02T15:04:05.000000Z"

func stamp(t time.Time) string { return t.UTC().Format(stampForm) }

// JSON returns the record as the line that [Append] writes, without the
// line feed and, unless the record was read from a log, without its place in
// the chain. A record whose texts are nothing but escapes would be too long for
// readers, and goes without them.
func (r Record) JSON() []byte {
	const place = 256 // bytes that a place in the chain takes, and some more
	line := r.encode()
	if len(line) <= MaxRecord-place {
		return line
	}
	r.Kept = nil
	if line = r.encode(); len(line) > MaxRecord-place {
		r.Reasons, r.Warned, r.Faults, r.Changed, r.Policies, r.Labels, r.Bundles = nil, nil, nil, nil, nil, nil, nil
		line = r.encode()
	}
	return line
}

// DecisionPath is what OPA's records call the document that was asked for.
const DecisionPath = "gate/decision"

// room is what a record takes, about, so that it is written in one piece.
func (r *Record) room() int {
	n := 2<<10 + 160*min(len(r.Policies), maxPolicies)
	if r.Kept != nil {
		n += len(r.Kept.input) + len(r.Kept.rewrite)
	}
	return n
}

// encode returns the record as one line of JSON, its keys in order. Control
// characters and line breaks are escaped, whatever the event carried.
func (r Record) encode() []byte {
	w := &strictjson.Writer{JSON: make([]byte, 0, r.room())}
	w.Object()
	if len(r.Bundles) > 0 {
		w.Key("bundles").Value(bundleDocuments(r.Bundles))
	}
	w.Key("custom").Object()
	r.custom(w.Key("gate"))
	w.EndObject()
	w.Key("decision_id").Text(clip(cmp.Or(r.Key, r.ID), maxText))
	k := r.Kept
	if k != nil && k.lacksFacts() {
		w.Key("erased").Value([]any{factsPointer})
	}
	if k != nil {
		k.input.write(w.Key("input"), k.Input)
	}
	w.Key("labels").Value(labelDocument(r.Labels))
	if k != nil && len(k.Redacted) > 0 {
		w.Key("masked").Value(k.Redacted)
	}
	w.Key("metrics").Object()
	if r.Whole > 0 {
		w.Key("timer_gate_call_ns").Int(r.Whole.Microseconds() * 1000)
	}
	w.Key("timer_gate_decision_ns").Int(r.Took.Microseconds() * 1000)
	w.EndObject()
	w.Key("path").Text(r.path())
	if r.User != "" {
		w.Key("requested_by").Text(clip(r.User, maxText))
	}
	r.result(w.Key("result"))
	w.Key("timestamp").Text(stamp(r.Time))
	w.EndObject()
	return w.JSON
}

// custom is what OPA's records have no place for.
func (r *Record) custom(w *strictjson.Writer) {
	w.Object()
	w.Key("agent").Text(clip(r.Agent, maxText))
	if r.Approved {
		w.Key("approved").Value(true)
	}
	w.Key("call").Text(short(r.Call, maxCall))
	if r.Place != nil {
		r.Place.write(w)
	}
	if r.Confined != "" {
		w.Key("confined").Object()
		w.Key("profile").Text(clip(r.Confined, maxText))
		if len(r.Refused) > 0 {
			w.Key("refused").Value(texts(first(r.Refused)))
		}
		w.EndObject()
	}
	marks, cut := r.marks()
	if len(cut) > 0 {
		w.Key("cut").List()
		for _, c := range cut {
			w.Object()
			w.Key("at").Text(c.At)
			w.Key("bytes").Int(int64(c.Bytes))
			w.EndObject()
		}
		w.EndList()
	}
	w.Key("cwd").Text(short(r.Dir, maxText))
	w.Key("event").Text(clip(string(r.Event), maxText))
	w.Key("id").Text(clip(r.ID, maxText))
	writeMarks(w, "marks", marks, true)
	if r.Kept != nil && len(r.Marks.Full) > 0 {
		w.Key("marks_full").Value(texts(r.Marks.Full))
	}
	if len(r.Policies) > 0 {
		w.Key("policies").List()
		for i := range r.Policies[:min(len(r.Policies), maxPolicies)] {
			r.Policies[i].write(w)
		}
		w.EndList()
	}
	if r.Project != "" {
		w.Key("project").Text(short(r.Project, maxText))
	}
	writeMarks(w, "remembered", first(r.Remembered), r.Kept != nil)
	w.Key("session").Text(short(r.Session, maxText))
	w.Key("tool").Text(clip(r.Tool, maxText))
	if r.Trace != "" {
		w.Key("traceparent").Text(clip(r.Trace, maxText))
	}
	w.Key("v").Int(version)
	w.EndObject()
}

// marks are those that the record keeps of what the session had, and what of the event
// is cut.
func (r *Record) marks() (marks []mark.Mark, cut []Cut) {
	if r.Kept == nil {
		return nil, nil
	}
	marks, bytes := within(r.Marks.All)
	cut = r.Kept.Cut
	if len(marks) < len(r.Marks.All) {
		cut = append(slices.Clip(cut), Cut{marksPointer, bytes})
	}
	return marks, cut
}

func (p *Policy) write(w *strictjson.Writer) {
	w.Object()
	w.Key("digest").Text(clip(p.Digest, maxText))
	w.Key("effect").Text(p.Effect.String())
	w.Key("id").Text(clip(p.ID, maxText))
	if p.Kind != "" {
		w.Key("kind").Text(clip(p.Kind, maxText))
	}
	if p.Outcome != "" {
		w.Key("outcome").Text(clip(string(p.Outcome), maxText))
	}
	if p.Runs > 1 {
		w.Key("runs").Int(int64(p.Runs))
	}
	w.Key("source").Text(clip(p.Source, maxText))
	if p.Took > 0 {
		w.Key("took_us").Int(p.Took.Microseconds())
	}
	if u := p.Usage; u != nil {
		shown := *u
		shown.Provider, shown.Model = clip(u.Provider, maxText), clip(u.Model, maxText)
		w.Key("usage").Value(shown.Document())
	}
	if would := p.Would; would != nil {
		w.Key("would").Object()
		w.Key("effect").Text(would.Effect.String())
		w.Key("reason").Text(short(would.Reason, maxText))
		if would.Rewrite {
			w.Key("rewrite").Value(true)
		}
		w.Key("spared_by").Text(clip(would.Spared, maxText))
		w.EndObject()
	}
	w.EndObject()
}

// result is the decision itself, as OPA's records have the document that a
// policy gave.
func (r *Record) result(w *strictjson.Writer) {
	s := cmp.Or(r.Sync, &Sync{})
	w.Object()
	if r.Sync != nil {
		w.Key("before").Int(s.Before)
	}
	if len(r.Changed) > 0 {
		w.Key("changed_by").Value(texts(r.Changed))
	}
	if r.Sync != nil {
		w.Key("digest").Text(clip(s.Digest, maxText))
	}
	w.Key("effect").Text(r.Effect.String())
	if len(r.Faults) > 0 {
		w.Key("faults").Value(texts(r.Faults))
	}
	if r.Halt {
		w.Key("halt").Value(true)
	}
	if r.Sync != nil {
		w.Key("name").Text(clip(s.Name, maxText))
	}
	writeReasons(w, "reasons", r.Reasons)
	w.Key("result").Text(string(r.Result))
	if r.Review != nil {
		r.Review.write(w.Key("review"))
	}
	if k := r.Kept; k != nil && (k.Rewrite != nil || k.rewrite != nil) {
		k.rewrite.write(w.Key("rewrite"), k.Rewrite)
	}
	if len(s.Signers) > 0 {
		w.Key("signers").Value(texts(s.Signers))
	}
	if s.Trial {
		w.Key("trial").Value(true)
	}
	if r.Sync != nil {
		w.Key("version").Int(s.Version)
	}
	writeReasons(w, "warnings", r.Warned)
	if r.Sync != nil {
		w.Key("what").Text(s.what())
	}
	w.EndObject()
}

func writeReasons(w *strictjson.Writer, key string, list []Reason) {
	if len(list) == 0 {
		return
	}
	w.Key(key).List()
	for _, why := range first(list) {
		w.Object()
		w.Key("effect").Text(why.Effect.String())
		w.Key("id").Text(clip(why.ID, maxText))
		w.Key("pos").Text(clip(why.Pos, maxText))
		w.Key("reason").Text(short(why.Reason, maxText))
		w.Key("source").Text(clip(why.Source, maxText))
		w.EndObject()
	}
	w.EndList()
}

func labelDocument(labels map[string]string) map[string]any {
	out := make(map[string]any, len(labels))
	for _, name := range slices.Sorted(maps.Keys(labels)) {
		if len(out) < maxLabels {
			out[clip(name, maxText)] = clip(labels[name], maxText)
		}
	}
	return out
}

func bundleDocuments(list []Bundle) map[string]any {
	out := make(map[string]any, len(list))
	for _, b := range list[:min(len(list), maxLabels)] {
		doc := map[string]any{"revision": clip(b.Revision, maxText)}
		if b.Digest != "" {
			doc["digest"] = clip(b.Digest, maxText)
		}
		out[clip(b.Name, maxText)] = doc
	}
	return out
}

// factsPointer is where the facts of an event stand.
const factsPointer = "/input/facts"

// lacksFacts reports that the facts were too much and were left out.
func (k *Kept) lacksFacts() bool {
	return slices.ContainsFunc(k.Cut, func(c Cut) bool { return c.At == factsPointer })
}

func texts(list []string) []string {
	out := make([]string, 0, len(list))
	for _, s := range first(list) {
		out = append(out, short(s, maxText))
	}
	return out
}
