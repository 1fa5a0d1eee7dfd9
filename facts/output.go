package facts

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"gate/facts/bash"
	"gate/facts/credential"
	"gate/facts/wordlist"
	"gate/hook"
)

// output returns what the program writes to standard output.
func (u *use) output() stream {
	out := u.answer(u.call.out)
	out.some = true
	in := u.stdin
	if len(u.reads) > 0 {
		in = stream{}
		for _, f := range u.reads {
			if isInput(f) {
				in = concat(in, u.stdin)
				continue
			}
			in = concat(in, u.fileStream(u.s, f))
		}
	}
	switch u.row.Output {
	case "echo":
		out.text, out.taint = u.echo(), out.taint.merge(join(u.rest).taint())
		if !countable(u.given()) { // names that a pattern stands for
			out.text, out.files = nil, u.rest
		}
	case "printf":
		f := formatted(u.given())
		out.text, out.taint = f.value(), out.taint.merge(join(u.rest).taint())
		if given := u.given(); len(given) > 0 && !countable(given[1:]) {
			out.text, out.files = nil, given[1:]
		}
	case "copy":
		out, out.more = u.relisted(in, out), in.more
		out.text, out.taint = u.copied(in.text), out.taint.merge(in.taint)
		if u.name == "cat" && len(u.opts) == 0 {
			out.form = in.form
		}
	case "filter", "encode":
		out.more = in.more
		if len(u.reads) == 0 && out.under == nil {
			out = u.relisted(in, out)
		}
		out.taint = out.taint.merge(in.taint)
		if u.has("quiet") || u.has("count") || u.keeps(out.taint.secret) || out.taint.secret == "environment" && u.narrows() {
			out.spared, out.taint.secret = out.taint.secret != "", ""
		}
	case "decode":
		out = u.decode(in, out)
	case "fetch":
		out.taint.remote = true
		if h := u.lastHost(); h != nil {
			out.taint.host, out.taint.url = deref(h.Host), deref(h.URL)
		}
	case "environment":
		if u.name == "printenv" && len(u.rest) > 0 {
			break // those that are named; its effects say which are secret
		}
		out.taint.secret = "environment"
	case "secret":
		if out.taint.secret == "" {
			out.taint.secret = "secret"
		}
	}
	if (u.name == "wc" || u.name == "gwc") && !u.has("files0-from") {
		out.spared = in.taint.secret != ""
	}
	return out
}

// relisted hands on the file names that come in. A program that picks some of
// everything in a directory leaves it unknown which.
func (u *use) relisted(in, out stream) stream {
	out.under, out.files = in.under, in.files
	switch {
	case wordlist.Has(" cat tac sort tee nl shuf gsort ", u.name), u.has("invert-match"): // they keep every line, or all but some
		out.whole = in.whole
	default:
		out.files = slices.DeleteFunc(slices.Clone(in.files), func(f field) bool { return strings.HasSuffix(f.text(), "/*") })
	}
	return out
}

// isInput reports the words that stand for standard input.
func isInput(f field) bool {
	return f.literal() && (f.text() == "-" || isStdin(f.text()))
}

// copied is what a program that copies its input lets through: head and tail
// only a part of it.
func (u *use) copied(text *string) *string {
	if text == nil || u.name != "head" && u.name != "ghead" && u.name != "tail" && u.name != "gtail" {
		return text
	}
	unit, n, sign := "lines", "10", ""
	for _, name := range []string{"lines", "bytes"} {
		if f, ok := u.opt(name); ok {
			unit, n = name, f.text()
		}
	}
	for name := range u.opts { // head -1
		if isDigits(name) {
			unit, n = "lines", name
		}
	}
	if n != "" && (n[0] == '+' || n[0] == '-') {
		sign, n = n[:1], n[1:]
	}
	count, err := strconv.Atoi(n)
	head := strings.HasSuffix(u.name, "head")
	if err != nil || len(u.reads) > 1 || sign == "+" && head {
		return nil
	}
	pieces := strings.SplitAfter(*text, "\n")
	if unit == "bytes" {
		pieces = strings.Split(*text, "")
	} else if pieces[len(pieces)-1] == "" {
		pieces = pieces[:len(pieces)-1]
	}
	count = min(count, len(pieces))
	switch {
	case head && sign == "-":
		pieces = pieces[:len(pieces)-count]
	case head:
		pieces = pieces[:count]
	case sign == "+":
		pieces = pieces[max(0, count-1):]
	default:
		pieces = pieces[len(pieces)-count:]
	}
	return ptr(strings.Join(pieces, ""))
}

// narrows reports a search whose pattern picks out variables that hold no
// secret: env | grep NODE.
func (u *use) narrows() bool {
	patterns := append(append([]field(nil), u.opts["regexp"]...), u.opts["expression"]...)
	if len(patterns) == 0 && len(u.rest) > 0 {
		patterns = u.rest[:1]
	}
	for _, p := range patterns {
		v := p.value()
		if v == nil || u.has("v") || u.has("invert-match") || credential.Variable(*v) || picksSecrets(*v, u.has("i") || u.has("ignore-case")) {
			return false
		}
		for _, word := range []string{"pass", "pwd", "key", "auth", "cred", "aws", "secret", "token"} {
			if strings.Contains(strings.ToLower(*v), word) {
				return false
			}
		}
	}
	return len(patterns) > 0
}

