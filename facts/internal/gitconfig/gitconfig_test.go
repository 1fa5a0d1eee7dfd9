package gitconfig

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// FuzzGitConfig has git read the same text: what git takes for a value, gate
// must, too.
func FuzzGitConfig(f *testing.F) {
	git, err := exec.LookPath("git")
	if err != nil {
		f.Skip("no git here")
	}
	for _, text := range []string{
		"[core]\n\tbare = false # no\n[remote \"origin\"]\n\turl = git@example.org:a/b.git\n\tpush = +HEAD:main\n",
		"[remote \"o\"] push = +HEAD:main\n", "[alias]p=push --force;x\n[push] default = \"match\"ing", "[a \"b\\\"]\\\\\"] C = d\\\n  e\\t\"f ; g\"\r\n;x",
		"\ufeff[a.B]c\n[d]\n", "[a \"b\nc = d", "[x]\ny = \"z\n", "[a]\nb = c \\q", "[a]\n b =  c  d\te  ", "a=b", "[a]b\\", "[a]b=c\\",
	} {
		f.Add(text)
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, text string) {
		if strings.Contains(text, "\x00") {
			return // cannot be told from what separates git's answers
		}
		cmd := exec.Command(git, "config", "--file", "-", "--no-includes", "--list", "--null")
		cmd.Stdin, cmd.Dir = strings.NewReader(text), dir
		cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_DIR="+dir)
		out, err := cmd.Output()
		if err != nil {
			return // git does nothing then
		}
		want, got := Settings{}, Settings{}
		for _, entry := range strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00") {
			key, value, set := strings.Cut(entry, "\n")
			if from := strings.LastIndexByte(key, '.'); strings.Contains(key[:max(from, 0)], "\n") || strings.Count(entry, "\n") > 1 {
				return // a line in the name
			}
			if !set {
				value = "true"
			}
			want.Set(key, value)
		}
		got.Parse(text, func(string) {})
		for key, values := range want {
			if is := got[key]; !slices.EqualFunc(is, values, func(a, b string) bool { return spaced(a) == spaced(b) }) {
				t.Errorf("%q: %s is %q, git says %q", text, key, is, values)
			}
		}
	})
}

// spaced makes blanks alike, which only newer versions of git keep as they are.
func spaced(s string) string { return strings.NewReplacer("\t", " ", "\r", " ").Replace(s) }
