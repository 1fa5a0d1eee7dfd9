package commands

import (
	"bytes"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/format"

	"gate/internal/load"
	"gate/internal/places"
	"gate/policies"
)

// root is the repository, seen from this package's tests.
const root = "../../.."

// A block is a fenced block of a page.
type block struct {
	language, text string
}

func blocks(t *testing.T, page string) []block {
	data, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	var out []block
	for _, m := range regexp.MustCompile("(?ms)^```([a-z]+)\n(.*?)^```$").FindAllStringSubmatch(string(data), -1) {
		out = append(out, block{m[1], m[2]})
	}
	return out
}

// TestReadme runs the commands of the README and compares what they print: the
// very text, for a reader whose home directory is where accounts have theirs. The
// policy that it shows is where it says. Commands of the go tool are what brought us
// here and are not run again.
func TestReadme(t *testing.T) {
	home := "/home/" + places.AccountName()
	if places.AccountName() == "root" {
		home = "/root"
	}
	temp, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	config, state := places.InHome(temp)
	if err := os.MkdirAll(filepath.Join(config, load.PoliciesDir), 0o700); err != nil {
		t.Fatal(err)
	}
	ran := 0
	for _, b := range blocks(t, filepath.Join(root, "README.md")) {
		if b.language == "rego" {
			if err := os.WriteFile(filepath.Join(config, load.PoliciesDir, "make.rego"), []byte(b.text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if b.language != "console" {
			continue
		}
		for _, c := range strings.Split("\n"+b.text, "\n$ ")[1:] {
			line, want, _ := strings.Cut(c, "\n")
			args, ok := programArgs(t, line)
			if !ok {
				continue
			}
			dirs := []string{"--managed-dir=" + filepath.Join(temp, "managed"), "--user-dir=" + config, "--state-dir=" + state}
			got := strings.ReplaceAll(runLine(t, line, home, append(args, dirs...)), temp, "~") // no test writes into a home
			if normal(got) != normal(want) {
				t.Errorf("%s\n got %s\nwant %s", line, normal(got), normal(want))
			}
			ran++
		}
	}
	if ran < 3 {
		t.Errorf("only %d commands of the README were run", ran)
	}
}

// programArgs returns the program of a command line that starts one of ours and shows
// what it prints, and its arguments.
func programArgs(t *testing.T, line string) ([]string, bool) {
	line, _, _ = strings.Cut(line, " < ")
	var args []string
	for _, m := range regexp.MustCompile(`'([^']*)'|(\S+)`).FindAllStringSubmatch(line, -1) {
		args = append(args, m[1]+m[2])
	}
	switch {
	case line == "go test -timeout 25m ./...", strings.HasPrefix(line, "go build -o bin/ "), line == "gate install", strings.HasPrefix(line, "gate install "),
		strings.HasPrefix(line, "export PATH="), strings.HasPrefix(line, "ssh-keygen -Y verify "):
		return nil, false
	case args[0] == "gate":
		return args, true
	case strings.HasPrefix(line, "go run ./cmd/"):
		return append([]string{path.Base(args[2])}, args[3:]...), true
	}
	t.Fatalf("README: what is %q?", line)
	return nil, false
}

func runLine(t *testing.T, line, home string, args []string) string {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "HOME="+home, "USERPROFILE="+home, "CLAUDE_PROJECT_DIR=", "CLAUDE_CODE_ENTRYPOINT=")
	if _, file, ok := strings.Cut(line, " < "); ok {
		data, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(file)))
		if err != nil {
			t.Fatal(err)
		}
		cmd.Stdin = bytes.NewReader(data)
	}
	var stdout, stderr strings.Builder
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	out := strings.TrimRight(stdout.String(), "\n") + "\n" + stderr.String()
	if err != nil && strings.HasPrefix(line, "go run ") {
		out += err.Error() + "\n" // as go run says it
	}
	return out
}

// normal removes what differs from run to run: the decision's id, and the line
// that a rule of the library begins on.
func normal(s string) string {
	s = regexp.MustCompile(`\(gate [0-9a-z]{6}\)`).ReplaceAllString(s, "(gate ID)")
	s = regexp.MustCompile(`(library, [a-z_/]+\.rego):[0-9]+`).ReplaceAllString(s, "$1:N")
	return strings.TrimSpace(s)
}

// TestPages looks for files that the pages name and that are not there.
func TestPages(t *testing.T) {
	pages, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile("`((?:cmd|docs|facts|hook|engine|scopes|adapters|audit|policies|matcher|testdata)/[a-z_/.-]+\\.(?:go|md|json|rego|rows))`" +
		`|\]\(([a-zA-Z_/.-]*)(?:#([a-z0-9-]+))?\)`)
	for _, page := range append(pages, filepath.Join(root, "README.md")) {
		data, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range named.FindAllStringSubmatch(string(data), -1) {
			path := filepath.Join(root, m[1])
			if m[2] != "" {
				path = filepath.Join(filepath.Dir(page), m[2])
			}
			if m[3] != "" && m[2] == "" {
				path = page
			}
			if _, err := os.Stat(path); err != nil {
				t.Errorf("%s names %s: %v", page, m[1]+m[2], err)
			} else if m[3] != "" && !slices.Contains(anchors(t, path), m[3]) {
				t.Errorf("%s leads to %s#%s, and there is no such heading", page, path, m[3])
			}
		}
	}
}

