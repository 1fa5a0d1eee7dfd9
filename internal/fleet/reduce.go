package fleet

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"gate/internal/audit"
	"gate/internal/strictjson"
)

// A Reducer makes of the lines of a log what may leave the machine.
type Reducer struct {
	Level      Level // Effects or Text; at Counts nothing is sent
	Pseudonyms Pseudonyms

	// Homes are the spellings of the home directory of the account whose log it is: Text
	// has ~ in their place.
	Homes []string
}

// limits are those of a record: of what the log reads.
var limits = strictjson.Limits{Bytes: audit.MaxRecord, Depth: 100}

// Reduce returns what is sent of a line, which is a record, a gap or a finding: compact JSON
// with sorted keys, the same whenever it is called. Of a record, custom.gate.chain has the
// digest of the line in addition, which the next record's prev repeats.
func (r *Reducer) Reduce(line []byte) ([]byte, error) {
	doc, err := strictjson.Object(line, limits)
	if err != nil {
		return nil, err
	}
	if path := text(doc, "path"); !slices.Contains(paths(), path) {
		return nil, errors.New("path: it is no record, gap or finding")
	}
	// The key of a finding has the account in it.
	if name := text(doc, "requested_by"); name != "" && text(doc, "decision_id") != "" {
		doc["decision_id"] = strings.ReplaceAll(text(doc, "decision_id"), "-"+name+"-", "-"+r.Pseudonyms.Account(name)+"-")
	}
	switch r.Level {
	case Text:
		r.text(doc)
	case Effects:
		doc = r.effects(doc)
	default:
		return nil, errors.New("this level sends no records")
	}
	if c := object(object(object(doc, "custom"), "gate"), "chain"); c != nil {
		sum := sha256.Sum256(line)
		c["digest"] = hex.EncodeToString(sum[:])
	}
	return strictjson.Append(nil, doc), nil
}

// paths are those of what is sent.
func paths() []string {
	return []string{audit.DecisionPath, audit.SyncPath, audit.ReviewPath, audit.GapPath, audit.FindingPath}
}

// object is a member that is an object, nil where it is none.
func object(m map[string]any, key string) map[string]any {
	o, _ := m[key].(map[string]any)
	return o
}

// objects are the objects of a list.
func objects(m map[string]any, key string) []map[string]any {
	list, _ := m[key].([]any)
	var out []map[string]any
	for _, v := range list {
		if o, ok := v.(map[string]any); ok {
			out = append(out, o)
		}
	}
	return out
}

// A picker takes members of one object over into another, each as its kind demands. What
// has another form is left out.
type picker struct {
	Pseudonyms
	from, to map[string]any
}

func (r *Reducer) pick(from map[string]any) picker {
	return picker{r.Pseudonyms, from, map[string]any{}}
}

// names takes names that the machine's configuration gives, and words of gate's own.
func (p picker) names(keys ...string) picker { return p.plain(2, keys) }

// words takes names that an agent gives.
func (p picker) words(keys ...string) picker { return p.plain(0, keys) }

func (p picker) plain(blanks int, keys []string) picker {
	for _, key := range keys {
		if s := text(p.from, key); s != "" {
			p.to[key] = p.name(s, blanks)
		}
	}
	return p
}

// numbers takes whole numbers.
func (p picker) numbers(keys ...string) picker {
	for _, key := range keys {
		if n, ok := p.from[key].(json.Number); ok {
			if i, err := n.Int64(); err == nil {
				p.to[key] = i
			}
		}
	}
	return p
}

// truths takes what is true.
func (p picker) truths(keys ...string) picker {
	for _, key := range keys {
		if p.from[key] == true {
			p.to[key] = true
		}
	}
	return p
}

// times takes moments.
func (p picker) times(keys ...string) picker {
	for _, key := range keys {
		s, _ := p.from[key].(string)
		if t, err := time.Parse(time.RFC3339Nano, s); err == nil {
			p.to[key] = t.UTC().Format("2006-01-02T15:04:05.000000Z")
		}
	}
	return p
}

// as puts a value under a key, unless it is empty.
func (p picker) as(key string, v any) picker {
	switch v := v.(type) {
	case string:
		if v == "" {
			return p
		}
	case []any:
		if len(v) == 0 {
			return p
		}
	case map[string]any:
		if len(v) == 0 {
			return p
		}
	}
	p.to[key] = v
	return p
}

func text(m map[string]any, key string) string {
	s, _ := m[key].(string)
	return s
}

