package policycheck

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/open-policy-agent/opa/v1/ast"

	"gate/hook"
	"gate/internal/load"
	"gate/internal/moment"
	"gate/internal/rego"
)

// A WordKind says what may stand in a place.
type WordKind uint8

const (
	KeyWord      WordKind = iota // of METADATA, or of a member
	FieldWord                    // of input, facts or an effect
	ValueWord                    // a text that occurs
	RuleWord                     // a rule or function
	VariableWord                 // a variable
	PackageWord                  // a package, or part of its name
	ParamWord                    // a parameter
	BuiltinWord                  // a builtin
	LanguageWord                 // of Rego itself
)

// A Word may stand where it was asked for.
type Word struct {
	Text string
	Kind WordKind
	Note string // Markdown; "": nothing is known about it

	// Index says that the word can stand in brackets only, as in x["a-b"], and not behind
	// the dot where it was asked for.
	Index bool
}

// mark stands where a word is to be completed, so that the text parses. No policy has a
// name like it.
const mark = "gate__here"

// Complete says which words may stand at an offset of a file with this text, and which
// part of it they replace: from there to the second offset.
func (i *Inspection) Complete(file, text string, at int) (words []Word, from, to int) {
	if at < 0 || at > len(text) || len(text) > MaxFile {
		return nil, at, at
	}
	start, line := lineAt(text, at)
	before := line[:at-start]
	if strings.HasPrefix(strings.TrimLeft(before, " \t"), "#") {
		f, t := wordAround(line, at-start)
		return i.metadataWords(text, start, before[:f]), start + f, start + t
	}
	if open, in := quoted(before); in {
		if words := i.c.memberWords(text[:start+open-1]); words != nil {
			_, end := wordAround(line, at-start)
			return words, start + open, start + max(end, open)
		}
		end := len(line)
		if n := strings.IndexByte(line[at-start:], '"'); n >= 0 {
			end = at - start + n
		}
		return i.within(file, text, start, line, open, end), start + open, start + end
	}
	f, t := wordAround(line, at-start)
	if dot := strings.LastIndexByte(line[f:at-start], '.'); dot >= 0 {
		f += dot + 1
	} else if n := strings.IndexByte(line[at-start:t], '.'); n >= 0 {
		t = at - start + n
	}
	if base := dotted().FindString(before[:f]); base != "" {
		return i.below(file, text, start, line, strings.TrimSuffix(base, "."), f, t), start + f, start + t
	}
	return i.bare(file, text, start, line, f, t), start + f, start + t
}

// dotted is a reference with a dot behind it, at the end of a text.
var dotted = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`[\pL_][\pL\pN_]*(?:\.[\pL_][\pL\pN_]*|\[[^\[\]]*\])*\.$`)
})

// quoted reports whether the end of a beginning of a line lies in a text, and where that
// begins.
func quoted(before string) (int, bool) {
	open, in := 0, false
	for i := 0; i < len(before); i++ {
		switch c := before[i]; {
		case in && c == '\\':
			i++
		case c == '"':
			in, open = !in, i+1
		case !in && c == '`':
			n := strings.IndexByte(before[i+1:], '`')
			if n < 0 {
				return 0, false
			}
			i += n + 1
		case !in && c == '#':
			return 0, false
		}
	}
	return open, in
}

// marked looks at a text in which a part of a line is something else. alone is what may
// stand in the place of the line where all of it cannot be parsed.
func (i *Inspection) marked(file, text string, start int, line string, from, to int, with, alone string) *View {
	row := strings.Count(text[:start], "\n") + 1
	now := text[:start] + line[:from] + with + line[to:] + text[start+len(line):]
	var keep map[int]string
	if alone != "" {
		keep = map[int]string{row: alone}
	}
	module, whole := repaired(file, now, keep)
	if module == nil {
		return nil
	}
	return i.view(file, now, whole, module)
}

// within completes a text between quotes.
func (i *Inspection) within(file, text string, start int, line string, open, end int) []Word {
	with := mark
	if end == len(line) { // it is not closed yet, nor what stands around it
		with += `"` + closing(line[:open-1])
	}
	v := i.marked(file, text, start, line, open, end, with, "")
	if v == nil {
		return nil
	}
	l := &look{mark: mark}
	v.walk(l)
	if !l.seen {
		return nil
	}
	if l.ref != nil {
		return v.fields(l)
	}
	var words []Word
	known := l.texts.known()
	if more := v.catalogued(l); more != nil {
		known = append(known, more...)
	}
	for _, text := range known {
		words = append(words, Word{Text: text, Kind: ValueWord, Note: v.c.wordText(text)})
	}
	return words
}

