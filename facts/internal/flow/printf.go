package flow

import (
	"fmt"
	"strings"

	"gate/facts/internal/bash"
)

// Echo returns what echo prints for its words, with its escapes when -e is there; nil
// where that is not known.
func Echo(words []Word) *string {
	escapes, newline := false, true
	for len(words) > 0 {
		t := words[0].Text()
		if len(t) < 2 || t[0] != '-' || strings.Trim(t[1:], "neE") != "" {
			break
		}
		escapes = escapes || strings.Contains(t, "e")
		newline = newline && !strings.Contains(t, "n")
		words = words[1:]
	}
	v := Join(words).Value()
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

// Printf returns what printf prints for its words.
func Printf(words []Word) Word {
	for len(words) > 0 && words[0].Text() == "--" {
		words = words[1:]
	}
	if len(words) == 0 {
		return Literal("")
	}
	format := words[0].Value()
	if format == nil {
		return Unknown(&Hole{Why: "printf with an unknown format", Empty: true, Taint: Join(words).Taint()})
	}
	args := words[1:]
	var out Word
	for {
		var used int
		var f Word
		f, used = formatOnce(*format, args)
		out.Parts = append(out.Parts, f.Parts...)
		if used == 0 || used >= len(args) {
			return out
		}
		args = args[used:]
	}
}

func formatOnce(format string, args []Word) (Word, int) {
	var out Word
	used := 0
	text := func(s string) { out.Parts = append(out.Parts, Part{Text: bash.Unescape(s), Quoted: true}) }
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
		var arg Word
		if used < len(args) {
			arg = args[used]
		}
		used++
		out.Parts = append(out.Parts, formattedOne(flags, verb, arg).Parts...)
	}
	return out, used
}

// formattedOne is what one % of printf makes of its argument.
func formattedOne(flags string, verb byte, arg Word) Word {
	unknown := Unknown(&Hole{Why: "a formatted value", Empty: true, Taint: arg.Taint()})
	if verb == 'b' {
		arg = Map(arg, bash.UnescapeArgument)
	}
	if len(arg.Parts) == 0 {
		arg = Literal("")
	}
	v := arg.Value()
	switch verb {
	case 's', 'b':
		if flags == "" {
			return arg
		}
		if v == nil || !plainFlags(flags) {
			return unknown
		}
		return Literal(fmt.Sprintf("%"+flags+"s", *v))
	case 'c':
		if v == nil || flags != "" {
			return unknown
		}
		return Literal((*v)[:min(1, len(*v))])
	case 'd', 'i':
		n, ok := arg.Number()
		if v != nil && *v == "" {
			n, ok = 0, true
		}
		if !ok || !plainFlags(flags) {
			return unknown
		}
		return Literal(fmt.Sprintf("%"+flags+"d", n))
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

// IsStdin reports a path under which a program finds its own input.
func IsStdin(path string) bool {
	return path == "/dev/stdin" || path == "/dev/fd/0" || path == "/proc/self/fd/0"
}
