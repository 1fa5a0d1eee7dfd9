package program

import (
	"slices"
	"strings"

	"gate/facts/internal/code"
	"gate/facts/internal/flow"
	"gate/facts/internal/peer"
	"gate/facts/internal/sql"
	"gate/hook"
	"gate/internal/catalogue"
	"gate/internal/wordlist"
)

// remoteShell runs the words after the host on another machine.
func (u *use) remoteShell() {
	if len(u.rest) > 0 {
		u.peer("host", u.rest[0])
	}
}

// netcat connects or listens; with -e it hands out a shell.
func (u *use) netcat() {
	shell := u.has("exec") || u.has("sh-exec")
	if shell {
		how := "reverse"
		if u.has("listen") {
			how = "bind"
		}
		var host *string
		if len(u.rest) > 0 {
			host = u.rest[0].Value()
		}
		u.effect(&hook.ExecShell{How: how, Host: host})
	}
	if u.has("listen") {
		u.effect(&hook.NetListen{Shell: shell})
		if t := u.Stdin.Origins(); t.Secret != "" { // for whoever connects
			u.send(peer.Peer{}, "stdin", nil, t)
		}
		return
	}
	if len(u.rest) > 0 && u.has("unixsock") {
		u.socket(u.rest[0], "connect")
		return
	}
	if len(u.rest) > 0 && !u.has("zero") {
		u.peer("host", u.rest[0])
		if text := flow.Text(u.Stdin.Text); strings.HasPrefix(strings.ToLower(text), "flush") {
			u.redisLines(strings.ReplaceAll(text, "_", ""))
		}
		if u.Stdin.Some && u.Stdin.From > 0 || u.Input != nil {
			p := peer.Peer{}
			if v := u.rest[0].Value(); v != nil {
				p = peer.Parse(*v, false)
			}
			u.send(p, "stdin", flow.Known(u.Stdin.Taint.Path), u.Stdin.Origins())
		}
		u.Out.Taint.Remote = true
		u.Out.Taint.Host = u.rest[0].Text()
	}
}

func (u *use) redis() {
	if len(u.rest) == 0 && u.Stdin.Text != nil {
		u.redisLines(*u.Stdin.Text)
		return
	}
	var words []string
	for _, f := range u.rest {
		words = append(words, f.Text())
	}
	if st, ok := sql.Redis(words); ok {
		for _, f := range u.rest {
			if f.Many() && st.Access == "delete" {
				st.Verb, st.Where = "delete", false // whatever a pipe names
			}
		}
		u.redisState(st)
	}
}

// redisState judges one command. Some have two servers exchange what they hold: the other
// one gets it, or takes the place of who has it.
func (u *use) redisState(st sql.Statement) {
	u.effect(&hook.Database{Tool: u.name, Verb: new(st.Verb), Access: st.Access, Where: st.Where, Object: flow.Known(st.Object)})
	if st.Object != "" && st.Object != "no" && wordlist.Has(" migrate replicaof slaveof ", strings.ToLower(st.Verb)) {
		p := peer.Parse(st.Object, false)
		u.Host(hook.Host{Command: u.ID, Host: flow.Known(p.Host), Access: "send"})
	}
}

// redisLines judges commands that come through a pipe or heredoc.
func (u *use) redisLines(text string) {
	for line := range strings.Lines(text) {
		if st, ok := sql.Redis(strings.Fields(line)); ok {
			u.redisState(st)
		}
	}
}

func (u *use) mongo() {
	for _, f := range u.opts["eval"] {
		for _, st := range code.Mongo(f.Text()) {
			u.effect(&hook.Database{Tool: u.name, Verb: new(st.Verb), Access: st.Access, Where: st.Where, Object: flow.Known(st.Object)})
		}
	}
	if u.Stdin.Text != nil {
		for _, st := range code.Mongo(*u.Stdin.Text) {
			u.effect(&hook.Database{Tool: u.name, Verb: new(st.Verb), Access: st.Access, Where: st.Where, Object: flow.Known(st.Object)})
		}
	}
}

// statesSQL reports that statements stand on the line, to which the input is data.
func (u *use) statesSQL() bool {
	roles := u.operandRoles()
	return slices.ContainsFunc(u.args, func(a argument) bool { return a.option != nil && a.option.Role.Name == "sql" }) ||
		slices.ContainsFunc(roles[:min(len(u.rest), len(roles))], func(r catalogue.Role) bool { return r.Name == "sql" })
}

// sqlStdin judges statements that come through a pipe or heredoc.
func (u *use) sqlStdin() {
	u.statementFiles()
	for _, f := range slices.Concat(u.opts["file"], u.opts["init"]) {
		if st := u.content(f); st.Text != nil { // which this line has written
			u.sql(flow.Literal(*st.Text))
		}
	}
	if text, ok := u.Stdin.Template(); ok {
		u.sql(text)
		return
	}
	if u.Stdin.Taint.Remote && !u.statesSQL() {
		u.unknownCode("sql", flow.Taint{}, "stdin", "it comes from the network")
		return
	}
	host, named := u.opt("host")
	if from := u.Stdin.From; named && from > 0 && from <= len(u.Facts.Shell.Commands) && slices.Contains([]string{"pg_dump", "pg_dumpall", "mysqldump", "mariadb-dump"}, flow.Text(u.Facts.Shell.Commands[from-1].Program)) && !localHost(host.Text()) {
		u.effect(&hook.Database{Tool: u.name, Verb: new("restore"), Access: "write", Object: host.Value()})
	}
}

