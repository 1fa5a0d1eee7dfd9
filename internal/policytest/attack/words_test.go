package attack

import (
	"os/exec"
	"slices"
	"testing"
)

// TestSpellings holds that each spelling runs in bash as the line does that it is
// made of.
func TestSpellings(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash")
	}
	run := func(line string) string {
		out, err := exec.Command(bash, "--norc", "--noprofile", "-c", line).CombinedOutput()
		if err != nil {
			t.Errorf("%s: %v: %s", line, err, out)
		}
		return string(out)
	}
	wrote := map[string]bool{}
	for _, line := range []string{"seq 1 2 7", "printf '%s|' one 'two words' \"it's\" -- a=b"} {
		want := run(line)
		for _, s := range spellings() {
			text := written(s, plainWords(line))
			if text == "" {
				continue
			}
			wrote[s.name] = true
			if got := run(text); got != want {
				t.Errorf("%s: %s: %q, not %q", s.name, text, got, want)
			}
		}
	}
	for _, s := range spellings() {
		if !wrote[s.name] {
			t.Errorf("%s: no line has it", s.name)
		}
	}
}

// TestRespelt holds which forms of options the catalogue gives.
func TestRespelt(t *testing.T) {
	for line, want := range map[string][]string{
		"git push -f origin main":             {"git push --force origin main", "git push origin main -f"},
		"git push --force":                    {"git push -f"},
		"git push --repo=origin":              {"git push --repo origin"},
		"git push --repo origin x":            {"git push --repo=origin x"},
		"git push -- -f":                      nil,
		"git push --force-with-lease o main":  nil,
		"unknown-program --force x":           nil,
		"git -C web push -f":                  nil,
		"kubectl delete pod x --namespace=p1": {"kubectl delete pod x --namespace p1"},
	} {
		var got []string
		for _, text := range respelt(plainWords(line)) {
			got = append(got, text)
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, not %q", line, got, want)
		}
	}
}

// TestPlainWords holds which lines are one simple command of plain words.
func TestPlainWords(t *testing.T) {
	for line, want := range map[string][]string{
		`git commit -m 'a b' "c d"`: {"git", "commit", "-m", "a b", "c d"},
		`rm -rf ~`:                  nil,
		`rm -rf "$HOME"`:            nil,
		`rm *.o`:                    nil,
		`A=1 make`:                  nil,
		`make > log`:                nil,
		`make; make`:                nil,
		`make &`:                    nil,
		`! make`:                    nil,
		`for`:                       nil,
		``:                          nil,
	} {
		if got := plainWords(line); !slices.Equal(got, want) {
			t.Errorf("%s: %q, not %q", line, got, want)
		}
	}
}
