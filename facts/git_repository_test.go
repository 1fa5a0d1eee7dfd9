package facts_test

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gate/facts"
	"gate/hook"
	"gate/internal/hostfs"
)

// A checkout is a repository of a test with a real git.
type checkout struct {
	t                  *testing.T
	root, home, dir    string
	canary, canaryFile string
	env                []string
}

func newCheckout(t *testing.T) *checkout {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	c := &checkout{t: t, root: root, home: root + "/home", dir: root + "/home/p", canary: root + "/canary", canaryFile: root + "/ran"}
	c.write(c.canary, "#!/bin/sh\necho \"$0\" >> "+c.canaryFile+"\nexit 1\n")
	if err := os.Chmod(c.canary, 0o755); err != nil {
		t.Fatal(err)
	}
	c.write(c.home+"/.gitconfig", "[user]\nname = dev\nemail = dev@acme.example\n[init]\ndefaultBranch = main\n[core]\npager = less -R\n")
	c.write(c.dir+"/a.txt", "a\n")
	c.write(c.dir+"/.gitattributes", "*.txt filter=f diff=d merge=m\n")
	c.must("git init -q && git add . && git commit -qm one && echo b >> a.txt && git commit -qam two")
	return c
}

func (c *checkout) write(name, text string) {
	c.t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		c.t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		c.t.Fatal(err)
	}
}