// crontab installs a table from a file or its input.
func (u *use) crontab() {
	switch {
	case u.has("l"):
	case u.has("r"):
		u.effect(&hook.Persistence{What: "cron", Verb: "delete"})
	case u.has("e") || len(u.rest) > 0 || u.Stdin.Some:
		u.effect(&hook.Persistence{What: "cron", Verb: "write"})
	}
}

// leak reports a secret on the input of a program that talks to a peer, and
// runs what ssh's options name.
func (u *use) leak() {
	carried, source := u.Stdin.Taint, "stdin"
	if t := flow.Join(u.Words).Taint(); carried.Secret == "" && !strings.HasPrefix(t.Secret, "environment variable") {
		carried, source = t, "text" // a token in a header is what it is for
	}
	if len(u.rest) == 0 && u.commandRole() && (u.has("shell") || u.has("login")) && u.name != "su" {
		if u.Stdin.Some {
			u.runStdin("bash") // sudo -s < script
		} else if !u.has("user") {
			u.rootShell()
		}
	}
	if u.name == "su" && !u.has("session-command") && len(u.rest) < 3 {
		if user := strings.TrimPrefix(flow.Join(u.rest).Text(), "- "); user == "" || user == "-" || user == "root" {
			if u.Stdin.Some {
				u.runStdin("bash")
			} else {
				u.rootShell()
			}
		}
	}
	if len(u.rest) == 1 && len(u.row.Operands) > 1 && u.row.Operands[0].Name == "host" && u.row.Operands[1].Name == "shell" && u.Stdin.Some {
		u.inside(func() { u.remoteStdin() }) // ssh host < script
	}
	if (carried.Secret != "" || u.Stdin.Taint.Path != "") && u.row.Special != "netcat" && !u.sends() {
		for _, h := range u.Facts.Hosts {
			if h.Command == u.ID && source == "text" && u.onlyTo(carried.Secret) {
				break
			}
			if h.Command == u.ID {
				u.send(peer.Parse(flow.Text(h.Host), false), source, flow.Known(u.Stdin.Taint.Path), carried)
				break
			}
		}
	}
	for _, f := range u.opts["o"] {
		key, value, ok := f.Cut("=")
		if !ok {
			key, value, ok = f.Cut(" ")
		}
		if ok && strings.HasSuffix(strings.ToLower(strings.TrimSpace(key)), "command") && value.Text() != "none" {
			u.effect(&hook.ExecHidden{Program: u.name, Option: key, Value: value.Value()})
			u.inside(func() { u.shell.Text(value, flow.Stream{}) })
		}
	}
}

// onlyTo reports that a token goes, in a header, to the service that gave it out
// and to nobody else, by no detour.
func (u *use) onlyTo(secret string) bool {
	if slices.ContainsFunc([]string{"proxy", "preproxy", "socks5", "socks5-hostname", "socks4", "socks4a", "connect-to", "resolve", "dns-servers", "doh-url", "config", "unix-socket", "abstract-unix-socket"}, u.has) {
		return false
	}
	return !slices.ContainsFunc(u.Facts.Hosts, func(h hook.Host) bool { return h.Command == u.ID && !issuer(secret, flow.Text(h.Host)) })
}

// issuer reports that a token belongs to the service of a host. Names below which
// a service runs what its customers bring (run.app, cloudapp.azure.com) are not
// the service, but who asks there shows an identity token.
func issuer(secret, host string) bool {
	services := []string{
		"googleapis.com", "pkg.dev", "gcr.io", "github.com", "ghcr.io", "githubusercontent.com",
		"management.azure.com", "dev.azure.com", "vault.azure.net", "azurecr.io", "graph.microsoft.com", "gitlab.com",
	}
	switch secret {
	case registryPassword:
		return !strings.Contains(host, ".") || host == "public.ecr.aws" || strings.Contains(host, ".dkr.ecr.") && (strings.HasSuffix(host, ".amazonaws.com") || strings.HasSuffix(host, ".amazonaws.com.cn"))
	case "cloud credentials", "login credentials":
	case "identity token":
		services = append(services, "run.app", "cloudfunctions.net")
	default:
		return false
	}
	return slices.ContainsFunc(services, func(s string) bool { return host == s || strings.HasSuffix(host, "."+s) })
}

// rootShell reports a shell of the administrator whose commands nobody sees.
func (u *use) rootShell() {
	u.effect(&hook.System{Verb: "privilege", What: new("a shell of the administrator"), Access: "write"})
}

// remoteStdin runs what a login shell elsewhere reads.
func (u *use) remoteStdin() {
	if u.Stdin.Text != nil {
		u.shell.Text(flow.Literal(*u.Stdin.Text), flow.Stream{})
	} else if u.Stdin.Taint.Remote || u.Stdin.Taint.Hidden {
		u.unknownCode("bash", u.Stdin.Taint, "stdin", "it comes from a pipe")
	}
}

// sends reports that something was found to be sent already.
func (u *use) sends() bool {
	return slices.ContainsFunc(u.Facts.Effects, func(e hook.FactEffect) bool { return e.Command == u.ID && e.Kind() == "net.send" })
}

// httpie takes an optional method before the URL.
func (u *use) httpie() {
	row := *u.row
	row.Operands = []catalogue.Role{{Name: "url"}, {Name: "data", Many: true}}
	if len(u.rest) > 0 && len(u.rest[0].Text()) > 2 && strings.Trim(u.rest[0].Text(), "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == "" {
		row.Operands = append([]catalogue.Role{{Name: "text"}}, row.Operands...)
		u.opts["request"] = u.rest[:1:1]
	}
	u.row = &row
}
