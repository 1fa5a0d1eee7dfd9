package facts

import (
	"strings"

	"gate/facts/catalogue"
	"gate/facts/flow"
	"gate/facts/peer"
	"gate/facts/wordlist"
	"gate/hook"
)

// Programs says what programs do. It is safe for concurrent use.
type programs struct {
	rows     *catalogue.Catalogue
	specials []wordlist.Named[func(*use)]
}

// Source judges a script that the shell itself runs.
func (p *programs) Source(d *draft, shell Shell, inv *invocation, file flow.Word) flow.Stream {
	u := &use{draft: d, invocation: inv, programs: p, shell: shell, row: &catalogue.Row{}}
	return u.runScript("bash", file, true)
}

// Statements judges a text for a database, which a tool of a name is given.
func (p *programs) Statements(d *draft, shell Shell, tool string, text flow.Word) {
	u := &use{draft: d, invocation: &invocation{}, programs: p, shell: shell, row: &catalogue.Row{}, name: tool}
	u.sql(text)
}

// LogsIn reports a command that hands what it reads to the registry which gave it
// out: gh auth token | docker login ghcr.io.
func (p *programs) LogsIn(c hook.ShellCommand, secret string) bool {
	if c.Program == nil || c.Path != nil || len(c.Via) > 0 || !wordlist.Has(" docker podman nerdctl buildah skopeo oras helm ", *c.Program) {
		return false
	}
	if _, stdin := c.Options["password-stdin"]; !stdin || c.Subcommand == nil || !strings.HasSuffix(*c.Subcommand, "login") || len(c.Operands) != 1 || c.Operands[0] == nil {
		return false
	}
	return issuer(secret, peer.Parse(*c.Operands[0], strings.Contains(*c.Operands[0], "://")).Host)
}

// HandsOn reports that commands of a pipe write what they read to it and to
// nothing else.
func (p *programs) HandsOn(cmds []hook.ShellCommand) bool {
	for _, c := range cmds {
		if c.Program == nil || c.Path != nil || len(c.Via) > 0 || !wordlist.Has(" cat grep egrep sort uniq head tail kubectl oc aws gcloud az vault ", *c.Program) {
			return false
		}
		for option := range c.Options {
			switch {
			case wordlist.Has(" V verbosity debug log-http verbose output-curl-string ", option), option == "v" && !strings.HasSuffix(*c.Program, "grep"):
				return false // tells what was answered
			case *c.Program == "sort" && wordlist.Has(" o output ", option):
				return false
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
func (p *programs) MakesDirectories(cmd hook.ShellCommand) bool {
	if cmd.Program == nil {
		return true
	}
	switch *cmd.Program {
	case "cd", "true", "false", ":", "echo", "printf", "ls", "cat", "pwd", "test", "[", "grep", "head", "tail", "wc", "sleep", "date", "export", "set", "touch", "exec", "rm", "read", "declare", "local":
		return false
	}
	return true
}
