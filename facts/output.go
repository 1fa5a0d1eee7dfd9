package facts

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"gate/facts/wordlist"
	"gate/hook"
	"gate/secret"
)

// output returns what the program writes to standard output.
func (u *use) output() stream {
	out := u.answer(u.call.out)
	out.some = true
	in := u.taken()
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

// taken is what the program reads: the files that it names, one after the other, or
// its input.
func (u *use) taken() stream {
	if len(u.reads) == 0 {
		return u.stdin
	}
	var in stream
	for _, f := range u.reads {
		if isInput(f) {
			in = concat(in, u.stdin)
			continue
		}
		in = concat(in, u.fileStream(u.s, f))
	}
	return in
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
	return new(strings.Join(pieces, ""))
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
		if v == nil || u.has("v") || u.has("invert-match") || secret.Variable(*v) || picksSecrets(*v, u.has("i") || u.has("ignore-case")) {
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

// picksSecrets reports a pattern that lets one of the well-known variables with secrets through; one that is none in
// Go's syntax may.
func picksSecrets(pattern string, fold bool) bool {
	flags := "(?m)"
	if fold {
		flags = "(?mi)"
	}
	re, err := regexp.Compile(flags + strings.ReplaceAll(pattern, `\|`, "|")) // in grep's own syntax that is no literal bar
	return err != nil || re.MatchString(secret.Known())
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
