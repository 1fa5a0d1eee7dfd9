package confine

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// newCommits makes a home with a project that has a history, and nothing that git starts but
// a hook.
func newCommits(t *testing.T) *scene {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is missing")
	}
	home := t.TempDir()
	s := &scene{at: Place{Home: home, Project: home + "/src/project"}, secrets: map[string]string{}}
	project := s.at.Project
	s.put(t, home+"/.gitconfig", false)
	if err := os.WriteFile(home+"/.gitconfig", []byte("[user]\n\tname = n\n\temail = e@example.com\n[protocol \"file\"]\n\tallow = always\n[init]\n\tdefaultBranch = main\n[gc]\n\tauto = 0\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"main.c", "lib/one.c", "lib/two.c"} {
		s.put(t, project+"/"+name, false)
	}
	person(t, s, `git init -q . && git add -A && git commit -q -m first && git branch old && git tag v0 && git clone -q --bare . origin.git && git remote add origin ./origin.git && echo origin.git > .git/info/exclude
		echo more >> lib/one.c && git commit -q -a -m second && git pack-refs --all && git branch topic old
		printf '#!/bin/sh\necho "the hook ran"\n' > .git/hooks/pre-commit && chmod +x .git/hooks/pre-commit`)
	return s
}

// dated are the variables with which the same work makes the same commits.
var dated = []string{"GIT_AUTHOR_DATE=1700000000 +0000", "GIT_COMMITTER_DATE=1700000000 +0000", "GIT_EDITOR=true", "LC_ALL=C"}

// person runs a line as a person does.
func person(t *testing.T, s *scene, line string) string {
	t.Helper()
	cmd := exec.Command("/bin/sh", "-ec", line)
	cmd.Dir, cmd.Env = s.at.Project, append(append(os.Environ(), "HOME="+s.at.Home), dated...)
	text, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", line, err, text)
	}
	return string(text)
}

// inside runs a line confined.
func inside(t *testing.T, s *scene, line string) (string, Outcome) {
	t.Helper()
	c := s.command(t, "project", "/bin/sh", "-ec", line)
	c.Env = append(c.Env, dated...)
	output, out, err := runs(t, c)
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	return output, out
}

// state is all that a person sees of a repository.
const state = "git symbolic-ref -q HEAD || true; git rev-parse HEAD; git for-each-ref; git stash list; git reflog; git status --porcelain --branch; git diff; git diff --cached; cat .git/MERGE_MSG 2>/dev/null || true; git fsck --strict 2>&1 | sort"

// TestCommits holds that work of git in a confined call ends as it does without, and leaves the
// same repository.
func TestCommits(t *testing.T) {
	requireFull(t)
	for name, line := range map[string]string{
		"commit":        "echo x >> main.c && git commit -q -a -m x",
		"add":           "echo x > new.c && rm lib/two.c && git add -A",
		"build":         "echo built > out.o && git add -A && git commit -q -m x && git log --format=%s",
		"amend":         "echo x >> main.c && git commit -q -a --amend -m other",
		"empty":         "git commit -q --allow-empty -m x && git commit -q --allow-empty -m y",
		"tag":           "git tag v1 && git tag -a -m note v2 && git tag -d v0",
		"branch":        "git branch a && git branch a2 && git branch -m a b/c && git branch -D old && git branch -f topic HEAD",
		"switch":        "git switch -q topic && echo x > t.c && git add t.c && git commit -q -m t && git switch -q -c more && git switch -q main",
		"detached":      "git checkout -q --detach HEAD~1 && git commit -q --allow-empty -m d",
		"merge":         "git switch -q topic && echo x > t.c && git add t.c && git commit -q -m t && git switch -q main && git merge -q --no-edit topic",
		"conflict":      "git switch -q topic && echo other >> lib/one.c && git commit -q -a -m t && git switch -q main && ! git merge -q topic",
		"merge aborted": "git switch -q topic && echo other >> lib/one.c && git commit -q -a -m t && git switch -q main && ! git merge -q topic && git merge --abort",
		"rebase":        "git switch -q topic && echo x > t.c && git add t.c && git commit -q -m t && git rebase -q main",
		"stash":         "echo x >> main.c && git stash -q && echo y >> main.c && git stash -q && git stash drop -q 'stash@{1}'",
		"stash popped":  "echo x >> main.c && git stash -q && git stash pop -q",
		"fetch":         "git fetch -q origin",
		"reset":         "git reset -q --hard HEAD~1",
		"revert":        "git revert --no-edit HEAD",
		"cherry":        "git switch -q topic && ! git cherry-pick main~0 --no-commit || git commit -q -m c",
		"move":          "git mv main.c m.c && git rm -q lib/two.c && git commit -q -m x",
		"notes":         "git notes add -m note HEAD",
		"many":          "i=0; while [ $i -lt 300 ]; do echo $i > f$i; i=$((i+1)); done; git add -A && git commit -q -m many && git pack-refs --all && git branch -D old",
	} {
		t.Run(name, func(t *testing.T) {
			s := newCommits(t)
			bare := &scene{at: Place{Home: s.at.Home, Project: s.at.Home + "/src/bare"}}
			if text, err := exec.Command("cp", "-a", s.at.Project, bare.at.Project).CombinedOutput(); err != nil {
				t.Fatal(err, string(text))
			}
			want := person(t, bare, line) + person(t, bare, state)
			output, out := inside(t, s, line)
			if out.Status != 0 || len(out.Repository)+len(out.Planted) > 0 {
				t.Errorf("status %d, %v %v\n%s", out.Status, out.Repository, out.Planted, output)
			}
			if got := output + person(t, s, state); got != want {
				t.Errorf("%s\n-- without a confinement\n%s", got, want)
			}
			if left, _ := filepath.Glob(s.at.Home + "/.local/state/gate/confined/git-*"); len(left) > 0 {
				t.Errorf("%v is left", left)
			}
		})
	}
}

