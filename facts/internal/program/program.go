package program

import (
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"gate/facts/internal/draft"
	"gate/facts/internal/flow"
	"gate/internal/catalogue"
	"gate/internal/wordlist"
)

// A use is a call seen through its row: options told from operands, each with
// its role.
type use struct {
	*draft.Draft
	*draft.Invocation
	programs      *Programs
	shell         Shell
	row           *catalogue.Row
	name          string      // the program
	start         draft.Where // where it starts, before -C takes it elsewhere
	global        string      // the special of a program with verbs, for options before the verb
	verbs         []string
	args          []argument
	opts          map[string][]flow.Word // values by canonical name; the zero field for a flag
	rest          []flow.Word            // operands, without verbs
	strayed       []flow.Word            // a verb without a row, and the words behind it
	inner         []flow.Word            // the words of a command inside
	batches       [][]flow.Word          // of the same command with other words, run before it
	reads         []flow.Word            // files whose content goes to the output
	files         []flow.Word            // whose lines parallel takes
	intoDirectory bool                   // -t names the last operand
	asks          bool                   // --help, --version and nothing else
	recurse       bool
	force         bool
	sure          bool   // of a recipe only that counts which is certain
	text          string // of the program in a language that is judged
	config        string // the file of that text, which a tool loads and which does not run by itself; "" for others
	silent        bool   // that text hands on nothing of the files that it reads
	sent          int    // texts and files, once for each peer that they go to
}

// Run judges a program that is called by a name, and returns what it writes.
func (p *Programs) Run(d *draft.Draft, shell Shell, inv *draft.Invocation, name string) flow.Stream {
	u := &use{Draft: d, Invocation: inv, programs: p, shell: shell, row: &catalogue.Row{}}
	base := strings.TrimSuffix(path.Base(name), ".exe")
	if strings.Contains(name, "/") {
		u.runsFile(name)
		base = u.origin(name, base)
	}
	called := name
	if base != strings.TrimSuffix(path.Base(name), ".exe") {
		called = base // what the line has put at that path
	}
	row, ok := p.row(called)
	if verb, _, found := strings.Cut(base, "-"); !ok && found && u.at().Windows {
		row, ok = p.rows.Lookup(verb + "-*") // a cmdlet, by its verb
	}
	if !ok {
		return u.strange(base)
	}
	u.row, u.name, u.start = row, row.Name, *u.at()
	if strings.HasSuffix(u.name, "-*") {
		u.name = base
	}
	u.Words = u.fromEnvironment(row)
	u.sort()
	if u.wraps() {
		return u.wrapped()
	}
	return u.judged(row.Own)
}

// judged judges a program that runs no command of its own words.
func (u *use) judged(own bool) flow.Stream {
	before := len(u.Facts.Effects)
	u.listUse()
	u.deploys(u.name)
	u.optionRoles() // also before --version: what -c runs may take that for an argument
	if u.asks {
		return flow.Stream{Some: true, From: u.ID}
	}
	if own {
		u.plainWords()
	}
	u.roles()
	u.effects()
	u.installed()
	u.leak()
	for _, name := range slices.Compact([]string{u.global, u.row.Special}) {
		if f := wordlist.Find(u.programs.specials, name); f != nil {
			f(u)
		}
	}
	u.recipes(u.name)
	u.loads()
	u.runsCompiled(u.name)
	u.ships()
	if u.carriesOver(before); u.row.Output == "filter" && len(u.row.Operands) == 0 && len(u.verbs) == 0 && u.row.Special == "" {
		u.strangeOutput(before) // its row says nothing of its words
	}
	u.savesMemory(u.name)
	out := u.output()
	out.From = u.ID
	return out
}

// plainWords looks for paths among the words that a row of somebody's own calls text,
// so that it hides no secret and no file of gate's.
func (u *use) plainWords() {
	roles := u.operandRoles()
	for i, f := range u.rest {
		if roles[i].Name == "text" {
			u.maybePath(f)
		}
	}
	for _, a := range u.args {
		if a.option != nil && a.option.Role.Name == "text" {
			u.maybePath(a.value)
		}
	}
}

// strange lists a program without a row: raw words only. Paths on it that are
// secrets or gate's own still count, whatever the program does with them.
func (u *use) strange(base string) flow.Stream {
	before := len(u.Facts.Effects)
	u.Strange = true
	u.listed(new(base))
	u.Strange = false // of what it runs inside
	u.deploys(base)
	if line := u.Words[0].Text(); len(u.Via) > 0 && u.Words[0].Literal() && strings.ContainsAny(line, " \t") {
		u.shell.Text(flow.Literal(line), u.Stdin) // lerna exec 'rm x': who runs it hands it to a shell
	}
	args := u.Given()
	for _, w := range args {
		u.maybePath(w)
	}
	u.attacks(base, args)
	u.recipes(base)
	u.runsCompiled(base)
	for i := range args[:min(len(args), maxHanded)] {
		if u.mayRun(args, i) {
			handed := *u.Invocation
			handed.Words, handed.ID, handed.Redirects, handed.Env = args[i:], 0, nil, nil
			u.Via = append(u.Via, base)
			back := u.shell.Fork()
			u.shell.Command(&handed)
			back()
			u.Via = u.Via[:len(u.Via)-1]
			break
		}
	}
	u.strangeOutput(before)
	u.savesMemory(base)
	return flow.Stream{Some: true, From: u.ID, Taint: u.Stdin.Taint.Merge(flow.Join(u.Given()).Taint()), More: u.Stdin.More}
}

