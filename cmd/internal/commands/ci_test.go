package commands

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// An action is what the tests look at of action.yml.
type action struct {
	Inputs  map[string]struct{ Description, Default string }
	Outputs map[string]struct{ Value string }
	Runs    struct {
		Using string
		Steps []struct {
			ID, Shell, Run, Uses string
			Env                  map[string]string
		}
	}
}

func readYAML(t *testing.T, name string, v any) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
	if err == nil {
		err = yaml.Unmarshal(text, v)
	}
	if err != nil {
		t.Fatal(name, err)
	}
}

func readText(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Error(err)
	}
	return string(text)
}

const ciScript = "packaging/ci/gate-ci.sh"

// TestActionFile holds that the action does nothing but start the script, that what
// people write reaches it as variables only, and that both know the same ones.
func TestActionFile(t *testing.T) {
	var a action
	readYAML(t, "action.yml", &a)
	if a.Runs.Using != "composite" || len(a.Runs.Steps) == 0 {
		t.Fatalf("it runs %+v", a.Runs)
	}
	script := readText(t, filepath.Join(root, filepath.FromSlash(ciScript)))
	given, used := map[string]bool{}, map[string]bool{}
	for _, s := range a.Runs.Steps {
		if s.Uses != "" || s.Shell != "sh" || s.Run != `sh "$GITHUB_ACTION_PATH/`+ciScript+`"` {
			t.Errorf("a step is more than the script: %+v", s)
		}
		for name, value := range s.Env {
			m := regexp.MustCompile(`^\$\{\{ inputs\.([a-z0-9-]+) \}\}$`).FindStringSubmatch(value)
			if m == nil || a.Inputs[m[1]].Description == "" {
				t.Errorf("%s is %s, and no input", name, value)
				continue
			}
			given[name], used[m[1]] = true, true
		}
	}
	for name := range a.Inputs {
		if !used[name] {
			t.Errorf("nothing gets the input %s", name)
		}
	}
	read := map[string]bool{}
	for _, name := range regexp.MustCompile(`\$\{?(GATE_[A-Z0-9_]+)`).FindAllStringSubmatch(script, -1) {
		read[name[1]] = true
	}
	if !maps.Equal(given, read) {
		t.Errorf("the action gives %v, and the script reads %v", slices.Sorted(maps.Keys(given)), slices.Sorted(maps.Keys(read)))
	}
	for name, o := range a.Outputs {
		if o.Value != "${{ steps.gate.outputs."+name+" }}" || !regexp.MustCompile(`\b`+name+`=`).MatchString(script) {
			t.Errorf("the script gives no %s: %s", name, o.Value)
		}
	}
}

// A ciProject is a throwaway project with policies, and a runner for it.
type ciProject struct {
	t                     *testing.T
	dir                   string // of the project; home, temp and others stand beside it
	program               string // gate, with directories of the test's
	summary, output, home string
}

const ciPolicy = `# METADATA
# title: Push
# description: stops pushes
# custom:
#   gate:
#     events: [PreToolUse]
package acme.push

deny contains "no" if {
	some push in input.facts.effects
	push.kind == "git.push"
}
`

