package consent

import (
	"bufio"
	"bytes"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"gate/internal/strictjson"
)

// A Witness stands for a person who has just agreed at a terminal. Only
// [Confirm] makes one. It is good for one grant; nil and the zero Witness are
// good for none.
type Witness struct {
	by   string
	at   time.Time
	used atomic.Bool
}

// Take uses the witness up and returns who agreed and when.
func (w *Witness) Take() (by string, at time.Time, err error) {
	switch {
	case w == nil || w.at.IsZero():
		return "", time.Time{}, NoTerminal
	case w.used.Swap(true):
		return "", time.Time{}, errors.New("consent: one confirmation is good for one grant")
	}
	return w.by, w.at, nil
}

// signs are the variables that agents give to the programs they start, and to
// nobody else. Variables that people set to configure an agent (CODEX_HOME,
// CLAUDE_CODE_USE_BEDROCK …) and those of editors' terminals are not among
// them. AGENT is one if it names an agent.
var signs = [...]string{
	// Claude Code (its contract; observed)
	"CLAUDECODE", "CLAUDE_CODE_CHILD_SESSION", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SESSION_ID",
	"CLAUDE_CODE_SESSION_ATTENDED", "CLAUDE_PROJECT_DIR", "CLAUDE_PLUGIN_ROOT", "CLAUDE_PID", "AI_AGENT",
	// Codex
	"CODEX_SANDBOX", "CODEX_SANDBOX_NETWORK_DISABLED", "CODEX_THREAD_ID", "CODEX_CI", "CODEX_INTERNAL_ORIGINATOR_OVERRIDE",
	// Gemini, Qwen
	"GEMINI_CLI", "GEMINI_SESSION_ID", "GEMINI_PROJECT_DIR", "QWEN_CODE", "QWEN_CODE_SESSION_ID", "QWEN_PROJECT_DIR",
	// others
	"AGENT_THREAD_ID", "AMP_CURRENT_THREAD_ID", "AMP_THREAD_ID", "AUGMENT_AGENT", "CLINE_ACTIVE", "COPILOT_AGENT_SESSION_ID",
	"COPILOT_PROJECT_DIR", "CRUSH", "CURSOR_AGENT", "CURSOR_PROJECT_DIR", "CURSOR_TRANSCRIPT_PATH", "DROID_PROJECT_DIR",
	"FACTORY_PROJECT_DIR", "OPENCODE", "OPENCODE_CALLER", "TRAE_AI_SHELL_ID",
	// gate's own handlers run below an agent
	"GATE_HOOK", "HOOK_EVENT", "HOOK_SESSION_ID", "MASSGEN_AGENT_ID", "ZEPH_TOOL_NAME",
}

// programs are the names that agents run under.
var programs = [...]string{
	"aider", "amp", "auggie", "claude", "claude-code", "codex", "copilot", "crush", "cursor-agent", "droid", "gemini", "gemini-cli",
	"goose", "kiro-cli", "opencode", "qwen", "qwen-code",
}

// An Ancestor is one process above this one, as far as it can be seen.
type Ancestor struct {
	Args    []string // the first few
	Environ []string // as it was started; nil if it belongs to somebody else
}

// Refuse returns why nothing can be granted here, nil if it can: standard input
// and standard error must be terminals, and neither this process's environment
// nor a process above it may be an agent's. An environment can be cleared, a
// process tree can hardly be. It is pure; [Ancestors] finds the processes.
func Refuse(isTerminal bool, lookup func(string) (string, bool), above ...Ancestor) error {
	for _, sign := range signs {
		if _, set := lookup(sign); set {
			return InAgent
		}
	}
	if v, _ := lookup("AGENT"); isAgent(v) {
		return InAgent
	}
	for _, a := range above {
		if a.agent() {
			return InAgent
		}
	}
	if !isTerminal {
		return NoTerminal
	}
	return nil
}

// agent reports whether the process is an agent, or was started by one.
func (a Ancestor) agent() bool {
	for _, e := range a.Environ {
		name, value, _ := strings.Cut(e, "=")
		if slices.Contains(signs[:], name) || name == "AGENT" && isAgent(value) {
			return true
		}
	}
	for i, arg := range a.Args {
		if i > 1 {
			break // node and its like name the program second
		}
		if isAgent(arg) {
			return true
		}
	}
	return false
}

// isAgent reports a path or name of an agent's program.
func isAgent(program string) bool {
	name := strings.ToLower(path.Base(filepath.ToSlash(program)))
	for _, ext := range []string{".exe", ".js", ".mjs", ".cjs"} {
		name = strings.TrimSuffix(name, ext)
	}
	return slices.Contains(programs[:], name)
}