// mayRun reports that the words of a program without a row are a command from the i-th
// on, which it may well run: of a program that takes files away, or of a shell or
// interpreter that is told what to run. A shell by its path, at the end, is run, too,
// but for the value of an option that may only name it.
func (u *use) mayRun(args []flow.Word, i int) bool {
	w := args[i]
	row, ok := u.programs.rows.Lookup(path.Base(w.Text()))
	if !ok || !w.Literal() || len(row.Operands) == 0 {
		return false
	}
	if row.Operands[0].Name != "execute" {
		return i+1 < len(args) && slices.ContainsFunc(row.Operands, func(r catalogue.Role) bool { return r.Name == "delete" })
	}
	if i+1 < len(args) {
		text := args[i+1].Prefix()
		o := row.Options.Named(text)
		return o != nil && (o.Role.Name == "shell" || o.Role.Name == "code") || row.Operands[0].Detail == "bash" && len(text) > 1 && text[0] == '-' && text[len(text)-1] == 'c'
	}
	return row.Operands[0].Detail == "bash" && strings.HasPrefix(w.Text(), "/") && (i == 0 || !strings.HasPrefix(args[i-1].Prefix(), "--"))
}

// sort finds the verbs, tells options from operands and files option values.
func (u *use) sort() {
	u.descend()
	u.opts = map[string][]flow.Word{}
	for i := 0; i < len(u.args); i++ {
		a := &u.args[i]
		if a.option == nil {
			u.rest = append(u.rest, a.field)
			continue
		}
		if a.option.Name == "execute" && u.row.Special == "download" {
			u.wgetSetting(a.value)
			a = &u.args[i]
		}
		u.opts[a.option.Name] = append(u.opts[a.option.Name], a.value)
	}
	u.whatIf()
	switch u.row.Special {
	case "pipeline":
		u.fromPipeline()
	case "httpie":
		u.httpie()
	case "copy":
		u.targetLast()
		u.linkHere()
	}
	switch u.name {
	case "rg", "ag", "ack", "ack-grep", "ugrep": // they search directories without being told
		u.recurse = true
	default:
		u.recurse = u.has("recursive")
	}
	u.force = u.has("force")
	u.asks = len(u.rest) == 0 && (u.has("help") || u.has("version")) && !u.commandRole()
}

// descend goes from the row of the program to that of its verbs, as far as there are
// rows, and tells options from operands on the way.
func (u *use) descend() {
	words := u.Given()
	var before []argument // options between the program and its verb
	spec := u.row.Options
	if u.row.Verbs {
		u.global = u.row.Special
	}
	for u.row.Verbs {
		head := *u.row
		head.Options, head.Stop = spec, true
		args := tellOptions(&head, words)
		at := -1
		for i, a := range args {
			if a.option == nil {
				at = i
				break
			}
		}
		if at < 0 || args[at].field.Value() == nil {
			break
		}
		verb := *args[at].field.Value()
		if u.row.Style == "slash" {
			verb = strings.ToLower(verb)
		}
		child, ok := u.programs.rows.Lookup(strings.Join(append(append([]string{u.name}, u.verbs...), verb), " "))
		u.verbs = append(u.verbs, verb)
		before = append(before, args[:at]...)
		words = words[:0:0]
		for _, a := range args[at+1:] {
			words = append(words, a.field)
		}
		if !ok {
			u.strayed = append([]flow.Word{args[at].field}, words...)
			u.row = &catalogue.Row{Name: u.name, Options: spec, Style: u.row.Style, Effects: u.row.Effects}
			break // a verb without a row: it has no effects of its own
		}
		spec = child.Options.Merge(spec)
		parent := u.row
		merged := *child
		merged.Options = spec
		merged.Effects = append(append([]catalogue.Template(nil), parent.Effects...), child.Effects...)
		if merged.Style == "" {
			merged.Style = parent.Style
		}
		u.row = &merged
	}
	merged := *u.row
	merged.Options = spec
	u.row = &merged
	u.args = append(before, tellOptions(u.row, words)...)
}

// has and opt are marked go:noinline, as small functions of package flow are.
//
//go:noinline
func (u *use) has(option string) bool { _, ok := u.opts[option]; return ok }

// opt returns the last value of an option.
//
//go:noinline
func (u *use) opt(option string) (flow.Word, bool) {
	v := u.opts[option]
	if len(v) == 0 {
		return flow.Word{}, false
	}
	return v[len(v)-1], true
}

// optText returns the option's value, nil when it is absent or unknown.
func (u *use) optText(option string) *string {
	f, ok := u.opt(option)
	if !ok {
		return nil
	}
	return f.Value()
}

func textOrNil(f flow.Word) any {
	if v := f.Value(); v != nil {
		return *v
	}
	return nil
}

// appendValues adds an option's values as facts have them: true for a flag, null for
// what is not known.
func appendValues(to []any, values []flow.Word) []any {
	for _, v := range values {
		if len(v.Parts) == 0 {
			to = append(to, true)
			continue
		}
		to = append(to, textOrNil(v))
	}
	return to
}

// listUse adds the command to the facts with its options and operands.
func (u *use) listUse() {
	u.listed(new(u.name))
	cmd := &u.Commands()[u.ID-1]
	if len(u.verbs) > 0 {
		cmd.Subcommand = new(strings.Join(u.verbs, " "))
	}
	for _, f := range u.rest {
		cmd.Operands = append(cmd.Operands, draft.Short(f.Value()))
	}
	for name, values := range u.opts {
		if !utf8.ValidString(name) {
			continue
		}
		cmd.Options[name] = appendValues(nil, values)
	}
	// Names that are no UTF-8 may become one and the same: in the order of the line.
	for _, a := range u.args {
		if a.option != nil && !utf8.ValidString(a.option.Name) {
			name := draft.AsKey(a.option.Name)
			cmd.Options[name] = appendValues(cmd.Options[name], []flow.Word{a.value})
		}
	}
}