// memberHead is how a rule with members begins.
var memberHead = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^(\w+) contains \{`) })

// memberWords are the keys of a rule's members where a text ends behind the brace or a
// comma of one, or the values of a key that has few; nil elsewhere.
func (c *checker) memberWords(before string) (words []Word) {
	heads := memberHead().FindAllStringSubmatchIndex(before, -1)
	if heads == nil {
		return nil
	}
	at := heads[len(heads)-1]
	rule, member := before[at[2]:at[3]], before[at[1]:]
	if _, body, _ := strings.Cut(member, "} if"); !rego.IsRule(rule) || body != "" || closing("{"+member) != "}" {
		return nil
	}
	member = strings.TrimSpace(member)
	values := map[string]func() []string{`"strategy":`: strategies, `"hook":`: c.handlers}
	for key, known := range values {
		if strings.HasSuffix(member, key) {
			for _, value := range known() {
				words = append(words, Word{Text: value, Kind: ValueWord})
			}
			return words
		}
	}
	if member != "" && !strings.HasSuffix(member, ",") {
		return nil
	}
	for _, w := range load.RuleWords() {
		if w.Name == rule {
			for _, key := range w.Keys {
				words = append(words, Word{Text: key, Kind: KeyWord, Note: memberText(key)})
			}
		}
	}
	return words
}

// memberText explains a key of members, "" if it is none.
func memberText(key string) string {
	for _, w := range load.MemberWords() {
		if w.Name == key {
			return w.Says
		}
	}
	return ""
}

// closing closes the brackets that a beginning of a line leaves open.
func closing(before string) string {
	var open []byte
	in := false
	for i := 0; i < len(before); i++ {
		switch c := before[i]; {
		case in && c == '\\':
			i++
		case c == '"':
			in = !in
		case in:
		case c == '(':
			open = append(open, ')')
		case c == '[':
			open = append(open, ']')
		case c == '{':
			open = append(open, '}')
		case len(open) > 0 && c == open[len(open)-1]:
			open = open[:len(open)-1]
		}
	}
	slices.Reverse(open)
	return string(open)
}

// catalogued are the programs, or the verbs of a program, that a text can be compared with.
func (v *View) catalogued(l *look) []string {
	ref, ok := l.left.Value.(ast.Ref)
	if !ok || l.scope == nil || len(ref) < 2 {
		return nil
	}
	switch ref[len(ref)-1].Value {
	case ast.String("program"):
		return v.c.programs.Names("")
	case ast.String("subcommand"):
		var verbs []string
		for _, program := range v.programsOf(l.scope, ref[:len(ref)-1]) {
			verbs = append(verbs, v.c.programs.Names(program)...)
		}
		return verbs
	}
	return nil
}

// programsOf are the programs that a command is limited to.
func (v *View) programsOf(s *scope, command ast.Ref) []string {
	v.c.work, v.c.depth = 0, 0
	programs, closed := v.c.evalRef(s, command).field("program").texts()
	if !closed {
		return nil
	}
	return programs
}

// fields are those of what the mark is looked up in.
func (v *View) fields(l *look) []Word {
	var words []Word
	for _, name := range l.of.fieldNames() {
		f := l.of.field(name)
		words = append(words, Word{Text: name, Kind: FieldWord, Note: f.text()})
	}
	if len(l.ref) > 1 && l.scope != nil && l.ref[len(l.ref)-1].Equal(ast.StringTerm("options")) {
		for _, program := range v.programsOf(l.scope, l.ref[:len(l.ref)-1]) {
			for _, name := range v.c.programs.OptionNames(program) {
				words = append(words, Word{Text: name, Kind: ValueWord, Note: "option of `" + program + "`"})
			}
		}
	}
	return words
}

// below completes what stands behind a dot.
func (i *Inspection) below(file, text string, start int, line, base string, from, to int) []Word {
	importing := strings.HasPrefix(strings.TrimSpace(line), "import ")
	v := i.marked(file, text, start, line, from, to, mark, "\t"+base+"."+mark)
	if importing || v == nil {
		module, whole := repaired(file, text[:start]+strings.Repeat(" ", len(line))+text[start+len(line):], nil)
		if module == nil {
			return nil
		}
		v = i.view(file, text, whole, module)
	}
	if ref := refOfText(base); ref != nil {
		if ref = v.unit.resolve(ref); ref[0].Equal(ast.DefaultRootDocument) {
			return v.belowData(ref, importing)
		}
	}
	if words := builtinsBelow(base); words != nil && v.unit.imports[ast.Var(base)] == nil {
		return words
	}
	l := &look{mark: mark}
	v.walk(l)
	if !l.seen {
		return nil
	}
	words := v.fields(l)
	for i, w := range words {
		words[i].Index = !identifier().MatchString(w.Text)
	}
	return words
}

// identifier is what can stand behind a dot.
var identifier = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[\pL_][\pL\pN_]*$`) })

