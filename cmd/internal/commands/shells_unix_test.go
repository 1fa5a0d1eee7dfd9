//go:build unix

package commands

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// completers have a shell load the script that gate prints for it, complete the line
// in $LINE, and print what became of its last word.
var completers = map[string]string{
	// What readline calls, with what readline says. compopt works only below readline.
	"bash": `
. /usr/share/bash-completion/bash_completion || exit
compopt() { :; }
. <(gate completion bash)
read -ra COMP_WORDS <<< "$LINE"
COMP_CWORD=$((${#COMP_WORDS[@]} - 1)) COMP_LINE=$LINE COMP_POINT=${#LINE} COMP_TYPE=9 COMP_KEY=9
__start_gate
printf '%s\n' "${COMPREPLY[@]}"`,
	// A zsh at a terminal: the line and a tab are typed, and a key shows what stands there.
	"zsh": `
zmodload zsh/zpty
zpty inner zsh -f -i
zpty -w inner 'autoload -U compinit; compinit -u -d $HOME/dump; . <(gate completion zsh)'
zpty -w inner 'show() { print -r -- ${${BUFFER% }##* } > $HOME/shown; BUFFER= }; zle -N show; bindkey "^T" show; BUFFER= ; print -r re''ady'
zpty -r -m inner out '*ready*'
zpty -w -n inner "$LINE"$'\t\x14'
for i in {1..300}; do
	[[ -s $HOME/shown ]] && break
	zpty -r -t inner out
	sleep 0.1
done
zpty -d inner
cat $HOME/shown`,
	"fish": `
gate completion fish | source
complete -C $LINE`,
}

var inShells = flag.Bool("shells", false, "complete in bash (with bash-completion), zsh and fish, which have to be there")

// TestShells has the shells themselves complete a word of each kind by the scripts that
// gate prints, as .ci/with shells has it do. PowerShell could not be had, and nobody has
// tried its script.
func TestShells(t *testing.T) {
	if !*inShells {
		t.Skip("without -shells: not every machine has them")
	}
	dir := t.TempDir()
	own := "--user-dir " + filepath.Join(dir, "user") + " --state-dir " + filepath.Join(dir, "state")
	hook := exec.Command("gate", append([]string{"hook", "--agent", "claude"}, strings.Fields(own)...)...)
	event, err := os.Open(filepath.Join(root, "testdata", "events", "rm-home.json"))
	if err != nil {
		t.Fatal(err)
	}
	defer event.Close()
	hook.Stdin = event
	said, _ := hook.Output() // it ends with 2
	id := regexp.MustCompile(`\(gate ([0-9a-z]{6})\)`).FindSubmatch(said)
	if id == nil {
		t.Fatalf("no decision: %s", said)
	}
	decision := string(id[1])
	for shell, script := range completers {
		t.Run(shell, func(t *testing.T) {
			for _, row := range [][2]string{
				{"gate install cli", "cline"},
				{"gate install claude --scope proj", "project"},
				{"gate log show " + own + " " + decision[:4], decision},
				{"gate policies " + own + " gate.git.pu", "gate.git.push"},
				{"gate set " + own + " deadl", "deadline"},
				{"gate set " + own + " faults cont", "continue"},
				{"gate completion powers", "powershell"},
			} {
				cmd := exec.Command(shell, "-c", script)
				cmd.Env = append(os.Environ(), "HOME="+t.TempDir(), "LINE="+row[0], "TERM=dumb")
				var stderr strings.Builder
				cmd.Stderr = &stderr
				out, err := cmd.Output()
				got, _, _ := strings.Cut(strings.TrimRight(string(out), "\n"), "\t") // fish shows what it is about, too
				if err != nil || got != row[1] {
					t.Errorf("%s makes %q of %q: %v\n%s", shell, out, row[0], err, stderr.String())
				}
			}
		})
	}
}
