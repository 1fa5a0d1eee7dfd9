package confine

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// gitIn runs git outside of a confinement, as a person does.
func gitIn(t *testing.T, home, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HOME="+home, "GIT_AUTHOR_NAME=n", "GIT_AUTHOR_EMAIL=e@example.com", "GIT_COMMITTER_NAME=n", "GIT_COMMITTER_EMAIL=e@example.com")
	text, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, text)
	}
	return string(text)
}

// newRepository makes a home with a project that has all that git runs later: hooks by
// core.hooksPath, included settings, a filter, a worktree and a submodule.
func newRepository(t *testing.T) *scene {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is missing")
	}
	home := t.TempDir()
	s := &scene{at: Place{Home: home, Project: home + "/src/project"}, secrets: map[string]string{}}
	project := s.at.Project
	for _, name := range []string{"main.c", "tools/clean.sh", "scripts/pre-push", ".husky/pre-commit", "shared/skills/x.md", "lib/one.c", "deep/a/b/c/d/one.c"} {
		s.put(t, project+"/"+name, name != "main.c" && !strings.HasSuffix(name, "one.c"))
	}
	s.put(t, home+"/.gitconfig", false)
	if err := os.WriteFile(home+"/.gitconfig", []byte("[protocol \"file\"]\n\tallow = always\n[commit]\n\tgpgsign = false\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	gitIn(t, home, project, "init", "-q", ".")
	gitIn(t, home, project, "add", "-A")
	gitIn(t, home, project, "commit", "-q", "-m", "first")
	origin := home + "/origin"
	gitIn(t, home, home, "clone", "-q", "--bare", project, origin)
	gitIn(t, home, project, "submodule", "--quiet", "add", origin, "mods/x/y/z/sub")
	gitIn(t, home, project, "worktree", "add", "-q", "wt")
	gitIn(t, home, project, "config", "core.hooksPath", ".husky")
	gitIn(t, home, project, "config", "filter.x.clean", "sh tools/clean.sh %f")
	gitIn(t, home, project, "config", "include.path", "../team.gitconfig")
	for name, to := range map[string]string{"/.husky/pre-push": "../scripts/pre-push", "/.claude/skills": "../shared/skills"} {
		os.MkdirAll(filepath.Dir(project+name), 0o755)
		if err := os.Symlink(to, project+name); err != nil {
			t.Fatal(err)
		}
	}
	s.put(t, project+"/team.gitconfig", false)
	if err := os.WriteFile(project+"/team.gitconfig", []byte("[alias]\n\tx = status\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	return s
}

// TestGuardedRepository holds that nothing can be changed that git or an agent runs later,
// wherever the repository's settings have it lie.
func TestGuardedRepository(t *testing.T) {
	requireFull(t)
	s := newRepository(t)
	project := s.at.Project
	for _, line := range []string{
		"mv .git g", "rm -rf .git", "echo x >> .git/hooks/pre-commit", "rm -rf .git/hooks", "mv .git/hooks .git/h", "echo x >> team.gitconfig", "mv team.gitconfig t", "rm team.gitconfig",
		"echo x >> .husky/pre-commit", "echo x > .husky/post-commit", "echo x >> scripts/pre-push", "mv scripts s", "mv .husky h", "echo x >> tools/clean.sh",
		"echo x >> .claude/skills/x.md", "echo x > shared/skills/new.md", "mv shared s", "echo x > .claude/agents.md", "ln -sfn /tmp .claude/skills",
		"echo 'gitdir: /tmp' > wt/.git", "rm wt/.git", "mv wt w",
		"echo x > mods/x/y/z/sub/.git", "rm mods/x/y/z/sub/.git", "mv mods m",
	} {
		if output, out := s.line(t, "project", "("+line+") 2>&1"); out.Status == 0 || len(out.Planted) > 0 {
			t.Errorf("%s: status 0\n%s%v", line, output, out.Planted)
		}
		for _, name := range []string{".git/config", "wt/.git", "mods/x/y/z/sub/.git", ".git/worktrees/wt/commondir", "team.gitconfig", ".husky/pre-commit", "shared/skills/x.md"} {
			if _, err := os.Stat(project + "/" + name); err != nil {
				t.Fatalf("%s: %v", line, err)
			}
		}
		s.whole(t)
	}
}

// TestGitWorks holds what git must be able to do in a confinement.
func TestGitWorks(t *testing.T) {
	requireFull(t)
	s := newRepository(t)
	id := "git config --get user.name || export GIT_AUTHOR_NAME=n GIT_AUTHOR_EMAIL=e@example.com GIT_COMMITTER_NAME=n GIT_COMMITTER_EMAIL=e@example.com; "
	os.Remove(s.at.Project + "/.husky/pre-commit") // it is no program
	os.Remove(s.at.Project + "/.husky/pre-push")
	for _, line := range []string{
		"echo x >> main.c && git status --porcelain && git log -p --format=%s && git diff && git blame main.c",
		"cd wt && echo z >> main.c && git status --porcelain && git log --format=%s",
		"cd mods/x/y/z/sub && echo z >> main.c && git diff && git ls-files",
		"mkdir new && cd new && git init -q . && echo x > f && git add f && git commit -qm first",
		"git init -q --bare /tmp/b && git clone -q /tmp/b made && cd made && echo x > f && git add f && git commit -qm first && git worktree add -q wt2 && cd wt2 && git log --format=%s",
		"git clone -q . /tmp/copy && cd /tmp/copy && echo y >> main.c && git commit -qam second && git checkout -q -b r HEAD~1 && git rebase -q - && git tag v1 && git gc -q",
	} {
		output, out := s.line(t, "project", id+line)
		if out.Status != 0 || len(out.Planted) > 0 {
			t.Errorf("%s: status %d\n%s%v", line, out.Status, output, out.Planted)
		}
	}
	gitIn(t, s.at.Home, s.at.Project, "fsck", "--strict")
}

// TestPlanted holds that what was not there before, and starts by itself or steers an
// agent, is set aside when the program has ended: a person's git runs none of it.
func TestPlanted(t *testing.T) {
	requireFull(t)
	const evil = "printf '[core]\\n\\tfsmonitor = touch %s/owned\\n' $HOME/src/project"
	for name, c := range map[string]struct {
		line   string
		git    string   // where a person looks afterwards
		aside  []string // what is set aside
		before string   // what is made outside first
		gone   string   // what is set aside by another name
	}{
		"commondir":             {line: "mkdir e && cp -r .git/. e/ && " + evil + " > e/config && echo ../e > .git/commondir", git: ".", aside: []string{"e/config", "e/modules/mods/x/y/z/sub/config", "e/worktrees/wt/commondir"}},
		"worktree's settings":   {line: evil + " > .git/config.worktree", git: "."},
		"attributes":            {line: "echo '* filter=x' > .git/info/attributes", git: "."},
		"attributes by a link":  {line: "rm -rf .git/info; mkdir i; echo '* filter=x' > i/attributes; ln -s ../i .git/info", git: "."},
		"a new repository":      {line: "git init -q n && " + evil + " >> n/.git/config", git: "n", aside: []string{"n/.git/config"}},
		"its hooks":             {line: "git init -q lib && printf '#!/bin/sh\\ntouch ../owned' > lib/.git/hooks/post-index-change && chmod +x lib/.git/hooks/*", git: "lib", aside: []string{"lib/.git/hooks/post-index-change"}},
		"an old fixture moved":  {line: "mv deep/a/b/c/d/fixture lib/.git", git: "lib", before: "git init -q lib/f && mv lib/f/.git deep/a/b/c/d/fixture && " + evil + " >> deep/a/b/c/d/fixture/config", aside: []string{"lib/.git/config"}},
		"a bare one":            {line: "git init -q --bare lib/b && " + evil + " >> lib/b/config", git: "lib/b", aside: []string{"lib/b/config"}},
		"a bare one that was":   {line: evil + " >> lib/b/config", git: "lib/b", before: "git init -q --bare lib/b"},
		"a file of git's":       {line: "git init -q --bare /tmp/b; mkdir e; cp -r /tmp/b/. e/; " + evil + " >> e/config; echo 'gitdir: ../e' > lib/.git", git: "lib", aside: []string{"lib/.git", "e/config"}},
		"a submodule of before": {line: "git init -q n && " + evil + " >> n/.git/config && mkdir .git/modules/y && mv n/.git .git/modules/y/z", before: "mkdir z && echo 'gitdir: ../.git/modules/y/z' > z/.git", git: "z"},
		"a deep one":            {line: "mkdir -p 1/2/3/4/5 && cd 1/2/3/4/5 && git init -q . && " + evil + " >> .git/config", git: "1/2/3/4/5", aside: []string{"1/2/3/4/5/.git/config"}},
		"a rebase":              {line: "mkdir .git/rebase-merge && echo 'exec touch owned' > .git/rebase-merge/git-rebase-todo", git: "."},
		"a bare one by halves":  {line: "mkdir -p lib/b st && cp -r .git/objects .git/refs st/ && cp .git/HEAD lib/b && echo ../../st > lib/b/commondir && " + evil + " > st/config", git: "lib/b", aside: []string{"lib/b/commondir"}},
		"a worktree's rebase":   {line: "git init -q n && cd n && git -c user.name=n -c user.email=e@example.com commit -q --allow-empty -m x && git worktree add -q ../w && mkdir .git/worktrees/w/rebase-merge && echo 'exec touch owned' > .git/worktrees/w/rebase-merge/git-rebase-todo", git: "w", aside: []string{"n/.git/worktrees/w/rebase-merge/git-rebase-todo"}},
		"a worktree's hooks":    {line: "mkdir -p node_modules/p && cd node_modules/p && git init -q . && git -c user.name=n -c user.email=e@example.com commit -q --allow-empty -m x && git worktree add -q ../../w && " + evil + " >> .git/config", git: "w", aside: []string{"node_modules/p/.git/config"}},
		"names made before":     {line: "echo x > .mcp.json; for i in '' .1 .2 .3 .4 .5 .6 .7 .8 .9 .10 .11; do echo x > .mcp.json.set-aside$i; done", git: ".", gone: ".mcp.json"},
		"servers of MCP":        {line: "echo x > .mcp.json; mkdir -p lib/.vscode; echo x > lib/.vscode/tasks.json; echo x > lib/.vscode/extensions.json", git: ".", aside: []string{".mcp.json", "lib/.vscode/tasks.json"}},
		"a directory moved":     {line: "mv lib/claude lib/.claude", before: "mkdir -p lib/claude/skills; echo x > lib/claude/skills/x.md; echo x > lib/claude/settings.json", git: ".", aside: []string{"lib/.claude/skills", "lib/.claude/settings.json"}},
		"a link":                {line: "mkdir c && echo x > c/settings.json && ln -s ../c lib/.claude", git: ".", aside: []string{"lib/.claude"}},
		"without rights":        {line: "mkdir -p lib/.claude && echo x > lib/.claude/settings.json && chmod 500 lib/.claude", git: ".", aside: []string{"lib/.claude/settings.json"}},
		"in a closed directory": {line: "mkdir -p k/j && cd k/j && git init -q . && " + evil + " >> .git/config && chmod 111 .git . ..", git: "k/j", aside: []string{"k/j/.git/config"}},
		"of direnv":             {line: "echo x > .envrc; echo x > deep/a/b/c/d/.envrc", git: ".", aside: []string{".envrc", "deep/a/b/c/d/.envrc"}},
		"an included file":      {line: evil + " > later.gitconfig", before: "git config --add include.path ../later.gitconfig", git: ".", aside: []string{"later.gitconfig"}},
		"nothing":               {line: "echo x > Makefile; echo x > package.json; mkdir -p a/b; echo x > a/b/.env.x", git: "."},
	} {
		t.Run(name, func(t *testing.T) {
			s := newRepository(t)
			if c.before != "" {
				cmd := exec.Command("/bin/sh", "-ec", c.before)
				cmd.Dir, cmd.Env = s.at.Project, append(os.Environ(), "HOME="+s.at.Home)
				if text, err := cmd.CombinedOutput(); err != nil {
					t.Fatalf("%s: %v", text, err)
				}
			}
			output, out := s.line(t, "project", c.line)
			if c.gone != "" {
				if exists(s.at.Project+"/"+c.gone) || len(out.Planted) != 1 {
					t.Errorf("%s is there: %v", c.gone, out.Planted)
				}
			} else if len(out.Planted) != len(c.aside) {
				t.Errorf("%d were set aside, want %v: %v\n%s", len(out.Planted), c.aside, out.Planted, output)
			}
			for _, name := range c.aside {
				full := s.at.Project + "/" + name
				if exists(full) || !exists(full+aside) || !strings.Contains(sayPlanted(out), full+" (now "+full+aside+")") {
					t.Errorf("%s was not set aside: %v\n%s", name, out.Planted, output)
				}
			}
			os.WriteFile(s.at.Project+"/"+c.git+"/touched", []byte("x"), 0o644)
			cmd := exec.Command("git", "status")
			cmd.Dir, cmd.Env = s.at.Project+"/"+c.git, append(os.Environ(), "HOME="+s.at.Home)
			cmd.Run() // a bare repository has no status
			cmd = exec.Command("git", "add", "touched")
			cmd.Dir, cmd.Env = s.at.Project+"/"+c.git, append(os.Environ(), "HOME="+s.at.Home)
			cmd.Run()
			if exists(s.at.Project + "/owned") {
				t.Error("git has run what the program left")
			}
			s.whole(t)
		})
	}
}

// TestPlantedLater holds that a second run does not bring out what a first one has left where
// nothing is searched or nobody could look, and that what a person had there stays.
func TestPlantedLater(t *testing.T) {
	requireFull(t)
	const evil = "git init -q . && printf '[core]\\n\\tfsmonitor = touch %s/owned\\n' $HOME/src/project >> .git/config && echo x > .mcp.json && mkdir .vscode && echo x > .vscode/tasks.json"
	for name, c := range map[string]struct {
		before        string // what a person has
		first, second string
		aside         []string
	}{
		"moved out of a directory of tools": {first: "mkdir -p node_modules/p/q && cd node_modules/p/q && " + evil, second: "mv node_modules/p/q lib2", aside: []string{"lib2/.git/config", "lib2/.mcp.json", "lib2/.vscode/tasks.json"}},
		"names that nobody can look at":     {first: "mkdir s && cd s && " + evil + " && chmod 444 ../s", second: "chmod 755 s", aside: []string{"s/.git/config", "s/.mcp.json", "s/.vscode/tasks.json"}},
		"led to by a new link":              {first: "mkdir -p node_modules/.a && mv lib node_modules/.a/lib && ln -s node_modules/.a/lib lib && cd lib && " + evil, second: "true", aside: []string{"node_modules/.a/lib/.git/config", "node_modules/.a/lib/.mcp.json", "node_modules/.a/lib/.vscode/tasks.json"}},
		"modes and times of a person's": {before: "mkdir -p deep/a/b/c/d/.vscode && echo x > deep/a/b/c/d/.mcp.json && echo x > deep/a/b/c/d/.vscode/tasks.json && cd deep/a/b/c/d && git init -q . && git config core.pager less",
			first: "chmod -R u+rw deep && touch deep/a/b/c/d/.mcp.json && echo x > deep/a/b/c/new", second: "chmod -R go-w deep"},
		"changed by a run": {before: "echo x > deep/a/b/c/d/.mcp.json && touch -t 202001010000 deep/a/b/c/d/.mcp.json", first: "echo y > deep/a/b/c/d/.mcp.json && touch -t 202001010000 deep/a/b/c/d/.mcp.json", second: "true", aside: []string{"deep/a/b/c/d/.mcp.json"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newRepository(t)
			cmd := exec.Command("/bin/sh", "-ec", ":; "+c.before)
			cmd.Dir, cmd.Env = s.at.Project, append(os.Environ(), "HOME="+s.at.Home)
			if text, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			said := ""
			for _, line := range []string{c.first, c.second} {
				output, out := s.line(t, "project", line)
				if out.Status != 0 {
					t.Fatalf("%s: %s", line, output)
				}
				said += sayPlanted(out)
			}
			for _, name := range c.aside {
				full := s.at.Project + "/" + name
				if exists(full) || !exists(full+aside) {
					t.Errorf("%s was not set aside: %s", name, said)
				}
			}
			if len(c.aside) == 0 && said != "" {
				t.Errorf("was set aside: %s", said)
			}
		})
	}
}

// TestKilledLauncher holds that what a program has left is set aside though the launcher
// was killed, and that no process waits on when it was not.
func TestKilledLauncher(t *testing.T) {
	requireFull(t)
	s := newRepository(t)
	program := s.at.Home + "/launcher"
	if err := copyProgram(program); err != nil {
		t.Fatal(err)
	}
	start := func(line string) *exec.Cmd {
		t.Helper()
		cmd := exec.Command(program, "launch", s.at.Project, s.at.Home, line)
		cmd.Env = append(os.Environ(), "HOME="+s.at.Home)
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		return cmd
	}
	until := func(what string, is func() bool) {
		t.Helper()
		for range 200 {
			if is() {
				return
			}
			time.Sleep(50 * time.Millisecond)
		}
		t.Errorf("waited in vain until %s", what)
	}
	running := func() (n int) {
		dirs, _ := filepath.Glob("/proc/[0-9]*")
		for _, dir := range dirs {
			if exe, err := os.Readlink(dir + "/exe"); err == nil && exe == program {
				n++
			}
		}
		return n
	}
	left := s.at.Project + "/.mcp.json"
	cmd := start("echo x > .mcp.json; echo x > team.new; while :; do sleep 1; done")
	until("the program has left a file", func() bool { return exists(s.at.Project + "/team.new") })
	syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	cmd.Wait()
	until("it is set aside", func() bool { return exists(left+aside) && !exists(left) })
	until("nothing runs any more", func() bool { return running() == 0 })
	s.whole(t)
	if err := start("true").Wait(); err != nil {
		t.Fatal(err)
	}
	until("nothing waits after an ordinary end", func() bool { return running() == 0 })
}

func sayPlanted(out Outcome) string {
	var list []string
	for _, p := range out.Planted {
		list = append(list, p.String())
	}
	return strings.Join(list, "\n")
}
