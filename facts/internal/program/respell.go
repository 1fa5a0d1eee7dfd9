package program

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"gate/facts/internal/flow"
	"gate/hook"
	"gate/internal/catalogue"
)

// Respell returns the edits of the line's words that give a command what an edit
// asks for; what it has already takes none. It is for [Programs.Keeping] after the
// line was read. The edits do not overlap, and the engine quotes their texts.
func (p *Programs) Respell(shell *hook.Shell, e *hook.CommandEdit) ([]hook.Edit, error) {
	if shell == nil || e.Command < 1 || e.Command > len(shell.Commands) {
		return nil, fmt.Errorf("there is no command %d", e.Command)
	}
	c := &shell.Commands[e.Command-1]
	r := &respelling{use: p.uses[e.Command], command: c}
	if c.Span == nil || len(c.Words) == 0 || c.Words[0].Span == nil {
		return nil, r.errorf("does not stand in the line itself, but in a text that is run")
	}
	if r.use == nil {
		return nil, r.errorf("is run by the shell itself, and gate edits programs")
	}
	if err := r.program(e); err != nil {
		return nil, err
	}
	if err := r.env(shell, e.Env); err != nil {
		return nil, err
	}
	if c.Guessed && len(e.Options)+len(e.Add)+len(e.Remove) > 0 {
		return nil, r.errorf("has no row in gate's catalogue, so its options cannot be told from its operands")
	}
	if err := r.options(e.Options); err != nil {
		return nil, err
	}
	return r.edits, r.operands(e)
}

// A respelling collects the edits of one command.
type respelling struct {
	*use
	command *hook.ShellCommand
	edits   []hook.Edit
}

func (r *respelling) errorf(format string, args ...any) error {
	name := ""
	if r.command.Program != nil {
		name = " (" + *r.command.Program + ")"
	}
	return fmt.Errorf("command %d%s %s", r.command.ID, name, fmt.Sprintf(format, args...))
}

func (r *respelling) edit(span hook.Span, text string) {
	r.edits = append(r.edits, hook.Edit{Span: span, Text: text})
}

// word returns where a word stands in the line. One that is several words of the
// command, as "$@" can be, is none to edit.
func (r *respelling) word(w flow.Word) (hook.Span, error) {
	if w.Span == nil {
		return hook.Span{}, r.errorf("has a word that does not stand in the line: %s", w.Written())
	}
	n := 0
	for _, o := range r.Words {
		if o.Span != nil && *o.Span == *w.Span {
			n++
		}
	}
	if n > 1 {
		return hook.Span{}, r.errorf("has several words of one of the line: %s", w.Written())
	}
	return *w.Span, nil
}

func (r *respelling) program(e *hook.CommandEdit) error {
	if e.Program == "" {
		return nil
	}
	if len(e.Options)+len(e.Add)+len(e.Remove) > 0 {
		return r.errorf("cannot get another program and other options or operands in one edit: they would be that program's")
	}
	at, err := r.word(flow.Word{Span: r.command.Words[0].Span})
	if w := r.command.Words[0]; err == nil && (w.Value == nil || *w.Value != e.Program) {
		r.edit(at, e.Program)
	}
	return err
}

func (r *respelling) env(shell *hook.Shell, env map[string]*string) error {
	if len(env) > 0 && shell.Dialect != "bash" {
		return r.errorf("is not run by bash, and other shells have no assignment before a command")
	}
	for _, name := range slices.Sorted(maps.Keys(env)) {
		last := -1
		for i, s := range r.Env {
			if s.Name != name {
				continue
			}
			if s.Span == nil {
				return r.errorf("has a variable %s that is not set in the line itself", name)
			}
			if last = i; env[name] == nil {
				r.edit(*s.Span, "")
			}
		}
		value := env[name]
		if value == nil || last >= 0 && r.Env[last].Value.Literal() && r.Env[last].Value.Text() == *value {
			continue
		}
		text := name + "=" + *value
		if last >= 0 {
			r.edit(*r.Env[last].Span, text)
			continue
		}
		if err := r.assign(text); err != nil {
			return err
		}
	}
	return nil
}

// assign puts an assignment in before the program. Some wrappers take those for a
// program, and others hand no variables on, so env stands between.
func (r *respelling) assign(text string) error {
	at, err := r.word(flow.Word{Span: r.command.Words[0].Span})
	if err != nil {
		return err
	}
	at[1] = at[0]
	if n := len(r.command.Via); n > 0 && r.command.Via[n-1] != "env" && (len(r.edits) == 0 || r.edits[len(r.edits)-1].Span != at) {
		r.edit(at, "env")
	}
	r.edit(at, text)
	return nil
}