// TestPartsOfRepository holds that commits in a worktree and in a submodule are taken over, and
// that git packs what it wants.
func TestPartsOfRepository(t *testing.T) {
	requireFull(t)
	s := newRepository(t)
	os.RemoveAll(s.at.Project + "/.husky")
	person(t, s, "git config --unset core.hooksPath; git config --global user.name n; git config --global user.email e@example.com")
	for _, c := range []struct{ line, want, said string }{
		{"cd wt && echo x > w.c && git add w.c && git commit -q -m in-wt && cd ../mods/x/y/z/sub && echo x > s.c && git add s.c && git commit -q -m in-sub", "", ""},
		{"git gc -q && echo x >> main.c && git commit -q -m after main.c && git repack -q -a -d", "", "stay as they were"},
		{"git worktree add -q /tmp/w", "", "a worktree that was not there before"},
	} {
		output, out := inside(t, s, c.line)
		if said := strings.Join(out.Repository, "\n"); out.Status != 0 || !strings.Contains(said, c.said) || c.said == "" && said != "" {
			t.Errorf("%s: status %d, %v\n%s", c.line, out.Status, out.Repository, output)
		}
	}
	for dir, want := range map[string]string{"wt": "in-wt", "mods/x/y/z/sub": "in-sub", ".": "after"} {
		if got := person(t, s, "cd "+dir+" && git log -1 --format=%s && git fsck --strict --no-dangling 2>/dev/null"); strings.TrimSpace(got) != want {
			t.Errorf("%s: %q, want %q", dir, got, want)
		}
	}
}

