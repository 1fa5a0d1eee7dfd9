package policycheck

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"

	"gate/hook"
	"gate/internal/load"
	"gate/internal/moment"
	"gate/internal/rego"
)

// A Note says what a part of a text means.
type Note struct {
	Text     string // Markdown
	From, To int    // the part: offsets in bytes
}

// A Spot is a place in a file: of Options.Files, or of gate's own policies.
type Spot struct {
	File    string
	Library bool
	Line    int // from 1
	Column  int // in characters, from 1
}

// An asked is the part of a reference that an offset lies in.
type asked struct {
	term     *ast.Term // the whole, as it is written
	ref      ast.Ref   // up to the part, with imports resolved
	from, to int       // the part
	rule     *ast.Rule // around it; nil: none
}

// builtin reports the name of one, which is defined nowhere.
func builtin(t *ast.Term) bool {
	return t.Location != nil && (ast.BuiltinMap[string(t.Location.Text)] != nil || string(t.Location.Text) == eventName)
}

// Note says what stands at an offset, nil if nothing is known about it.
func (v *View) Note(at int) *Note {
	if n := v.metadataNote(at); n != nil {
		return n
	}
	if n := v.textNote(at); n != nil {
		return n
	}
	a := v.asked(at)
	if a == nil {
		return nil
	}
	text := v.named(a)
	if text == "" {
		text = v.valued(a)
	}
	if text == "" {
		return nil
	}
	return &Note{text, a.from, a.to}
}

// asked finds the reference or variable at an offset.
func (v *View) asked(at int) *asked {
	var best *ast.Term
	covers := func(t *ast.Term) bool {
		l := t.Location
		return l != nil && l.Offset <= at && at <= l.Offset+len(l.Text)
	}
	consider := func(t *ast.Term) bool {
		switch t.Value.(type) {
		case ast.Ref, ast.Var:
			if best != nil && builtin(best) {
				break // its name is one word, dots and all
			}
			if covers(t) && written(t) && (best == nil || builtin(t) || len(t.Location.Text) < len(best.Location.Text) ||
				len(t.Location.Text) == len(best.Location.Text) && isRef(t)) {
				best = t
			}
		}
		return false
	}
	ast.WalkTerms(v.unit.module, consider)
	for _, imp := range v.unit.module.Imports {
		consider(imp.Path)
	}
	if best == nil {
		return v.headAt(at)
	}
	a := &asked{term: best, from: best.Location.Offset, to: best.Location.Offset + len(best.Location.Text), rule: v.ruleAt(at)}
	ref, ok := best.Value.(ast.Ref)
	if !ok {
		a.ref = v.unit.resolve(ast.Ref{best})
		return a
	}
	last := 0
	for i, t := range ref {
		if t.Location != nil && t.Location.Offset <= at {
			last = i
		}
	}
	if l := ref[last].Location; l != nil && len(ref) > 1 {
		a.from, a.to = l.Offset, l.Offset+len(l.Text)
	}
	a.ref = v.unit.resolve(ref[:last+1])
	return a
}

func isRef(t *ast.Term) bool { _, ok := t.Value.(ast.Ref); return ok }

// written reports a term that stands in the text, and no operator that it stands for.
func written(t *ast.Term) bool {
	text := string(t.Location.Text)
	switch x := t.Value.(type) {
	case ast.Var:
		return text == string(x)
	case ast.Ref:
		head, ok := x[0].Value.(ast.Var)
		return !ok || strings.HasPrefix(text, string(head))
	}
	return false
}

// headAt is the name of a rule where it is defined.
func (v *View) headAt(at int) *asked {
	for _, r := range v.unit.module.Rules {
		name := ruleName(r)
		from := r.Location.Offset
		if r.Default {
			from += max(strings.Index(v.text[min(from, len(v.text)):], name), 0)
		}
		if from <= at && at <= from+len(name) {
			t := ast.VarTerm(name)
			return &asked{term: t, ref: ast.Ref{t}, from: from, to: from + len(name), rule: r}
		}
	}
	return nil
}

// ruleAt is the rule that an offset lies in, nil if there is none.
func (v *View) ruleAt(at int) *ast.Rule {
	for _, r := range v.unit.module.Rules {
		if l := r.Location; l != nil && l.Offset <= at && at <= l.Offset+len(l.Text) {
			return r
		}
	}
	return nil
}

