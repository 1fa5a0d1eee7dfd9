package hookpath

import (
	"bytes"
	"context"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"gate/engine"
	"gate/hook"
	"gate/internal/core"
	"gate/internal/session"
	"gate/scopes"
)

// nothing follows from decisions.
type nothing struct{}

func (nothing) Started(session.Kind, string, *hook.Event, *hook.Decision) []session.Registration {
	return nil
}
func (nothing) Late(*hook.Event, *hook.Decision)                                  {}
func (nothing) Offer(context.Context, *core.Session, *hook.Event, *hook.Decision) {}
func (nothing) Notes(*hook.Event, *hook.Decision) []string                        { return nil }

// TestHolds holds that no decision counts of a gate that was made of what is not
// there any more, whatever else the gate can do: the call is handed over, and
// closed by a program that cannot.
func TestHolds(t *testing.T) {
	for _, test := range []struct {
		name        string
		beyond      core.Beyond
		holds       func() error
		last        bool // there is nobody to hand over to
		handed, ran bool
	}{
		{name: "it holds", holds: func() error { return nil }, ran: true},
		{name: "nothing can change", ran: true},
		{name: "something changed", holds: func() error { return errors.New("changed") }, handed: true},
		{name: "something changed, and it can do more", beyond: nothing{}, holds: func() error { return errors.New("changed") }, handed: true},
		{name: "something changed, and nobody else is there", beyond: nothing{}, holds: func() error { return errors.New("changed") }, last: true},
	} {
		t.Run(test.name, func(t *testing.T) {
			var stdout bytes.Buffer
			handed := false
			p := Process{
				Args:  []string{"--agent", "claude", "--event", "PreToolUse", "--state-dir", filepath.Join(t.TempDir(), "s"), "--user-dir", t.TempDir()},
				Stdin: strings.NewReader(bashEvent), Stdout: &stdout, Stderr: io.Discard,
				LookupEnv: func(string) (string, bool) { return "", false },
			}
			if !test.last {
				p.HandOver = func([]byte, Handed) error { handed = true; return errors.New("there is no other") }
			}
			status := Run(t.Context(), p, func(c *Call) (*core.Gate, error) {
				found := core.Found{Sources: []scopes.Source{{Name: "user", Scope: hook.Session, Authority: hook.User}}}
				return core.New(&found, c.Machine, nil, func(g *core.Gate) ([]engine.Option, engine.Evaluator, error) {
					g.Beyond, g.Holds = test.beyond, test.holds
					return []engine.Option{engine.WithInline()}, nil, nil
				})
			})
			if handed != test.handed || (status == 0) != test.ran {
				t.Errorf("handed over: %t, status %d, %s", handed, status, &stdout)
			}
		})
	}
}
