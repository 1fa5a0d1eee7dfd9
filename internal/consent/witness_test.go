package consent_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"gate/internal/consent"
)

func TestRefuse(t *testing.T) {
	set := func(names ...string) func(string) (string, bool) {
		return func(name string) (string, bool) {
			for _, n := range names {
				if n == name {
					return "", true
				}
			}
			return "", false
		}
	}
	process := func(args string, env ...string) consent.Ancestor {
		return consent.Ancestor{Args: strings.Fields(args), Environ: env}
	}
	for _, row := range []struct {
		name     string
		terminal bool
		lookup   func(string) (string, bool)
		above    []consent.Ancestor
		want     error
	}{
		{"a person", true, unset, nil, nil},
		{"a person below a shell", true, unset, []consent.Ancestor{process("-zsh", "HOME=/home/ada"), process("/usr/bin/tmux"), process("/sbin/init")}, nil},
		{"a person in an editor's terminal", true, set("CLAUDE_CODE_SSE_PORT", "CURSOR_TRACE_ID", "TERM_PROGRAM"), []consent.Ancestor{process("/usr/share/code/code --type=x")}, nil},
		{"a person who configures agents", true, set("CODEX_HOME", "CLAUDE_CODE_USE_BEDROCK", "GEMINI_API_KEY", "CLAUDE_CONFIG_DIR"), nil, nil},
		{"a file named like an agent", true, unset, []consent.Ancestor{process("vim notes claude")}, nil},
		{"a pipe", false, unset, nil, consent.NoTerminal},
		{"Claude Code", true, set("CLAUDECODE"), nil, consent.InAgent},
		{"a child of Claude Code", true, set("CLAUDE_CODE_CHILD_SESSION"), nil, consent.InAgent},
		{"Codex", true, set("CODEX_SANDBOX_NETWORK_DISABLED"), nil, consent.InAgent},
		{"Gemini", true, set("GEMINI_CLI"), nil, consent.InAgent},
		{"OpenCode", true, set("OPENCODE"), nil, consent.InAgent},
		{"Cursor", true, set("CURSOR_AGENT"), nil, consent.InAgent},
		{"somebody's AGENT", true, set("AGENT"), []consent.Ancestor{process("sh", "AGENT=smith")}, nil},
		{"an agent's AGENT", true, unset, []consent.Ancestor{process("sh", "AGENT=amp")}, consent.InAgent},
		{"an agent's pipe", false, set("AI_AGENT"), nil, consent.InAgent},
		{"environment cleared", true, unset, []consent.Ancestor{process("env -i sh"), process("sh -c x", "PATH=/bin", "CLAUDECODE=1")}, consent.InAgent},
		{"below the agent", true, unset, []consent.Ancestor{process("bash"), process("claude --resume")}, consent.InAgent},
		{"below its program", true, unset, []consent.Ancestor{process("/opt/Codex.exe")}, consent.InAgent},
		{"below its script", true, unset, []consent.Ancestor{process("node /usr/lib/node_modules/.bin/gemini.js -y")}, consent.InAgent},
	} {
		if got := consent.Refuse(row.terminal, row.lookup, row.above...); got != row.want {
			t.Errorf("%s: %v, want %v", row.name, got, row.want)
		}
	}
}

