package replay

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"

	"gate/adapters"
	"gate/hook"
	"gate/internal/audit"
	"gate/internal/strictjson"
)

// MaxLine is the longest line that is read, in bytes. Transcripts hold whole
// files and images.
const MaxLine = 64 << 20

// ErrForeign says that a stream is nothing that calls can be read from, such as a
// program or a picture: no line of it is any of what [Read] knows, of long ones
// none of the first 64.
var ErrForeign = errors.New("no line of it is a decision of gate's, an event or an entry of a transcript")

// Read yields the calls of a stream in their order. What each line is it tells
// from the line: a record of a decision log, an event of the agent that the
// adapter speaks for, or an entry of a transcript. Entries that are no calls
// are passed over. A line that cannot be read is a Call with Lost, so that it is
// counted; an error is one of reading, or [ErrForeign], and the last. name is for
// positions.
func Read(in io.Reader, name string, adapter adapters.Adapter) iter.Seq2[*Call, error] {
	return func(yield func(*Call, error) bool) {
		r := reader{name: name, adapter: adapter}
		for line, err := range strictjson.Lines(in, MaxLine) {
			if err != nil {
				yield(nil, fmt.Errorf("%s: %w", name, err))
				return
			}
			r.line(line)
			if r.foreign(false) {
				break
			}
			if r.known && !r.flush(yield, false) {
				return
			}
		}
		if r.foreign(true) {
			yield(nil, fmt.Errorf("%s: %w", name, ErrForeign))
			return
		}
		r.flush(yield, true)
	}
}

// A reader makes calls of lines. Calls of a transcript wait for their results,
// but not for ever.
type reader struct {
	name     string
	adapter  adapters.Adapter
	waiting  []pending
	sessions map[string]string // the first directory of each session
	mode     string            // the permission mode that was last heard of
	known    bool              // a line was one of those that Read knows; until then nothing is yielded
}

// foreign reports that the stream, or what was read of it unless all is, holds
// nothing that Read knows.
func (r *reader) foreign(all bool) bool {
	return !r.known && (len(r.waiting) > maxWaiting || all && len(r.waiting) > 0)
}

// A pending call is yielded when it is done, or when too many wait.
type pending struct {
	*Call
	done bool // nothing more is to be learnt about it
}

// add takes in a call that is done.
func (r *reader) add(c *Call) { r.waiting = append(r.waiting, pending{c, true}) }

// maxWaiting is how many calls wait at most: an agent makes few at a time.
const maxWaiting = 64

// flush yields the calls that nothing more is to be learnt about.
func (r *reader) flush(yield func(*Call, error) bool, all bool) bool {
	for len(r.waiting) > 0 {
		first := r.waiting[0]
		if !first.done && !all && len(r.waiting) <= maxWaiting {
			return true
		}
		r.waiting = r.waiting[1:]
		if !yield(first.Call, nil) {
			return false
		}
	}
	return true
}

func (r *reader) line(line strictjson.Line) {
	c := &Call{At: fmt.Sprintf("%s:%d", r.name, line.Number)}
	if line.Long {
		c.Lost = fmt.Sprintf("the line is longer than %d bytes", MaxLine)
		r.add(c)
		return
	}
	var form struct {
		Path   string          `json:"path"`
		V      json.RawMessage `json:"v"`
		Effect json.RawMessage `json:"effect"`
		Event  json.RawMessage `json:"hook_event_name"`
		Type   json.RawMessage `json:"type"`
		Custom struct {
			Gate json.RawMessage `json:"gate"`
		} `json:"custom"`
	}
	err := json.Unmarshal(line.Text, &form)
	r.known = r.known || err == nil && (form.Event != nil || form.Type != nil || form.V != nil || form.Custom.Gate != nil || form.Path != "")
	switch {
	case err != nil:
		c.Lost = "no JSON object: " + err.Error()
		if other := (*json.UnmarshalTypeError)(nil); errors.As(err, &other) {
			c.Lost = "no JSON object, but another value: " + other.Value
		}
	case form.Event == nil && form.Type == nil && (form.Path == "gate/sync" || form.Path == "gate/review" || form.Path == "gate/gap"):
		return // of a decision log, and about no call
	case form.Event != nil:
		c.event(line.Text, r.adapter)
	case form.V != nil && form.Effect != nil, form.Custom.Gate != nil:
		c.record(line.Text)
	case form.Type != nil:
		r.entry(c, line.Text)
		return
	default:
		c.Lost = "neither a decision, nor an event, nor an entry of a transcript"
	}
	r.add(c)
}

// event makes a call of an event as an agent sends it.
func (c *Call) event(line []byte, adapter adapters.Adapter) {
	c.Kind = Event
	ev, err := adapter.Parse(line, "")
	c.Event = ev
	c.Event.Gate.Interactive = true
	if err != nil {
		c.Lost = err.Error()
	}
}

// record makes a call of a record of a decision log.
func (c *Call) record(line []byte) {
	c.Kind = Decision
	rec, err := audit.Parse(line)
	if err != nil {
		c.Lost = "no record of a decision: " + err.Error()
		return
	}
	c.Then, c.Project = &rec, rec.Project
	if c.Event, err = rec.Restore(); err != nil {
		c.Event = hook.Event{Agent: rec.Agent, Name: rec.Event, Fields: map[string]any{"tool_name": rec.Tool, "cwd": rec.Dir}}
		c.Lost = lostEvent(&rec, err)
		return
	}
	c.Event.Parts = adapters.Parts(&c.Event)
	c.Redacted = redacted(rec.Kept)
	for _, cut := range rec.Kept.Cut {
		if !strings.HasPrefix(cut.At, "/input/facts") && strings.HasPrefix(cut.At, "/input/") {
			c.Lost = pointers([]string{cut.At}) + " was too long for the log"
			if cut.Bytes > 0 {
				c.Lost += fmt.Sprintf(" (%d bytes)", cut.Bytes)
			}
			return
		}
	}
	doc, _ := rec.Kept.Input["facts"].(map[string]any)
	line2, _ := c.Event.ToolInput()["command"].(string)
	if doc == nil {
		err = errors.New("no facts")
	} else {
		c.Facts, err = hook.FactsOf(doc, rec.Kept.Input["flow"], line2)
	}
	if err != nil {
		c.Forget()
	}
}

func lostEvent(r *audit.Record, err error) string {
	if len(r.Faults) > 0 && r.Tool == "" {
		return "gate itself failed, and did not know the event: " + r.Faults[0]
	}
	return err.Error()
}

// redacted lists what of an event lost a secret; facts are of the same words.
func redacted(k *audit.Kept) []string {
	var out []string
	for _, at := range k.Redacted {
		if strings.HasPrefix(at, "/input/") && !strings.HasPrefix(at, "/input/facts/") {
			out = append(out, at)
		}
	}
	return out
}
