package otlp

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"gate/hook"
	"gate/internal/audit"
)

// An item is one document of a batch.
type item struct {
	audit.Record
	path  string               // what it is, as OPA's form has it: gate/decision
	key   string               // names it among those of all machines
	body  string               // one line for people
	bad   bool                 // it says that something is wrong with the log
	about []attribute.KeyValue // what it says
	label []attribute.KeyValue // labels that the machine's resource does not have
}

// item reads a document.
func (f *Form) item(text []byte) (item, error) {
	var doc struct {
		ID     string            `json:"decision_id"`
		Path   string            `json:"path"`
		Time   time.Time         `json:"timestamp"`
		User   string            `json:"requested_by"`
		Labels map[string]string `json:"labels"`
		Result map[string]any    `json:"result"`
	}
	if err := json.Unmarshal(text, &doc); err != nil {
		return item{}, fmt.Errorf("a record cannot be read: %w", err)
	}
	it := item{path: doc.Path, key: doc.ID}
	for _, name := range slices.Sorted(maps.Keys(doc.Labels)) {
		if value, ok := f.machine[name]; !ok || value != doc.Labels[name] {
			it.label = append(it.label, labelOf(name, doc.Labels[name]))
		}
	}
	r, err := audit.Parse(text)
	switch {
	case err != nil: // gaps and findings stand beside the records
		it.Record = audit.Record{Time: doc.Time, User: doc.User, Key: doc.ID}
		it.bad, it.about = true, told(doc.Path, doc.Result)
	case !r.IsDecision():
		it.Record, it.about = r, told(doc.Path, doc.Result)
	default:
		it.Record, it.about = r, f.decision(&r)
	}
	it.body = it.line()
	if it.User != "" {
		it.about = append(it.about, attribute.String("user.name", it.User))
	}
	return it, nil
}

// name is the name of the event: gate.decision, gate.sync, gate.gap or gate.log.
func (it *item) name() string { return strings.ReplaceAll(it.path, "/", ".") }

// isDecision reports that the item is no gap, no finding, no review, and about no bundle.
func (it *item) isDecision() bool { return !it.bad && it.IsDecision() }

func (it *item) line() string {
	switch {
	case it.Sync != nil:
		return "bundle " + it.Sync.Name + " " + it.Sync.Digest
	case it.Review != nil:
		return "review of " + it.Review.Of + ": " + it.Review.Says.String()
	case it.bad:
		return "the log: " + it.name()
	}
	return strings.Join(strings.Fields(disposition(&it.Record)+" "+string(it.Event)+" "+it.Tool), " ")
}

// told are the values of a document of gate's own, in order.
func told(path string, result map[string]any) []attribute.KeyValue {
	prefix := strings.ReplaceAll(path, "/", ".") + "."
	var out []attribute.KeyValue
	for _, key := range slices.Sorted(maps.Keys(result)) {
		switch v := result[key].(type) {
		case string:
			out = append(out, attribute.String(prefix+key, v))
		case bool:
			out = append(out, attribute.Bool(prefix+key, v))
		case float64:
			out = append(out, attribute.Int64(prefix+key, int64(v)))
		default:
			text, _ := json.Marshal(v) // it was read from JSON
			out = append(out, attribute.String(prefix+key, string(text)))
		}
	}
	return out
}

// disposition is the decision in the words of the Agent Control Standard.
func disposition(r *audit.Record) string {
	switch {
	case r.Approved:
		return "allow"
	case r.Effect == hook.Ask:
		return "ask"
	case r.Result == hook.Reject || r.Effect > hook.Ask:
		return "deny"
	case r.Result == hook.ModifyInput || len(r.Changed) > 0:
		return "modify"
	}
	return "allow"
}