// named explains a rule, function, parameter, package or builtin; "" if it is none.
func (v *View) named(a *asked) string {
	if l := a.term.Location; l != nil {
		if b := ast.BuiltinMap[string(l.Text)]; b != nil {
			return builtinText(b)
		}
	}
	if head, ok := a.ref[0].Value.(ast.Var); ok && len(a.ref) == 1 && v.local(a, head) == nil {
		if text := v.ruleText(v.unit, string(head)); text != "" {
			return text
		}
	}
	if u, rule, param := v.c.inData(a.ref); param != nil {
		return paramText(u, rule, *param)
	} else if u != nil && rule != "" {
		return v.ruleText(u, rule)
	} else if u != nil {
		return packageText(u)
	}
	return ""
}

// inData finds what a reference below data names: a package, a rule of one, or a parameter.
func (c *checker) inData(ref ast.Ref) (u *unit, rule string, param *hook.Param) {
	if len(ref) < 2 || !ref[0].Equal(ast.DefaultRootDocument) {
		return nil, "", nil
	}
	var names []string
	for _, t := range ref[1:] {
		if name, ok := t.Value.(ast.String); ok {
			names = append(names, string(name))
		}
	}
	below := names
	if len(names) > 2 && names[0] == "gate" && names[1] == "params" {
		below = names[2:]
		for n := len(below) - 1; n > 0; n-- {
			if u := c.byName[strings.Join(below[:n], ".")]; u != nil && u.hook != nil {
				if p, ok := u.hook.Params[below[n]]; ok {
					return u, below[n], &p
				}
			}
		}
		return nil, "", nil
	}
	for n := len(names); n > 0; n-- {
		u := c.byName[strings.Join(names[:n], ".")]
		switch {
		case u == nil:
		case n == len(names):
			return u, "", nil
		case u.rules[names[n]] != nil:
			return u, names[n], nil
		}
	}
	return nil, "", nil
}

// ruleText explains a rule of a package, "" if there is none.
func (v *View) ruleText(u *unit, name string) string {
	rules := u.rules[name]
	if len(rules) == 0 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "```rego\n%s\n```", signature(rules[0]))
	for _, w := range load.RuleWords() {
		if w.Name == name && u.hook != nil {
			fmt.Fprintf(&b, "\n\n%s. Keys of a member: `%s`", w.Says, strings.Join(w.Keys, "`, `"))
		}
	}
	if says := description(rules); says != "" {
		fmt.Fprintf(&b, "\n\n%s", says)
	}
	if u != v.unit {
		fmt.Fprintf(&b, "\n\n%s", from(u))
	}
	return b.String()
}

func from(u *unit) string {
	if u.lib {
		return "of gate's library, `data." + u.pkg + "`"
	}
	return "of `data." + u.pkg + "`"
}

// signature is how a rule begins.
func signature(r *ast.Rule) string {
	name := ruleName(r)
	if len(r.Head.Args) > 0 {
		args := make([]string, len(r.Head.Args))
		for i, a := range r.Head.Args {
			args[i] = shown(a)
		}
		return name + "(" + strings.Join(args, ", ") + ")"
	}
	if r.Head.RuleKind() == ast.MultiValue {
		return name + " contains …"
	}
	return name
}

// description is what the METADATA of rules says of them.
func description(rules []*ast.Rule) string {
	for _, r := range rules {
		for _, a := range r.Annotations {
			if text := strings.TrimSpace(a.Description); text != "" {
				return text
			}
			if a.Title != "" {
				return a.Title
			}
		}
	}
	return ""
}

func packageText(u *unit) string {
	text := "`package " + u.pkg + "`"
	for _, a := range u.module.Annotations {
		if a.Scope == "package" && a.Title != "" {
			text += ": " + a.Title
		}
		if a.Scope == "package" && a.Description != "" {
			text += "\n\n" + strings.TrimSpace(a.Description)
		}
	}
	return text
}

func paramText(u *unit, name string, p hook.Param) string {
	text := fmt.Sprintf("parameter `%s` of `%s`: %s, default `%s`", name, u.pkg, p.Type, literalText(p.Default))
	if len(p.Values) > 0 {
		text += "; one of `" + strings.Join(p.Values, "`, `") + "`"
	}
	if p.Description != "" {
		text += "\n\n" + p.Description
	}
	return text
}

