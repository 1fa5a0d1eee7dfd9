package offer

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gate/facts"
	"gate/hook"
	"gate/internal/confine/profile"
	"gate/internal/confine/record"
	"gate/internal/secret"
	"gate/internal/strictjson"
)

// Nothing tells the launcher which paths a program was refused: a path out of view is
// simply not there. To have the kernel report each call would cost more than the program.
// gate tells the complaints in a program's output that the profile bears out.
const (
	mostOutput  = 64 << 10 // bytes of an output that are looked at, the half of them at the end
	mostRefused = 8        // paths that are told
	mostName    = 256      // bytes of one
)

// refused are the paths, and the network, that the output of a confined call complains of
// and its profile refuses, each with the reason.
func refused(ev *hook.Event, t record.Told) (list []string) {
	r := reader{told: t, facts: facts.World{Home: t.Place.Home, Project: t.Place.Project, OS: "linux"}}
	for _, field := range []string{"tool_response", "error"} {
		texts(ev.Fields[field], func(text string) {
			for line := range strings.Lines(ends(text)) {
				r.line(strings.TrimSpace(line))
			}
		})
	}
	return r.list
}

// texts are those of a JSON tree.
func texts(v any, f func(string)) {
	switch v := v.(type) {
	case string:
		f(v)
	case []any:
		for _, e := range v {
			texts(e, f)
		}
	case map[string]any:
		for _, e := range v {
			texts(e, f)
		}
	}
}

// ends are the beginning and the end of a long text.
func ends(text string) string {
	if len(text) <= mostOutput {
		return text
	}
	return text[:mostOutput/2] + "\n" + text[len(text)-mostOutput/2:]
}

// A reader reads an output for what the profile refused.
type reader struct {
	told  record.Told
	facts facts.World
	list  []string
}

// The words of systems and of what is written for them, between bars.
const (
	wordsOfAbsence = "no such file or directory|enoent|not found|does not exist|cannot find"
	wordsOfRefusal = "permission denied|eacces|operation not permitted|eperm"
	wordsOfFixing  = "read-only file system|erofs|device or resource busy"
	wordsOfNetwork = "could not resolve host|network is unreachable|enetunreach|temporary failure in name resolution|name or service not known|eai_again|enotfound|no such host"
)

func (r *reader) line(line string) {
	if len(r.list) >= mostRefused || len(line) > 4<<10 {
		return
	}
	low := strings.ToLower(line)
	says := func(words string) bool {
		for w := range strings.SplitSeq(words, "|") {
			if strings.Contains(low, w) {
				return true
			}
		}
		return false
	}
	fixed := says(wordsOfFixing)
	switch {
	case says(wordsOfNetwork):
		if len(r.told.Profile.Hosts) == 0 {
			r.add("the network", "the profile has no hosts")
		} else {
			r.add("the network", "only programs that use the proxy of the variables have one")
		}
	case fixed || says(wordsOfAbsence) || says(wordsOfRefusal):
		for _, name := range paths(line) {
			if why := r.why(r.whole(name), fixed); why != "" {
				r.add(name, why)
			}
		}
	}
}

func (r *reader) add(what, why string) {
	text := what + " (by its output: " + why + ")"
	if len(r.list) < mostRefused && !slices.Contains(r.list, text) {
		r.list = append(r.list, text)
	}
}

// whole is a path as the system knows it, relative to where the call started.
func (r *reader) whole(name string) string {
	if below, ok := strings.CutPrefix(name, "~/"); ok {
		return filepath.Join(r.told.Place.Home, below)
	}
	if !filepath.IsAbs(name) {
		return filepath.Join(r.told.Dir, name)
	}
	return filepath.Clean(name)
}

// why is the reason for which a profile refused a path, "" where it did not: what is not
// there without a confinement is nobody's refusal.
func (r *reader) why(name string, fixed bool) string {
	_, err := os.Lstat(name)
	there := err == nil
	p := r.told.Profile
	real := name
	if dir, err := filepath.EvalSymlinks(filepath.Dir(name)); err == nil {
		real = filepath.Join(dir, filepath.Base(name))
	}
	switch {
	case there && (!p.May(profile.ToRead, name) || !p.May(profile.ToRead, real)):
		return "the profile does not show it"
	case there && !fixed && r.isSecret(real):
		return "it holds secrets"
	case fixed && p.May(profile.ToRead, real) && p.May(profile.ToWrite, real):
		if r.isGuarded(real) {
			return "it starts by itself or guards the agent"
		}
		return "" // a complaint names more than it is about, such as the program that complains
	case fixed:
		return "the profile does not let it be changed"
	}
	return ""
}

// isGuarded reports what starts by itself or guards the agent, and a directory that may
// have some of that in it.
func (r *reader) isGuarded(name string) bool {
	if info, err := os.Lstat(name); err == nil && info.IsDir() {
		return true
	}
	for _, kind := range []string{"self", "startup"} {
		if _, found := r.facts.Find(kind, name); found {
			return true
		}
	}
	return false
}

// isSecret reports a file of secrets by the tables that confinement covers it by.
func (r *reader) isSecret(name string) bool {
	for dir := range strings.FieldsSeq(secret.Directories) {
		if profile.Within(name, r.facts.Home+"/"+dir) {
			return true
		}
	}
	_, found := r.facts.Find("secret.", name)
	return found
}

// paths are the words of a line that may be paths.
func paths(line string) (list []string) {
	for _, word := range strings.FieldsFunc(line, func(c rune) bool { return strings.ContainsRune(" \t'\"`‘’“”,;:()[]{}<>=|", c) }) {
		word = strings.TrimRight(word, ".!?")
		if strings.Contains(word, "/") && len(word) > 1 && len(word) <= mostName && strictjson.Visible(word) == word && !slices.Contains(list, word) {
			list = append(list, word)
		}
	}
	return list
}