// options changes the words of the options that there are, and puts in others.
func (r *respelling) options(options map[string]any) error {
	var added []string
	changes := map[int]any{} // what becomes of arguments
	for _, name := range slices.Sorted(maps.Keys(options)) {
		there, err := r.changed(changes, name, options[name])
		if err != nil {
			return err
		}
		if !there && options[name] != nil {
			added = append(added, name)
		}
	}
	for from := 0; from < len(r.args); {
		to := from + 1
		for to < len(r.args) && r.args[from].field.Span != nil && r.args[to].field.Span != nil && *r.args[to].field.Span == *r.args[from].field.Span {
			to++
		}
		if err := r.group(changes, from, to); err != nil {
			return err
		}
		from = to
	}
	for _, name := range added {
		if err := r.add(name, options[name]); err != nil {
			return err
		}
	}
	return nil
}

// changed notes what becomes of the arguments of one option. It reports that none
// has to be put in.
func (r *respelling) changed(changes map[int]any, name string, want any) (there bool, err error) {
	last := -1
	for i, a := range r.args {
		if a.option == nil || a.option.Name != name {
			continue
		}
		if a.option.Pair {
			return false, r.errorf("has the option %s, which takes two values: give it by span", name)
		}
		if last >= 0 {
			changes[last] = nil
		}
		last = i
	}
	if last < 0 {
		return false, nil
	}
	a := r.args[last]
	switch text, isText := want.(string); {
	case want == nil:
		changes[last] = nil
	case isText && a.value.Literal() && len(a.value.Parts) > 0 && a.value.Text() == text, !isText && len(a.value.Parts) == 0:
		return true, nil
	case isText && (a.option.Takes || len(a.value.Parts) > 0):
		changes[last] = text
	case isText:
		return false, r.errorf("has the option %s, which takes no value", name)
	default:
		changes[last] = nil
		return false, nil
	}
	return true, nil
}

// group edits the arguments of one word: an option, or short ones written together.
func (r *respelling) group(changes map[int]any, from, to int) error {
	touched := false
	for i := from; i < to; i++ {
		_, one := changes[i]
		touched = touched || one
	}
	if !touched {
		return nil
	}
	a := r.args[to-1]
	at, err := r.word(a.field)
	if err != nil {
		return err
	}
	pieces := []string{a.field.Prefix()}
	if to-from > 1 {
		if pieces = r.pieces(r.args[from:to]); pieces == nil {
			return r.errorf("has options in one word that cannot be taken apart: %s", a.field.Written())
		}
	}
	kept := ""
	for i := from; i < to; i++ {
		piece, value := pieces[i-from], r.args[i].value
		want, touched := changes[i]
		apart := value.Span != nil && len(value.Parts) > 0
		if touched && apart {
			where, err := r.word(value)
			if err != nil {
				return err
			}
			text, _ := want.(string)
			r.edit(where, text)
		}
		switch text, isText := want.(string); {
		case !touched, isText && apart:
			kept += piece
		case isText:
			kept += r.attached(piece, value) + text
		}
	}
	if to-from > 1 && kept != "" {
		kept = a.field.Prefix()[:1] + kept
	}
	if kept != a.field.Prefix() || !a.field.Literal() {
		r.edit(at, kept)
	}
	return nil
}

// attached is what stands before the value in the word of an option.
func (r *respelling) attached(word string, value flow.Word) string {
	switch {
	case len(value.Parts) > 0:
		return strings.TrimSuffix(word, value.Prefix())
	case strings.HasPrefix(word, "--") || r.row.Style == "go":
		return word + "="
	}
	return word
}

// pieces takes short options apart that are written as one word, without its dash.
// It returns nil where that cannot be told.
func (r *respelling) pieces(args []argument) []string {
	text := args[0].field.Text()
	if !args[0].field.Literal() || r.row.Style != "" || !strings.HasPrefix(text, "-") {
		return nil
	}
	rest := text[1:]
	pieces := make([]string, len(args))
	for i, a := range args {
		_, n := utf8.DecodeRuneInString(rest)
		switch {
		case a.value.Span != nil || len(a.value.Parts) == 0:
		case i == len(args)-1:
			n = len(rest)
		default:
			n += len(a.value.Text()) // digits
		}
		if n == 0 || n > len(rest) {
			return nil
		}
		pieces[i], rest = rest[:n], rest[n:]
	}
	if rest != "" {
		return nil
	}
	return pieces
}

