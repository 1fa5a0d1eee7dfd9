// Package program says what an invocation of a program does: effects, what the
// program writes, and the texts that it has a shell run. It knows no shell: the shell
// in which a program was called stands behind the interface [Shell]. It is not for
// tools other than programs, which package tool judges.
//
// [New] comes first, then [Programs.Run]. By the program's row in the catalogue it
// tells options from operands (sort), gives each its role (roles), and fills in the
// row's effects (effects). A function in the table specials says what a row cannot
// say, such as gitPush, find and tar. To add one, write a method of use, name it in
// specials and in a row, and add a table of cases to special_test.go.
package program

import (
	"path"
	"slices"
	"strings"

	"gate/facts/internal/draft"
	"gate/facts/internal/flow"
	"gate/facts/internal/peer"
	"gate/facts/internal/world"
	"gate/hook"
	"gate/internal/catalogue"
	"gate/internal/secret"
	"gate/internal/wordlist"
)

// Programs says what programs do, by a row of the catalogue and the function that a
// row may name. Make one with [New]. It is safe for concurrent use.
type Programs struct {
	rows     *catalogue.Catalogue
	specials []wordlist.Named[func(*use)]
	uses     map[int]*use // by command; nil unless they are kept
}

// New returns the programs of a catalogue.
func New(rows *catalogue.Catalogue) *Programs {
	return &Programs{rows: rows, specials: specials[:]}
}

// Keeping returns the same programs for one reading of one line, after which
// [Programs.Respell] knows how the words of each command were read.
func (p *Programs) Keeping() *Programs {
	return &Programs{rows: p.rows, specials: p.specials, uses: map[int]*use{}}
}

// Source judges a script that the shell itself runs.
func (p *Programs) Source(d *draft.Draft, shell Shell, inv *draft.Invocation, file flow.Word) (out flow.Stream, opens bool) {
	u := &use{Draft: d, Invocation: inv, programs: p, shell: shell, row: &catalogue.Row{}}
	out, opens = u.runScript("bash", file, true), u.textOf(file) == nil && !u.ownsNames(file)
	u.marksValues(file)
	return out, opens
}

// leastMarked is how long a value of a file of secrets is that is taken for one, in bytes.
const leastMarked = 8

// marksValues has the variables that the shell took over from a file of secrets be known as secrets
// by their names, as those of its environment are.
func (u *use) marksValues(file flow.Word) {
	for _, t := range u.targets(file) {
		what, _ := u.Secret(t.Path)
		if what == "" || t.Path == "" {
			continue
		}
		text, err := u.World.Read(t.Path, maxScript)
		if err != nil {
			return
		}
		for name := range u.shell.Names() {
			held, ok := u.shell.Variable(name)
			value := held.Value.Text()
			if !ok || !held.Value.Literal() || len(value) < leastMarked || certain(value) || !secret.Variable(name) || !namesWord(text, name) || !strings.Contains(text, value) {
				continue
			}
			u.shell.Mark(name, flow.Unknown(&flow.Hole{Why: "$" + name, Alts: []string{value}, Taint: flow.Taint{Secret: "environment variable " + name, From: t.Path}}))
		}
	}
}

// certain reports a value that is known for a secret by itself, and as a worse one than by its name.
func certain(value string) bool {
	return slices.ContainsFunc(secret.Find(value), func(p secret.Place) bool { return p.Grade == secret.Certain })
}

// ownsNames reports a file that sets up a tool and no variable of the line: a virtual
// environment's, or one that is installed outside of the project.
func (u *use) ownsNames(file flow.Word) bool {
	if path.Base(file.Text()) == "activate" {
		return true
	}
	for _, t := range u.targets(file) {
		if t.Path == "" || t.Area == "temp" || t.Area == "unknown" || world.Below(t.Path, u.World.Project) {
			return false
		}
	}
	return true
}

// Statements judges a text for a database, which a tool of a name is given.
func (p *Programs) Statements(d *draft.Draft, shell Shell, tool string, text flow.Word) {
	u := &use{Draft: d, Invocation: &draft.Invocation{}, programs: p, shell: shell, row: &catalogue.Row{}, name: tool}
	u.sql(text)
}

// LogsIn reports a command that hands what it reads to the registry which gave it
// out: gh auth token | docker login ghcr.io.
func (p *Programs) LogsIn(c hook.ShellCommand, secret string) bool {
	if c.Program == nil || c.Path != nil || len(c.Via) > 0 || !wordlist.Has(" docker podman nerdctl buildah skopeo oras helm ", *c.Program) {
		return false
	}
	if _, stdin := c.Options["password-stdin"]; !stdin || c.Subcommand == nil || !strings.HasSuffix(*c.Subcommand, "login") || len(c.Operands) != 1 {
		return false
	}
	if c.Operands[0] == nil {
		return secret == registryPassword // "$ACCOUNT.dkr.ecr.$REGION.amazonaws.com": nobody else takes it
	}
	return issuer(secret, peer.Parse(*c.Operands[0], strings.Contains(*c.Operands[0], "://")).Host)
}

// registryPassword is what a cloud prints for the login at its own registry of images.
const registryPassword = "registry password"

// HandsOn reports that commands of a pipe write what they read to it and to
// nothing else.
func (p *Programs) HandsOn(cmds []hook.ShellCommand) bool {
	for _, c := range cmds {
		if c.Program == nil || c.Path != nil || len(c.Via) > 0 || !wordlist.Has(" cat grep egrep sort uniq head tail kubectl oc aws gcloud az vault heroku ansible-vault sops doppler op railway ", *c.Program) {
			return false
		}
		for option := range c.Options {
			switch {
			case slices.Contains([]string{"V", "verbosity", "debug", "log-http", "verbose", "output-curl-string"}, option), option == "v" && !strings.HasSuffix(*c.Program, "grep"):
				return false // tells what was answered
			case wordlist.Has(" sort ansible-vault sops doppler op railway ", *c.Program) && wordlist.Has(" o output out-file i in-place ", option):
				return false // and where it goes is another question
			}
		}
		if *c.Program == "uniq" && len(c.Operands) > 1 {
			return false
		}
		for _, r := range c.Redirects {
			if r.Target == nil || *r.Target != "/dev/null" {
				return false
			}
		}
	}
	return true
}

// MakesDirectories reports a command that is not known to leave no directory
// behind.
func (p *Programs) MakesDirectories(cmd hook.ShellCommand) bool {
	if cmd.Program == nil {
		return true
	}
	switch *cmd.Program {
	case "cd", "true", "false", ":", "echo", "printf", "ls", "cat", "pwd", "test", "[", "grep", "head", "tail", "wc", "sleep", "date", "export", "set", "touch", "exec", "rm", "read", "declare", "local":
		return false
	}
	return true
}
