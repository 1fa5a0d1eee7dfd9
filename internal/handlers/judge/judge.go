// Package judge asks language models whether a call may be made.
//
// It redacts the event, keeps it apart from the question, and accepts one form of
// answer only. It does not decide what a verdict does, nor which hook asks:
// internal/handlers and the engine do. Start with [New], then [Judge.Ask] for a
// question or [Judge.Investigate] where the model may look into the project's files.
package judge

import (
	"context"
	"errors"
	"fmt"
	"time"

	"gate/hook"
	"gate/internal/audit"
	"gate/internal/secret"
	"gate/internal/setting"
	"gate/internal/strictjson"
	"gate/scopes"
)

// Options are what judges may use of the world. The zero value has no
// providers: every question is then a fault.
type Options struct {
	// Settings say which providers there are, who is asked by default, and how
	// long verdicts are kept.
	Settings scopes.Settings

	// Getenv looks up the variables that hold keys. nil: there are none.
	Getenv func(name string) (value string, ok bool)

	// Dir is a directory of gate's own for verdicts that are kept; it is made
	// if need be. "": none are kept.
	Dir string

	// Secret reports files that an investigation must not see, by absolute
	// path, as facts.Reader.Secret tells. nil: it sees none.
	Secret func(path string) bool

	// Models makes the clients of providers; nil: every question is a fault.
	Models Models

	Now func() time.Time // nil: time.Now
}

// A Judge asks models. It is safe for concurrent use.
type Judge struct {
	Options
	cache cache
}

// New returns a Judge that uses nothing but o. It connects to nobody.
func New(o Options) *Judge {
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Judge{o, cache{o.Dir}}
}

// A Question is one hook's about one event.
type Question struct {
	Prompt     string         // what is asked; $ARGUMENTS stands for the event
	Model      string         // a provider, provider/model, a model of the default provider, or ""
	Authority  hook.Authority // whose hook asks
	Event      *hook.Event
	Transcript bool   // the end of the conversation is shown, too, and an investigation may search all of it
	Project    string // the directory that an investigation may look into
}

// A Ruling is what a judge said. Its usage is filled in with faults, too.
type Ruling struct {
	OK     bool
	Reason string // why not; without control characters, at most [MaxReason] bytes
	Usage  hook.Usage
}

// MaxReason is how much of a reason is taken, in bytes.
const MaxReason = 2 << 10

// Ask has a model answer a question at once. The fault is nil if it did. A
// ruling with a fault that is not OK is an objection in a wrong form.
func (j *Judge) Ask(ctx context.Context, q Question) (Ruling, *hook.Fault) {
	c, fault := j.open(q)
	if fault != nil {
		return Ruling{}, fault
	}
	key := c.key(q)
	if r, ok := j.cache.get(key, j.Now(), c.keep); ok {
		r.Usage.Provider, r.Usage.Model, r.Usage.Cached = c.provider, c.modelName, true
		return r, nil
	}
	c.system = systemPrompt
	c.say(c.data.question(q.Prompt))
	rep, fault := c.turn(ctx, nil)
	if fault != nil {
		return Ruling{Usage: c.usage}, fault
	}
	r, fault := c.ruling(rep)
	if fault == nil {
		j.cache.put(key, r, j.Now(), c.keep)
	}
	return r, fault
}

// MaxTurns is how often a model is asked in one investigation.
const MaxTurns = 50

// Investigate has a model answer a question after it looked into the project
// with the tools Read, Grep and Glob, and searched the conversation if the question
// shows it. Its verdicts are not kept: the files may
// be others the next time.
func (j *Judge) Investigate(ctx context.Context, q Question) (Ruling, *hook.Fault) {
	c, fault := j.open(q)
	if fault != nil {
		return Ruling{}, fault
	}
	files, err := openFiles(q.Project, j.Secret, c.masker)
	if err != nil {
		return Ruling{Usage: c.usage}, hook.Faultf(hook.FaultEval, "the project cannot be looked into: %w", err)
	}
	defer files.close()
	files.tools, files.transcript = offered(q), q.Event.Text("transcript_path")
	searches := ""
	if q.Transcript {
		searches = searchPrompt
	}
	c.system = systemPrompt + fmt.Sprintf(toolPrompt, searches)
	c.say(c.data.question(q.Prompt))
	for c.usage.Turns < MaxTurns {
		last := c.usage.Turns == MaxTurns-1
		rep, fault := c.turn(ctx, &Toolbox{files.tools, last})
		if fault != nil {
			return Ruling{Usage: c.usage}, fault
		}
		if len(rep.Calls) == 0 {
			return c.ruling(rep)
		}
		c.messages = append(c.messages, Message{Assistant: true, Text: rep.Text, Calls: rep.Calls})
		c.messages = append(c.messages, Message{Results: files.answer(ctx, rep.Calls, &c.data)})
	}
	return Ruling{Usage: c.usage}, hook.Faultf(hook.FaultTimeout, "%s/%s gave no answer in %d turns", c.provider, c.modelName, MaxTurns)
}

