package acs

import (
	"io"
	"sync"
	"sync/atomic"

	"gate/internal/audit/ocsf"
	"gate/internal/moment"
	"gate/internal/strictjson"
)

// A Tracer writes an OCSF event for each step and each decision that is not "allow", a line
// each, for the profile acs-trace. It never keeps a step waiting: where its writer is slower
// than the steps come, events are lost, and the next one says how many. Make it with
// [NewTracer].
type Tracer struct {
	lines chan []byte
	lost  atomic.Int64
	done  sync.WaitGroup
}

const maxTraced = 4096 // events that wait to be written

// NewTracer returns a tracer that writes until it is closed.
func NewTracer(w io.Writer) *Tracer {
	t := &Tracer{lines: make(chan []byte, maxTraced)}
	t.done.Go(func() {
		for line := range t.lines {
			if _, err := w.Write(line); err != nil {
				t.lost.Add(1)
			}
		}
	})
	return t
}

// Close waits until everything is written. Nothing may be traced after it.
func (t *Tracer) Close() {
	close(t.lines)
	t.done.Wait()
}

func (t *Tracer) emit(event map[string]any) {
	lost := t.lost.Swap(0)
	if lost > 0 {
		event["unmapped"].(map[string]any)["lost"] = lost
	}
	select {
	case t.lines <- append(strictjson.Append(nil, event), '\n'):
	default:
		t.lost.Add(lost + 1)
	}
}

// An ocsfClass is what the standard's mapping says of a method.
type ocsfClass struct {
	class, activity int
}

// classOf is the standard's mapping (trace/ocsf-mapping.json). Of wrapped messages it says
// nothing: calls are what calls of tools are.
func classOf(m moment.Step) ocsfClass {
	switch m.Method {
	case "steps/sessionStart", "steps/subagentStart":
		return ocsfClass{ocsf.Authentication, 1}
	case "steps/sessionEnd", "steps/subagentStop":
		return ocsfClass{ocsf.Authentication, 2}
	case "steps/knowledgeRetrieval", "steps/memoryStore", "steps/memoryContextRetrieval", "steps/preCompact", "steps/postCompact":
		return ocsfClass{ocsf.Datastore, ocsf.Other}
	case "steps/skillRegister":
		return ocsfClass{ocsf.InventoryInfo, ocsf.Other}
	case "steps/skillLoad":
		return ocsfClass{ocsf.ModuleActivity, 1}
	case "steps/skillUnload":
		return ocsfClass{ocsf.ModuleActivity, 2}
	case "steps/toolCallRequest", "steps/toolCallResult":
		return ocsfClass{ocsf.ProcessActivity, ocsf.Other}
	}
	if m.Event == moment.PreToolUse {
		return ocsfClass{ocsf.ProcessActivity, ocsf.Other}
	}
	return ocsfClass{ocsf.Lifecycle, ocsf.Other}
}

// trace tells of a step and of what was decided about it.
func (g *Guardian) trace(r *request, m moment.Step, result map[string]any) {
	if g.o.Trace == nil {
		return
	}
	decision := textOf(result, "decision")
	base := func(c ocsfClass, answer string) map[string]any {
		event := ocsf.Base(c.class, c.activity, ocsf.Severity(answer), g.o.Now(), "")
		about := event["metadata"].(map[string]any)
		about["correlation_uid"], about["uid"] = r.session, r.unique
		event["unmapped"] = map[string]any{"acs": r.traced(result)}
		if list := enrichments(r.payload); len(list) > 0 {
			event["enrichments"] = list
		}
		return event
	}
	g.o.Trace.emit(base(classOf(m), "allow"))
	if decision == "allow" {
		return
	}
	finding := base(ocsfClass{ocsf.DetectionFinding, 1}, decision)
	uid := r.unique
	if data, ok := result["policy_data"].(map[string]any); ok {
		if own, ok := data["gate"].(map[string]any); ok && textOf(own, "decision") != "" {
			uid = textOf(own, "decision")
		}
	}
	title := decision + " " + r.method
	if tool := toolOf(r); tool != "" {
		title += " " + tool
	}
	about := map[string]any{"title": strictjson.Visible(title), "uid": uid}
	finding["finding_info"], finding["finding"] = about, about // OCSF's name and the standard's
	finding["message"], finding["verdict_id"] = textOf(result, "reasoning"), int64(0)
	finding["evidences"] = []any{map[string]any{"data": r.traced(result)}}
	g.o.Trace.emit(finding)
}

// traced is what an event keeps of a step: names, and no content.
func (r *request) traced(result map[string]any) map[string]any {
	doc := map[string]any{
		"method": r.method, "request_id": r.unique, "session_id": r.session, "agent_id": r.agent, "decision": result["decision"],
	}
	for name, v := range map[string]any{"turn_id": r.turn(), "tool": toolOf(r)} {
		if v != "" {
			doc[name] = v
		}
	}
	for _, name := range []string{"reason_codes", "policy_references", "chain_hash"} {
		if v, given := result[name]; given {
			doc[name] = v
		}
	}
	return doc
}

// enrichments say where data of a step came from, as the client says it.
func enrichments(payload map[string]any) (list []any) {
	add := func(v any) {
		doc, _ := v.(map[string]any)
		provenance, ok := doc["provenance"].(map[string]any)
		if !ok {
			return
		}
		for _, name := range []string{"origin", "source_id"} {
			if text := textOf(provenance, name); text != "" {
				list = append(list, map[string]any{"name": "acs_provenance_" + name, "value": text, "data": map[string]any{name: text}})
			}
		}
	}
	arguments, _ := payload["arguments"].(map[string]any)
	for _, v := range arguments {
		add(v)
	}
	for _, name := range []string{"content", "results", "outputs"} {
		add(payload[name])
		values, _ := payload[name].([]any)
		for _, v := range values {
			add(v)
		}
	}
	return list
}