// A Terminal is what [Confirm] talks to. Only the command layer fills it in.
type Terminal struct {
	In         io.Reader // standard input
	Err        io.Writer // standard error
	IsTerminal bool      // both are terminals
	Lookup     func(string) (string, bool)
	Above      []Ancestor
	Far        FarEnd // of both; see [FarEndOf]
	Account    string // of the account database
	Now        time.Time

	// Key asks for a signature in place of the code; nil: the code is enough.
	Key *Key
}

// A Key has a grant signed by a key that a program of this account does not have at
// hand, in the format of ssh-keygen -Y sign, for [Namespace].
type Key struct {
	Dir    string                             // where the text to sign is laid; this account's alone
	Signed func(form, signature []byte) error // why one of the signers did not sign it; nil: one did
}

// Namespace is what a signature over a grant is for, so that none of another purpose
// can be shown in its place.
const Namespace = "gate-consent"

// Refuse returns why nothing can be granted at the terminal, nil if it can.
func (t Terminal) Refuse() error {
	if err := Refuse(t.IsTerminal, t.Lookup, t.Above...); err != nil {
		return err
	}
	return t.Far.Err
}

// Confirm shows what is to be granted and a random code, and returns a Witness
// when the code is typed back. A program that only sends yes, or that runs gate
// below a terminal it made without reading what it says, does not get past it;
// one that reads and types does, so the other checks come first.
func Confirm(t Terminal, grant string) (*Witness, error) {
	if t.In == nil || t.Err == nil || t.Lookup == nil || t.Account == "" || t.Now.IsZero() {
		return nil, errors.New("consent: the terminal is not complete")
	}
	if err := t.Refuse(); err != nil {
		return nil, err
	}
	code, shown := token(6), strictjson.Visible(grant)
	if t.Far.Note != "" {
		shown += "\nnote: " + strictjson.Visible(t.Far.Note)
	}
	var err error
	if t.Key != nil {
		err = t.sign(grant, shown, code)
	} else {
		err = t.typeCode(shown, code)
	}
	if err != nil {
		return nil, err
	}
	return &Witness{by: t.Account, at: t.Now.UTC().Round(0)}, nil
}

// typeCode has the code typed back.
func (t Terminal) typeCode(shown, code string) error {
	if _, err := fmt.Fprintf(t.Err, "%s\nType %s to agree: ", shown, code); err != nil {
		return fmt.Errorf("standard error: %w", err)
	}
	line, err := readLine(t.In)
	if err != nil {
		return err
	}
	if subtle.ConstantTimeCompare([]byte(strings.ToLower(line)), []byte(code)) != 1 {
		return WrongCode
	}
	return nil
}

// maxSignature is more than a signature in armour takes, in bytes.
const maxSignature = 16 << 10

// sign has exactly this grant signed. The code makes the text good for once.
func (t Terminal) sign(grant, shown, code string) error {
	form := fmt.Appendf(nil, "gate grant 1\nby %s\nat %s\nonce %s\n\n%s\n", t.Account, stamp(t.Now), code, grant)
	if err := os.MkdirAll(t.Key.Dir, 0o700); err != nil {
		return err
	}
	file := filepath.Join(t.Key.Dir, "grant-"+code)
	if err := os.WriteFile(file, form, 0o600); err != nil {
		return err
	}
	defer os.Remove(file)
	defer os.Remove(file + ".sig")
	_, err := fmt.Fprintf(t.Err, "%s\nSettings want it signed (consent.key). In another terminal, with the file of your key:\n  ssh-keygen -Y sign -n %s -f KEY '%s'\nThen press Enter here, or paste the signature: ", shown, Namespace, file)
	if err != nil {
		return fmt.Errorf("standard error: %w", err)
	}
	signature, err := readSignature(t.In)
	if err == nil && len(signature) == 0 {
		signature, err = os.ReadFile(file + ".sig")
	}
	if err != nil {
		return fmt.Errorf("%w: %w", NotSigned, err)
	}
	return t.Key.Signed(form, signature)
}

// readSignature reads lines to the end of a signature, or one empty line.
func readSignature(in io.Reader) ([]byte, error) {
	lines := bufio.NewReader(io.LimitReader(in, maxSignature))
	var out []byte
	for {
		line, err := lines.ReadString('\n')
		text := strings.TrimSpace(line)
		out = append(out, line...)
		switch {
		case err != nil:
			return nil, err
		case text == "" && len(bytes.TrimSpace(out)) == 0:
			return nil, nil
		case strings.HasPrefix(text, "-----END "):
			return out, nil
		}
	}
}

// readLine reads one short line, and takes no line for one that is cut short.
func readLine(in io.Reader) (string, error) {
	line, err := bufio.NewReader(io.LimitReader(in, 256)).ReadString('\n')
	if err != nil {
		return "", WrongCode
	}
	return strings.TrimSpace(line), nil
}