// decision is what a record says. Its names are those of OpenTelemetry's conventions
// for generative AI and of the Agent Control Standard; names of neither begin with
// gate.
func (f *Form) decision(r *audit.Record) []attribute.KeyValue {
	out := []attribute.KeyValue{
		attribute.String("acs.decision", disposition(r)), attribute.String("acs.evaluator", "gate"),
		attribute.String("gate.decision.id", r.ID), attribute.String("gate.event", string(r.Event)), attribute.String("gate.effect", r.Effect.String()),
		attribute.Float64("gate.duration_ms", milliseconds(r.Took)),
	}
	text := func(key, value string) {
		if value != "" {
			out = append(out, attribute.String(key, value))
		}
	}
	list := func(key string, values []string) {
		if len(values) > 0 {
			out = append(out, attribute.StringSlice(key, values))
		}
	}
	if r.Whole > 0 {
		out = append(out, attribute.Float64("gate.call.duration_ms", milliseconds(r.Whole)))
	}
	if r.Approved {
		out = append(out, attribute.Bool("gate.approved", true))
	}
	if r.Halt {
		out = append(out, attribute.Bool("gate.halt", true))
	}
	text("gen_ai.agent.name", r.Agent)
	text("gen_ai.conversation.id", r.Session)
	text("gen_ai.tool.name", r.Tool)
	text("gen_ai.tool.call.id", callID(r))
	text("gate.confined", r.Confined)
	text("gate.result", string(r.Result))
	list("gate.policy.ids", ids(r.Reasons))
	list("gate.warning.ids", ids(r.Warned))
	list("gate.would.ids", wouldIDs(r.Policies))
	list("gate.bundles", bundleNames(r.Bundles))
	if len(r.Faults) > 0 {
		out = append(out, attribute.Int("gate.faults", len(r.Faults)))
	}
	if p := r.Place; p != nil {
		out = append(out, attribute.String("gate.chain.log", p.Log), attribute.Int64("gate.chain.seq", p.Seq))
		text("gate.chain.prev", p.Prev)
	}
	if f.text {
		text("gate.call", r.Call)
		text("gate.cwd", r.Dir)
		text("gen_ai.tool.call.arguments", arguments(r))
		if len(r.Reasons) > 0 {
			text("acs.reasoning", r.Reasons[0].Reason)
		}
		list("gate.fault.texts", r.Faults)
	}
	return out
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

func ids(list []audit.Reason) []string {
	var out []string
	for _, why := range list {
		if !slices.Contains(out, why.ID) {
			out = append(out, why.ID)
		}
	}
	return out
}

// wouldIDs are the policies whose word did not follow, as on trial.
func wouldIDs(list []audit.Policy) []string {
	var out []string
	for i := range list {
		if list[i].Objects() {
			out = append(out, list[i].ID)
		}
	}
	return out
}

func bundleNames(list []audit.Bundle) []string {
	var out []string
	for _, b := range list {
		out = append(out, b.Name+"@"+b.Revision)
	}
	return out
}

// callID is the agent's name of the call, "" where the log does not have it.
func callID(r *audit.Record) string {
	if r.Kept == nil {
		return ""
	}
	id, _ := r.Kept.Input["tool_use_id"].(string)
	return id
}

// arguments are what the call was made with, as JSON, redacted and cut as in the log.
func arguments(r *audit.Record) string {
	if r.Kept == nil || r.Kept.Input["tool_input"] == nil {
		return ""
	}
	text, err := json.Marshal(r.Kept.Input["tool_input"])
	if err != nil {
		return ""
	}
	return string(text)
}

// traceID names the trace of a record without a caller's: the same for all events of a
// call, and for the record whenever it is sent.
func (it *item) traceID() trace.TraceID {
	from := "key\x00" + it.key
	if id := callID(&it.Record); id != "" && it.Session != "" {
		from = "call\x00" + it.Agent + "\x00" + it.Session + "\x00" + id
	}
	sum := sha256.Sum256([]byte("trace\x00" + from))
	return trace.TraceID(sum[:16])
}

// spanID is that of the record's span.
func (it *item) spanID() trace.SpanID {
	sum := sha256.Sum256([]byte("span\x00" + it.key))
	return trace.SpanID(sum[:8])
}

// parent is the caller's span; not valid where the record has none.
func (it *item) parent() trace.SpanContext {
	words := strings.Split(it.Trace, "-")
	if len(words) != 4 {
		return trace.SpanContext{}
	}
	traceID, err := trace.TraceIDFromHex(words[1])
	spanID, spanErr := trace.SpanIDFromHex(words[2])
	if err != nil || spanErr != nil {
		return trace.SpanContext{}
	}
	var flags trace.TraceFlags
	if strings.ContainsRune("13579bdf", rune(words[3][1])) {
		flags = trace.FlagsSampled
	}
	return trace.NewSpanContext(trace.SpanContextConfig{TraceID: traceID, SpanID: spanID, TraceFlags: flags, Remote: true})
}

// span is where the record's own span is.
func (it *item) span() trace.SpanContext {
	id := it.traceID()
	if up := it.parent(); up.IsValid() {
		id = up.TraceID()
	}
	return trace.NewSpanContext(trace.SpanContextConfig{TraceID: id, SpanID: it.spanID(), TraceFlags: trace.FlagsSampled})
}