// pictureOf tells whether anything in a directory changed, objects aside.
func pictureOf(t *testing.T, dir string) string {
	t.Helper()
	text := ""
	err := filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.IsDir() {
			if e.Name() == "objects" {
				return filepath.SkipDir
			}
			return nil
		}
		data, err := os.ReadFile(name)
		text += fmt.Sprintf("%s %x\n", strings.TrimPrefix(name, dir), sha256.Sum256(data))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestNeverTakenOver holds that nothing but what git writes for itself gets out of a layer, and
// that the rest is said.
func TestNeverTakenOver(t *testing.T) {
	requireFull(t)
	s := newRepository(t)
	person(t, s, "git config --global user.name n; git config --global user.email e@example.com; git branch other; rm -f .husky/*; rm -rf .git/hooks")
	git := s.at.Project + "/.git"
	before := pictureOf(t, git)
	zero := strings.Repeat("0", 40)
	for line, said := range map[string]string{
		"mkdir .git/hooks && echo x > .git/hooks/post-commit":                                       "hooks/post-commit was not taken over: git starts",
		"git config core.fsmonitor ./x":                                                             "config was not taken over: settings",
		"echo x > .git/config.worktree":                                                             "config.worktree was not taken over: settings",
		"git -C mods/x/y/z/sub config core.fsmonitor ./x":                                           "sub/config was not taken over: settings",
		"echo x > .git/modules/mods/x/y/z/sub/hooks/pre-commit":                                     "hooks/pre-commit was not taken over: git starts",
		"mkdir -p .git/info; echo '* filter=x' > .git/info/attributes; echo x >> .git/info/exclude": "info/attributes was not taken over: it has files go",
		"echo /tmp > .git/objects/info/alternates":                                                  "objects/info/alternates was not taken over",
		"echo ../e > .git/commondir":                                                                "commondir was not taken over",
		"echo x > .git/worktrees/wt/commondir":                                                      "worktrees/wt/commondir was not taken over",
		"rm -r .git/worktrees":                                                                      "worktrees was not taken over",
		"mkdir .git/modules/y && echo x > .git/modules/y/HEAD":                                      "modules/y was not taken over",
		"ln -s /tmp .git/worktrees2":                                                                "worktrees2 was not taken over: its name",
		"rm -f .git/MERGE_HEAD; ln -s ../main.c .git/MERGE_HEAD":                                    "MERGE_HEAD was not taken over",
		"mkfifo .git/FETCH_HEAD":                                                                    "FETCH_HEAD was not taken over",
		"mkdir .git/rebase-merge && echo 'exec touch owned' > .git/rebase-merge/git-rebase-todo && git commit -q --allow-empty -m x": "is unfinished",
		"mkdir .git/sequencer && echo 'exec touch owned' > .git/sequencer/todo":                                                      "its list can start programs",
		"git replace HEAD $(git commit-tree -m y HEAD^{tree})":                                                                       "refs/replace",
		"echo 'ref: refs/../../x' > .git/HEAD":                                                                                       "nothing but objects was taken over",
		"echo 'ref: config' > .git/HEAD":                                                                                             "nothing but objects was taken over",
		"rm .git/HEAD && ln -s refs/heads/other .git/HEAD":                                                                           "HEAD was not taken over",
		"rm .git/refs/heads/other; ln -s ../../config .git/refs/heads/other":                                                         "refs/heads/other was not taken over",
		"echo 'ref: refs/heads/wt' > .git/refs/heads/other":                                                                          "refs/heads/other was not taken over: it stands for",
		"printf 'x; rm -rf ~\\n' > .git/refs/heads/other":                                                                            "refs/heads/other was not taken over: it is no ref",
		"n=\"$(printf 'a\\nb')\"; git rev-parse HEAD > \".git/refs/heads/$n\"":                                                       "it is no ref",
		"git rev-parse HEAD > .git/refs/heads/-x.lock; git rev-parse HEAD > .git/refs/heads/x..y":                                    "it is no ref",
		"printf '%s refs/heads/ok\\n%s ../../hooks/x\\n' $(git rev-parse HEAD HEAD) > .git/packed-refs":                              "packed-refs cannot be taken over: line 2",
		"echo " + strings.Repeat("1", 40) + " > .git/refs/heads/made":                                                                "is not there",
		"git rev-parse HEAD > .git/refs/made; mkdir -p .git/refs/heads/d; for i in a b; do printf '%s\\n' $(git rev-parse HEAD) > .git/refs/heads/d/$i; done; printf '%s refs/heads/d\\n' $(git rev-parse HEAD) >> .git/packed-refs": "cannot both be refs",
		"truncate -s 10G .git/index":     "index cannot be taken over",
		"echo x > .git/index":            "index cannot be taken over",
		"truncate -s 10G .git/MERGE_MSG": "more than",
		"mkdir .git/MERGE_HEAD .git/x; mkfifo .git/x/y; echo x > .git/description":                                      "description was not taken over",
		"echo x > .git/objects/aa; mkdir -p .git/objects/bb; echo x > .git/objects/bb/" + zero[2:]:                      "nothing but objects was taken over",
		"mkdir -p .git/objects/pack && echo x > .git/objects/pack/pack-x.idx && echo x > .git/objects/pack/pack-x.pack": "pack-x.pack: it is no index",
		"git rev-parse HEAD > .git/shallow":                   "would cut off history",
		"chmod 0 .git/refs/heads .git/logs; true":             "nothing but objects was taken over",
		"rm -rf .git/objects .git/refs && echo x > .git/refs": "",
	} {
		output, out := inside(t, s, "umask 022; "+line)
		if text := strings.Join(out.Repository, "\n"); !strings.Contains(text, said) || len(out.Planted) > 0 {
			t.Errorf("%s: %q has nothing of %q, status %d\n%s", line, text, said, out.Status, output)
		}
		if after := pictureOf(t, git); after != before {
			t.Fatalf("%s: the repository is another:\n%s\n-- and was\n%s", line, after, before)
		}
		for _, name := range []string{"hooks/x", "owned"} {
			if exists(git+"/"+name) || exists(s.at.Project+"/"+name) {
				t.Fatalf("%s: %s is there", line, name)
			}
		}
	}
	person(t, s, "git fsck --strict; git status")
}

// TestMeanwhile holds that what a person's git does while a program runs is never overwritten,
// and that the person hears where the program's commit is.
func TestMeanwhile(t *testing.T) {
	requireFull(t)
	for name, c := range map[string]struct {
		person, line, said string
		taken              bool
	}{
		"a commit":             {person: "echo p > p.c && git add p.c && git commit -q -m person", line: "echo x >> main.c; git commit -q -m program main.c", said: "refs/heads/main was to be"},
		"a file added":         {person: "echo p > p.c && git add p.c", line: "echo x >> main.c; git commit -q -m program main.c", said: "index has changed meanwhile"},
		"another branch":       {person: "git switch -q topic", line: "git branch -f topic HEAD; git commit -q --allow-empty -m program", said: "changed meanwhile"},
		"the same ref":         {person: "git update-ref refs/heads/old main", line: "git update-ref refs/heads/old topic main~1 && git update-ref refs/heads/old main~0 && git update-ref refs/heads/old $(git commit-tree -m y HEAD^{tree})", said: "refs/heads/old has changed meanwhile"},
		"a lock":               {person: "touch .git/index.lock", line: "git commit -q --allow-empty -m program", said: "index.lock is there"},
		"a lock of a ref":      {person: "touch .git/refs/heads/main.lock", line: "git commit -q --allow-empty -m program", said: "refs/heads/main.lock is there"},
		"a refreshed index":    {person: "sleep 1; touch lib/two.c && git update-index --refresh", line: "echo x >> main.c; git commit -q -m program main.c", taken: true},
		"another ref":          {person: "git tag person", line: "git commit -q --allow-empty -m program", taken: true},
		"packed and collected": {person: "git branch young; git gc -q --prune=now", line: "git commit -q --allow-empty -m program", taken: true},
	} {
		t.Run(name, func(t *testing.T) {
			s := newCommits(t)
			go func() {
				for !exists(s.at.Project + "/ready") {
					time.Sleep(10 * time.Millisecond)
				}
				cmd := exec.Command("/bin/sh", "-ec", c.person)
				cmd.Dir, cmd.Env = s.at.Project, append(os.Environ(), "HOME="+s.at.Home)
				text, err := cmd.CombinedOutput()
				if err != nil {
					t.Errorf("%s: %v\n%s", c.person, err, text)
				}
				os.WriteFile(s.at.Project+"/go", nil, 0o644)
			}()
			wait := "git status >/dev/null; touch ready; until [ -e go ]; do sleep 0.02; done; rm ready go; "
			if !c.taken { // the work comes first: a layer shows what changes below it
				wait = c.line + "; touch ready; until [ -e go ]; do sleep 0.02; done; rm ready go; : "
			} else {
				wait += c.line
			}
			text, out := inside(t, s, wait)
			said := strings.Join(out.Repository, "\n")
			log := person(t, s, "rm -f .git/index.lock .git/refs/heads/*.lock; git log -1 --format=%s main; git fsck --strict")
			if taken := strings.Contains(log, "program"); taken != c.taken || !strings.Contains(said, c.said) || (said == "") != c.taken || out.Status != 0 && c.taken {
				t.Errorf("taken over: %v, status %d, said %q\n%s\n%s", taken, out.Status, said, text, log)
			}
			if _, id, ok := strings.Cut(said, "refs/heads/main was to be "); ok {
				if got := person(t, s, "git log -1 --format=%s "+id[:40]); strings.TrimSpace(got) != "program" {
					t.Errorf("%s is %q", id[:40], got)
				}
			}
		})
	}
}

// TestCommitOfKilled holds that a commit is taken over though the launcher was killed.
func TestCommitOfKilled(t *testing.T) {
	requireFull(t)
	s := newCommits(t)
	program := s.at.Home + "/launcher"
	if err := copyProgram(program); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "launch", s.at.Project, s.at.Home, "git commit -q --allow-empty -m program; touch ready; while :; do sleep 1; done")
	cmd.Env = append(os.Environ(), "HOME="+s.at.Home, "STORE="+s.at.Home+"/.local/state/gate/confined")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for range 200 {
		if exists(s.at.Project + "/ready") {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	cmd.Wait()
	for range 200 {
		if strings.Contains(person(t, s, "git log -1 --format=%s"), "program") {
			person(t, s, "git fsck --strict")
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Error("the commit was not taken over")
}