func newCIProject(t *testing.T) *ciProject {
	if runtime.GOOS == "windows" {
		t.Skip("the script is for sh")
	}
	temp, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	gate, err := exec.LookPath("gate")
	if err != nil {
		t.Fatal(err)
	}
	p := &ciProject{
		t: t, dir: filepath.Join(temp, "project"), program: filepath.Join(temp, "gate"), home: filepath.Join(temp, "home"),
		summary: filepath.Join(temp, "summary.md"), output: filepath.Join(temp, "output"),
	}
	for _, dir := range []string{p.home, filepath.Join(temp, "runner")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	p.write(p.program, fmt.Sprintf(`#!/bin/sh
case $1 in
check | test | install | doctor)
	word=$1
	shift
	exec '%[1]s' "$word" --managed-dir '%[2]s/managed' --user-dir '%[2]s/user' --state-dir '%[2]s/state' "$@"
	;;
esac
exec '%[1]s' "$@"
`, gate, temp))
	p.policy(ciPolicy)
	p.write(filepath.Join(p.dir, "policies", "push_cases.yaml"), "cases:\n  - name: a push\n    bash: git push -f origin x\n    expect: deny\n")
	p.git("init", "-q", "-b", "main")
	p.git("add", "-A")
	p.git("commit", "-q", "-m", "policies")
	p.git("branch", "base")
	return p
}

func (p *ciProject) write(name, text string) {
	p.t.Helper()
	err := os.MkdirAll(filepath.Dir(name), 0o700)
	if err == nil {
		err = os.WriteFile(name, []byte(text), 0o700)
	}
	if err != nil {
		p.t.Fatal(err)
	}
}

func (p *ciProject) policy(text string) {
	p.write(filepath.Join(p.dir, "policies", "push.rego"), text)
}

func (p *ciProject) git(args ...string) {
	p.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = p.dir, p.env(nil)
	if out, err := cmd.CombinedOutput(); err != nil {
		p.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

// env is the environment of a job: an empty home, and nothing of the tester's but PATH.
func (p *ciProject) env(more map[string]string) []string {
	vars := map[string]string{
		"PATH": os.Getenv("PATH"), "HOME": p.home, "TMPDIR": filepath.Join(filepath.Dir(p.dir), "runner"), "GIT_CONFIG_NOSYSTEM": "1",
		"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@example.com", "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@example.com",
	}
	maps.Copy(vars, more)
	var list []string
	for name, value := range vars {
		list = append(list, name+"="+value)
	}
	return list
}

// sh runs a line of shell in the project and returns its status and all that it prints.
func (p *ciProject) sh(line string, vars map[string]string) (int, string) {
	p.t.Helper()
	cmd := exec.Command("/bin/sh", "-c", line)
	cmd.Dir, cmd.Env = p.dir, p.env(vars)
	out, err := cmd.CombinedOutput()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		p.t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), string(out)
}

// action runs the steps of action.yml with inputs, as a runner of GitHub does.
func (p *ciProject) action(inputs map[string]string) (int, string) {
	p.t.Helper()
	var a action
	readYAML(p.t, "action.yml", &a)
	tree, err := filepath.Abs(root)
	if err != nil {
		p.t.Fatal(err)
	}
	vars := map[string]string{
		"GITHUB_ACTIONS": "true", "GITHUB_ACTION_PATH": tree, "GITHUB_OUTPUT": p.output, "GITHUB_STEP_SUMMARY": p.summary,
		"RUNNER_TEMP": filepath.Join(filepath.Dir(p.dir), "runner"),
	}
	for name, value := range a.Runs.Steps[0].Env {
		input := strings.TrimSuffix(strings.TrimPrefix(value, "${{ inputs."), " }}")
		if vars[name] = a.Inputs[input].Default; input == "program" {
			vars[name] = p.program
		}
		if given, ok := inputs[input]; ok {
			vars[name] = given
		}
	}
	for name, value := range inputs { // other variables of the job
		if strings.ToUpper(name) == name {
			vars[name] = value
		}
	}
	return p.sh(a.Runs.Steps[0].Run, vars)
}

// TestAction runs the steps of the action in a project: what is wrong ends the job with
// the status that gate has for it, and each report says so.
func TestAction(t *testing.T) {
	weak := strings.Replace(ciPolicy, "}\n", "\tpush.force\n}\n", 1)
	for _, test := range []struct {
		name   string
		change func(*ciProject)
		inputs map[string]string
		status int
		says   string            // in what is printed
		files  map[string]string // expressions that occur in reports, the summary and the outputs
	}{
		{name: "good", says: `there is no base`, files: map[string]string{
			"check.sarif": `"results": \[\]`, "junit.xml": `tests="1" failures="0"`, "summary": `passed: 1 passed`,
			"output": `(?s)sarif=gate-ci/check.sarif\njunit=gate-ci/junit.xml\nsummary=gate-ci/test.md\nprogram=/.*\nweaker=\n$`,
		}},
		{name: "mistake", change: func(p *ciProject) { p.policy(strings.Replace(ciPolicy, "push.kind", "push.kinde", 1)) },
			status: 1, says: `check ended with status 1`, files: map[string]string{"check.sarif": `(?s)"ruleId": "field".*"uri": "policies/push.rego"`, "summary": "(?s)1 policy: 1 error.*- `policies/push.rego:11: "}},
		{name: "warning", change: func(p *ciProject) { p.policy(ciPolicy + "\nleft := 1\n") }, says: `warning: nothing uses left`},
		{name: "strict", change: func(p *ciProject) { p.policy(ciPolicy + "\nleft := 1\n") }, inputs: map[string]string{"strict": "true"}, status: 1, says: `nothing uses left`},
		{name: "strict is a word", inputs: map[string]string{"strict": "yes"}, status: 1, says: `GATE_STRICT is true or false`},
		{name: "failed test", change: func(p *ciProject) { p.policy(strings.Replace(ciPolicy, "git.push", "git.history", 1)) },
			status: 2, says: `test ended with status 2`, files: map[string]string{
				"junit.xml": `failures="1"`, "summary": "(?s)failed: 1 failed.*- `case acme.push: a push` in `policies/push_cases.yaml:2`"}},
		{name: "no test", change: func(p *ciProject) { os.Remove(filepath.Join(p.dir, "policies", "push_cases.yaml")) },
			status: 1, says: `has no test`, files: map[string]string{"junit.xml": `errors="1"`, "summary": `no test was run`}},
		{name: "weaker than the base", change: func(p *ciProject) { p.policy(weak) }, inputs: map[string]string{"base-ref": "base"},
			status: 2, says: `1 weaker`, files: map[string]string{"diff.md": `(?m)^- changed rule .acme.push.deny.`, "summary": `1 weaker`, "output": `(?s)comment=gate-ci/diff.md.*weaker=true`}},
		{name: "the base of a pull request", change: func(p *ciProject) { p.policy(weak); p.git("update-ref", "refs/remotes/origin/main", "base") },
			inputs: map[string]string{"GITHUB_BASE_REF": "main"}, status: 2, says: `1 weaker`},
		{name: "as strict as the base", inputs: map[string]string{"base-ref": "base"}, says: `both releases mean the same`, files: map[string]string{"output": `weaker=false`}},
		{name: "what the base got meanwhile is no change", change: func(p *ciProject) {
			p.git("checkout", "-q", "base")
			p.policy(ciPolicy + "\ndeny contains \"late\" if input.tool_name == \"Late\"\n")
			p.git("commit", "-qam", "later")
			p.git("checkout", "-q", "main")
		}, inputs: map[string]string{"base-ref": "base"}, says: `both releases mean the same`},
		{name: "new policies", change: func(p *ciProject) { p.git("mv", "policies", "more") }, inputs: map[string]string{"base-ref": "base", "policies": "more"},
			says: `has no more, so all policies are new`, files: map[string]string{"diff.md": `All of them are new`}},
		{name: "the whole tree", inputs: map[string]string{"steps": "diff", "policies": ".", "base-ref": "base"}, says: `both releases mean the same`},
		{name: "a damaged base", change: func(p *ciProject) {
			p.policy(weak)
			p.git("commit", "-qam", "weaker")
			tree, err := exec.Command("git", "-C", p.dir, "rev-parse", "base^{tree}").Output()
			if name := strings.TrimSpace(string(tree)); err != nil || os.Remove(filepath.Join(p.dir, ".git", "objects", name[:2], name[2:])) != nil {
				p.t.Fatal("the tree of the base could not be removed", err)
			}
		}, inputs: map[string]string{"base-ref": "base"}, status: 1, says: `the base [0-9a-f]+ cannot be read`},
		{name: "weaker than a bundle", change: func(p *ciProject) {
			p.write(filepath.Join(p.dir, "old", "push.rego"), ciPolicy)
			p.policy(weak)
		}, inputs: map[string]string{"base": "old"}, status: 2, says: `1 weaker`},
		{name: "unknown base", inputs: map[string]string{"base-ref": "nowhere"}, status: 1, says: `the base nowhere is not here; fetch it`,
			files: map[string]string{"diff.md": `nothing was compared`, "output": `weaker=\n`, "junit.xml": `tests="1"`}},
		{name: "an option for a base", inputs: map[string]string{"base-ref": "--all"}, status: 1, says: `the base --all is not here`},
		{name: "a line of shell for a base", inputs: map[string]string{"base-ref": "$(touch ../touched)"}, status: 1, says: `is not here`},
		{name: "a manifest that is a link to nowhere", change: func(p *ciProject) {
			if err := os.Symlink(filepath.Join(filepath.Dir(p.dir), "touched"), filepath.Join(p.dir, "policies", ".manifest")); err != nil {
				p.t.Fatal(err)
			}
		}, inputs: map[string]string{"steps": "diff", "base-ref": "base"}, status: 1, says: `new/.manifest is a link that leads nowhere`},
		{name: "CDPATH", change: func(p *ciProject) { p.write(filepath.Join(filepath.Dir(p.dir), "other", "policies", "x"), "x") },
			inputs: map[string]string{"steps": "diff", "base-ref": "base", "CDPATH": "../other"}, says: `both releases mean the same`},
		{name: "missing bundle", inputs: map[string]string{"base": "gone.tar.gz"}, status: 1, says: `gone.tar.gz: the base is not there`},
		{name: "broken bundle", change: func(p *ciProject) { p.write(filepath.Join(p.dir, "old.tar.gz"), "x") }, inputs: map[string]string{"base": "old.tar.gz"},
			status: 4, says: `refused`, files: map[string]string{"diff.md": `nothing was compared`}},
		{name: "no history in common", change: func(p *ciProject) { p.git("checkout", "-q", "--orphan", "other"); p.git("commit", "-qam", "x") },
			inputs: map[string]string{"base-ref": "base"}, status: 1, says: `have no commit in common here`},
		{name: "empty policies", change: func(p *ciProject) { os.Mkdir(filepath.Join(p.dir, "none"), 0o700) }, inputs: map[string]string{"policies": "none"},
			status: 1, says: `none: there is nothing in it`, files: map[string]string{"check.sarif": `"executionSuccessful": false`}},
		{name: "missing policies", inputs: map[string]string{"policies": "-none", "base-ref": "base"}, status: 1, says: `-none: no such file`},
		{name: "missing program", inputs: map[string]string{"program": "gone"}, status: 1, says: `gone: there is no such program`},
		{name: "broken program", change: func(p *ciProject) { p.write(p.program, "#!/bin/sh\nexit 3\n") }, status: 1, says: `does not run`},
		{name: "guard", inputs: map[string]string{"agent": "claude"}, says: `claude, user: a canary was denied, a harmless call passed`},
		{name: "guard alone", inputs: map[string]string{"steps": "guard", "agent": "claude"}, says: `a canary was denied`},
		{name: "guard of nobody", inputs: map[string]string{"steps": "check guard"}, status: 1, says: `guard needs GATE_AGENT`},
		{name: "guard of an unknown agent", inputs: map[string]string{"steps": "guard", "agent": "nobody"}, status: 1, says: `guard ended with status 1`},
		{name: "guard of an option", inputs: map[string]string{"agent": "--help"}, status: 1, says: `GATE_AGENT is a name`},
		{name: "unknown step", inputs: map[string]string{"steps": "deploy"}, status: 1, says: `deploy is no step`},
		{name: "the first failure counts", change: func(p *ciProject) { p.policy(weak); p.write(filepath.Join(p.dir, "policies", "b.rego"), "package") },
			inputs: map[string]string{"base-ref": "base"}, status: 1, says: `(?s)check ended with status 1.*diff ended with status`},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := newCIProject(t)
			if test.change != nil {
				test.change(p)
			}
			status, out := p.action(test.inputs)
			if status != test.status || !regexp.MustCompile(test.says).MatchString(out) {
				t.Errorf("status %d, not %d, and it prints\n%s", status, test.status, out)
			}
			if m := regexp.MustCompile(`^::stop-commands::([0-9a-f]{32})\n`).FindStringSubmatch(out); m == nil || !strings.HasSuffix(out, "\n::"+m[1]+"::\n") {
				t.Errorf("lines of it could be commands of the runner:\n%s", out)
			}
			for name, want := range test.files {
				file := map[string]string{"summary": p.summary, "output": p.output}[name]
				if file == "" {
					file = filepath.Join(p.dir, "gate-ci", name)
				}
				if got := readText(t, file); !regexp.MustCompile(want).MatchString(got) {
					t.Errorf("%s has no %s:\n%s", name, want, got)
				}
			}
			if left, _ := filepath.Glob(filepath.Join(filepath.Dir(p.dir), "runner", "*")); len(left) > 0 {
				t.Errorf("it left %v", left)
			}
			if _, err := os.Stat(filepath.Join(filepath.Dir(p.dir), "touched")); err == nil {
				t.Error("a text was run")
			}
		})
	}
}

