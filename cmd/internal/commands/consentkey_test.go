package commands

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"gate/internal/consent"
)

// fileToSign is where gate says that the text to sign lies.
var fileToSign = regexp.MustCompile(`-f KEY '([^']+)'`)

// A keyholder is a terminal in front of somebody with a key: they sign the file that is
// named, or another text, and press Enter, or paste what they signed.
type keyholder struct {
	mu     sync.Mutex
	text   strings.Builder
	keys   io.Writer
	answer func(file string) string
	done   bool
}

func (s *keyholder) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.text.Write(p)
	if m := fileToSign.FindStringSubmatch(s.text.String()); m != nil && !s.done {
		s.done = true
		go io.WriteString(s.keys, s.answer(m[1]))
	}
	return len(p), nil
}

// TestConsentKey demands a signature in place of the code.
func TestConsentKey(t *testing.T) {
	if _, err := exec.LookPath("ssh-keygen"); err != nil {
		t.Skip(err)
	}
	m := newMachine(t)
	pair := func(name string) (file, public string) {
		file = filepath.Join(m.dir, name)
		if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", file).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		line, err := os.ReadFile(file + ".pub")
		if err != nil {
			t.Fatal(err)
		}
		return file, strings.TrimSpace(string(line))
	}
	key, public := pair("ana")
	other, _ := pair("eve")
	sign := func(key, namespace, file string) {
		if out, err := exec.Command("ssh-keygen", "-q", "-Y", "sign", "-n", namespace, "-f", key, file).CombinedOutput(); err != nil {
			t.Errorf("%v: %s", err, out)
		}
	}
	m.write("user/settings.json", fmt.Sprintf(`{"consent": {"key": "required", "signers": [%s]}}`, quoteJSON(public)))
	m.write("old", "gate grant 1\n")
	sets := func(answer func(file string) string, args ...string) (status int, shown string) {
		r, w := io.Pipe()
		defer w.Close()
		display := &keyholder{keys: w, answer: answer}
		status = run(t.Context(), process{
			args: append([]string{args[0], "--managed-dir", filepath.Join(m.dir, "managed"), "--user-dir", filepath.Join(m.dir, "user"),
				"--state-dir", filepath.Join(m.dir, "state")}, args[1:]...),
			stdin: r, stdout: io.Discard, stderr: display, env: m.env, isTerminal: func() bool { return true },
			exit: func(int) {},
		})
		return status, display.text.String()
	}
	off := []string{"set", "policies.gate.git", "off"}
	for name, answer := range map[string]func(string) string{
		"nothing":         func(string) string { return "\n" },
		"a word":          func(string) string { return "yes\n\n-----END SSH SIGNATURE-----\n" },
		"another key":     func(file string) string { sign(other, consent.Namespace, file); return "\n" },
		"another purpose": func(file string) string { sign(key, "git", file); return "\n" },
		"another text": func(string) string {
			sign(key, consent.Namespace, filepath.Join(m.dir, "old"))
			text, _ := os.ReadFile(filepath.Join(m.dir, "old.sig"))
			return string(text)
		},
		"another's terms": func(file string) string {
			os.WriteFile(file, []byte("anything\n"), 0o600)
			sign(key, consent.Namespace, file)
			return "\n"
		},
	} {
		if status, shown := sets(answer, off...); status == 0 || !strings.Contains(shown, "is not signed by one of the keys") {
			t.Errorf("%s: status %d: %s", name, status, shown)
		}
	}
	for name, answer := range map[string]func(string) string{
		"Enter": func(file string) string { sign(key, consent.Namespace, file); return "\n" },
		"pasted": func(file string) string {
			sign(key, consent.Namespace, file)
			text, _ := os.ReadFile(file + ".sig")
			os.Remove(file + ".sig")
			return strings.ReplaceAll(string(text), "\n", "\r\n")
		},
	} {
		if status, shown := sets(answer, off...); status != 0 {
			t.Errorf("%s: status %d: %s", name, status, shown)
		}
		if status, shown := sets(nil, "set", "policies.gate.git", "--unset"); status != 0 { // it tightens
			t.Errorf("status %d: %s", status, shown)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(m.dir, "state", "consent", "to-sign", "*")); len(left) > 0 {
		t.Errorf("%s is left", left)
	}
	if status, shown := sets(func(string) string { return "\n" }, "set", "consent", "--unset"); status == 0 {
		t.Errorf("no key is demanded any more, and nobody signed that: %s", shown)
	}
	m.write("user/settings.json", fmt.Sprintf(`{"consent": {"key": "required", "signers": [%s]}, "log": 1}`, quoteJSON(public)))
	if status, shown := sets(nil, "set", "policies.gate.web", "off"); status == 0 || strings.Contains(shown, "Type ") {
		t.Errorf("settings with a mistake ask for no signature: status %d: %s", status, shown)
	}
}