// anchors are the headings of a page, as links name them.
func anchors(t *testing.T, page string) (list []string) {
	data, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	strange := regexp.MustCompile(`[^a-z0-9 _-]`)
	for _, m := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(string(data), -1) {
		list = append(list, strings.ReplaceAll(strange.ReplaceAllString(strings.ToLower(m[1]), ""), " ", "-"))
	}
	return list
}

// TestCommandTable looks for commands that the page of commands leaves out.
func TestCommandTable(t *testing.T) {
	data, err := os.ReadFile(filepath.Join(root, "docs", "commands.md"))
	if err != nil {
		t.Fatal(err)
	}
	var rows strings.Builder
	for line := range strings.Lines(string(data)) {
		if strings.HasPrefix(line, "| `gate ") {
			rows.WriteString(line)
		}
	}
	commands := newRoot(process{stdout: io.Discard, stderr: io.Discard}).Commands()
	for _, c := range commands {
		if c.IsAvailableCommand() && !regexp.MustCompile("`gate "+c.Name()+"[ `]").MatchString(rows.String()) {
			t.Errorf("the table of commands is without gate %s", c.Name())
		}
	}
	if len(commands) < 25 {
		t.Errorf("only %d commands", len(commands))
	}
}

// TestNamedCommands looks for commands and flags that the pages name, in code and
// in blocks, and that there are not.
func TestNamedCommands(t *testing.T) {
	pages, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	line := regexp.MustCompile("(?m)(?:`|^ {4}|^\\$ )gate ([a-z][^`\n]*)")
	flag := regexp.MustCompile(`(?:^|\s)--([a-z][a-z-]*)`)
	named := 0
	for _, page := range append(pages, filepath.Join(root, "README.md")) {
		data, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range line.FindAllStringSubmatch(string(data), -1) {
			words := strings.FieldsFunc(m[1], func(r rune) bool { return r == ' ' || r == '|' })
			if slices.Contains([]string{"help", "could", "gave"}, words[0]) { // what gate says, not what it is told
				continue
			}
			tree := newRoot(process{stdout: io.Discard, stderr: io.Discard})
			tree.InitDefaultCompletionCmd(words...) // as it is there once the program runs
			c, _, err := tree.Find(words)
			if err != nil || !c.HasParent() {
				t.Errorf("%s: there is no gate %s: %v", page, m[1], err)
				continue
			}
			own, _, _ := strings.Cut(m[1], " -- ") // what follows is a program's
			for _, f := range flag.FindAllStringSubmatch(own, -1) {
				named++
				if c.Flag(f[1]) == nil && c.Root().PersistentFlags().Lookup(f[1]) == nil && f[1] != "help" {
					t.Errorf("%s: gate %s has no flag --%s", page, c.Name(), f[1])
				}
			}
		}
	}
	if named < 40 {
		t.Errorf("only %d flags are named", named)
	}
}

// TestRegoFormat holds every Rego file to the form of opa fmt.
func TestRegoFormat(t *testing.T) {
	count := 0
	check := func(name string, text []byte) {
		count++
		want, err := format.SourceWithOpts(name, text, format.Opts{RegoVersion: ast.RegoV1})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			return
		}
		if !bytes.Equal(bytes.TrimSpace(text), bytes.TrimSpace(want)) {
			t.Errorf("%s is not formatted; opa fmt makes of it:\n%s", name, want)
		}
	}
	err := fs.WalkDir(policies.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(name, ".rego") {
			return err
		}
		text, err := fs.ReadFile(policies.FS(), name)
		check(name, text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range []string{filepath.Join(root, "README.md")} {
		for _, b := range blocks(t, page) {
			if b.language == "rego" {
				check(page, []byte(b.text))
			}
		}
	}
	if count < 10 {
		t.Errorf("only %d files found", count)
	}
}

// TestSetUp holds the checks to the command that the README gives for the
// tests.
func TestSetUp(t *testing.T) {
	script, err := os.ReadFile(filepath.Join(root, ".ci", "run"))
	if err != nil {
		t.Fatal(err)
	}
	const command = "go test -timeout 25m ./..."
	if !strings.Contains(string(script), "\n"+command+"\n") {
		t.Errorf(".ci/run does not run %q", command)
	}
	found := false
	for _, b := range blocks(t, filepath.Join(root, "README.md")) {
		found = found || b.text == "$ "+command+"\n"
	}
	if !found {
		t.Errorf("README.md does not give %q", command)
	}
}

// TestDependencies holds docs/dependencies.md to the modules that each go.mod
// requires directly.
func TestDependencies(t *testing.T) {
	page := readText(t, filepath.Join(root, "docs", "dependencies.md"))
	gate, release, ok := strings.Cut(page, "\n## Linked by `gate-release` only\n")
	if !ok {
		t.Fatal("docs/dependencies.md has no part about gate-release")
	}
	for name, part := range map[string]string{"go.mod": gate, "cmd/gate-release/go.mod": release} {
		mod := readText(t, filepath.Join(root, filepath.FromSlash(name)))
		for _, m := range regexp.MustCompile(`(?m)^\t(\S+) v\S+$`).FindAllStringSubmatch(mod, -1) {
			if !strings.Contains(part, "\n| `"+m[1]+"` |") {
				t.Errorf("docs/dependencies.md has no line for %s of %s", m[1], name)
			}
		}
		for _, m := range regexp.MustCompile("(?m)^\\| `([^`]+)` \\|").FindAllStringSubmatch(part, -1) {
			if !strings.Contains(mod, "\t"+m[1]+" v") {
				t.Errorf("docs/dependencies.md has a line for %s, which %s does not require", m[1], name)
			}
		}
	}
}