// No sentence says which sign gave the agent away, or how to go without it.
func TestSentences(t *testing.T) {
	all := []consent.Refusal{
		consent.NotAsked, consent.Off, consent.NoApproval, consent.Used, consent.Expired, consent.OtherDir, consent.OtherInput,
		consent.OtherAgent, consent.OtherFacts, consent.OtherCause, consent.NeedsKey, consent.BadKey, consent.NeverTrusted, consent.Changed,
		consent.NoTerminal, consent.InAgent, consent.WrongCode,
	}
	seen := map[consent.Refusal]bool{}
	for _, r := range all {
		if seen[r] || r == "" {
			t.Errorf("%q twice", r)
		}
		seen[r] = true
		for _, word := range []string{"CLAUDE", "CODEX", "environment", "variable", "parent", "process", "gate approve", "gate trust", "env", "unset", "pty", "stdin", "--"} {
			if strings.Contains(string(r), word) {
				t.Errorf("%q says %q", r, word)
			}
		}
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errors.New("closed") }

func TestConfirm(t *testing.T) {
	answer := func(s string) func(*consent.Terminal) {
		return func(c *consent.Terminal) { c.In = strings.NewReader(s) }
	}
	for _, row := range []struct {
		name string
		edit func(*consent.Terminal)
		want string
	}{
		{"a person", func(*consent.Terminal) {}, ""},
		{"yes", answer("yes\n"), "does not match"},
		{"y for ever", func(c *consent.Terminal) { c.In = endless{} }, "does not match"},
		{"nothing", answer(""), "does not match"},
		{"only return", answer("\n"), "does not match"},
		{"a line cut short", func(c *consent.Terminal) { c.In = io.LimitReader(c.In, 7) }, "does not match"},
		{"no terminal", func(c *consent.Terminal) { c.IsTerminal = false }, "only a person"},
		{"an agent", func(c *consent.Terminal) { c.Lookup = os.LookupEnv; t.Setenv("CLAUDECODE", "") }, "within an agent"},
		{"below an agent", func(c *consent.Terminal) { c.Above = []consent.Ancestor{{Args: []string{"claude"}}} }, "within an agent"},
		{"nobody", func(c *consent.Terminal) { c.Account = "" }, "not complete"},
		{"no time", func(c *consent.Terminal) { c.Now = time.Time{} }, "not complete"},
		{"no lookup", func(c *consent.Terminal) { c.Lookup = nil }, "not complete"},
		{"zero", func(c *consent.Terminal) { *c = consent.Terminal{} }, "not complete"},
		{"closed", func(c *consent.Terminal) { c.Err = failing{} }, "standard error: closed"},
	} {
		c := terminal(noon)
		row.edit(&c)
		w, err := consent.Confirm(c, "grant")
		if row.want == "" && (err != nil || w == nil) || row.want != "" && (w != nil || err == nil || !strings.Contains(err.Error(), row.want)) {
			t.Errorf("%s: %v, %v, want %q", row.name, w, err, row.want)
		}
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) { return copy(p, bytes.Repeat([]byte("y"), len(p))), nil }

// Each confirmation has a code of its own, and what is shown cannot steer the
// terminal.
func TestConfirmShows(t *testing.T) {
	seen := map[string]bool{}
	for range 50 {
		p := &person{}
		c := terminal(noon)
		c.In, c.Err = p, p
		if _, err := consent.Confirm(c, "run \x1b[2Jthis\u202e"); err != nil {
			t.Fatal(err)
		}
		text := p.String()
		if !strings.HasPrefix(text, `run \x1b[2Jthis\u202e`+"\n") {
			t.Fatalf("%q", text)
		}
		code := codePattern.FindStringSubmatch(text)[1]
		if seen[code] {
			t.Fatalf("the code %s twice", code)
		}
		seen[code] = true
	}
}

// TestAncestors looks at real processes: a shell whose environment has a sign,
// between this process and one that has cleared its own.
func TestAncestors(t *testing.T) {
	if runtime.GOOS != "linux" {
		if consent.Ancestors() != nil {
			t.Error("ancestors out of nowhere")
		}
		return
	}
	if len(consent.Ancestors()) == 0 {
		t.Fatal("no ancestors")
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for sign, want := range map[string]string{"CLAUDECODE=1": consent.InAgent.Error(), "HARMLESS=1": "<nil>"} {
		cmd := exec.Command("/bin/sh", "-c", `env -i `+testMode+`=ancestors "$0"; true`, exe)
		cmd.Env = []string{sign, "PATH=/usr/bin:/bin"}
		out, err := cmd.CombinedOutput()
		if got := strings.TrimSpace(string(out)); err != nil || got != want {
			t.Errorf("%s: %q, %v, want %q", sign, got, err, want)
		}
	}
}
