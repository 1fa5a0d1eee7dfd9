package store

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"gate/internal/strictjson"
)

// A Key names a record. All of it but the machine stands within the hash chain of the
// machine's log.
type Key struct {
	Day     string // of the record's time in UTC, "2026-11-28", or [OddDay]
	Machine string // that signed the request
	Log     string // the chain
	Seq     int64  // the place in it, from 1
}

// OddDay is the day of records whose time is so far from that of the collector that no
// day is kept for them: more than two days ahead, or longer ago than records are kept.
const OddDay = "odd"

// Compare orders keys as [Store.Records] does.
func (k Key) Compare(o Key) int {
	return cmp.Or(strings.Compare(k.Day, o.Day), strings.Compare(k.Machine, o.Machine), strings.Compare(k.Log, o.Log), cmp.Compare(k.Seq, o.Seq))
}

// Levels of privacy that a record is kept at.
const (
	LevelText    = "text"
	LevelEffects = "effects"
)

// A Record is one that a machine sent, and what of it can be asked for by name. All but
// Machine, Received and Team is read out of the body.
type Record struct {
	Key
	Prev   string // the digest of the line before, in hex; "" for a chain's first
	Digest string // of the line in the machine's log, in hex

	Level    string // LevelText or LevelEffects
	At       time.Time
	Received time.Time
	Team     string // of the machine when it was taken; "" where nobody said

	Path      string // "gate/decision" or "gate/sync"
	Account   string // a pseudonym; "" where it is not said
	Agent     string
	Session   string
	Project   string
	Event     string
	Tool      string
	Effect    string // pass, allow, ask or deny
	Result    string // continue, reject or modify_input
	Call      string // names the call among those of its log; "" where the record does not say
	Approved  bool   // a person had approved before
	Faults    int
	Policies  []Policy // that had an effect, or would have had one
	Effects   []string // kinds, sorted
	DecideNS  int64    // what gate took to decide; 0 where it is not known
	CallNS    int64    // what the agent waited; 0 where it is not known
	Bundles   []string // "name@revision", sorted; a trial is "trial:name@revision"
	DecidedBy string   // the decision's id, as it stands in reasons

	Body []byte // as sent
}

// A Policy is one that had a say in a decision, or would have had.
type Policy struct {
	ID     string `json:"id"`
	Source string `json:"source,omitempty"`
	Effect string `json:"effect"`
	Would  string `json:"would,omitempty"`  // what it would have done: ask, deny or change; "" where all followed
	Spared string `json:"spared,omitempty"` // what took from it: trial, exception, approval, level, off
}

// A Told is what a machine says of its own log in the place of records: what is missing,
// or that a log is not the one that was sent before.
type Told struct {
	Problem  string // "gap", "anew", "gone", "shorter", "unread"
	Log      string
	From, To int64 // of a gap
	Before   string
	Seq      int64 // of the others: the last record that counts as sent from now on
	SeqWas   int64 // and the one before
	At       time.Time
	Account  string
	Reason   string
	Body     []byte
}

// Calls reports that the record begins a call of a tool, which is what figures count.
func (r *Record) Calls() bool { return r.Path == pathDecision && r.Event == "PreToolUse" }

// ran reports that the record shows that a call was made.
func (r *Record) ran() bool {
	return r.Path == pathDecision && (r.Event == "PostToolUse" || r.Event == "PostToolUseFailure")
}

// Paths of the documents that machines send.
const (
	pathDecision = "gate/decision"
	pathSync     = "gate/sync"
	pathGap      = "gate/gap"
	pathLog      = "gate/log"
)

// MaxRecord is the largest record that is taken, in bytes.
const MaxRecord = 1 << 20

const maxWord = 256 // bytes of what is kept in a column

