package facts

import (
	"fmt"
	"strings"

	"gate/facts/bash"
)

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
