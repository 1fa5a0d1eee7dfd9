package audit

import (
	"maps"
	"slices"
	"time"

	"gate/strictjson"
)

// stampForm is how records write a time.
const stampForm = "2006-01-02T15:04:05.000000Z"

func stamp(t time.Time) string { return t.UTC().Format(stampForm) }

// JSON returns the record as the line that [Log.Append] writes, without the
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

// usual is what most records take, and some more.
const usual = 4 << 10

// decisionPath is what OPA's records call the document that was asked for.
const decisionPath = "gate/decision"

// encode returns the record as one line of JSON. Control characters and line
// breaks are escaped, whatever the event carried.
func (r Record) encode() []byte {
	doc := map[string]any{
		"decision_id": clip(r.Key, maxText), "timestamp": stamp(r.Time), "path": r.path(), "labels": labelDocument(r.Labels),
		"result": r.result(), "metrics": map[string]any{"timer_gate_decision_ns": r.Took.Microseconds() * 1000},
		"custom": map[string]any{"gate": r.custom()},
	}
	if r.Key == "" {
		doc["decision_id"] = clip(r.ID, maxText)
	}
	if r.User != "" {
		doc["requested_by"] = clip(r.User, maxText)
	}
	if len(r.Bundles) > 0 {
		doc["bundles"] = bundleDocuments(r.Bundles)
	}
	if k := r.Kept; k != nil {
		doc["input"] = k.Input
		if len(k.Redacted) > 0 {
			doc["masked"] = k.Redacted
		}
		if k.lacksFacts() {
			doc["erased"] = []any{factsPointer}
		}
	}
	return strictjson.Append(make([]byte, 0, usual), doc)
}

// result is the decision itself, as OPA's records have the document that a
// policy gave.
func (r *Record) result() map[string]any {
	doc := map[string]any{"effect": r.Effect.String(), "result": string(r.Result)}
	if r.Halt {
		doc["halt"] = true
	}
	if len(r.Reasons) > 0 {
		doc["reasons"] = reasonDocuments(r.Reasons)
	}
	if len(r.Warned) > 0 {
		doc["warnings"] = reasonDocuments(r.Warned)
	}
	if len(r.Changed) > 0 {
		doc["changed_by"] = texts(r.Changed)
	}
	if len(r.Faults) > 0 {
		doc["faults"] = texts(r.Faults)
	}
	if r.Kept != nil && r.Kept.Rewrite != nil {
		doc["rewrite"] = r.Kept.Rewrite
	}
	if r.Sync != nil {
		r.Sync.describe(doc)
	}
	return doc
}

// custom is what OPA's records have no place for.
func (r *Record) custom() map[string]any {
	doc := map[string]any{
		"v": Version, "id": clip(r.ID, maxText), "agent": clip(r.Agent, maxText), "session": short(r.Session, maxText),
		"event": clip(string(r.Event), maxText), "tool": clip(r.Tool, maxText), "cwd": short(r.Dir, maxText), "call": short(r.Call, maxCall),
	}
	if r.Project != "" {
		doc["project"] = short(r.Project, maxText)
	}
	if len(r.Policies) > 0 {
		doc["policies"] = policyList(r.Policies)
	}
	if k := r.Kept; k != nil && len(k.Cut) > 0 {
		cuts := make([]any, 0, len(k.Cut))
		for _, c := range k.Cut {
			cuts = append(cuts, map[string]any{"at": c.At, "bytes": c.Bytes})
		}
		doc["cut"] = cuts
	}
	if r.Place != nil {
		doc["chain"] = r.Place.document()
	}
	return doc
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

func reasonDocuments(list []Reason) []any {
	out := make([]any, 0, len(list))
	for _, why := range first(list) {
		out = append(out, map[string]any{
			"id": clip(why.ID, maxText), "effect": why.Effect.String(), "reason": short(why.Reason, maxText),
			"source": clip(why.Source, maxText), "pos": clip(why.Pos, maxText),
		})
	}
	return out
}

// policyList is hooks that were asked, as the record has them.
type policyList []Policy

// AppendJSON implements [strictjson.Appender].
func (list policyList) AppendJSON(dst []byte) []byte {
	dst = append(dst, '[')
	for i := range list[:min(len(list), maxPolicies)] {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = list[i].append(dst)
	}
	return append(dst, ']')
}

// append appends an object, its keys in order.
func (p *Policy) append(dst []byte) []byte {
	member := func(key string, v any) {
		dst = append(append(append(dst, '"'), key...), '"', ':')
		dst = append(strictjson.Append(dst, v), ',')
	}
	text := func(key, v string) { member(key, clip(v, maxText)) }
	dst = append(dst, '{')
	text("digest", p.Digest)
	text("effect", p.Effect.String())
	text("id", p.ID)
	if p.Kind != "" {
		text("kind", p.Kind)
	}
	if p.Outcome != "" {
		text("outcome", string(p.Outcome))
	}
	if p.Runs > 1 {
		member("runs", p.Runs)
	}
	text("source", p.Source)
	if p.Took > 0 {
		member("took_us", p.Took.Microseconds())
	}
	if u := p.Usage; u != nil {
		shown := *u
		shown.Provider, shown.Model = clip(u.Provider, maxText), clip(u.Model, maxText)
		member("usage", shown.Document())
	}
	dst[len(dst)-1] = '}'
	return dst
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