// wire is what is read of a record as sent.
type wire struct {
	Bundles map[string]struct {
		Revision string `json:"revision"`
	} `json:"bundles"`
	Custom struct {
		Gate struct {
			Agent    string  `json:"agent"`
			Approved bool    `json:"approved"`
			CallID   string  `json:"call_id"`
			Call     *string `json:"call"`
			Cwd      *string `json:"cwd"`
			Chain    struct {
				Log    string `json:"log"`
				Seq    int64  `json:"seq"`
				Prev   string `json:"prev"`
				Digest string `json:"digest"`
			} `json:"chain"`
			Effects  []string `json:"effects"`
			Event    string   `json:"event"`
			ID       string   `json:"id"`
			Policies []struct {
				ID     string `json:"id"`
				Source string `json:"source"`
				Effect string `json:"effect"`
				Would  *struct {
					Effect  string `json:"effect"`
					Rewrite bool   `json:"rewrite"`
					Spared  string `json:"spared_by"`
				} `json:"would"`
			} `json:"policies"`
			Project string `json:"project"`
			Session string `json:"session"`
			Tool    string `json:"tool"`
		} `json:"gate"`
	} `json:"custom"`
	Input *struct {
		ToolUseID string `json:"tool_use_id"`
		Facts     struct {
			Effects []struct {
				Kind string `json:"kind"`
			} `json:"effects"`
		} `json:"facts"`
	} `json:"input"`
	Metrics struct {
		Call   int64 `json:"timer_gate_call_ns"`
		Decide int64 `json:"timer_gate_decision_ns"`
	} `json:"metrics"`
	Path      string    `json:"path"`
	User      string    `json:"requested_by"`
	Timestamp time.Time `json:"timestamp"`
	Result    struct {
		Effect string          `json:"effect"`
		Result string          `json:"result"`
		Faults json.RawMessage `json:"faults"`

		// Of gaps and findings.
		Log     string `json:"log"`
		From    int64  `json:"from"`
		To      int64  `json:"to"`
		Problem string `json:"problem"`
		Seq     int64  `json:"seq"`
		Reason  string `json:"reason"`
		Before  struct {
			Log string `json:"log"`
			Seq int64  `json:"seq"`
		} `json:"before"`
	} `json:"result"`
}

// ReadRecord reads a record as a machine sends it, or what it says in the place of one:
// one of the two is nil. Machine, Received and Team are for the caller to set, and Day
// is that of the record's time, whatever that is.
func ReadRecord(body []byte) (*Record, *Told, error) {
	if len(body) > MaxRecord {
		return nil, nil, fmt.Errorf("a record of %d bytes: %d are taken", len(body), MaxRecord)
	}
	if _, err := strictjson.Object(body, strictjson.Limits{Bytes: MaxRecord}); err != nil {
		return nil, nil, fmt.Errorf("a record: %w", err)
	}
	var w wire
	if err := json.Unmarshal(body, &w); err != nil {
		return nil, nil, errors.New("a record: a member has another type than gate's records have")
	}
	if w.Timestamp.IsZero() {
		return nil, nil, errors.New("a record: it has no timestamp")
	}
	switch w.Path {
	case pathGap, pathLog:
		t, err := w.told(body)
		return nil, t, err
	case pathDecision, pathSync:
		r, err := w.record(body)
		return r, nil, err
	}
	return nil, nil, fmt.Errorf("a record: its path %s is none of gate's", strictjson.Quoted(clip(w.Path)))
}

