package audit

import (
	"gate/hook"
	"gate/internal/strictjson"
)

// A Kept is what a record keeps of the event and the decision beyond its first
// line, so that the decision can be explained, tested and made again. Every
// string in it is redacted, and what was too long is cut.
type Kept struct {
	// Input is the document that policies saw as input (see
	// [hook.Event.Document]), less input.facts where these were too large or
	// are not of this input.
	Input map[string]any

	Rewrite any // the whole final input or prompt; nil if unchanged

	input, rewrite rendered // what [Record.Keep] made, in place of the above

	Cut      []Cut    // what was left out
	Redacted []string // JSON pointers to what lost a secret, such as "/input/tool_input/command"
}

// Final is Rewrite, also of a record that [Record.Keep] made and nobody has read
// from a log.
func (k *Kept) Final() any {
	if k.rewrite == nil {
		return k.Rewrite
	}
	v, err := strictjson.Decode(k.rewrite, strictjson.Limits{})
	if err != nil {
		return nil // it was written a moment ago
	}
	return v
}

// Seen is Input, also of a record that [Record.Keep] made and nobody has read from a log.
func (k *Kept) Seen() map[string]any {
	if k.input == nil {
		return k.Input
	}
	m, err := strictjson.Object(k.input, strictjson.Limits{})
	if err != nil {
		return nil // it was written a moment ago
	}
	return m
}

// rendered is a value that was written already; nil: it was not.
type rendered []byte

// write writes it, or v where it was not.
func (r rendered) write(w *strictjson.Writer, v any) {
	if r == nil {
		w.Value(v)
		return
	}
	w.Written(r)
}

// A Cut is one value that was too large.
type Cut struct {
	At    string // JSON pointer, such as "/input/tool_input/content"
	Bytes int    // how long it was; 0 where nobody counted
}

// Limits of what a record keeps. One line stays below [MaxRecord].
const (
	maxField  = 8 << 10  // bytes of one text
	maxOutput = 512      // of one text of a tool's output
	maxInput  = 32 << 10 // of the event, as counted while it is copied
	maxFacts  = 48 << 10 // of the facts: more, and they are left out whole
	maxMarks  = 64       // entries of Cut and of Redacted
	maxNested = 70       // strictjson's own limit, and what stands above it here
)

// Keep adds the event and what was rewritten. facts are those of ev as it came;
// nil leaves them out.
func (r *Record) Keep(ev *hook.Event, d *hook.Decision, facts *hook.Facts, hidden ...string) {
	var known secrets
	for _, text := range hidden {
		known.add(text)
	}
	k := keeper{line: known.ofCall(ev, facts), path: make([]string, 0, 16), keys: make([]string, 0, 64)}
	k.secrets, k.out.JSON = known, make([]byte, 0, usual)
	doc := ev.DocumentWith(nil)
	delete(doc, "facts")
	delete(doc, "flow") // which most calls have none of
	var ofFacts marks
	if facts != nil {
		var all rendered
		if all, ofFacts = k.facts(facts); all != nil {
			doc["facts"] = all
		}
		if n := len(facts.Flow); n > 0 {
			list := make([]any, n)
			for i := range list {
				list[i] = hook.Tree(&facts.Flow[i])
			}
			doc["flow"] = list
		}
	}
	k.line = nil
	input, m := k.keep(doc, maxInput, "input")
	kept := &Kept{input: input}
	kept.mark(m)
	if d.Rewrite != nil {
		kept.rewrite, m = k.keep(d.Inside(), maxInput/2, "result", "rewrite")
		kept.mark(m)
	}
	kept.mark(ofFacts)
	r.Kept = kept
	r.mask(&known)
}

// usual is what the facts of a call and the call with them take, together.
const usual = 4 << 10

// marks are what was done to a tree.
type marks struct {
	cuts     []Cut
	redacted []string // in order
}

func (k *Kept) mark(m marks) {
	k.Cut, k.Redacted = append(k.Cut, m.cuts...), append(k.Redacted, m.redacted...)
}
