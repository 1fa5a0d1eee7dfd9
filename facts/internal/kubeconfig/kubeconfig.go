// Package kubeconfig reads of the configuration of kubectl what decides whom a
// command reaches: the current context. It is no reader of YAML, which the hot
// program has none of: what it does not read for certain it says is not known.
package kubeconfig

import "strings"

// CurrentContext reads which context a kubeconfig makes the current one, "" for
// none. It reports whether that is known: of the ways that YAML has to say it,
// those are read that programs write.
func CurrentContext(text string) (name string, known bool) {
	if strings.ContainsAny(text, "\u0085\u2028\u2029\x00") || strings.Contains(strings.ReplaceAll(text, "\r\n", "\n"), "\r") {
		return "", false // other ends of lines
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