// run runs a line with a real shell and git.
func (c *checkout) run(line string) (string, error) {
	cmd := exec.Command("sh", "-c", strings.ReplaceAll(line, "CANARY", c.canary))
	cmd.Dir, cmd.Env = c.dir, append([]string{"HOME=" + c.home, "PATH=" + os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1"}, c.env...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func (c *checkout) must(line string) {
	c.t.Helper()
	if out, err := c.run(line); err != nil {
		c.t.Fatalf("%s: %v\n%s", line, err, out)
	}
}

// ownFiles are those of the machine, without what it says of git for everybody.
type ownFiles struct{ hostfs.Files }

func (f ownFiles) ReadFile(name string, limit int) ([]byte, error) {
	if strings.HasSuffix(name, "/etc/gitconfig") {
		return nil, fs.ErrNotExist
	}
	return f.Files.ReadFile(name, limit)
}

// repository is what facts say of the last command of a line.
func (c *checkout) repository(line string) *hook.Repository {
	env := map[string]string{"HOME": c.home}
	for _, e := range c.env {
		name, value, _ := strings.Cut(e, "=")
		env[name] = value
	}
	r := facts.New(facts.World{Home: c.home, User: "dev", OS: "linux", Project: c.dir, Files: ownFiles{},
		Getenv: func(name string) (string, bool) { v, ok := env[name]; return v, ok }})
	f := r.Of(&hook.Event{Name: hook.PreToolUse, Agent: "claude", Fields: map[string]any{
		"cwd": c.dir, "tool_name": "Bash", "tool_input": map[string]any{"command": line},
	}})
	return f.Shell.Commands[len(f.Shell.Commands)-1].Repository
}

// verbsOfGit are lines of which facts say what decides beside their words.
var verbsOfGit = []string{
	"git status", "git diff", "git diff HEAD~1", "git log -p", "git show", "git add a.txt", "git commit -m x --allow-empty", "git commit -qam x",
	"git branch fresh", "git switch -c fresher", "git checkout -b freshest", "git fetch origin", "git pull --ff-only origin main", "git push origin main",
}

// TestRepositoryStarts has a real git do what lines say in repositories whose settings,
// hooks and variables name a program. Whenever it starts, facts must have said so.
func TestRepositoryStarts(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git")
	}
	const ssh = "git remote add origin ssh://git@host.invalid/acme/app.git; "
	hooks := "for h in pre-commit prepare-commit-msg commit-msg post-commit reference-transaction post-index-change post-checkout pre-push post-merge pre-auto-gc; do cp CANARY "
	for _, c := range []struct {
		name, before, env string
		starts            int // lines at least with which the real git starts it
	}{
		{"nothing", "true", "", 0},
		{"a monitor", "git config core.fsmonitor CANARY", "", 4},
		{"a filter", "git config filter.f.clean CANARY", "", 2},
		{"a filter for all files", "git config filter.f.process CANARY", "", 2},
		{"a filter on the way out", "git config filter.f.smudge CANARY", "", 0},
		{"a view", "git config diff.d.textconv CANARY", "", 3},
		{"a program for differences", "git config diff.d.command CANARY", "", 1},
		{"a program for all differences", "git config diff.external CANARY", "", 1},
		{"the same by a variable", "true", "GIT_EXTERNAL_DIFF", 1},
		{"signing", "git config commit.gpgSign true; git config gpg.program CANARY", "", 2},
		{"hooks", hooks + ".git/hooks/$h; done", "", 6},
		{"hooks elsewhere", "mkdir hooks; " + hooks + "hooks/$h; done; git config core.hooksPath hooks", "", 6},
		{"a hook of the index", "cp CANARY .git/hooks/post-index-change", "", 2},
		{"a hook of references", "cp CANARY .git/hooks/reference-transaction", "", 3},
		{"settings of the user", "git config --global core.fsmonitor CANARY", "", 4},
		{"settings elsewhere", "mkdir -p x/git; git config -f x/git/config core.fsmonitor CANARY", "XDG_CONFIG_HOME=x", 4},
		{"an included file", "git config -f i core.fsmonitor CANARY; git config include.path ../i", "", 4},
		{"a file that is included here", "git config -f i core.fsmonitor CANARY; git config 'includeIf.gitdir:**.path' ../i", "", 4},
		{"settings of the worktree", "git config extensions.worktreeConfig true; git config --worktree core.fsmonitor CANARY", "", 4},
		{"settings by variables", "true", "GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=core.fsmonitor GIT_CONFIG_VALUE_0=", 4},
		{"settings by another variable", "git config -f g core.fsmonitor CANARY", "GIT_CONFIG_GLOBAL=g", 4},
		{"a submodule", "git init -q sub; (cd sub && git commit -q --allow-empty -m s && git config core.fsmonitor CANARY); git add sub 2>/dev/null", "", 2},
		{"an ssh program", ssh + "git config core.sshCommand CANARY", "", 3},
		{"an ssh program by a variable", ssh + "true", "GIT_SSH_COMMAND", 3},
		{"a proxy", "git remote add origin git://host.invalid/x; git config core.gitProxy CANARY", "", 3},
		{"a helper of a remote", "git remote add origin 'ext::CANARY x'; git config protocol.ext.allow always", "", 3},
		{"a program at the other end", "git clone -q --bare . ../o; git remote add origin \"$PWD/../o\"; git config remote.origin.uploadpack CANARY", "", 2},
		{"another address", "git remote add origin https://github.com/acme/app; git config protocol.ext.allow always; git config 'url.ext::CANARY x .insteadOf' https:", "", 3},
		{"a pager", "git config core.pager CANARY", "", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			repo := newCheckout(t)
			repo.must(c.before)
			for e := range strings.FieldsSeq(c.env) {
				name, value, given := strings.Cut(e, "=")
				switch {
				case !given, value == "":
					value = repo.canary
				case name == "XDG_CONFIG_HOME" || name == "GIT_CONFIG_GLOBAL":
					value = repo.dir + "/" + value
				}
				repo.env = append(repo.env, name+"="+value)
			}
			started := 0
			for _, line := range verbsOfGit {
				repo.write(repo.dir+"/a.txt", "changed by "+line+"\n")
				is := repo.repository(line)
				os.Remove(repo.canaryFile)
				out, _ := repo.run(line)
				_, err := os.Stat(repo.canaryFile)
				switch known := is != nil && len(is.Starts) == 0; {
				case err == nil && known && !slices.ContainsFunc(is.Remotes, func(r string) bool { return !strings.HasPrefix(r, "ssh://") && !strings.HasPrefix(r, "https://") }):
					t.Errorf("%s starts the program, and facts do not say so: %+v", line, *is)
				case err == nil:
					started++
				case c.name == "nothing" && (!known || len(is.Secrets) > 0):
					t.Errorf("%s: %+v; want nothing that starts\n%s", line, is, out)
				}
			}
			if started < c.starts {
				t.Errorf("the program was started by %d lines; this test means nothing below %d", started, c.starts)
			}
		})
	}
}

// TestRepositoryFound holds that facts look where git looks, or say that they do not know.
func TestRepositoryFound(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git")
	}
	repo := newCheckout(t)
	repo.must("mkdir -p sub/.git deep && git worktree add -q ../w && git worktree add -q linked && ln -s ../other out && git init -q ../other && git init -q --bare bare.git && git config -f .git/x core.fsmonitor y")
	for line, known := range map[string]bool{
		"git status":                                         true,
		"cd deep && git status":                              true,
		"git -C deep status":                                 true,
		"cd linked && git status":                            true,
		"cd sub && git status":                               false, // git goes on upwards
		"cd bare.git && git status":                          false,
		"cd .git && git status":                              false,
		"cd out && git status":                               false,
		"cd ../w && git status":                              false,
		"cd /tmp && git status":                              false,
		"cd \"$X\" && git status":                            false,
		"HOME=/tmp git status":                               false,
		"HOME=/tmp; git status":                              false,
		"GIT_DIR=.git git status":                            false,
		"export GIT_DIR=/x; git status":                      false,
		"git --git-dir=.git status":                          false,
		"git -c core.fsmonitor=x status":                     false,
		"git -c \"$X\" status":                               false,
		"git -c core.fsmonitor=\"$X\" status":                false,
		"git -c color.ui=never status":                       true,
		"GIT_OPTIONAL_LOCKS=0 git status":                    true,
		"PAGER=cat git log":                                  true,
		"PAGER=./x git log":                                  false,
		"git stash":                                          false,
		"git -c include.path=" + repo.dir + "/.git/x status": false,
		"git status; git config core.fsmonitor x":            false,
	} {
		is := repo.repository(line)
		if got := is != nil && len(is.Starts) == 0; got != known {
			t.Errorf("%s: %+v; want known %v", line, is, known)
		}
	}
	repo.write(repo.home+"/.gitconfig", "[include]\npath = ~other/x\n")
	if is := repo.repository("git status"); is != nil {
		t.Errorf("an include that cannot be read: %+v", is)
	}
}