func (w *wire) record(body []byte) (*Record, error) {
	g := &w.Custom.Gate
	c := g.Chain
	switch {
	case c.Log == "" || len(c.Log) > 64 || strings.ContainsFunc(c.Log, notName) || c.Seq < 1:
		return nil, errors.New("a record: it has no place in a chain")
	case !isDigest(c.Digest) || c.Prev != "" && !isDigest(c.Prev) || (c.Prev == "") != (c.Seq == 1):
		return nil, errors.New("a record: its place in the chain has no digests")
	}
	r := &Record{
		Key: Key{Day: w.Timestamp.UTC().Format(time.DateOnly), Log: c.Log, Seq: c.Seq}, Prev: c.Prev, Digest: c.Digest,
		Level: LevelEffects, At: w.Timestamp.UTC(), Path: w.Path, Account: clip(w.User),
		Agent: clip(g.Agent), Session: clip(g.Session), Project: clip(g.Project), Event: clip(g.Event), Tool: clip(g.Tool),
		Effect: clip(w.Result.Effect), Result: clip(w.Result.Result), Call: clip(g.CallID), Approved: g.Approved,
		Faults: w.faults(), DecideNS: max(w.Metrics.Decide, 0), CallNS: max(w.Metrics.Call, 0), DecidedBy: clip(g.ID), Body: body,
	}
	if w.Input != nil || g.Call != nil || g.Cwd != nil {
		r.Level = LevelText
	}
	kinds := slices.Clone(g.Effects)
	if w.Input != nil {
		if r.Call == "" {
			r.Call = clip(w.Input.ToolUseID)
		}
		for _, e := range w.Input.Facts.Effects {
			kinds = append(kinds, e.Kind)
		}
	}
	r.Effects = words(kinds)
	for name, b := range w.Bundles {
		r.Bundles = append(r.Bundles, clip(name+"@"+b.Revision))
	}
	r.Bundles = words(r.Bundles)
	w.policies(r)
	return r, nil
}

// policies takes in those that had a say, or would have had.
func (w *wire) policies(r *Record) {
	for _, p := range w.Custom.Gate.Policies {
		out := Policy{ID: word(p.ID), Source: word(p.Source), Effect: word(p.Effect)}
		if would := p.Would; would != nil {
			out.Spared = word(would.Spared)
			switch {
			case would.Effect == "ask" || would.Effect == "deny":
				out.Would = would.Effect
			case would.Rewrite:
				out.Would = "change"
			}
		}
		if out.Effect == "pass" {
			out.Effect = ""
		}
		if out.ID != "" && (out.Effect != "" || out.Would != "") && !slices.ContainsFunc(r.Policies, func(q Policy) bool { return q.ID == out.ID && q.Source == out.Source }) {
			r.Policies = append(r.Policies, out)
		}
	}
}

// faults is how many could not answer: a count, or at level text the list of them.
func (w *wire) faults() int {
	var n int
	if json.Unmarshal(w.Result.Faults, &n) == nil {
		return max(n, 0)
	}
	var list []string
	if json.Unmarshal(w.Result.Faults, &list) == nil {
		return len(list)
	}
	return 0
}

func (w *wire) told(body []byte) (*Told, error) {
	f := w.Result
	t := &Told{Problem: f.Problem, Log: f.Log, From: f.From, To: f.To, Before: f.Before.Log, Seq: f.Seq, SeqWas: f.Before.Seq, At: w.Timestamp.UTC(), Account: clip(w.User), Reason: clip(f.Reason), Body: body}
	if w.Path == pathGap {
		t.Problem = "gap"
		if t.Log == "" || len(t.Log) > 64 || strings.ContainsFunc(t.Log, notName) || t.From < 1 || t.To < t.From {
			return nil, errors.New("a gap: it does not say of which chain, from where and to where")
		}
		return t, nil
	}
	if !slices.Contains([]string{"anew", "gone", "shorter", "unread"}, t.Problem) || len(t.Log) > 64 || len(t.Before) > 64 || strings.ContainsFunc(t.Log+t.Before, notName) {
		return nil, errors.New("a finding about a log: its problem is none of gate's")
	}
	return t, nil
}

// word makes a name that stands in a list with spaces between.
func word(s string) string { return strings.Join(strings.Fields(clip(s)), "_") }

// words sorts names, each once.
func words(list []string) []string {
	var out []string
	for _, s := range list {
		if s = word(s); s != "" {
			out = append(out, s)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// clip bounds what is kept in a column. PostgreSQL takes no NUL.
func clip(s string) string {
	s = strings.ReplaceAll(s, "\x00", "")
	if len(s) > maxWord {
		s = strings.ToValidUTF8(s[:maxWord], "")
	}
	return s
}

func isDigest(s string) bool {
	return len(s) == 64 && !strings.ContainsFunc(s, func(r rune) bool { return !(r >= '0' && r <= '9' || r >= 'a' && r <= 'f') })
}

func notName(r rune) bool { return r <= ' ' || r > '~' }
