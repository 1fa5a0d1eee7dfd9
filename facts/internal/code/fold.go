package code

import (
	"encoding/base64"
	"encoding/hex"
	"path"
	"strconv"
	"strings"
)

// pure returns the result of a function that changes nothing outside: the rows
// that begin with "=".
func (p *parser) pure(fold, selectors string, u *use) value {
	first, _, _ := strings.Cut(selectors, " ")
	switch fold {
	case "is":
		return textValue(selectors)
	case "digits":
		return value{kind: knownValue, text: "0", flags: isNumber}
	case "drop":
		return value{}
	case "net":
		return flagged(fromNetwork)
	case "decoder":
		return flagged(fromDecoder | u.args.flags())
	case "secret":
		return flagged(fromSecret)
	case "made":
		return named(u.name)
	case "environment":
		return flagged(fromEnvironment)
	case "env":
		return p.envOf(first, u)
	case "name":
		return p.module(p.arg(first, u))
	case "text":
		return p.arg(first, u)
	case "dict":
		if v := p.arg(first, u); v.kind == nameValue {
			return named(v.text + ".__dict__")
		}
		return value{}
	case "pass":
		return flagged(u.on.all() | u.args.flags())
	case "list":
		return value{kind: listValue, items: p.selected(selectors, u)}
	case "join", "append", "concat":
		return p.joined(fold, p.selected(selectors, u))
	case "base64", "hex":
		return p.decoded(p.arg(first, u), fold)
	case "within":
		return value{kind: listValue, items: []value{p.joinPath(p.arg(first, u), textValue("*"))}}
	case "names":
		return value{kind: listValue, items: []value{textValue("*")}}
	case "walk":
		star := value{kind: listValue, items: []value{textValue("*")}}
		return value{kind: listValue, items: []value{{kind: listValue, items: []value{p.arg(first, u), star, star}}}}
	case "glob":
		return value{kind: listValue, items: p.globbed(selectors, u)}
	case "format":
		if all := p.selected(selectors, u); len(all) > 0 {
			return p.format(all[0], all[1:])
		}
		return value{}
	}
	return p.each(p.arg(first, u), foldOf(fold))
}

// textFolds make one text of another.
var textFolds = [...]struct {
	name string
	of   func(string) string
}{
	{"lower", strings.ToLower}, {"upper", strings.ToUpper}, {"strip", strings.TrimSpace}, {"reverse", reverseText},
	{"dir", path.Dir}, {"base", path.Base}, {"clean", path.Clean}, {"file", withoutScheme},
}

func withoutScheme(s string) string { return strings.TrimPrefix(s, "file://") }

// foldOf returns a fold of one text; its value is nothing when there is none of the name.
func foldOf(fold string) func(string) value {
	return func(s string) value {
		switch fold {
		case "base64":
			return decodedValue(decodeBase64(s))
		case "hex":
			b, err := hex.DecodeString(s)
			return decodedValue(b, err == nil)
		case "chr":
			n, err := strconv.ParseInt(s, 0, 32)
			if err != nil || n < 0 {
				return value{}
			}
			return textValue(string(rune(n)))
		}
		for _, f := range textFolds {
			if f.name == fold {
				return textValue(f.of(s))
			}
		}
		return value{}
	}
}

func decodedValue(b []byte, ok bool) value {
	if !ok {
		return flagged(fromDecoder)
	}
	return value{kind: knownValue, text: string(b), flags: fromDecoder}
}

func decodeBase64(s string) ([]byte, bool) {
	s = strings.TrimRight(strings.Join(strings.Fields(s), ""), "=")
	s = strings.NewReplacer("-", "+", "_", "/").Replace(s)
	b, err := base64.RawStdEncoding.DecodeString(s)
	return b, err == nil
}

// module is what a module's name stands for.
func (p *parser) module(v value) value {
	if v.kind == choiceValue {
		return value{}
	}
	if v.kind != knownValue || len(v.text) > maxName {
		p.suspect("loads a module by a computed name")
		return value{}
	}
	return named(moduleName(v.text))
}

// moduleName normalises the name of a module: node:fs/promises → fs.promises.
func moduleName(name string) string {
	name = strings.TrimPrefix(name, "node:")
	switch name {
	case "fs/promises", "fs-extra/esm", "graceful-fs", "fs-extra":
		if name == "fs/promises" {
			return "fs.promises"
		}
		return "fs"
	case "timers/promises", "path/posix", "path/win32":
		return strings.Replace(name, "/", ".", 1)
	}
	return name
}

func (p *parser) joined(how string, all []value) value {
	if len(all) == 0 {
		return value{}
	}
	out := all[0]
	for _, v := range all[1:] {
		switch how {
		case "join":
			out = p.joinPath(out, v)
		case "append":
			out = p.appendPath(out, v)
		default:
			out = p.concat(out, v)
		}
	}
	return out
}

// globbed returns patterns as the paths they stand for. A receiver is the
// directory that they start from.
func (p *parser) globbed(selectors string, u *use) []value {
	all := p.selected(selectors, u)
	if u.method && len(all) > 0 && !strings.Contains(selectors, "self") {
		for i, v := range all {
			all[i] = p.joinPath(u.on, v)
		}
	}
	for i, v := range all {
		if v.kind == knownValue {
			all[i].flags = v.flags &^ isNumber
		}
	}
	return all
}

// modeValue folds a file mode to octal digits. Languages write octal numbers as
// 0o755 or 0755; a plain number is decimal, a text is octal.
func modeValue(v value) value {
	if v.kind != knownValue {
		return value{flags: v.flags}
	}
	s := strings.ToLower(v.text)
	if v.flags&isNumber == 0 {
		return textValue(strings.TrimLeft(strings.TrimPrefix(s, "0o"), "0"))
	}
	if rest, ok := strings.CutPrefix(s, "0o"); ok {
		return textValue(rest)
	}
	n, err := strconv.ParseUint(s, 0, 32)
	if err != nil {
		return value{}
	}
	return textValue(strconv.FormatUint(n, 8))
}
