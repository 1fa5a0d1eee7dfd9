package program

import (
	"encoding/base64"
	"encoding/hex"
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"gate/facts/internal/bash"
	"gate/facts/internal/draft"
	"gate/facts/internal/flow"
	"gate/hook"
	"gate/internal/wordlist"
)

// wraps reports that the words hold a command of their own.
func (u *use) wraps() bool {
	if u.asks {
		return false
	}
	for _, a := range u.args {
		if a.option != nil && a.option.Role.Name == "words" {
			u.rest = append(u.splitString(a.value), u.rest...)
		}
	}
	if i, ok := u.commandAt(); ok && i < len(u.rest) {
		u.inner, u.rest = u.rest[i:], u.rest[:i]
		return true
	}
	switch u.row.Special {
	case "xargs", "parallel":
		u.inner, u.rest = u.rest, nil
		return true
	}
	return false
}

// commandAt returns where among the operands the inner command begins: after
// the roles before it, of which assignments take as many words as look like
// one.
func (u *use) commandAt() (int, bool) {
	at := 0
	for _, r := range u.rolesInForce() {
		switch {
		case r.Name == "command":
			return at, true
		case r.Name == "assign" && r.Many:
			for at < len(u.rest) {
				name, _, ok := u.rest[at].Cut("=")
				if !ok || !syntax.ValidName(name) {
					break
				}
				at++
			}
		default:
			at++
		}
	}
	return 0, false
}

// wrapped runs the command inside sudo, env, xargs and their like. The wrapper
// itself becomes a command of its own only if its row gives it effects.
func (u *use) wrapped() flow.Stream {
	quiet := len(u.row.Effects) == 0
	if !quiet {
		u.listUse()
	}
	if u.row.Stop {
		u.shell.Fork()
	}
	env := u.wrapperRoles()
	u.effects()
	inner := *u.Invocation
	inner.Plain = true
	inner.Words = u.inner
	inner.Env = append(append([]draft.Setting(nil), u.Env...), env...)
	if f := wordlist.Find(u.programs.specials, u.row.Special); f != nil {
		f(u)
		inner.Words = u.inner
	}
	u.Via = append(u.Via, u.viaName())
	defer func() { u.Via = u.Via[:len(u.Via)-1] }()
	u.recipes(u.name)
	var out flow.Stream
	for _, words := range u.batches {
		one := inner
		one.ID, one.Words = 0, words
		out = flow.Concat(out, u.shell.Command(&one))
	}
	if len(inner.Words) > 0 {
		inner.ID = 0
		out = flow.Concat(out, u.shell.Command(&inner))
		if u.ID == 0 {
			u.ID = inner.ID
		}
		if u.row.Special == "npx" {
			u.fetchesToRun(inner.Words)
		}
		if len(inner.Words) == 1 && !u.Stdin.Some && !u.has("user") {
			switch u.name + " " + path.Base(inner.Words[0].Text()) {
			case "sudo bash", "sudo sh", "sudo zsh", "doas bash", "doas sh", "doas zsh", "pkexec bash", "pkexec sh", "pkexec zsh":
				u.rootShell()
			}
		}
	} else if quiet && len(u.batches) == 0 {
		u.listUse()
		out = u.output()
	}
	return out
}

// wrapperRoles judges the wrapper's own options and operands, and takes the
// assignments it makes for the command.
func (u *use) wrapperRoles() []draft.Setting {
	var env []draft.Setting
	u.optionRoles()
	roles := u.operandRoles()
	for i, f := range u.rest {
		if name, _, ok := f.Cut("="); roles[i].Name == "assign" || u.row.Operands[0].Name == "assign" && ok && syntax.ValidName(name) {
			if name, value, ok := f.Cut("="); ok {
				env = append(env, draft.Setting{Name: name, Value: value, Span: f.Span})
			}
			continue
		}
		u.role(roles[i], f)
	}
	// NAME=value before the command, as sudo and env take it.
	for len(u.inner) > 0 {
		if f := u.inner[0]; u.name == "env" && f.Prefix() == "" && f.Taint().Secret == "environment file" {
			u.inner = u.inner[1:] // env $(cat .env | xargs) COMMAND
			continue
		}
		name, value, ok := u.inner[0].Cut("=")
		if !ok || !syntax.ValidName(name) && (u.name != "env" || name == "" || name[0] == '-') {
			break
		}
		env = append(env, draft.Setting{Name: name, Value: value, Span: u.inner[0].Span})
		u.inner = u.inner[1:]
	}
	return env
}