// literalText is a value as Rego has it.
func literalText(v any) string {
	term, err := ast.InterfaceToValue(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return term.String()
}

// builtinText explains a builtin, and who may call it.
func builtinText(b *ast.Builtin) string {
	text := fmt.Sprintf("```rego\n%s\n```\n\n%s", b.Name+b.Decl.String(), b.Description)
	for _, known := range rego.Builtins() {
		if known.Name == b.Name && !known.Others {
			who := "no policy may call it"
			if known.Managed {
				who = "managed policies alone may call it"
			}
			text += fmt.Sprintf("\n\n**%s**: %s", who, known.Why)
		}
	}
	return text
}

// valued explains what a reference can hold.
func (v *View) valued(a *asked) string {
	value := v.value(a)
	if len(value) == 0 || value.any() {
		return ""
	}
	return "`" + shown(a.ref) + "`: " + value.text()
}

// value is what the reference that is asked about can hold.
func (v *View) value(a *asked) value {
	if a.rule == nil {
		return nil
	}
	l := &look{at: a.term.Location.Offset}
	v.walk(l)
	s := l.scope
	if s == nil {
		s = v.c.scopeOf(v.unit, a.rule)
		s.read(a.rule.Body)
	}
	v.c.work, v.c.depth, v.c.skip = 0, 0, l.skip
	return v.c.evalRef(s, a.ref)
}

// text says what a value can be, in Markdown.
func (v value) text() string {
	var b strings.Builder
	b.WriteString(v.kinds().String())
	if titles := v.titles(); len(titles) > 0 && len(titles) <= 4 {
		fmt.Fprintf(&b, " (%s)", strings.Join(titles, ", "))
	}
	said := func(text string) {
		if text != "" && !strings.Contains(b.String(), text) {
			b.WriteString("\n\n" + text)
		}
	}
	for _, s := range v {
		said(s.says)
	}
	if known := v.known(); len(known) > 0 {
		said("values: `" + strings.Join(known, "`, `") + "`")
	}
	for _, s := range v {
		if s.form != nil {
			said(s.form.is)
		}
		if s.items != nil && s.items.form != nil {
			said(s.items.form.is)
		}
		said(unknownText(s.unknown))
		if s.optional {
			said("It may be missing.")
		}
	}
	if names := v.fieldNames(); len(names) > 0 {
		said("fields: `" + strings.Join(names, "`, `") + "`")
	}
	if each := v.members(); len(each) > 0 && !each.any() {
		text := "each is " + each.kinds().String()
		if names := each.fieldNames(); len(names) > 0 {
			text += " with the fields `" + strings.Join(names, "`, `") + "`"
		}
		said(text)
	}
	return b.String()
}

// members are what the lists of a value hold.
func (v value) members() (all value) {
	for _, s := range v {
		if s.kinds&(array|set) != 0 {
			all = all.and(of(s.items))
		}
	}
	return all
}

// unknownText says how a value shows that nobody knows it.
func unknownText(how string) string {
	switch how {
	case "":
		return ""
	case "null":
		return "null: nobody knows it"
	case "listed":
		return "null: nobody knows it, and `input.facts.unknown` has an entry"
	}
	return "`" + how + "` is `unknown` where not all of it is known"
}

// textNote explains a text that names an effect, an event or a tool, or is a key of a
// rule's member.
func (v *View) textNote(at int) *Note {
	var n *Note
	if r := v.ruleAt(at); r != nil && r.Head.Key != nil && rego.IsRule(ruleName(r)) {
		if member, ok := r.Head.Key.Value.(ast.Object); ok {
			member.Foreach(func(key, _ *ast.Term) {
				word, text := key.Value.(ast.String)
				if l := key.Location; text && l != nil && l.Offset <= at && at <= l.Offset+len(l.Text) {
					if says := memberText(string(word)); says != "" {
						n = &Note{"`" + string(word) + "`: " + says, l.Offset, l.Offset + len(l.Text)}
					}
				}
			})
		}
	}
	if n != nil {
		return n
	}
	ast.WalkTerms(v.unit.module, func(t *ast.Term) bool {
		word, ok := t.Value.(ast.String)
		l := t.Location
		if !ok || l == nil || len(l.Text) < 2 || l.Text[0] != '"' || at < l.Offset || at > l.Offset+len(l.Text) {
			return false
		}
		if text := v.c.wordText(string(word)); text != "" {
			n = &Note{text, l.Offset, l.Offset + len(l.Text)}
		}
		return false
	})
	return n
}

// wordText explains the name of an effect, an event or a tool; "" if it is none.
func (c *checker) wordText(word string) string {
	if s := c.schema.effects[word]; s != nil {
		text := "effect `" + word + "`"
		if s.says != "" {
			text += ": " + s.says
		}
		return text + fieldsText(s)
	}
	for _, m := range moment.Moments() {
		if word != "" && (string(m.Name) == word || string(m.Alias) == word) {
			return eventText(m)
		}
	}
	if s := c.schema.tools[word]; s != nil {
		return "tool `" + word + "`" + inputText(s)
	}
	return ""
}

// fieldsText lists the fields of an object with what they are.
func fieldsText(s *shape) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(s.fields)) {
		f := of(s.fields[name])
		if name == "kind" || f.any() {
			continue
		}
		fmt.Fprintf(&b, "\n- `%s`: %s", name, f.kinds())
		if says := s.fields[name].says; says != "" {
			fmt.Fprintf(&b, "; %s", says)
		}
	}
	if b.Len() == 0 {
		return ""
	}
	return "\n" + b.String()
}