// refOfText reads a reference, which may be a name alone; nil if it is none.
func refOfText(text string) ast.Ref {
	t, err := ast.ParseTerm(text)
	if err != nil {
		return nil
	}
	switch v := t.Value.(type) {
	case ast.Ref:
		return v
	case ast.Var:
		return ast.Ref{t}
	}
	return nil
}

// belowData are the packages, rules and parameters below a reference.
func (v *View) belowData(ref ast.Ref, packages bool) []Word {
	var names []string
	for _, t := range ref[1:] {
		name, ok := t.Value.(ast.String)
		if !ok {
			return nil
		}
		names = append(names, string(name))
	}
	at := strings.Join(names, ".")
	if below, ok := strings.CutPrefix(at+".", "gate.params."); ok {
		return v.paramsBelow(strings.TrimSuffix(below, "."))
	}
	var words []Word
	add := func(w Word) {
		if !slices.ContainsFunc(words, func(x Word) bool { return x.Text == w.Text }) {
			words = append(words, w)
		}
	}
	for _, pkg := range slices.Sorted(maps.Keys(v.c.byName)) {
		u := v.c.byName[pkg]
		if rest, ok := strings.CutPrefix(pkg, at+"."); ok || at == "" {
			if at == "" {
				rest = pkg
			}
			name, more, _ := strings.Cut(rest, ".")
			w := Word{Text: name, Kind: PackageWord}
			if more == "" {
				w.Note = packageText(u)
			}
			add(w)
		}
		if pkg == at && !packages {
			for _, name := range slices.Sorted(maps.Keys(u.rules)) {
				add(Word{Text: name, Kind: RuleWord, Note: v.ruleText(u, name)})
			}
		}
	}
	if at == "gate" && !packages {
		add(Word{Text: "params", Kind: PackageWord, Note: "the values of parameters"})
	}
	return words
}

// paramsBelow are the parameters of the policy that a part names, or the next part.
func (v *View) paramsBelow(at string) []Word {
	var words []Word
	for _, pkg := range slices.Sorted(maps.Keys(v.c.byName)) {
		u := v.c.byName[pkg]
		if u.hook == nil || len(u.hook.Params) == 0 {
			continue
		}
		rest, ok := strings.CutPrefix(pkg, at+".")
		if at == "" {
			rest, ok = pkg, true
		}
		if name, _, _ := strings.Cut(rest, "."); ok && !slices.ContainsFunc(words, func(w Word) bool { return w.Text == name }) {
			words = append(words, Word{Text: name, Kind: PackageWord})
		}
		if pkg == at {
			for _, name := range slices.Sorted(maps.Keys(u.hook.Params)) {
				words = append(words, Word{Text: name, Kind: ParamWord, Note: paramText(u, name, u.hook.Params[name])})
			}
		}
	}
	return words
}

// builtinsBelow are those whose names begin with a word and a dot, nil if there are none.
func builtinsBelow(base string) []Word {
	var words []Word
	for _, b := range rego.Builtins() {
		if rest, ok := strings.CutPrefix(b.Name, base+"."); ok && b.Others && !strings.HasPrefix(b.Name, "internal.") {
			words = append(words, Word{Text: rest, Kind: BuiltinWord, Note: builtinNote(b.Name)})
		}
	}
	return words
}

func builtinNote(name string) string {
	if b := ast.BuiltinMap[name]; b != nil {
		return builtinText(b)
	}
	return ""
}

// languageWords are those of Rego that a body or rule has.
var languageWords = [...]string{"some", "every", "in", "not", "if", "contains", "else", "default", "with", "as", "import", "package", "true", "false", "null"}