// runStdin judges an interpreter that reads its program from its input.
func (u *use) runStdin(language string) {
	in := u.Stdin
	if !in.Some {
		if language == "bash" && len(u.Via) > 0 && !u.awayFromHere() && !u.byCode() {
			u.unknownCode(language, in.Taint, "stdin", "it is typed into a shell that "+u.Via[len(u.Via)-1]+" starts")
		}
		return // interactive, or nothing to read
	}
	source := "stdin"
	if u.Input != nil && u.Input.From == "heredoc" {
		source = "heredoc"
	}
	text, ok := in.Template()
	if !ok {
		u.unknownCode(language, in.Taint, "stdin", "it comes from a pipe")
		return
	}
	u.code(language, text, source)
	if escaped, ok := u.escapedEcho(in); ok {
		u.code(language, flow.Literal(escaped), source)
	}
	if in.Taint.Hidden {
		u.markDecoded()
	}
}

// awayFromHere reports a command of another machine or of a container, where a shell
// without a script can do little to this one.
func (u *use) awayFromHere() bool {
	return u.at().Remote || slices.ContainsFunc(u.Via, func(via string) bool {
		program, _, _ := strings.Cut(via, " ")
		return wordlist.Has(" docker docker-compose podman podman-compose nerdctl ctr crictl kubectl oc lxc incus vagrant devcontainer distrobox toolbox ", program)
	})
}

// byCode reports that a program in another language runs it, about which package code
// says the same.
func (u *use) byCode() bool {
	row, ok := u.programs.rows.Lookup(u.Via[len(u.Via)-1])
	return ok && len(row.Operands) > 0 && row.Operands[0].Name == "execute" && row.Operands[0].Detail != "bash"
}

// escapedEcho is what an echo prints that resolves escapes without being told to,
// as that of zsh and dash does.
func (u *use) escapedEcho(in flow.Stream) (string, bool) {
	if in.Text == nil || in.From < 1 || in.From > len(u.Commands()) {
		return "", false
	}
	c := u.Commands()[in.From-1]
	if _, told := c.Options["e"]; told || flow.Text(c.Program) != "echo" {
		return "", false
	}
	escaped := bash.UnescapeEcho(*in.Text)
	return escaped, escaped != *in.Text
}

func (u *use) markDecoded() {
	for i := range u.Facts.Effects {
		e := u.Facts.Effects[i]
		if code, ok := e.Is.(*hook.ExecCode); ok && e.Command == u.ID {
			code.Decoded = true
		}
	}
}

// decode undoes base64 and hex where the text is known.
func (u *use) decode(in flow.Stream, out flow.Stream) flow.Stream {
	out.Taint = out.Taint.Merge(in.Taint)
	out.Taint.Hidden = true
	if in.Text == nil {
		return out
	}
	compact := strings.Map(func(r rune) rune {
		if r == '\n' || r == ' ' || r == '\r' || r == '\t' {
			return -1
		}
		return r
	}, *in.Text)
	var data []byte
	var err error
	switch {
	case strings.Contains(u.name, "64"), u.name == "openssl":
		data, err = base64.StdEncoding.DecodeString(compact)
		if err != nil {
			data, err = base64.RawStdEncoding.DecodeString(strings.TrimRight(compact, "="))
		}
	case u.name == "xxd":
		data, err = hex.DecodeString(compact)
	default:
		return out
	}
	if err == nil {
		text := string(data)
		out.Text = &text
	}
	return out
}