func inputText(s *shape) string {
	if input := s.fields["tool_input"]; input != nil {
		return "; `tool_input` has" + fieldsText(input)
	}
	return ""
}

func eventText(m moment.Moment) string {
	text := "event `" + string(m.Name) + "`"
	if m.Matches != "" {
		text += "; matchers look at `" + m.Matches + "`"
	}
	if m.Rewrites != "" {
		text += "; `modify` changes `" + m.Rewrites + "`"
	}
	names := make([]string, len(m.Fields))
	for i, f := range m.Fields {
		names[i] = f.Name
	}
	if len(names) > 0 {
		text += "; fields: `" + strings.Join(names, "`, `") + "`"
	}
	return text
}

// metadataNote explains a key of METADATA, or a word in it.
func (v *View) metadataNote(at int) *Note {
	from, line := lineAt(v.text, at)
	if !strings.HasPrefix(strings.TrimLeft(line, " \t"), "#") {
		return nil
	}
	start, end := wordAround(line, at-from)
	word := line[start:end]
	if word == "" {
		return nil
	}
	n := &Note{From: from + start, To: from + end}
	if strings.HasPrefix(strings.TrimLeft(line[end:], `"'`), ":") && strings.Trim(line[:start], `#- "'`+"\t") == "" {
		for _, w := range load.MetadataWords() {
			if w.Name == word {
				n.Text = "`" + word + "`: " + w.Says
			}
		}
		if n.Text == "" && v.unit.hook != nil {
			if p, ok := v.unit.hook.Params[word]; ok {
				n.Text = paramText(v.unit, word, p)
			}
		}
	}
	if n.Text == "" && alone(line[:start], line[end:]) {
		n.Text = v.c.wordText(word)
	}
	if n.Text == "" {
		return nil
	}
	return n
}

// alone reports a word of METADATA that is a value or an element of a list, and no word of
// a sentence.
func alone(before, after string) bool {
	before, after = strings.TrimRight(before, " \t"), strings.TrimLeft(after, " \t\r")
	return before != "" && strings.IndexByte("[,(-:\"'#", before[len(before)-1]) >= 0 && (after == "" || strings.IndexByte("],)(\"'", after[0]) >= 0)
}

// lineAt is the line that an offset lies in, and where that begins.
func lineAt(text string, at int) (int, string) {
	at = min(max(at, 0), len(text))
	from := strings.LastIndexByte(text[:at], '\n') + 1
	to := strings.IndexByte(text[at:], '\n')
	if to < 0 {
		return from, text[from:]
	}
	return from, text[from : at+to]
}

// wordAround is the part of a line around an offset that is one word.
func wordAround(line string, at int) (int, int) {
	at = min(max(at, 0), len(line))
	in := func(c byte) bool {
		return c == '.' || strings.IndexByte(wordCharacters, c) >= 0 && c != ' ' && c != '-'
	}
	start, end := at, at
	for start > 0 && in(line[start-1]) {
		start--
	}
	for end < len(line) && in(line[end]) {
		end++
	}
	return start, end
}