// bare completes a word of its own.
func (i *Inspection) bare(file, text string, start int, line string, from, to int) []Word {
	if strings.TrimSpace(line[:from]) == "import" {
		return []Word{{Text: "data", Kind: VariableWord}, {Text: "input", Kind: VariableWord}}
	}
	v := i.marked(file, text, start, line, from, to, mark, "\t"+mark)
	if strings.TrimSpace(line[:from]) == "" && from == 0 { // a rule begins
		return i.ruleWords(v)
	}
	if v == nil {
		return nil
	}
	var words []Word
	add := func(w Word) {
		if !strings.Contains(w.Text, mark) && !slices.ContainsFunc(words, func(x Word) bool { return x.Text == w.Text }) {
			words = append(words, w)
		}
	}
	l := &look{mark: mark}
	v.walk(l)
	for s := l.scope; s != nil; s = s.up {
		for _, name := range slices.Sorted(maps.Keys(s.vars)) {
			if !strings.Contains(string(name), "$") {
				add(Word{Text: string(name), Kind: VariableWord})
			}
		}
	}
	for _, name := range []string{"input", "data"} {
		add(Word{Text: name, Kind: VariableWord})
	}
	for _, name := range slices.Sorted(maps.Keys(v.unit.imports)) {
		add(Word{Text: string(name), Kind: PackageWord, Note: "`" + v.unit.imports[name].String() + "`"})
	}
	for _, name := range slices.Sorted(maps.Keys(v.unit.rules)) {
		add(Word{Text: name, Kind: RuleWord, Note: v.ruleText(v.unit, name)})
	}
	for _, b := range rego.Builtins() {
		if name, _, dotted := strings.Cut(b.Name, "."); b.Others && !dotted && ast.BuiltinMap[b.Name] != nil && ast.BuiltinMap[b.Name].Infix == "" {
			add(Word{Text: name, Kind: BuiltinWord, Note: builtinNote(b.Name)})
		} else if b.Others && dotted && name != "internal" {
			add(Word{Text: name, Kind: BuiltinWord})
		}
	}
	for _, word := range languageWords {
		add(Word{Text: word, Kind: LanguageWord})
	}
	return words
}

// ruleWords are those that a line can begin with.
func (i *Inspection) ruleWords(v *View) []Word {
	var words []Word
	for _, w := range load.RuleWords() {
		words = append(words, Word{Text: w.Name, Kind: RuleWord, Note: w.Says})
	}
	if v != nil {
		for _, name := range slices.Sorted(maps.Keys(v.unit.rules)) {
			if !strings.Contains(name, mark) && !rego.IsRule(name) {
				words = append(words, Word{Text: name, Kind: RuleWord, Note: v.ruleText(v.unit, name)})
			}
		}
	}
	for _, word := range []string{"package", "import", "default"} {
		words = append(words, Word{Text: word, Kind: LanguageWord})
	}
	return words
}

// metadataWords complete a word of METADATA; before is the line up to it.
func (i *Inspection) metadataWords(text string, start int, before string) []Word {
	var words []Word
	add := func(kind WordKind, note func(string) string, names ...string) {
		for _, name := range names {
			words = append(words, Word{Text: name, Kind: kind, Note: note(name)})
		}
	}
	c := i.c
	key := keyOf(before)
	if key == "" && strings.Trim(before, "#- \t") == "" && strings.Contains(before, "-") {
		key = keyAbove(text, start) // an element of a list that stands over lines
	}
	switch key {
	case "events":
		for _, m := range moment.Moments() {
			add(ValueWord, c.wordText, string(m.Name))
		}
	case "matcher":
		add(ValueWord, c.wordText, slices.Sorted(maps.Keys(c.schema.tools))...)
	case "if":
		if strings.HasSuffix(strings.TrimRight(before, " "), "effect(") {
			add(ValueWord, c.wordText, slices.Sorted(maps.Keys(c.schema.effects))...)
			break
		}
		for _, kind := range slices.Sorted(maps.Keys(c.schema.effects)) {
			words = append(words, Word{Text: "effect(" + kind + ")", Kind: ValueWord, Note: c.wordText(kind)})
		}
		add(ValueWord, c.wordText, slices.Sorted(maps.Keys(c.schema.tools))...)
	case "on_fault":
		add(ValueWord, func(string) string { return "" }, string(hook.FaultDeny), string(hook.FaultAsk), string(hook.FaultContinue))
	case "type":
		add(ValueWord, func(string) string { return "" }, load.ParamTypes()...)
	case "":
		if strings.Trim(before, "# \t") != "" {
			break
		}
		for _, w := range load.MetadataWords() {
			words = append(words, Word{Text: w.Name, Kind: KeyWord, Note: w.Says})
		}
		add(KeyWord, func(string) string { return "" }, "METADATA", "title", "description", "custom", "gate")
	}
	return words
}

// keyOf is the last key that a line of METADATA has before its end, "" if it has none.
func keyOf(before string) string {
	found := keys().FindAllStringSubmatch(before, -1)
	if found == nil {
		return ""
	}
	return found[len(found)-1][1]
}

var keys = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?:^|[#\s{,])"?(\w+)"?:(?:\s|$)`) })

// keyAbove is the key of the nearest line above that has one.
func keyAbove(text string, start int) string {
	lines := strings.Split(text[:start], "\n")
	for n := len(lines) - 2; n >= 0 && strings.HasPrefix(strings.TrimSpace(lines[n]), "#"); n-- {
		if key := keyOf(lines[n]); key != "" {
			return key
		}
	}
	return ""
}
