package facts

import "strings"

// A kubeContext is what the line itself made the current context of kubectl.
// The zero kubeContext is that of the kubeconfig.
type kubeContext struct {
	set  bool
	name string // "" is not known
}

func (k kubeContext) join(o kubeContext) kubeContext {
	if k == o {
		return k
	}
	return kubeContext{set: true}
}

// changeContext notes that a kubeconfig changes in a way that is not followed.
func (u *use) changeContext() { u.s.kube = kubeContext{set: true} }

// useContext takes the first operand as the current context from here on.
func (u *use) useContext() {
	u.s.kube = kubeContext{set: true}
	if len(u.rest) == 1 && !u.has("kubeconfig") {
		if v := u.rest[0].value(); v != nil && *v != "-" {
			u.s.kube.name = *v
		}
	}
}

// kubeContext finds the context that a call without an option for it uses, and
// where that is from.
func (u *use) kubeContext() (any, string) {
	if u.has("cluster") || u.has("server") || u.has("kube-apiserver") {
		return nil, "unknown" // it need not be in any context
	}
	files, known := u.kubeconfigs()
	switch {
	case !known:
		return nil, "unknown"
	case u.s.kube.set && !u.has("kubeconfig"):
		if u.s.kube.name == "" {
			return nil, "unknown"
		}
		return u.s.kube.name, "file"
	}
	for _, file := range files {
		if !strings.HasPrefix(file, "/") && len(u.s.dirs) == 1 {
			file = u.s.dirs[0] + "/" + file
		}
		text, err := u.world.Read(file, 1<<20)
		if err != nil {
			continue
		}
		if name, known := currentContext(text); !known {
			return nil, "unknown"
		} else if name != "" {
			return name, "file"
		}
	}
	return nil, "unknown"
}

// currentContext reads which context a kubeconfig makes the current one, "" for
// none. It reports whether that is known: of the ways that YAML has to say it,
// those are read that programs write.
func currentContext(text string) (name string, known bool) {
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

// kubeconfigs returns the files that a call reads its context from; the first
// one with a context counts. It reports whether they are known.
func (u *use) kubeconfigs() (files []string, known bool) {
	if f, ok := u.opt("kubeconfig"); ok {
		v := f.value()
		if v == nil {
			return nil, false
		}
		return []string{*v}, true
	}
	list := ""
	if v, ok := u.world.Env("KUBECONFIG"); ok {
		list = v
	}
	if v, ok := u.s.vars["KUBECONFIG"]; ok {
		text := v.value.value()
		if text == nil {
			return nil, false
		}
		list = *text
	}
	for _, e := range u.env {
		if e.name == "KUBECONFIG" {
			text := e.value.value()
			if text == nil {
				return nil, false
			}
			list = *text
		}
	}
	if list == "" {
		return []string{u.world.Home + "/.kube/config"}, u.world.Home != ""
	}
	return strings.Split(list, ":"), true
}
