package fleet

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"gate/internal/audit"
	"gate/internal/strictjson"
)

// A Sent is a record, a gap or a finding as a collector gets it. All of it is the machine's
// word: the machine itself is that of the request's signature.
type Sent struct {
	Key     string // decision_id: the same however often it is sent
	Path    string // audit.DecisionPath, SyncPath, ReviewPath, GapPath or FindingPath: what it is
	Time    time.Time
	Account string // a pseudonym
	Labels  map[string]string

	// Of a decision, a sync or a review. What the level leaves out is zero; Record.Place is never
	// nil.
	Record  audit.Record
	Digest  string   // of the line in the machine's log: the next record's Place.Prev
	Effects []string // kinds, each once, in order
	Faults  int
	Call    string // names the call in its log: in each record of one event of it; "" where the agent has no names for calls

	// Of a gap and a finding: the chain, and the first and last record that are missing, or
	// the last that counts as sent.
	Log      string
	From, To int64
	Problem  audit.ProblemKind // of a finding
	Before   audit.Cursor      // of a finding: how far it had been sent
}

// ParseSent reads one element of a batch. The error is one sentence.
func ParseSent(body []byte) (Sent, error) {
	doc, err := strictjson.Object(body, sentLimits)
	if err != nil {
		return Sent{}, err
	}
	s := Sent{Key: text(doc, "decision_id"), Path: text(doc, "path"), Account: text(doc, "requested_by"), Labels: map[string]string{}}
	for name, v := range object(doc, "labels") {
		if label, ok := v.(string); ok {
			s.Labels[name] = label
		}
	}
	if s.Time, err = time.Parse(time.RFC3339Nano, text(doc, "timestamp")); err != nil {
		return Sent{}, errors.New("timestamp: a time is wanted")
	}
	result := object(doc, "result")
	switch s.Path {
	case audit.GapPath:
		s.Log, s.From, s.To = text(result, "log"), number(result, "from"), number(result, "to")
		if s.Log == "" || s.From < 1 || s.To < s.From {
			return Sent{}, errors.New("gap: log, from and to are wanted")
		}
	case audit.FindingPath:
		before := object(result, "before")
		s.Problem, s.Log, s.To = audit.ProblemKind(text(result, "problem")), text(result, "log"), number(result, "seq")
		s.Before = audit.Cursor{Log: text(before, "log"), Seq: number(before, "seq")}
		if s.Problem == "" {
			return Sent{}, errors.New("finding: problem is wanted")
		}
	case audit.DecisionPath, audit.SyncPath, audit.ReviewPath:
		return s.record(body, doc)
	default:
		return Sent{}, fmt.Errorf("path: one of %s is wanted", strings.Join(paths(), ", "))
	}
	if s.Key == "" {
		return Sent{}, errors.New("decision_id: it is missing")
	}
	return s, nil
}

// sentLimits are those of a record, which is a little longer than its line: it has the
// digest in addition.
var sentLimits = strictjson.Limits{Bytes: audit.MaxRecord + 512, Depth: limits.Depth}

func (s Sent) record(body []byte, doc map[string]any) (Sent, error) {
	own := object(object(doc, "custom"), "gate")
	var err error
	if s.Record, err = audit.Parse(body); err != nil {
		return Sent{}, err
	}
	s.Digest = text(object(own, "chain"), "digest")
	if s.Record.Place == nil || len(s.Digest) != 64 || !isHex(s.Digest) {
		return Sent{}, errors.New("custom.gate.chain: a place with a digest is wanted")
	}
	switch faults := object(doc, "result")["faults"].(type) {
	case []any:
		s.Faults = len(faults)
	case json.Number:
		n, _ := faults.Int64()
		s.Faults = int(max(n, 0))
	}
	if s.Call = text(own, "call_id"); s.Call == "" {
		s.Call = text(object(doc, "input"), "tool_use_id")
	}
	kinds, ok := own["effects"].([]any)
	if !ok {
		kinds = kindsOf(doc)
	}
	for _, kind := range kinds {
		if kind, ok := kind.(string); ok {
			s.Effects = append(s.Effects, kind)
		}
	}
	return s, nil
}

func number(m map[string]any, key string) int64 {
	n, _ := m[key].(json.Number)
	i, _ := n.Int64()
	return i
}
