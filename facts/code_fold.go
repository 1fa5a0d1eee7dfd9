package facts

import (
	"encoding/base64"
	"encoding/hex"
	"path"
	"strconv"
	"strings"
)

// pure returns the result of a function that changes nothing outside: the rows
// that begin with "=".
func (p *codeParser) pure(fold, selectors string, u *codeUse) codeValue {
	first, _, _ := strings.Cut(selectors, " ")
	switch fold {
	case "home":
		return codeString("~")
	case "here":
		return codeString(".")
	case "tmp":
		return codeString("/tmp")
	case "temp":
		return codeString("/tmp/tmp")
	case "digits":
		return codeValue{kind: codeKnown, text: "0", flags: isNumber}
	case "drop":
		return codeValue{}
	case "net":
		return codeFlagged(fromNetwork)
	case "decoder":
		return codeFlagged(fromDecoder | u.args.flags())
	case "secret":
		return codeFlagged(fromSecret)
	case "made":
		return codeNamed(u.name)
	case "environment":
		return codeFlagged(fromEnvironment)
	case "env":
		return p.envOf(first, u)
	case "name":
		return p.module(p.arg(first, u))
	case "text":
		return p.arg(first, u)
	case "dict":
		if v := p.arg(first, u); v.kind == codeName {
			return codeNamed(v.text + ".__dict__")
		}
		return codeValue{}
	case "pass":
		return codeFlagged(u.on.all() | u.args.flags())
	case "list":
		return codeValue{kind: codeList, items: p.selected(selectors, u)}
	case "join", "append", "concat":
		return p.joined(fold, p.selected(selectors, u))
	case "base64", "hex":
		return p.decoded(p.arg(first, u), fold)
	case "within":
		return codeValue{kind: codeList, items: []codeValue{p.joinPath(p.arg(first, u), codeString("*"))}}
	case "names":
		return codeValue{kind: codeList, items: []codeValue{codeString("*")}}
	case "walk":
		star := codeValue{kind: codeList, items: []codeValue{codeString("*")}}
		return codeValue{kind: codeList, items: []codeValue{{kind: codeList, items: []codeValue{p.arg(first, u), star, star}}}}
	case "glob":
		return codeValue{kind: codeList, items: p.globbed(selectors, u)}
	case "format":
		if all := p.selected(selectors, u); len(all) > 0 {
			return p.format(all[0], all[1:])
		}
		return codeValue{}
	}
	return p.each(p.arg(first, u), codeFold(fold))
}

// codeFold returns a fold of one text.
func codeFold(fold string) func(string) codeValue {
	return func(s string) codeValue {
		switch fold {
		case "base64":
			return codeDecoded(decodeBase64(s))
		case "hex":
			b, err := hex.DecodeString(s)
			return codeDecoded(b, err == nil)
		case "chr":
			n, err := strconv.ParseInt(s, 0, 32)
			if err != nil || n < 0 {
				return codeValue{}
			}
			return codeString(string(rune(n)))
		case "lower":
			return codeString(strings.ToLower(s))
		case "upper":
			return codeString(strings.ToUpper(s))
		case "strip":
			return codeString(strings.TrimSpace(s))
		case "reverse":
			return codeReverse(s)
		case "dir":
			return codeString(path.Dir(s))
		case "base":
			return codeString(path.Base(s))
		case "clean":
			return codeString(path.Clean(s))
		case "file":
			s = strings.TrimPrefix(s, "file://")
			return codeString(s)
		}
		return codeValue{}
	}
}

func codeDecoded(b []byte, ok bool) codeValue {
	if !ok {
		return codeFlagged(fromDecoder)
	}
	return codeValue{kind: codeKnown, text: string(b), flags: fromDecoder}
}

func decodeBase64(s string) ([]byte, bool) {
	s = strings.TrimRight(strings.Join(strings.Fields(s), ""), "=")
	s = strings.NewReplacer("-", "+", "_", "/").Replace(s)
	b, err := base64.RawStdEncoding.DecodeString(s)
	return b, err == nil
}

// module is what a module's name stands for.
func (p *codeParser) module(v codeValue) codeValue {
	if v.kind == codeChoice {
		return codeValue{}
	}
	if v.kind != codeKnown || len(v.text) > maxCodeName {
		p.suspect("loads a module by a computed name")
		return codeValue{}
	}
	return codeNamed(codeModule(v.text))
}

// codeModule normalises the name of a module: node:fs/promises → fs.promises.
func codeModule(name string) string {
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

func (p *codeParser) joined(how string, all []codeValue) codeValue {
	if len(all) == 0 {
		return codeValue{}
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
func (p *codeParser) globbed(selectors string, u *codeUse) []codeValue {
	all := p.selected(selectors, u)
	if u.method && len(all) > 0 && !strings.Contains(selectors, "self") {
		for i, v := range all {
			all[i] = p.joinPath(u.on, v)
		}
	}
	for i, v := range all {
		if v.kind == codeKnown {
			all[i].flags = v.flags &^ isNumber
		}
	}
	return all
}

// codeMode folds a file mode to octal digits. Languages write octal numbers as
// 0o755 or 0755; a plain number is decimal, a text is octal.
func codeMode(v codeValue) codeValue {
	if v.kind != codeKnown {
		return codeValue{flags: v.flags}
	}
	s := strings.ToLower(v.text)
	if v.flags&isNumber == 0 {
		return codeString(strings.TrimLeft(strings.TrimPrefix(s, "0o"), "0"))
	}
	if rest, ok := strings.CutPrefix(s, "0o"); ok {
		return codeString(rest)
	}
	n, err := strconv.ParseUint(s, 0, 32)
	if err != nil {
		return codeValue{}
	}
	return codeString(strconv.FormatUint(n, 8))
}