// A conversation is one question under way.
type conversation struct {
	provider, modelName string
	from                setting.Provider
	model               Model
	keep                time.Duration
	masker              *audit.Masker
	data                data
	system              string
	messages            []Message
	usage               hook.Usage
}

// open finds the provider that a question is for, and prepares what it is to be
// told.
func (j *Judge) open(q Question) (*conversation, *hook.Fault) {
	name, p, judges, err := j.Settings.Judge(q.Authority, q.Model)
	if err != nil {
		return nil, &hook.Fault{Kind: hook.FaultLoad, Err: err}
	}
	c := &conversation{provider: name, modelName: p.Model, from: p, keep: judges.Keep, masker: audit.NewMasker(q.Event)}
	c.usage.Provider, c.usage.Model = c.provider, c.modelName
	if c.model, err = j.model(name, p); err != nil {
		return nil, &hook.Fault{Kind: hook.FaultLoad, Err: err}
	}
	if c.data, err = dataOf(q, c.masker); err != nil {
		return nil, &hook.Fault{Kind: hook.FaultEval, Err: err}
	}
	return c, nil
}

func (c *conversation) say(text string) { c.messages = append(c.messages, Message{Text: text}) }

// turn asks the model once; with a toolbox it may use tools instead of an
// answer.
func (c *conversation) turn(ctx context.Context, t *Toolbox) (Reply, *hook.Fault) {
	c.usage.Turns++
	rep, err := c.model(ctx, c.system, c.messages, t)
	c.usage.InputTokens += rep.Input
	c.usage.OutputTokens += rep.Output
	who := c.provider + "/" + c.modelName
	switch {
	case err == nil && rep.Cut:
		return rep, hook.Faultf(hook.FaultOutput, "%s was cut off in its answer", who)
	case err == nil:
		return rep, nil
	case ctx.Err() != nil && errors.Is(ctx.Err(), context.Canceled):
		return rep, &hook.Fault{Kind: hook.FaultTimeout, Err: context.Canceled}
	case ctx.Err() != nil:
		return rep, hook.Faultf(hook.FaultTimeout, "%s did not answer in time", who)
	case errors.Is(err, ErrTooMuch):
		return rep, hook.Faultf(hook.FaultOutput, "%s: %w", who, err)
	}
	return rep, hook.Faultf(hook.FaultEval, "%s cannot be asked: %s", who, oneLine(err.Error()))
}

// ruling reads the last reply.
func (c *conversation) ruling(rep Reply) (Ruling, *hook.Fault) {
	r, err := parseRuling(rep.Text)
	r.Usage = c.usage
	if err != nil {
		return r, hook.Faultf(hook.FaultOutput, "%s/%s answered with what is no answer: %w", c.provider, c.modelName, err)
	}
	return r, nil
}

// key is what a verdict is kept under: all that the model is told but for the
// fence, and who it is.
func (c *conversation) key(q Question) []any {
	return []any{c.from.Type, c.from.URL, c.from.Model, q.Prompt, systemPrompt, c.data.event, c.data.transcript}
}

// oneLine is a stranger's text for a message.
func oneLine(s string) string {
	return fmt.Sprint(clip(visibleLine(secret.Redact(clip(s, 4*maxMessage))), maxMessage))
}

// maxMessage bounds what a message has of a stranger's text, in bytes.
const maxMessage = 300

func limits(bytes int) strictjson.Limits { return strictjson.Limits{Bytes: bytes} }
