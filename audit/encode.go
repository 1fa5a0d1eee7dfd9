package audit

import (
	"time"

	"gate/strictjson"
)

// stampForm is how records write a time.
const stampForm = "2006-01-02T15:04:05.000000Z"

func stamp(t time.Time) string { return t.UTC().Format(stampForm) }

// JSON returns the record as the line that [Log.Append] writes, without the
// line feed. A record whose texts are nothing but escapes would be too long for
// readers, and goes without them.
func (r Record) JSON() []byte {
	line := r.encode()
	if len(line) <= MaxRecord {
		return line
	}
	r.Kept = nil
	if line = r.encode(); len(line) > MaxRecord {
		r.Reasons, r.Warned, r.Faults, r.Changed, r.Policies = nil, nil, nil, nil, nil
		line = r.encode()
	}
	return line
}

// encode returns the record as one line of JSON. Control characters and line
// breaks are escaped, whatever the event carried.
func (r Record) encode() []byte {
	doc := map[string]any{
		"v": Version, "time": stamp(r.Time), "id": clip(r.ID, maxText), "agent": clip(r.Agent, maxText),
		"session": short(r.Session, maxText), "event": clip(string(r.Event), maxText), "tool": clip(r.Tool, maxText),
		"cwd": short(r.Dir, maxText), "call": short(r.Call, maxCall),
		"effect": r.Effect.String(), "result": string(r.Result), "took_us": r.Took.Microseconds(),
	}
	if r.Project != "" {
		doc["project"] = short(r.Project, maxText)
	}
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
	if len(r.Policies) > 0 {
		doc["policies"] = policyDocuments(r.Policies)
	}
	if r.Kept != nil {
		r.Kept.encode(doc)
	}
	return strictjson.Append(nil, doc)
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

func policyDocuments(list []Policy) []any {
	out := make([]any, 0, len(list))
	for _, p := range list[:min(len(list), maxPolicies)] {
		doc := map[string]any{
			"id": clip(p.ID, maxText), "source": clip(p.Source, maxText), "effect": p.Effect.String(), "digest": clip(p.Digest, maxText),
		}
		if p.Took > 0 {
			doc["took_us"] = p.Took.Microseconds()
		}
		if u := p.Usage; u != nil {
			shown := *u
			shown.Provider, shown.Model = clip(u.Provider, maxText), clip(u.Model, maxText)
			doc["usage"] = shown.Document()
		}
		out = append(out, doc)
	}
	return out
}

func (k *Kept) encode(doc map[string]any) {
	doc["input"] = k.Input
	if k.Rewrite != nil {
		doc["rewrite"] = k.Rewrite
	}
	if len(k.Cut) > 0 {
		cuts := make([]any, 0, len(k.Cut))
		for _, c := range k.Cut {
			cuts = append(cuts, map[string]any{"at": c.At, "bytes": c.Bytes})
		}
		doc["cut"] = cuts
	}
	if len(k.Redacted) > 0 {
		doc["redacted"] = k.Redacted
	}
}

func texts(list []string) []string {
	out := make([]string, 0, len(list))
	for _, s := range first(list) {
		out = append(out, short(s, maxText))
	}
	return out
}