// wellKnown are variables that many machines have and that hold secrets.
const wellKnown = "AWS_SECRET_ACCESS_KEY=x\nGITHUB_TOKEN=x\nGITLAB_TOKEN=x\nOPENAI_API_KEY=x\nANTHROPIC_API_KEY=x\nSTRIPE_SECRET_KEY=x\nSLACK_BOT_TOKEN=x\nHF_TOKEN=x\nDB_PASSWORD=x\n"

// picksSecrets reports a pattern that lets one of them through; one that is none in
// Go's syntax may.
func picksSecrets(pattern string, fold bool) bool {
	flags := "(?m)"
	if fold {
		flags = "(?mi)"
	}
	re, err := regexp.Compile(flags + strings.ReplaceAll(pattern, `\|`, "|")) // in grep's own syntax that is no literal bar
	return err != nil || re.MatchString(wellKnown)
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func (u *use) lastHost() *hook.Host {
	for i := len(u.walker.out.Hosts) - 1; i >= 0; i-- {
		if h := &u.walker.out.Hosts[i]; h.Command == u.id {
			return h
		}
	}
	return nil
}

// echo returns what echo prints, with its escapes when -e is there.
func (u *use) echo() *string {
	words := u.given()
	escapes, newline := false, true
	for len(words) > 0 {
		t := words[0].text()
		if len(t) < 2 || t[0] != '-' || strings.Trim(t[1:], "neE") != "" {
			break
		}
		escapes = escapes || strings.Contains(t, "e")
		newline = newline && !strings.Contains(t, "n")
		words = words[1:]
	}
	v := join(words).value()
	if v == nil {
		return nil
	}
	text := *v
	if escapes {
		whole := text
		text = bash.UnescapeEcho(text)
		newline = newline && !stops(whole)
	}
	if newline {
		text += "\n"
	}
	return &text
}

// formatted is what printf prints for its words.
func formatted(words []field) field {
	for len(words) > 0 && words[0].text() == "--" {
		words = words[1:]
	}
	if len(words) == 0 {
		return literalField("")
	}
	format := words[0].value()
	if format == nil {
		return holeField(&hole{why: "printf with an unknown format", empty: true, taint: join(words).taint()})
	}
	args := words[1:]
	var out field
	for {
		var used int
		var f field
		f, used = formatOnce(*format, args)
		out.parts = append(out.parts, f.parts...)
		if used == 0 || used >= len(args) {
			return out
		}
		args = args[used:]
	}
}

func formatOnce(format string, args []field) (field, int) {
	var out field
	used := 0
	text := func(s string) { out.parts = append(out.parts, part{text: bash.Unescape(s), quoted: true}) }
	for format != "" {
		i := strings.IndexByte(format, '%')
		if i < 0 {
			text(format)
			break
		}
		text(format[:i])
		j := i + 1
		for j < len(format) && strings.IndexByte("-+ #0123456789.*", format[j]) >= 0 {
			j++
		}
		if j >= len(format) {
			break
		}
		flags, verb := format[i+1:j], format[j]
		format = format[j+1:]
		if verb == '%' {
			text("%")
			continue
		}
		used += strings.Count(flags, "*")
		var arg field
		if used < len(args) {
			arg = args[used]
		}
		used++
		out.parts = append(out.parts, formattedOne(flags, verb, arg).parts...)
	}
	return out, used
}

// formattedOne is what one % of printf makes of its argument.
func formattedOne(flags string, verb byte, arg field) field {
	unknown := holeField(&hole{why: "a formatted value", empty: true, taint: arg.taint()})
	if verb == 'b' {
		arg = mapText(arg, bash.UnescapeArgument)
	}
	if len(arg.parts) == 0 {
		arg = literalField("")
	}
	v := arg.value()
	switch verb {
	case 's', 'b':
		if flags == "" {
			return arg
		}
		if v == nil || !plainFlags(flags) {
			return unknown
		}
		return literalField(fmt.Sprintf("%"+flags+"s", *v))
	case 'c':
		if v == nil || flags != "" {
			return unknown
		}
		return literalField((*v)[:min(1, len(*v))])
	case 'd', 'i':
		n, ok := arg.number()
		if v != nil && *v == "" {
			n, ok = 0, true
		}
		if !ok || !plainFlags(flags) {
			return unknown
		}
		return literalField(fmt.Sprintf("%"+flags+"d", n))
	}
	return unknown
}

// plainFlags reports a width and precision that Go formats alike, and that are
// no way to a huge text.
func plainFlags(flags string) bool { return len(flags) <= 4 && !strings.ContainsAny(flags, "*#") }

// stops reports \c, after which echo -e prints nothing more.
func stops(text string) bool {
	return strings.Contains(strings.ReplaceAll(text, `\\`, ""), `\c`)
}