// add puts an option in behind the verb that has it, before the operands.
func (r *respelling) add(name string, want any) error {
	switch r.row.Style {
	case "", "go", "cmdlet", "slash":
	default:
		return r.errorf("has options in a form of its own: give %s by span", name)
	}
	text, isText := want.(string)
	o, written := r.row.Options.Canonical(name)
	level := len(r.verbs)
	switch {
	case o == nil && r.row.Style == "cmdlet":
		written = "-" + name
	case o == nil && r.row.Style == "slash":
		written = "/" + name
	case o == nil && (r.row.Style == "go" || utf8.RuneCountInString(name) == 1):
		written = "-" + name
	case o == nil:
		written = "--" + name
	default:
		level = r.level(o)
		if o.Pair || isText != o.Takes && !(o.Attached && !isText) {
			return r.errorf("cannot get the option %s like this: %s", name, takes(o.Takes, o.Pair))
		}
	}
	behind, err := r.behind(level)
	if err != nil {
		return err
	}
	at := hook.Span{behind, behind}
	long := strings.HasPrefix(written, "--") || r.row.Style == "go"
	switch {
	case !isText:
		r.edit(at, written)
	case r.row.Style == "slash":
		r.edit(at, written+":"+text)
	case long && (o == nil || o.Attached || strings.HasPrefix(text, "-")):
		r.edit(at, written+"="+text)
	case o == nil && r.row.Style == "":
		return r.errorf("has no option %s in gate's catalogue, so how its value is written is not known", name)
	case o != nil && o.Attached:
		r.edit(at, written+text)
	default:
		r.edit(at, written)
		r.edit(at, text)
	}
	return nil
}

func takes(value, two bool) string {
	switch {
	case two:
		return "it takes two values"
	case value:
		return "it takes a value"
	}
	return "it takes no value"
}

// level is how many verbs stand before an option: those of the row that has it,
// and all of them where a row's own options may stand behind its verb.
func (r *respelling) level(o *catalogue.Option) int {
	for n := len(r.verbs); n >= 0; n-- {
		row, ok := r.programs.rows.Lookup(strings.Join(append([]string{r.name}, r.verbs[:n]...), " "))
		if !ok {
			continue
		}
		if own, _ := row.Options.Canonical(o.Name); own != nil && (row.Ahead || own.Role.Name == "cd") {
			return n
		} else if own != nil {
			break
		}
	}
	return len(r.verbs)
}

// behind returns where the program ends, or its n-th verb.
func (r *respelling) behind(n int) (int, error) {
	after := flow.Word{Span: r.command.Words[0].Span}
	words := r.command.Words[1:]
	for _, verb := range r.verbs[:n] {
		i := slices.IndexFunc(words, func(w hook.Word) bool {
			return w.Value != nil && strings.EqualFold(*w.Value, verb) && !r.isValue(w.Span)
		})
		if i < 0 {
			return 0, r.errorf("has no word %s to put an option behind", verb)
		}
		after.Span, words = words[i].Span, words[i+1:]
	}
	at, err := r.word(after)
	return at[1], err
}

// isValue reports the word of an option's value.
func (r *respelling) isValue(at *hook.Span) bool {
	return at != nil && slices.ContainsFunc(r.args, func(a argument) bool {
		return a.option != nil && a.value.Span != nil && *a.value.Span == *at
	})
}

func (r *respelling) operands(e *hook.CommandEdit) error {
	for _, text := range e.Remove {
		for _, f := range r.rest {
			if v := f.Value(); v == nil || *v != text {
				continue
			}
			at, err := r.word(f)
			if err != nil {
				return err
			}
			r.edit(at, "")
		}
	}
	end := 0
	for _, w := range r.command.Words {
		if w.Span == nil {
			continue
		}
		end = max(end, w.Span[1])
	}
	for _, text := range e.Add {
		if slices.ContainsFunc(r.rest, func(f flow.Word) bool { v := f.Value(); return v != nil && *v == text }) {
			continue
		}
		if len(r.inner) > 0 {
			return r.errorf("runs another command, which would take the operand %s", text)
		}
		r.edit(hook.Span{end, end}, text)
	}
	return nil
}
