package program

import (
	"regexp"
	"slices"
	"strings"

	"gate/internal/wordlist"
)

// maxFilled bounds by how much values may make the texts of one event longer: a value may
// stand in another one a hundred times, and that in the next.
const maxFilled = 256 << 10

// fill puts values in the place of names, as often as they stand in each other. Names for
// which there is no room stay.
func (u *use) fill(text string, names *regexp.Regexp, value func(name string) string) string {
	for range 4 {
		next := names.ReplaceAllStringFunc(text, func(s string) string {
			v := value(names.FindStringSubmatch(s)[1])
			if more := len(v) - len(s); more > 0 {
				if u.Filled+more > maxFilled {
					return s
				}
				u.Filled += more
			}
			return v
		})
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
	defined        bool // in a text that define names: no goal of its own
}

// makeLines are the recipes of a makefile that making the targets runs, and the lines
// that its functions run, with the values of its own variables and of those that the line
// sets. Without targets the first rule is made. What is told by patterns counts where an
// agent wrote it.
func (u *use) makeLines(text string) (lines []string) {
	text = strings.ReplaceAll(text, "\\\n", " ")
	values := map[string]string{"CC": "cc", "CXX": "c++", "MAKE": "make", "AR": "ar", "RM": "rm -f", "CURDIR": "."}
	for _, set := range makeSet().FindAllStringSubmatch(text, -1) {
		before, ok := values[set[1]]
		switch {
		case set[2] == "+" && len(before) < maxScript:
			values[set[1]] = strings.TrimSpace(before + " " + set[3])
		case set[2] != "?" && set[2] != "+" || !ok:
			values[set[1]] = set[3]
		}
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
	goal, prefix, defines := "", "\t", 0
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if recipe, ok := strings.CutPrefix(line, prefix); ok {
			recipe = automatic.Replace(u.fill(strings.TrimLeft(recipe, "\t@-+ "), makeName(), value))
			into := &lines
			if len(rules) > 0 {
				into = &rules[len(rules)-1].lines
			}
			if strings.Contains(line, "${shell ") { // no shell reads that
				*into = append(*into, shellCalls(recipe)...)
			}
			*into = append(*into, recipe)
			continue
		}
		for _, call := range shellCalls(line) {
			lines = append(lines, automatic.Replace(u.fill(call, makeName(), value)))
		}
		if set := makeSet().FindStringSubmatch(line); set != nil {
			switch {
			case set[2] == "!":
				lines = append(lines, automatic.Replace(u.fill(set[3], makeName(), value)))
			case set[1] == ".DEFAULT_GOAL":
				goal = u.fill(set[3], makeName(), value)
			case set[1] == ".RECIPEPREFIX" && set[3] != "":
				prefix = set[3][:1]
			}
			continue
		}
		switch word, _, _ := strings.Cut(strings.TrimSpace(line), " "); word {
		case "define":
			defines++
			continue
		case "endef":
			defines--
			continue
		case "ifeq", "ifneq", "ifdef", "ifndef", "else", "endif", "include", "-include", "sinclude", "vpath", "export", "unexport", "undefine", "$(info", "$(warning", "$(error":
			continue
		}
		head, needs, ok := strings.Cut(line, ":")
		if head = strings.TrimSpace(head); !ok || head == "" || strings.HasPrefix(needs, "=") || head[0] == '#' {
			continue
		}
		needs, recipe, semi := strings.Cut(strings.TrimLeft(needs, ":"), ";")
		rule := makeRule{
			targets: strings.Fields(u.fill(head, makeName(), value)), needs: strings.Fields(u.fill(needs, makeName(), value)), defined: defines > 0,
		}
		if semi {
			rule.lines = []string{automatic.Replace(u.fill(strings.TrimLeft(recipe, "@-+ "), makeName(), value))}
		}
		rules = append(rules, rule)
	}
	targets := u.makeTargets()
	if len(targets) == 0 {
		targets = strings.Fields(goal)
	}
	for _, rule := range made(rules, targets, u.sure) {
		lines = append(lines, rule.lines...)
	}
	return lines
}

// shellCalls are the lines that calls of the function shell run: $(shell ls).
func shellCalls(text string) (lines []string) {
	for {
		i := strings.Index(text, "shell ")
		if i < 0 {
			return lines
		}
		before := text[:i]
		text = text[i+len("shell "):]
		if !strings.HasSuffix(before, "$(") && !strings.HasSuffix(before, "${") {
			continue
		}
		open, end := before[len(before)-1], byte(')')
		if open == '{' {
			end = '}'
		}
		depth, n := 1, 0
		for n < len(text) {
			if text[n] == open {
				depth++
			} else if text[n] == end {
				depth--
			}
			if depth == 0 {
				break
			}
			n++
		}
		lines = append(lines, text[:n])
	}
}

// made are the rules that making the targets runs. A target that no rule names may be
// any of them; surely it is none.
func made(rules []makeRule, targets []string, sure bool) []makeRule {
	if len(targets) == 0 {
		first := slices.IndexFunc(rules, func(r makeRule) bool {
			return len(r.targets) > 0 && !r.defined && (r.targets[0][0] != '.' || strings.Contains(r.targets[0], "/")) && !strings.Contains(r.targets[0], "%")
		})
		if first >= 0 {
			targets = rules[first].targets
		}
	}
	named := map[string][]int{} // rules by their targets
	var patterns []int
	for i, r := range rules {
		for _, t := range r.targets {
			if named[t] = append(named[t], i); !sure && (strings.ContainsAny(t, "%$") || t == ".DEFAULT") {
				patterns = append(patterns, i)
			}
		}
	}
	for _, name := range targets {
		if !sure && named[name] == nil {
			return rules
		}
	}
	needed := make([]bool, len(rules))
	wanted, seen := slices.Clone(targets), map[string]bool{}
	take := func(list []int) {
		for _, i := range list {
			if needed[i] {
				continue
			}
			needed[i] = true
			wanted = append(wanted, rules[i].needs...)
			for _, line := range rules[i].lines {
				if !sure && strings.Contains(line, "make ") { // of itself, or of another makefile
					wanted = append(wanted, strings.Fields(line)...)
				}
			}
		}
	}
	for take(patterns); len(wanted) > 0; {
		name := wanted[len(wanted)-1]
		if wanted = wanted[:len(wanted)-1]; !seen[name] {
			seen[name] = true
			take(named[name])
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