// effects keeps kinds, ids and numbers.
func (r *Reducer) effects(doc map[string]any) map[string]any {
	p := r.pick(doc).names("decision_id").times("timestamp").as("path", text(doc, "path"))
	p.as("labels", r.labels(object(doc, "labels")))
	p.as("requested_by", r.Pseudonyms.Account(text(doc, "requested_by")))
	p.as("bundles", r.bundles(object(doc, "bundles")))
	p.as("metrics", r.pick(object(doc, "metrics")).numbers("timer_gate_call_ns", "timer_gate_decision_ns").to)
	result := object(doc, "result")
	switch text(doc, "path") {
	case audit.GapPath:
		return p.as("result", r.pick(result).words("log").numbers("from", "to").to).to
	case audit.FindingPath:
		f := r.pick(result).words("problem", "log").numbers("seq")
		return p.as("result", f.as("before", r.pick(object(result, "before")).words("log").numbers("seq").to).to).to
	case audit.SyncPath:
		p.as("result", r.sync(result))
	case audit.ReviewPath:
		review := object(result, "review")
		p.as("result", r.pick(result).words("effect", "result").as("review", r.pick(review).names("decision", "decision_id").words("says").as("policies", r.list(review["policies"])).to).to)
	default:
		p.as("result", r.result(result))
	}
	own := r.gate(object(object(doc, "custom"), "gate"))
	if call := r.Pseudonyms.call(text(object(object(doc, "custom"), "gate"), "session"), text(object(doc, "input"), "tool_use_id")); call != "" {
		own["call_id"] = call
	}
	if kinds := kindsOf(doc); len(kinds) > 0 {
		own["effects"] = kinds
	}
	return p.as("custom", map[string]any{"gate": own}).to
}

// maxLabel is the longest label that is kept, in bytes.
const maxLabel = 128

// labels are the administrator's words, and stay.
func (r *Reducer) labels(from map[string]any) map[string]any {
	out := map[string]any{}
	for name, v := range from {
		if s, ok := v.(string); ok && isPlain(name, 2) && len(s) <= maxLabel {
			out[name] = s
		}
	}
	return out
}

func (r *Reducer) bundles(from map[string]any) map[string]any {
	out := map[string]any{}
	for name := range from {
		out[r.Pseudonyms.name(name, 2)] = r.pick(object(from, name)).names("revision", "digest").to
	}
	return out
}

// result is a decision.
func (r *Reducer) result(from map[string]any) map[string]any {
	p := r.pick(from).words("effect", "result").truths("halt").as("reasons", r.reasons(from, "source")).as("changed_by", r.list(from["changed_by"]))
	if list, ok := from["faults"].([]any); ok && len(list) > 0 {
		p.to["faults"] = int64(len(list))
	}
	return p.to
}

// sync is what became of a bundle. The source of its reasons is an address, and stays away.
func (r *Reducer) sync(from map[string]any) map[string]any {
	p := r.pick(from).words("effect", "result", "what", "digest").names("name").numbers("before", "version").truths("trial")
	return p.as("reasons", r.reasons(from)).as("signers", r.list(from["signers"])).to
}

func (r *Reducer) reasons(from map[string]any, more ...string) []any {
	var out []any
	for _, why := range objects(from, "reasons") {
		out = append(out, r.pick(why).words("effect").names("id").names(more...).to)
	}
	return out
}

// list is a list of names.
func (r *Reducer) list(v any) []any {
	list, _ := v.([]any)
	var out []any
	for _, s := range list {
		if s, ok := s.(string); ok {
			out = append(out, r.Pseudonyms.name(s, 2))
		}
	}
	return out
}

// gate is what OPA's records have no place for.
func (r *Reducer) gate(from map[string]any) map[string]any {
	p := r.pick(from).words("agent", "event", "id", "tool").numbers("v").truths("approved")
	p.as("session", r.Pseudonyms.Session(text(from, "session"))).as("project", r.Pseudonyms.Project(text(from, "project")))
	p.as("chain", r.pick(object(from, "chain")).words("log", "prev").numbers("seq").to)
	p.as("confined", r.pick(object(from, "confined")).names("profile").to)
	var policies []any
	for _, policy := range objects(from, "policies") {
		one := r.pick(policy).names("id", "source", "kind").words("effect", "outcome", "digest").numbers("took_us", "runs")
		if would := object(policy, "would"); would != nil {
			one.as("would", r.pick(would).words("effect", "spared_by").truths("rewrite").to)
		}
		policies = append(policies, one.to)
	}
	return p.as("policies", policies).to
}

// kindsOf are the kinds of effects that the facts of a record have, each once, in order.
func kindsOf(doc map[string]any) []any {
	var kinds []string
	for _, e := range objects(object(object(doc, "input"), "facts"), "effects") {
		if kind := text(e, "kind"); kind != "" && isPlain(kind, 0) { // an administrator's rows may have others
			kinds = append(kinds, kind)
		}
	}
	slices.Sort(kinds)
	var out []any
	for _, kind := range slices.Compact(kinds) {
		out = append(out, kind)
	}
	return out
}
