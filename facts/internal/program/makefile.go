package program

import (
	"regexp"
	"slices"
	"strings"

	"gate/internal/wordlist"
)

// fill puts values in the place of names, as often as they stand in each other.
func fill(text string, names *regexp.Regexp, value func(name string) string) string {
	for range 4 {
		next := names.ReplaceAllStringFunc(text, func(s string) string { return value(names.FindStringSubmatch(s)[1]) })
		if next == text {
			break
		}
		text = next
	}
	return text
}

// ofShell are variables that tools hand on from the environment.
const ofShell = " HOME USER PWD OLDPWD PATH TMPDIR SHELL LOGNAME "

// A makeRule is a rule of a makefile: what it makes, of what, and by which lines.
type makeRule struct {
	targets, needs []string
	lines          []string
}

// makeLines are the recipes of a makefile that making the targets runs, and the lines
// that its functions run, with the values of its own variables and of those that the line
// sets. Without targets the first rule is made. What is told by patterns counts where an
// agent wrote it.
func (u *use) makeLines(text string) (lines []string) {
	text = strings.ReplaceAll(text, "\\\n", " ")
	values := map[string]string{"CC": "cc", "CXX": "c++", "MAKE": "make", "AR": "ar", "RM": "rm -f", "CURDIR": "."}
	for _, set := range makeSet().FindAllStringSubmatch(text, -1) {
		values[set[1]] = set[2]
	}
	for _, f := range u.rest {
		if name, v, ok := f.Cut("="); ok && v.Value() != nil {
			values[name] = *v.Value()
		}
	}
	value := func(name string) string {
		switch v, ok := values[name]; {
		case ok:
			return v
		case wordlist.Has(ofShell, name):
			return "${" + name + "}"
		case u.sure: // another file may set it
			return "value"
		}
		return ""
	}
	automatic := strings.NewReplacer("$$", "$", "$@", "target", "$<", "source", "$^", "source", "$*", "stem", "$?", "source", "$(@D)", "target", "$(@F)", "target", "$(<F)", "source")
	var rules []makeRule
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if recipe, ok := strings.CutPrefix(line, "\t"); ok {
			recipe = automatic.Replace(fill(strings.TrimLeft(recipe, "\t@-+ "), makeName(), value))
			if len(rules) == 0 {
				lines = append(lines, recipe)
			} else {
				last := &rules[len(rules)-1]
				last.lines = append(last.lines, recipe)
			}
			continue
		}
		if i := strings.Index(line, "$(shell "); i >= 0 {
			lines = append(lines, automatic.Replace(fill(strings.TrimSuffix(line[i+8:], ")"), makeName(), value)))
			continue
		}
		head, needs, ok := strings.Cut(line, ":")
		if !ok || head == "" || strings.HasPrefix(needs, "=") || head[0] == '#' {
			continue
		}
		needs, recipe, semi := strings.Cut(strings.TrimLeft(needs, ":"), ";")
		rule := makeRule{targets: strings.Fields(fill(head, makeName(), value)), needs: strings.Fields(fill(needs, makeName(), value))}
		if semi {
			rule.lines = []string{automatic.Replace(fill(strings.TrimLeft(recipe, "@-+ "), makeName(), value))}
		}
		rules = append(rules, rule)
	}
	for _, rule := range made(rules, u.makeTargets(), u.sure) {
		lines = append(lines, rule.lines...)
	}
	return lines
}

// made are the rules that making the targets runs. A target that no rule names may be
// any of them; surely it is none.
func made(rules []makeRule, targets []string, sure bool) []makeRule {
	first := slices.IndexFunc(rules, func(r makeRule) bool {
		return len(r.targets) > 0 && (r.targets[0][0] != '.' || strings.Contains(r.targets[0], "/"))
	})
	if len(targets) == 0 && first >= 0 {
		targets = rules[first].targets
	}
	wanted := map[string]bool{}
	for _, name := range targets {
		if wanted[name] = true; !slices.ContainsFunc(rules, func(r makeRule) bool { return slices.Contains(r.targets, name) }) {
			if !sure {
				return rules
			}
		}
	}
	needed := make([]bool, len(rules))
	for again := true; again; {
		again = false
		for i, r := range rules {
			if needed[i] || !slices.ContainsFunc(r.targets, func(t string) bool { return wanted[t] || !sure && (strings.ContainsAny(t, "%$") || t == ".DEFAULT") }) {
				continue
			}
			needed[i], again = true, true
			for _, need := range r.needs {
				wanted[need] = true
			}
			for _, line := range r.lines {
				if !sure && strings.Contains(line, "make ") { // of itself, or of another makefile
					for _, word := range strings.Fields(line) {
						wanted[word] = true
					}
				}
			}
		}
	}
	var out []makeRule
	for i, r := range rules {
		if needed[i] {
			out = append(out, r)
		}
	}
	return out
}