// Definition finds where the name at an offset comes from.
func (v *View) Definition(at int) []Spot {
	a := v.asked(at)
	if a == nil || builtin(a.term) {
		return nil
	}
	if head, ok := a.ref[0].Value.(ast.Var); ok && len(a.ref) == 1 {
		if l := v.local(a, head); l != nil {
			return []Spot{{File: v.unit.file, Line: l.Row, Column: l.Col}}
		}
		return v.c.spots(v.unit, string(head))
	}
	u, name, param := v.c.inData(a.ref)
	switch {
	case u == nil:
		return nil
	case param != nil:
		return []Spot{{File: u.file, Library: u.lib, Line: u.keyLine(name), Column: 1}}
	case name == "":
		l := u.module.Package.Location
		return []Spot{{File: u.file, Library: u.lib, Line: l.Row, Column: l.Col}}
	}
	return v.c.spots(u, name)
}

// spots are the definitions of a rule. Those of tests, which read the rules of their
// package, are in the files of those.
func (c *checker) spots(u *unit, name string) []Spot {
	var list []Spot
	for _, r := range u.rules[name] {
		spot := Spot{File: u.file, Library: u.lib, Line: r.Location.Row, Column: r.Location.Col}
		if r.Location.File != "" {
			spot.File = r.Location.File
		}
		list = append(list, spot)
	}
	return list
}

// local is where a variable of a rule occurs first, nil if it is none.
func (v *View) local(a *asked, name ast.Var) *ast.Location {
	if a.rule == nil || v.unit.rules[string(name)] != nil || v.unit.imports[name] != nil || name == "input" || name == "data" {
		return nil
	}
	var first *ast.Location
	ast.WalkTerms(a.rule, func(t *ast.Term) bool {
		if x, ok := t.Value.(ast.Var); ok && x == name && t.Location != nil && written(t) && (first == nil || t.Location.Offset < first.Offset) {
			first = t.Location
		}
		return false
	})
	return first
}

// A Symbol is something that a file defines.
type Symbol struct {
	Name     string
	Detail   string // its description or title
	Kind     SymbolKind
	From, To int // offsets in bytes
	NameTo   int // where the name ends, with what stands before it
}

// A SymbolKind says what a symbol is.
type SymbolKind uint8

const (
	PackageSymbol SymbolKind = iota
	RuleSymbol
	FunctionSymbol
	TestSymbol
)

// Symbols are the package of a file, and its rules in their order.
func (v *View) Symbols() []Symbol {
	pkg := v.unit.module.Package.Location
	end := pkg.Offset + len("package ") + len(v.unit.pkg)
	list := []Symbol{{Name: v.unit.pkg, Kind: PackageSymbol, From: pkg.Offset, To: end, NameTo: end}}
	for _, r := range v.unit.module.Rules {
		l := r.Location
		s := Symbol{Name: ruleName(r), Detail: description([]*ast.Rule{r}), Kind: RuleSymbol, From: l.Offset, To: l.Offset + len(l.Text)}
		switch {
		case strings.HasSuffix(v.unit.file, "_test.rego") && strings.HasPrefix(s.Name, "test_"):
			s.Kind = TestSymbol
		case len(r.Head.Args) > 0:
			s.Kind, s.Name = FunctionSymbol, signature(r)
		}
		s.NameTo = min(s.From+len(ruleName(r)), s.To)
		list = append(list, s)
	}
	return list
}

// Package is the package of the file, without "data.".
func (v *View) Package() string { return v.unit.pkg }

// A Line is a shell line that a test gives to gate.event.
type Line struct {
	Text     string
	From, To int // where it stands, with its quotes
}

// Lines are those of the tests of a file.
func (v *View) Lines() []Line {
	var list []Line
	add := func(t []*ast.Term) {
		if len(t) != 2 || t[0].String() != eventName {
			return
		}
		if text, ok := t[1].Value.(ast.String); ok && t[1].Location != nil {
			l := t[1].Location
			list = append(list, Line{string(text), l.Offset, l.Offset + len(l.Text)})
		}
	}
	ast.NewGenericVisitor(func(x any) bool {
		switch x := x.(type) {
		case ast.Call:
			add(x)
		case *ast.Expr:
			if t, ok := x.Terms.([]*ast.Term); ok {
				add(t)
			}
		}
		return false
	}).Walk(v.unit.module)
	return list
}

// eventName is the builtin of tests that makes an event.
const eventName = "gate.event"
