package program

import (
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
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
	file           int  // of those that the makefile takes in, itself being 0
}

// automatic puts the values of make's automatic variables into a line of the rule. All
// targets of a rule stand for the one that is made. A rule that patterns tell, or none,
// has words in their place that name no file.
func (r makeRule) automatic(line string) string {
	if !strings.Contains(line, "$") {
		return line
	}
	targets, needs, ordered := r.targets, r.needs, []string(nil)
	if i := slices.Index(needs, "|"); i >= 0 {
		needs, ordered = needs[:i], needs[i+1:]
	}
	long := 0
	for _, f := range slices.Concat(targets, needs, ordered) {
		long += len(f) + 1
	}
	if long > maxArguments || long*strings.Count(line, "$") > maxFilled/8 || len(targets) == 0 || slices.ContainsFunc(targets, func(s string) bool { return strings.Contains(s, "%") }) {
		targets, needs, ordered = []string{"target"}, []string{"source"}, nil
	}
	first := needs[:min(1, len(needs))]
	list := []string{"$$", "$"}
	for name, files := range map[string][]string{"@": targets, "<": first, "^": needs, "?": needs, "+": needs, "|": ordered, "*": {"stem"}} {
		all := strings.Join(files, " ")
		list = append(list, "$"+name, all, "$("+name+")", all, "${"+name+"}", all)
		for part, of := range map[string]func(string) string{"D": path.Dir, "F": path.Base} {
			var parts []string
			for _, f := range files {
				parts = append(parts, of(f))
			}
			list = append(list, "$("+name+part+")", strings.Join(parts, " "), "${"+name+part+"}", strings.Join(parts, " "))
		}
	}
	return strings.NewReplacer(list...).Replace(line)
}

// makeLines are the recipes of a makefile that making the targets runs, and the lines
// that its functions run, with the values of its own variables and of those that the line
// sets. Without targets the first rule is made. What is told by patterns counts where an
// agent wrote it.
// They come by the files that includes has put together.
func (u *use) makeLines(text string, sure bool) (byFile map[int][]string) {
	byFile = map[int][]string{}
	file := 0
	add := func(lines ...string) { byFile[file] = append(byFile[file], lines...) }
	text = strings.ReplaceAll(text, "\\\n", " ")
	for range 3 { // they stand in each other
		text = makeParent().ReplaceAllString(makeFunction().ReplaceAllString(text, "$1"), "$1/..")
	}
	values := map[string]string{"CC": "cc", "CXX": "c++", "MAKE": "make", "AR": "ar", "RM": "rm -f", "CURDIR": ".", "MAKEFILE_LIST": "Makefile"}
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
		case sure: // another file may set it
			return "value"
		}
		return ""
	}
	var rules []makeRule
	goal, prefix, defines := "", "\t", 0
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if mark, ok := strings.CutPrefix(line, makeMark); ok {
			file, _ = strconv.Atoi(mark)
			continue
		}
		if recipe, ok := strings.CutPrefix(line, prefix); ok {
			var rule makeRule
			if len(rules) > 0 {
				rule = rules[len(rules)-1]
			}
			recipe = rule.automatic(u.makeFill(strings.TrimLeft(recipe, "\t@-+ "), value))
			var all []string
			if strings.Contains(line, "${shell ") { // no shell reads that
				all = shellCalls(recipe)
			}
			if all = append(all, recipe); len(rules) > 0 {
				last := &rules[len(rules)-1]
				last.lines = append(last.lines, all...)
			} else {
				add(all...)
			}
			continue
		}
		for _, call := range shellCalls(line) {
			add(makeRule{}.automatic(u.makeFill(call, value)))
		}
		if set := makeSet().FindStringSubmatch(line); set != nil {
			switch {
			case set[2] == "!":
				add(makeRule{}.automatic(u.makeFill(set[3], value)))
			case set[1] == ".DEFAULT_GOAL":
				goal = u.makeFill(set[3], value)
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
			targets: strings.Fields(u.makeFill(head, value)), needs: strings.Fields(u.makeFill(needs, value)), defined: defines > 0, file: file,
		}
		if semi {
			rule.lines = []string{rule.automatic(u.makeFill(strings.TrimLeft(recipe, "@-+ "), value))}
		}
		rules = append(rules, rule)
	}
	targets := u.makeTargets()
	if len(targets) == 0 {
		targets = strings.Fields(goal)
	}
	for _, rule := range made(rules, targets, sure) {
		file = rule.file
		add(rule.lines...)
	}
	return byFile
}

// Functions of make that name the same file by another path, and the one that names its
// directory.
var (
	makeFunction = lazy(`\$[({](?:abspath|realpath|strip|firstword|lastword) +((?:[^(){}$\n]|\$[({][\w.-]+[)}])*)[)}]`)
	makeParent   = lazy(`\$[({]dir +((?:[^(){}$\n]|\$[({][\w.-]+[)}])*?)/?[)}]`)
)

// makeMark begins the lines that part the files which a makefile takes in.
const makeMark = "\x01"

// makefile judges a makefile with those that it takes in: all rules together are made, and
// each counts as the file that it stands in does.
func (u *use) makefile(file, text string, run func(lines []string)) {
	parts := []string{file}
	authored := map[int]bool{}
	whole := u.gathered(file, text, 0, func(name string, byAgent bool) (number int, again bool) {
		if i := slices.Index(parts, name); i >= 0 {
			return i, true
		}
		parts = append(parts, name)
		authored[len(parts)-1] = byAgent
		return len(parts) - 1, false
	})
	sure := u.sure && !slices.Contains(slices.Collect(maps.Values(authored)), true)
	lines := u.makeLines(whole, sure)
	run(lines[0])
	for i, name := range parts[1:] {
		judge := func() { run(lines[i+1]) }
		u.shell.Enter("recipe "+name, func() {
			if authored[i+1] {
				u.asWritten(judge)
			} else {
				u.certainly(judge)
			}
		})
	}
}

// gathered is the text of a makefile with the texts of the files that it takes in.
func (u *use) gathered(file, text string, number int, add func(name string, byAgent bool) (number int, again bool)) string {
	text = strings.ReplaceAll(text, makeMark, " ")
	return makeInclude().ReplaceAllStringFunc(text, func(line string) string {
		var b strings.Builder
		for name := range strings.FieldsSeq(makeInclude().FindStringSubmatch(line)[1]) {
			p, ok := u.takes(file, name)
			if !ok {
				continue
			}
			part, byAgent := "", false
			if st, ok := u.AuthoredText(p); ok {
				whole, known := st.Template()
				if !known || !whole.Literal() {
					u.judgesText("make", p)
					continue
				}
				part, byAgent = whole.Text(), true
			} else if read, err := u.World.Read(p, maxScript); err == nil {
				part = read
			} else {
				continue
			}
			n, again := add(p, byAgent)
			if again {
				continue // its rules are here already
			}
			part = u.gathered(p, part, n, add)
			b.WriteString(makeMark + strconv.Itoa(n) + "\n" + strings.TrimSuffix(part, "\n") + "\n")
		}
		return b.String() + makeMark + strconv.Itoa(number)
	})
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
