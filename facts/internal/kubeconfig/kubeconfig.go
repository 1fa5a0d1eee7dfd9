// Package kubeconfig reads of the configuration of kubectl what decides whom a
// command reaches: the current context and its namespace. It is no reader of YAML, which the hot
// program has none of: what it does not read for certain it says is not known.
package kubeconfig

import "strings"

// CurrentContext reads which context a kubeconfig makes the current one, "" for
// none. It reports whether that is known: of the ways that YAML has to say it,
// those are read that programs write.
func CurrentContext(text string) (name string, known bool) {
	if otherEnds(text) {
		return "", false
	}
	keys, found, open := 0, false, false
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		value, is := strings.CutPrefix(line, "current-context:")
		switch {
		case strings.Trim(line, " ") == "" || line[0] == '#':
			continue
		case line == "---" && keys == 0:
			continue
		case line[0] == ' ' || strings.HasPrefix(line, "- "):
			if open || keys == 0 {
				return "", false // the value goes on
			}
			continue
		case is && found || !isPlainKey(line):
			return "", false
		case is:
			if name, known = plainValue(value); !known {
				return "", false
			}
		}
		keys++
		open, found = is, is || found
	}
	return name, true
}

// otherEnds reports ends of lines that are YAML's and not a file's.
func otherEnds(text string) bool {
	return strings.ContainsAny(text, "\u0085\u2028\u2029\x00") || strings.Contains(strings.ReplaceAll(text, "\r\n", "\n"), "\r")
}

// Namespace reads which namespace a kubeconfig gives a context, "" for none. It
// reports whether the file has the context, and whether that is known: it reads lists
// as kubectl writes them.
func Namespace(text, context string) (namespace string, found, known bool) {
	if otherEnds(text) {
		return "", false, false
	}
	inside, seen := false, false
	var item struct{ name, namespace string }
	ends := func() {
		if seen && item.name == context && !found {
			namespace, found = item.namespace, true
		}
		item.name, item.namespace = "", ""
	}
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, " \r\n")
		entry, begins := strings.CutPrefix(strings.TrimLeft(line, " "), "- ")
		indent := len(line) - len(strings.TrimLeft(line, " "))
		key, value, ok := strings.Cut(entry, ":")
		switch {
		case line == "" || strings.HasPrefix(entry, "#"):
			continue
		case indent == 0 && !begins && line != "---" && !isPlainKey(line):
			return "", false, false
		case indent == 0 && !begins:
			ends()
			inside, seen = line == "contexts:", false
			continue
		case !inside:
			continue
		case begins:
			ends()
			seen = true
		case !seen:
			return "", false, false
		}
		if !ok || strings.ContainsAny(line, "\t{}[]&*!|>\\") {
			return "", false, false
		}
		value, known := plainValue(value)
		switch key {
		case "name", "namespace":
			if !known || value == "" {
				return "", false, false
			}
			if key == "name" {
				item.name = value
			} else {
				item.namespace = value
			}
		}
	}
	ends()
	return namespace, found, true
}

// isPlainKey reports a line that begins with a key as kubeconfigs have it.
func isPlainKey(line string) bool {
	key, rest, ok := strings.Cut(line, ":")
	return ok && key != "" && strings.Trim(strings.ToLower(key), "abcdefghijklmnopqrstuvwxyz-") == "" && key[0] != '-' && (rest == "" || rest[0] == ' ')
}

// plainValue reads the text behind a colon if YAML makes nothing else of it.
func plainValue(text string) (value string, known bool) {
	text, _, _ = strings.Cut(text, " #")
	text = strings.Trim(text, " ")
	for _, quote := range []string{`"`, `'`} {
		if inner, ok := strings.CutPrefix(text, quote); ok && strings.HasSuffix(inner, quote) {
			text = strings.TrimSuffix(inner, quote)
			break
		}
	}
	special := func(r rune) bool {
		return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("@:._/+=-", r))
	}
	if strings.ContainsFunc(text, special) || strings.HasPrefix(text, "-") || strings.HasPrefix(text, "@") || strings.HasSuffix(text, ":") || strings.EqualFold(text, "null") {
		return "", false
	}
	return text, true
}
