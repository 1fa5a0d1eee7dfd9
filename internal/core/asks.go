package core

import (
	"net/url"
	"slices"
	"strings"

	"gate/hook"
	"gate/internal/catalogue"
	"gate/internal/secret"
	"gate/internal/wordlist"
)

// asks adds to facts what a call sends because a name in it holds a secret: that of a
// package, an image, an object in a bucket, or an address that a sub-agent is given. holds
// says what secret a text has.
func asks(f *hook.Facts, ev *hook.Event, rows *catalogue.Catalogue, holds func(string) string) {
	if f == nil {
		return
	}
	if wordlist.Has(" Task Agent task invoke_agent ", ev.Tool()) && handsAddress(ev.ToolInput(), holds) {
		f.Effects = append(f.Effects, hook.FactEffect{Is: &hook.Tool{Tool: ev.Tool(), Access: "write"}})
	}
	if f.Shell == nil {
		return
	}
	sends := map[int]bool{}
	for i := range f.Effects {
		if _, ok := f.Effects[i].Is.(*hook.NetSend); ok {
			sends[f.Effects[i].Command] = true
		}
	}
	for i := range f.Shell.Commands {
		c := &f.Shell.Commands[i]
		if !sends[c.ID] && (byName(rows, c) && namesSecret(c, holds) || handsIn(f, c, holds)) {
			f.Effects = append(f.Effects, hook.FactEffect{Command: c.ID, Is: &hook.NetSend{Host: hostOf(f, c.ID), Source: "text"}})
		}
	}
}

// handsIn reports a command that reaches a host outside and gets a secret on its input, or as an
// operand, and not to log in or to keep it there.
func handsIn(f *hook.Facts, c *hook.ShellCommand, holds func(string) string) bool {
	outside := slices.ContainsFunc(f.Hosts, func(h hook.Host) bool { return h.Command == c.ID && h.Host != nil && !near(*h.Host) })
	if !outside || c.Program == nil || wordlist.Has(" ssh sshpass ", *c.Program) {
		return false
	}
	for i := range f.Effects {
		if _, ok := f.Effects[i].Is.(*hook.Database); ok && f.Effects[i].Command == c.ID {
			return false
		}
	}
	for _, w := range c.Words {
		if w.Value != nil && hasAny(strings.ToLower(*w.Value), "login auth secret password token stdin header credential") {
			return false
		}
	}
	if c.Stdin != nil && c.Stdin.Text != nil && holds(*c.Stdin.Text) != "" {
		return true
	}
	return slices.ContainsFunc(c.Operands, func(o *string) bool { return o != nil && holds(withoutLogin(*o)) != "" })
}

// byName reports a command that hands the words of its line to a service, or whose wrapper
// does to fetch the program.
func byName(rows *catalogue.Catalogue, c *hook.ShellCommand) bool {
	for _, wrapper := range c.Via {
		if row, known := rows.Lookup(wrapper); known && row.Fetches {
			return true
		}
	}
	if c.Program == nil {
		return false
	}
	verb := ""
	if c.Subcommand != nil {
		verb, _, _ = strings.Cut(*c.Subcommand, " ")
	} else if len(c.Operands) > 0 && c.Operands[0] != nil {
		verb = *c.Operands[0]
	}
	row, known := rows.Lookup(*c.Program)
	return known && (row.Asks == "*" || verb != "" && wordlist.Has(" "+row.Asks+" ", verb))
}

// namesSecret reports a word of a command that holds a secret and is no login: the value of
// an option that promises one, or what stands before the @ of an address.
func namesSecret(c *hook.ShellCommand, holds func(string) string) bool {
	promised := false
	for i, w := range c.Words {
		if w.Value == nil || i == 0 && len(c.Via) == 0 {
			continue
		}
		name, value, assigns := strings.Cut(*w.Value, "=")
		option := strings.HasPrefix(name, "-")
		switch {
		case promised || option && assigns && secret.Promises(strings.TrimLeft(name, "-")):
			promised = false
			continue
		case option && !assigns:
			promised = secret.Promises(strings.TrimLeft(name, "-"))
			continue
		case !assigns:
			value = name
		}
		if holds(withoutLogin(value)) != "" {
			return true
		}
	}
	return false
}

// withoutLogin is an address without the login in it. Other texts stay as they are.
func withoutLogin(word string) string {
	u, err := url.Parse(word)
	if err != nil || u.Host == "" || u.User == nil {
		return word
	}
	u.User = nil
	return u.String()
}

// hostOf is the host that a command reaches, nil where it is not known.
func hostOf(f *hook.Facts, command int) *string {
	for i := range f.Hosts {
		if f.Hosts[i].Command == command && f.Hosts[i].Host != nil {
			return f.Hosts[i].Host
		}
	}
	return nil
}

// handsAddress reports an address with a secret among the texts of an input. Who gets it
// is likely to open it.
func handsAddress(input map[string]any, holds func(string) string) bool {
	for _, v := range input {
		text, ok := v.(string)
		if !ok || !strings.Contains(text, "://") {
			continue
		}
		for word := range strings.FieldsSeq(text) {
			if strings.Contains(word, "://") && holds(withoutLogin(strings.Trim(word, "<>()\"'`,."))) != "" {
				return true
			}
		}
	}
	return false
}
