package replay

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"gate/hook"
	"gate/internal/strictjson"
)

// An entry is one line of a transcript, as far as calls are in it. Everything
// else that transcripts hold, today or in a later version, is passed over.
type entry struct {
	Type    string `json:"type"`
	Message struct {
		Content json.RawMessage `json:"content"`
	} `json:"message"`
	Meta       bool   `json:"isMeta"`
	Summary    bool   `json:"isCompactSummary"`
	Sidechain  bool   `json:"isSidechain"`
	Agent      string `json:"agentId"`
	Dir        string `json:"cwd"`
	Session    string `json:"sessionId"`
	Branch     string `json:"gitBranch"`
	Permission string `json:"permissionMode"`
	Time       string `json:"timestamp"`
}

// A block is one part of a message.
type block struct {
	Type   string          `json:"type"`
	ID     string          `json:"id"`
	Name   string          `json:"name"`
	Input  json.RawMessage `json:"input"`
	Text   string          `json:"text"`
	Result string          `json:"tool_use_id"`
	Error  bool            `json:"is_error"`

	Content json.RawMessage `json:"content"` // of a result: a text, or parts
}

// entry takes an entry of a transcript in; c is where it stands.
func (r *reader) entry(c *Call, line []byte) {
	var kind struct {
		Type string `json:"type"`
	}
	if json.Unmarshal(line, &kind) != nil || kind.Type != "user" && kind.Type != "assistant" {
		return
	}
	c.Kind = Transcript
	var e entry
	if err := json.Unmarshal(line, &e); err != nil {
		c.Lost = "an entry of a form that is not known: " + err.Error()
		r.add(c)
		return
	}
	if e.Permission != "" {
		r.mode = e.Permission
	}
	blocks := e.blocks()
	if e.Type == "assistant" {
		for _, b := range blocks {
			if b.Type == "tool_use" {
				call := r.toolUse(*c, &e, b)
				r.waiting = append(r.waiting, pending{call, call.Lost != ""})
			}
		}
		return
	}
	answered := false
	for _, b := range blocks {
		if b.Type == "tool_result" {
			answered = true
			r.result(b)
		}
	}
	if text := prompt(blocks); !answered && text != "" && !e.Meta && !e.Summary && !e.Sidechain {
		c.Event = r.eventOf(&e, hook.UserPromptSubmit, map[string]any{"prompt": text})
		c.Project, c.Branch = r.project(&e), e.Branch
		r.add(c)
	}
}

// blocks returns the parts of a message; a text alone is one part.
func (e *entry) blocks() []block { return blocksOf(e.Message.Content) }

func blocksOf(content json.RawMessage) []block {
	var text string
	if json.Unmarshal(content, &text) == nil {
		return []block{{Type: "text", Text: text}}
	}
	var parts []json.RawMessage
	if json.Unmarshal(content, &parts) != nil {
		return nil
	}
	var out []block
	for _, part := range parts {
		var b block
		if json.Unmarshal(part, &b) == nil { // else a part of another form
			out = append(out, b)
		}
	}
	return out
}

// notTyped begin the messages that stand in a transcript as the person's and
// are the program's own.
var notTyped = []string{
	"<command-", "<local-command-", "<bash-", "<system-reminder>", "<task-notification>", "[Request interrupted", "Caveat: ",
}

// prompt returns what a person wrote, "" if nobody did.
func prompt(blocks []block) string {
	var texts []string
	for _, b := range blocks {
		own := func(begin string) bool { return strings.HasPrefix(strings.TrimSpace(b.Text), begin) }
		if b.Type == "text" && strings.TrimSpace(b.Text) != "" && !slices.ContainsFunc(notTyped, own) {
			texts = append(texts, b.Text)
		}
	}
	return strings.Join(texts, "\n")
}

// toolUse makes a call of a tool's use, as its hook would have been asked.
func (r *reader) toolUse(c Call, e *entry, b block) *Call {
	fields := map[string]any{"tool_name": b.Name, "tool_use_id": b.ID}
	input, err := strictjson.Object(b.Input, strictjson.Limits{})
	if err != nil {
		c.Lost = fmt.Sprintf("input of %s: %v", strictjson.Visible(b.Name), err)
		input = map[string]any{}
	}
	fields["tool_input"] = input
	c.Event = r.eventOf(e, hook.PreToolUse, fields)
	c.Project, c.Branch = r.project(e), e.Branch
	if b.Name == "" {
		c.Lost = "a tool use without a tool"
	}
	return &c
}

// eventOf makes the event that belongs to an entry.
func (r *reader) eventOf(e *entry, name hook.Name, fields map[string]any) hook.Event {
	fields["hook_event_name"] = string(name)
	fields["session_id"] = e.Session
	fields["cwd"] = e.Dir
	if r.mode != "" {
		fields["permission_mode"] = r.mode
	}
	if e.Agent != "" || e.Sidechain {
		fields["agent_id"] = e.Agent
		if e.Agent == "" {
			fields["agent_id"] = "sidechain"
		}
	}
	ev := hook.Event{Agent: "claude", Name: name, Fields: fields}
	ev.Gate.Interactive = true
	ev.Gate.Now, _ = time.Parse(time.RFC3339Nano, e.Time)
	return ev
}

// maxSessions is how many sessions' directories are remembered at once.
const maxSessions = 10_000

// project is the first directory that a session was seen in.
func (r *reader) project(e *entry) string {
	if dir, ok := r.sessions[e.Session]; ok {
		return dir
	}
	if r.sessions == nil || len(r.sessions) >= maxSessions {
		r.sessions = map[string]string{}
	}
	r.sessions[e.Session] = e.Dir
	return e.Dir
}

// result tells the call that it is about how it ended. Calls that do not wait
// any more do not hear of it.
func (r *reader) result(b block) {
	for i := range r.waiting {
		if p := &r.waiting[i]; !p.done && p.Event.Text("tool_use_id") == b.Result {
			p.Failed, p.Ran, p.done, p.Output = b.Error, !b.Error, true, output(b)
			return
		}
	}
}

// output is the text of a result.
func output(result block) string {
	var texts []string
	for _, b := range blocksOf(result.Content) {
		if b.Type == "text" {
			texts = append(texts, b.Text)
		}
	}
	return strings.Join(texts, "\n")
}
