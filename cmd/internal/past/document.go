package past

import (
	"time"

	"gate/cmd/internal/document"
	"gate/internal/audit"
	"gate/internal/replay"
)

// Document is a report for programs.
func (r *Report) Document() map[string]any {
	kinds := map[string]any{}
	for kind, n := range r.Kinds {
		kinds[string(kind)] = n
	}
	counts := map[string]any{}
	for _, c := range replay.Changes() {
		counts[string(c)] = r.Count(c)
	}
	doc := map[string]any{
		"calls": r.Calls, "kinds": kinds, "decided": r.Decided, "recorded_facts": r.Recorded, "repeated": r.Repeated,
		"against": nil, "counts": counts, "changed": entryDocuments(r.Changed), "faults": entryDocuments(r.Faults),
		"not_replayable": lossDocuments(r.Lost), "unseen": lossDocuments(r.Unseen), "notes": document.Strings(r.notes()),
		"time": map[string]any{
			"sampled": r.Sampled, "then": timesDocument(r.Then), "now": timesDocument(r.Now), "added": timesDocument(r.Added),
		},
	}
	if against := r.Against; against != nil {
		doc["against"] = map[string]any{"path": against.dir, "source": against.source.Name, "authority": against.source.Authority.String()}
	}
	return doc
}

func entryDocuments(list []replay.Entry) []any {
	out := []any{}
	for _, e := range list {
		doc := map[string]any{
			"at": e.At, "id": document.OrNull(e.ID), "time": nil, "tool": e.Tool, "call": e.Call, "change": document.OrNull(string(e.Change)),
			"policy": document.OrNull(e.Policy), "failed": e.Failed, "redacted": document.Strings(e.Redacted),
			"then": sideDocument(e.Then), "now": sideDocument(e.Now),
		}
		if !e.Time.IsZero() {
			doc["time"] = e.Time.UTC().Format(time.RFC3339Nano)
		}
		out = append(out, doc)
	}
	return out
}

func sideDocument(s replay.Side) map[string]any {
	return map[string]any{
		"effect": s.Effect.String(), "reasons": recordReasons(s.Reasons), "rewrite": document.Value(s.Rewrite),
		"changed_by": document.Strings(s.Changed), "faults": document.Strings(s.Faults),
	}
}

func recordReasons(list []audit.Reason) []any {
	out := []any{}
	for _, why := range list {
		out = append(out, map[string]any{
			"id": why.ID, "effect": why.Effect.String(), "reason": why.Reason, "source": document.OrNull(why.Source), "pos": document.OrNull(why.Pos),
		})
	}
	return out
}

func lossDocuments(list []replay.Loss) []any {
	out := []any{}
	for _, l := range list {
		out = append(out, map[string]any{"at": l.At, "id": document.OrNull(l.ID), "tool": document.OrNull(l.Tool), "call": document.OrNull(l.Call), "why": l.Why})
	}
	return out
}

func timesDocument(t replay.Times) map[string]any {
	return map[string]any{"median_us": t.Median.Microseconds(), "p95_us": t.P95.Microseconds()}
}
