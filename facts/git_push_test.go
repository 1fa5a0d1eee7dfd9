package facts_test

import (
	"errors"
	"fmt"
	"io/fs"
	"testing"
	"testing/fstest"

	"gate/facts"
	"gate/hook"
)

// files are the files of a test's machine.
type files map[string]string

func (f files) Lstat(name string) (fs.FileInfo, error) {
	if _, ok := f[name]; !ok {
		return nil, fs.ErrNotExist
	}
	return fstest.MapFS{"x": {}}.Stat("x")
}
func (f files) Readlink(string) (string, error) { return "", errors.New("no links") }
func (f files) ReadFile(name string, limit int) ([]byte, error) {
	text, ok := f[name]
	if !ok {
		return nil, fs.ErrNotExist
	}
	if limit > 0 && len(text) > limit {
		return nil, errors.New("too long")
	}
	return []byte(text), nil
}

// TestPushWithoutRefspec holds that git's settings decide what a push without
// a branch moves.
func TestPushWithoutRefspec(t *testing.T) {
	const upstream = "[branch \"feature\"]\n\tremote = origin\n\tmerge = refs/heads/main\n"
	for _, tt := range []struct {
		name, line, head, config, user, want string
	}{
		{"the branch that is checked out", "git push", "feature", "", "", "[feature] head"},
		{"upstream is not asked", "git push", "feature", upstream, "", "[feature] head"},
		{"upstream", "git push", "feature", upstream + "[push]\n\tdefault = upstream\n", "", "[main] config"},
		{"upstream by the user", "git push origin", "feature", upstream, "[push]\ndefault=upstream\n", "[main] config"},
		{"upstream by the line", "git -c push.default=upstream push", "feature", upstream, "", "[main] config"},
		{"upstream that is not there", "git push", "feature", "[push]\ndefault = upstream", "", "[] unknown"},
		{"what the remote says", "git push", "feature", "[remote \"origin\"]\npush = +refs/heads/*:refs/heads/*\n", "", "[*] config force"},
		{"the remote of the branch", "git push", "feature",
			"[branch \"feature\"]\nremote = up\n[remote \"up\"]\npush = HEAD:main\n", "", "[main] config"},
		{"in one line", "git push", "feature", "[remote \"origin\"] push = +HEAD:\"main\" # x\n", "", "[main] config force"},
		{"a mirror", "git push", "feature", "[remote \"origin\"]\n\tmirror = true\n", "", "[] config mirror"},
		{"matching", "git push", "feature", "[push]\ndefault = matching\n", "", "[] unknown"},
		{"nothing", "git push", "feature", "[push]\ndefault = nothing\n", "", "[] config"},
		{"no branch", "git push", "", "", "", "[] unknown"},
		{"matching by refspec", "git push origin :", "feature", "", "", "[] unknown"},
		{"the line's own branch", "git switch main && git push", "feature", "", "", "[main] head"},
		{"a new branch", "git checkout -b fix && git push -u origin HEAD", "main", "", "", "[fix] refspec"},
		{"a branch or a file", "git checkout x.go && git push", "feature", "", "", "[x.go feature] head"},
		{"a file", "git checkout -- main && git push", "feature", "", "", "[feature] head"},
		{"the branch before", "git switch - && git push", "feature", "", "", "[] unknown"},
		{"one of two", "if x; then git switch main; fi; git push", "feature", "", "", "[main feature] head"},
		{"in a shell of its own", "(git switch main); git push", "feature", "", "", "[main] head"},
		{"another repository's", "GIT_DIR=/x/.git git push", "feature", "", "", "[] unknown"},
		{"a short reference", "git push origin HEAD:heads/main", "feature", "", "", "[main] refspec"},
		{"of a part", "git subtree push --prefix x origin main", "feature", "", "", "[main] refspec"},
		{"a merge on the server", "gh pr merge 3", "feature", "", "", "[] unknown"},
		{"an alias of the repository", "git p origin main", "feature", "[alias]\n\tp = push --force\n", "", "[main] refspec force"},
		{"an alias of the user", "git P", "feature", "", "[alias] p = push -q", "[feature] head"},
		{"an alias of the call", "git -c alias.p='push --force' p origin main", "feature", "", "", "[main] refspec force"},
		{"an alias of the call in another case", "git -c Alias.P='push --force' p origin main", "feature", "", "", "[main] refspec force"},
		{"an alias of an alias", "git up main", "feature", "[alias]\np = push -f\nup = p origin\n", "", "[main] refspec force"},
		{"an alias of itself", "git p", "feature", "[alias]\np = p\n", "", ""},
		{"a script", "git -C sub ship main", "feature", "[alias]\nship = \"!f() { git push origin +HEAD:$1; }; f\"\n", "", "[main] refspec force"},
		{"a script with more words", "git s origin main", "feature", "[alias]\ns = !git push\n", "", "[main] refspec"},
		{"quotes in an alias", "git p", "feature", "[alias]\np = push origin \"'ma\\\\in'\"\n", "", "[ma\\in] refspec"},
		{"an alias of the line", "git config alias.p 'push --force' && git p origin main", "feature", "", "", "[main] refspec force"},
		{"an alias that hides none", "git config --global alias.p status; git p origin main", "feature", "[alias]\np = push -f\n", "", "[main] refspec force"},
		{"an alias in some other file", "git config --file x alias.p status; git p origin main", "feature", "[alias]\np = push -f\n", "", "[main] refspec force"},
		{"an alias that this call hides", "git -c alias.p=status p", "feature", "[alias]\np = push -f\n", "", ""},
		{"an alias that only is written down", "git config alias.p 'push --force'", "main", "", "", ""},
		{"an alias of an included file", "git p origin main", "feature", "[include]\n\tpath = ../shared.cfg\n", "", "[main] refspec force"},
		{"an alias of a file included on a condition", "git p origin main", "feature", "", "[includeIf \"gitdir:~/\"]\n\tpath = project/shared.cfg\n", "[main] refspec force"},
		{"files that include each other", "git p origin main", "feature", "[include]\n\tpath = config\n\tpath = config\n", "", ""},
		{"no shell reads an alias", "git p", "feature", "[alias]\np = push origin $BRANCH\n", "", "[$BRANCH] refspec"},
		{"an alias that git refuses", "git p", "feature", "[alias]\np = push origin 'main\n", "", ""},
		{"git's own command comes first", "git status", "feature", "[alias]\nstatus = push -f\n", "", ""},
		{"an alias of another name", "git q", "feature", "[alias]\np = push -f\n", "", ""},
		{"a refspec wins", "git push origin HEAD", "feature", upstream + "[push]\ndefault = upstream\n", "", "[feature] refspec"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := world()
			w.Files = files{
				"/home/dev/project/.git/HEAD": "ref: refs/heads/" + tt.head + "\n", "/home/dev/project/.git/config": tt.config,
				"/home/dev/.gitconfig": tt.user, "/home/dev/project/shared.cfg": "[alias]\np = push --force\n",
			}
			effects := facts.New(w).Of(event(tt.line)).Effects
			got := ""
			for _, e := range effects {
				push, ok := e.Is.(*hook.GitPush)
				if !ok {
					continue
				}
				got = fmt.Sprint(push.Branches, " ", push.BranchesFrom)
				for _, flag := range []string{"force", "mirror", "delete"} {
					if hook.Tree(&e)[flag] == true {
						got += " " + flag
					}
				}
			}
			if got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}