// TestActionProgram gets gate out of an archive and out of the source.
func TestActionProgram(t *testing.T) {
	p := newCIProject(t)
	releases := filepath.Join(filepath.Dir(p.dir), "releases")
	archive := filepath.Join(releases, "gate-v1-"+runtime.GOOS+"-"+runtime.GOARCH+".tar.gz")
	data := releaseArchive(t, readText(t, p.program))
	p.write(archive, string(data))
	sum := fmt.Sprintf("%x", sha256.Sum256(data))
	expect := func(what string, inputs map[string]string, status int, says string) {
		t.Helper()
		inputs["steps"] = "check"
		if got, out := p.action(inputs); got != status || !regexp.MustCompile(says).MatchString(out) {
			t.Errorf("%s: status %d, not %d, and it prints\n%s", what, got, status, out)
		}
	}
	from := func(more ...string) map[string]string {
		m := map[string]string{"archive": archive}
		for i := 0; i < len(more); i += 2 {
			m[more[i]] = more[i+1]
		}
		return m
	}
	expect("no checksum", from(), 1, `nothing says its checksum`)
	expect("a given checksum", from("sha256", sum), 0, `nothing is wrong`)
	expect("another checksum", from("sha256", strings.Repeat("0", 64)), 1, `has the checksum `+sum)
	p.write(filepath.Join(releases, "SHA256SUMS"), strings.Repeat("0", 64)+"  other.tar.gz\n"+sum+"  "+filepath.Base(archive)+"\n")
	expect("a listed checksum", from(), 0, `nothing is wrong`)
	expect("a directory", from("archive", releases, "version", "v1"), 0, `nothing is wrong`)
	expect("a directory without a version", from("archive", releases), 1, `GATE_VERSION says which`)
	expect("another version", from("archive", releases, "version", "v2"), 1, `there is no such archive`)
	p.write(archive, string(data)+"x")
	expect("a changed archive", from(), 1, `has the checksum`)

	tools := filepath.Join(filepath.Dir(p.dir), "tools")
	for _, name := range []string{"sh", "dirname", "basename", "mkdir", "rm", "rmdir", "mktemp", "cat", "cp", "tr", "od", "git"} {
		program, err := exec.LookPath(name)
		if err != nil {
			t.Fatal(err)
		}
		if err = os.MkdirAll(tools, 0o700); err == nil {
			err = os.Symlink(program, filepath.Join(tools, name))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	expect("no Go", map[string]string{"program": "", "PATH": tools}, 1, `go is missing, which builds gate`)
	p.write(filepath.Join(tools, "go"), `#!/bin/sh
[ "$1 $2 $3" = "build -trimpath -o" ] && [ "$5 $6 $7" = "./cmd/gate ./cmd/gate-hook ./cmd/gate-server" ] && [ -d cmd/gate ] && cp '`+p.program+`' "$4/gate"
`)
	expect("the source", map[string]string{"program": "", "PATH": tools}, 0, `(?s)building gate of .*nothing is wrong`)
	p.write(filepath.Join(tools, "go"), "#!/bin/sh\nexit 1\n")
	expect("a source that does not build", map[string]string{"program": "", "PATH": tools}, 1, `gate could not be built`)
}

// releaseArchive is a release archive with one program under the three names.
func releaseArchive(t *testing.T, program string) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for _, name := range []string{"gate", "gate-hook", "gate-server"} {
		err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o755, Size: int64(len(program))})
		if err == nil {
			_, err = w.Write([]byte(program))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), z.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestGitLab runs the lines of the template, as a job of GitLab does.
func TestGitLab(t *testing.T) {
	var jobs map[string]struct {
		Variables map[string]string
		Script    []string
		Artifacts struct {
			When    string
			Paths   []string
			Reports map[string]string
		}
	}
	readYAML(t, "packaging/ci/gitlab.yml", &jobs)
	job, ok := jobs["gate"]
	if !ok || len(jobs) != 1 || len(job.Script) == 0 {
		t.Fatalf("jobs: %+v", jobs)
	}
	for _, line := range job.Script {
		if line != `sh "$GATE_TREE/`+ciScript+`"` {
			t.Errorf("the job runs more than the script: %s", line)
		}
	}
	p := newCIProject(t)
	tree, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	vars := maps.Clone(job.Variables)
	maps.Copy(vars, map[string]string{"GITLAB_CI": "true", "GATE_TREE": tree, "GATE_PROGRAM": p.program, "CI_MERGE_REQUEST_DIFF_BASE_SHA": "base"})
	if status, out := p.sh(strings.Join(job.Script, "\n"), vars); status != 0 || strings.Contains(out, "::") || !strings.Contains(out, "both releases mean the same") {
		t.Errorf("status %d:\n%s", status, out)
	}
	p.policy(strings.Replace(ciPolicy, "git.push", "git.history", 1))
	if status, out := p.sh(strings.Join(job.Script, "\n"), vars); status != 2 {
		t.Errorf("status %d:\n%s", status, out)
	}
	for _, path := range append(job.Artifacts.Paths, job.Artifacts.Reports["junit"]) {
		if _, err := os.Stat(filepath.Join(p.dir, path)); err != nil || job.Artifacts.When != "always" {
			t.Errorf("what the job keeps: %v, %+v", err, job.Artifacts)
		}
	}
}

// TestCIPage holds the page of docs to the action: the snippets are YAML, they give
// the action inputs that it has, no expression stands in a line of shell, and the table
// lists every input.
func TestCIPage(t *testing.T) {
	var a action
	readYAML(t, "action.yml", &a)
	page := filepath.Join(root, "docs", "ci.md")
	workflows, with := 0, 0
	for _, b := range blocks(t, page) {
		if b.language != "yaml" {
			continue
		}
		var doc struct {
			Include     string
			Permissions map[string]string
			Jobs        map[string]struct {
				Steps []struct {
					Uses, Run string
					With      map[string]string
				}
			}
		}
		if err := yaml.Unmarshal([]byte(b.text), &doc); err != nil {
			t.Fatalf("%v:\n%s", err, b.text)
		}
		if doc.Include != "" {
			continue
		}
		workflows++
		if doc.Permissions["contents"] != "read" {
			t.Errorf("permissions: %v", doc.Permissions)
		}
		for _, job := range doc.Jobs {
			for _, s := range job.Steps {
				if strings.Contains(s.Run, "${{") {
					t.Errorf("an expression in a line of shell: %s", s.Run)
				}
				if owner, at, _ := strings.Cut(s.Uses, "@"); owner != "" && owner != "./gate" && at != "COMMIT" {
					t.Errorf("%s is not pinned", s.Uses)
				}
				for input := range s.With {
					if _, ok := a.Inputs[input]; s.Uses == "./gate" && !ok {
						t.Errorf("the action has no input %s", input)
					} else if s.Uses == "./gate" {
						with++
					}
				}
			}
		}
	}
	if workflows < 4 || with < 4 {
		t.Errorf("only %d workflows and %d inputs", workflows, with)
	}
	_, table, _ := strings.Cut(readText(t, page), "| input | value |\n|---|---|\n")
	table, _, _ = strings.Cut(table, "\n\n")
	var listed []string
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z0-9-]+)` \\|").FindAllStringSubmatch(table, -1) {
		listed = append(listed, m[1])
	}
	slices.Sort(listed)
	if !slices.Equal(listed, slices.Sorted(maps.Keys(a.Inputs))) {
		t.Errorf("the table lists %v", listed)
	}
	if shell := regexp.MustCompile("(?s)```sh\n(.*?)```").FindStringSubmatch(readText(t, page)); shell == nil || !strings.Contains(shell[1], " sh gate/"+ciScript+"\n") {
		t.Error("the line of shell does not start the script")
	}
}
