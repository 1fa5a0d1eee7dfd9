package past

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"iter"

	"gate/internal/replay"
	"gate/internal/session"
	"gate/internal/setup"
)

// NewFleet returns what decides calls of other machines: by the policies that are in
// force here, and by a candidate unless that is nil. No file and no variable of this
// machine has a say in the facts of a call, and no policies of projects take part. facts
// is [Recorded] or [Blind].
func NewFleet(s setup.Options, candidate *Proposal, facts string) *Replayer {
	s.LookupEnv, s.Files = func(string) (string, bool) { return "", false }, noFiles{}
	r := New(s, candidate, facts)
	r.fleet = true
	return r
}

// Part decides about the records of a part of a fleet, each after those that came before
// it there. It remembers nothing of other parts. Several parts may be decided at once.
func (r *Replayer) Part(ctx context.Context, held iter.Seq2[*replay.Held, error]) (*replay.Summary, error) {
	own := &Replayer{
		options: r.options, candidate: r.candidate, base: r.base, facts: r.facts, fleet: true, whole: r,
		gates: map[gateKey]*onceMade{}, roots: map[string]string{},
		memories: map[memoryKey]*session.Held{}, origins: map[string]*session.Lines{},
	}
	o := replay.Options{Now: own.decider(r.candidate != nil), Prepare: own.prepare}
	if r.candidate != nil {
		o.Then = own.decider(false)
	}
	return replay.Sum(ctx, held, o)
}

// Task names what is decided and by what, so that results of several processes are only
// taken together where they are of one replay.
func (r *Replayer) Task(of replay.Past) (replay.Task, error) {
	t := replay.Task{Held: of.Name(), Records: of.Records(), Facts: r.facts}
	var err error
	if r.candidate != nil {
		if t.Then, err = r.digest(false); err != nil {
			return t, err
		}
	}
	t.Now, err = r.digest(r.candidate != nil)
	return t, err
}

// digest is that of all that one side decides by.
func (r *Replayer) digest(candidate bool) (string, error) {
	made := r.made(gateKey{candidate: candidate})
	if made.err != nil {
		return "", made.err
	}
	l := made.gate.Loaded
	sum := sha256.New()
	add := func(v any) error {
		text, err := json.Marshal(v)
		if err == nil {
			_, err = fmt.Fprintf(sum, "%d\n%s\n", len(text), text)
		}
		return err
	}
	for i := range l.Sources {
		src := &l.Sources[i]
		_, _ = io.WriteString(sum, "source\n") // it cannot fail
		if err := add([]any{src.Name, src.Scope, src.Authority, src.Trusted, src.Modules, src.Data}); err != nil {
			return "", fmt.Errorf("to tell the policies of %s from others: %w", src.Name, err)
		}
		for _, h := range src.Hooks {
			if err := add([]any{h.ID, h.Authority}); err != nil {
				return "", err
			}
		}
	}
	if err := add([]any{l.Layers, l.Lib}); err != nil {
		return "", fmt.Errorf("to tell the settings from others: %w", err)
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}