// TestRepositoryRemotes holds where commits go, and what has a secret.
func TestRepositoryRemotes(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git")
	}
	repo := newCheckout(t)
	repo.must("git remote add origin https://dev:pw@GitHub.com/acme/app.git; git remote add up git@host.example:acme/app; git remote add both https://a.example/x; git remote set-url --add --push both https://b.example/x;" +
		"git config branch.main.pushRemote up; git config url.https://mirror.example/.insteadOf https://old.example/; git remote add old https://old.example/x")
	for line, want := range map[string]string{
		"git push origin main":                 "https://github.com/acme/app.git",
		"git push":                             "ssh://host.example/acme/app",
		"git fetch":                            "https://github.com/acme/app.git",
		"git fetch both":                       "https://a.example/x https://b.example/x",
		"git fetch old":                        "https://old.example/x https://mirror.example/x",
		"git push git@evil.example:x/y main":   "ssh://evil.example/x/y",
		"git push elsewhere main":              "elsewhere",
		"git push ../x main":                   "?",
		"git push --repo=x":                    "?",
		"git fetch --all":                      "?",
		"git push \"$R\" main":                 "?",
		"git switch \"$B\" && git push":        "?",
		"git push ext::sh main":                "ext::sh",
		"git push https://x@e.example:8/y.git": "https://e.example:8/y.git",
	} {
		got := "?"
		if is := repo.repository(line); is != nil {
			got = strings.Join(is.Remotes, " ")
		}
		if got != want {
			t.Errorf("%s: %s; want %s", line, got, want)
		}
	}
	if is := repo.repository("git push up"); is == nil || len(is.Starts) > 0 {
		t.Errorf("git push up: %+v", is)
	}
	for helper, starts := range map[string]bool{"store": false, "!gh auth git-credential": false, "./x": true, "!/tmp/gh auth git-credential": true, "store --file=x": true} {
		repo.must("git config --global credential.https://github.com.helper '" + helper + "'")
		if is := repo.repository("git fetch origin"); is == nil || len(is.Starts) > 0 != starts {
			t.Errorf("with the helper %s: %+v", helper, is)
		}
		if is := repo.repository("git fetch old"); is == nil || len(is.Starts) > 0 != starts { // nobody counts on how git compares hosts
			t.Errorf("with the helper %s for another host: %+v", helper, is)
		}
	}
	repo.write(repo.home+"/.ssh/config", "Host *\n  ProxyCommand ./x %h\n")
	if is := repo.repository("git push up"); is == nil || !slices.Equal(is.Starts, []string{"~/.ssh/config"}) {
		t.Errorf("with a proxy of ssh: %+v", is)
	}

	repo.write(repo.dir+"/.env", "KEY=1\n")
	repo.write(repo.dir+"/.gitignore", ".env\n")
	if is := repo.repository("git diff"); is == nil || len(is.Secrets) > 0 {
		t.Errorf("a secret that git does not track: %+v", is)
	}
	if is := repo.repository("git add .env a.txt"); is == nil || len(is.Secrets) == 0 {
		t.Errorf("a secret that is taken up: %+v", is)
	}
	repo.must("git add -f .env")
	for _, line := range []string{"git log", "git log --oneline -3", "git diff --stat", "git show --name-only HEAD"} {
		if is := repo.repository(line); is == nil || len(is.Secrets) > 0 {
			t.Errorf("%s shows no contents: %+v", line, is)
		}
	}
	for _, line := range []string{"git diff", "git show", "git log -p", "git log --patch --stat", "git diff --stat -p", "git log -L1,2:.env", "git show --stat -U9"} {
		if is := repo.repository(line); is == nil || !slices.Equal(is.Secrets, []string{repo.dir + "/.env"}) {
			t.Errorf("%s with a tracked secret: %+v", line, is)
		}
	}
	repo.must("mkdir many && for i in $(seq 250); do echo > many/$i.json; done && git rm -q --cached .env && git add many")
	if is := repo.repository("git diff"); is != nil {
		t.Errorf("more names than are compared: %+v", is)
	}
	if is := repo.repository("git status"); is == nil || len(is.Starts) > 0 {
		t.Errorf("git status of many files: %+v", is)
	}
}
