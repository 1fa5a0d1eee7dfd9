package offer

import "testing"

// TestOwn holds what a line does to the agent's own shell, which a confined shell would
// lose.
func TestOwn(t *testing.T) {
	for line, want := range map[string]string{
		"make": "", "ls; make && go test ./...": "", "FOO=1 make": "", "A=1; make": "", "set -e; make": "", "declare -i n=1": "",
		"cd x && make": "cd", `\cd x`: "cd", `"cd" x`: "cd", "builtin cd x": "cd", "command cd x; ls": "cd", "true || cd x": "cd", "if true; then cd x; fi": "cd",
		"while read d; do cd $d; done": "cd", "for d in a; do pushd $d; done": "pushd", "case x in x) popd;; esac": "popd", "{ cd x; }": "cd", "time cd x": "cd", "! cd x": "cd",
		"(cd x && make)": "", "cd x | cat": "", "cd x &": "", "echo $(cd x && pwd)": "", "bash -c 'cd x'": "",
		"cd /work && make": "", "cd . && make": "", "cd /work/ && make": "", "cd -": "cd", "cd $PWD": "cd", "cd": "cd", "cd -P /work": "cd", "cd ..": "cd",
		"export A=1": "export", "source x": "source", ". ./x": ".", "alias l=ls": "alias", "unalias l": "unalias", `eval "$(x)"`: "eval",
		"f() { make; }; f": "the function f", "function g { make; }": "the function g",
		"if then (": "", "echo 'cd x'": "", "": "",
	} {
		if got := own(line, "/work"); got != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}
