package program

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"gate/facts/internal/flow"
)

// parallel runs its words once for each argument, or for each combination of
// arguments from several sources: what follows ::: and ::::, files, or its
// input.
func (u *use) parallel() {
	words, sources := u.sources()
	u.inner = nil
	if len(words) == 0 && len(u.files) > 0 { // each line is a command
		for _, f := range u.files {
			u.execute("bash", f)
		}
		return
	}
	if u.has("quote") || u.has("q") {
		for i, w := range words {
			if v := w.Value(); v != nil && len(placeholders(*v)) == 0 {
				words[i] = flow.Literal(quotedWord(*v))
			}
		}
	}
	if u.has("pipe") || u.has("pipepart") { // the words get pieces of the input, and no arguments
		u.inside(func() { u.prints(u.shell.Text(flow.Join(words), u.Stdin)) })
		return
	}
	mark := ""
	if f, ok := u.opt("I"); ok {
		mark = f.Text()
	}
	marked := slices.ContainsFunc(words, func(w flow.Word) bool {
		return len(placeholders(w.Text())) > 0 || mark != "" && strings.Contains(w.Text(), mark)
	})
	u.inside(func() {
		for _, t := range u.grouped(combine(sources)) {
			var line []flow.Word
			if len(words) > 0 {
				t = slices.Clone(t)
				for i, f := range t {
					t[i] = asWord(f)
				}
			}
			for _, w := range words {
				line = append(line, u.filled(w, mark, t))
			}
			if !marked {
				line = append(line, flow.Join(t))
			}
			u.shell.Text(flow.Join(line), flow.Stream{})
		}
	})
}

// filled is a word with the arguments in place.
func (u *use) filled(w flow.Word, mark string, tuple []flow.Word) flow.Word {
	if mark != "" {
		w = substitute([]flow.Word{w}, mark, []flow.Word{flow.Join(tuple)})[0]
	}
	for _, p := range placeholders(w.Text()) {
		w = substitute([]flow.Word{w}, p, []flow.Word{u.placed(p, tuple)})[0]
	}
	return w
}

// sources are the words to run, and the arguments of each source.
func (u *use) sources() (words []flow.Word, sources [][]flow.Word) {
	words = u.inner
	if i := slices.IndexFunc(words, sourceMark); i >= 0 {
		for rest := words[i:]; len(rest) > 0; {
			files := strings.HasPrefix(rest[0].Text(), "::::")
			end := slices.IndexFunc(rest[1:], sourceMark) + 1
			if end == 0 {
				end = len(rest)
			}
			list := rest[1:end]
			if files {
				list = nil
				for _, f := range rest[1:end] {
					list = append(list, u.linesOf(f)...)
				}
			}
			sources, rest = append(sources, list), rest[end:]
		}
		return words[:i:i], sources
	}
	for _, f := range u.opts["arg-file"] {
		sources = append(sources, u.linesOf(f))
	}
	if len(sources) == 0 {
		sources = [][]flow.Word{u.lines(u.Stdin)}
	}
	return words, sources
}

// linesOf are the lines of a file.
func (u *use) linesOf(f flow.Word) []flow.Word {
	if isInput(f) {
		return u.lines(u.Stdin)
	}
	u.files = append(u.files, f)
	return u.lines(u.content(f))
}

// grouped are the combinations as the command gets them: -N arguments at a time, or the
// columns of a line.
func (u *use) grouped(tuples [][]flow.Word) [][]flow.Word {
	if sep, ok := u.opt("colsep"); ok && sep.Value() != nil && *sep.Value() != "" {
		for i, t := range tuples {
			if v := t[0].Value(); len(t) == 1 && v != nil {
				tuples[i] = nil
				for column := range strings.SplitSeq(*v, *sep.Value()) {
					tuples[i] = append(tuples[i], flow.Literal(column))
				}
			}
		}
	}
	f, ok := u.opt("max-replace-args")
	n, known := f.Number()
	if !ok || !known || n < 2 || len(tuples) == 0 || len(tuples[0]) != 1 {
		return tuples
	}
	var out [][]flow.Word
	for some := range slices.Chunk(tuples, n) {
		out = append(out, slices.Concat(some...))
	}
	return out
}

// asWord is an argument as parallel puts it into the line: every character that means
// something to a shell has a backslash.
func asWord(f flow.Word) flow.Word {
	if v := f.Value(); v != nil && !f.Matches() {
		return flow.Literal(quotedWord(*v))
	}
	return f
}

func quotedWord(text string) string {
	var b strings.Builder
	for _, r := range text {
		switch {
		case r == '\n':
			b.WriteString("'\n'")
			continue
		case r < 0x80 && !strings.ContainsRune("_/.,:@%+=-", r) && !(r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'):
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// sourceMark reports the words between the sources.
func sourceMark(f flow.Word) bool {
	return slices.Contains([]string{":::", "::::", ":::+", "::::+"}, f.Text())
}

// lines are the lines of a stream, or the names that are known to be in it.
func (u *use) lines(st flow.Stream) []flow.Word {
	var out []flow.Word
	if st.Text != nil {
		for _, l := range strings.Split(strings.TrimRight(*st.Text, "\n"), "\n") {
			out = append(out, flow.Literal(l))
		}
	}
	if out == nil {
		out = st.Handed()
	}
	if out == nil {
		out = []flow.Word{flow.Unknown(&flow.Hole{Why: "a word from standard input", Many: true, Taint: st.Taint})}
	}
	return out
}

// combine are the combinations of one argument from each source. Where they are
// too many, every argument stands once in every place.
func combine(sources [][]flow.Word) [][]flow.Word {
	tuples, n := [][]flow.Word{nil}, 1
	for _, s := range sources {
		if n *= len(s); n > maxBatches && len(sources) > 1 {
			tuples = nil
			for _, f := range slices.Concat(sources...) {
				tuples = append(tuples, slices.Repeat([]flow.Word{f}, len(sources)))
			}
			return tuples
		}
		var more [][]flow.Word
		for _, t := range tuples {
			for _, f := range s {
				more = append(more, append(t[:len(t):len(t)], f))
			}
		}
		tuples = more
	}
	return tuples
}

// placeholders are the words in braces that parallel replaces: {}, {.}, {//},
// {2}, {2/.}, {#}, {= code =}.
func placeholders(text string) []string {
	var out []string
	for i := 0; i < len(text); i++ {
		if text[i] != '{' {
			continue
		}
		end := strings.IndexByte(text[i:], '}')
		if end < 0 {
			break
		}
		p := text[i : i+end+1]
		if in := p[1:end]; (strings.Trim(in, "0123456789+-./#%") == "" || strings.HasPrefix(in, "=")) && !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	return out
}

// placed is what stands for a placeholder in one combination.
func (u *use) placed(placeholder string, tuple []flow.Word) flow.Word {
	in := strings.Trim(placeholder, "{}")
	if strings.ContainsAny(in, "#%") {
		return flow.Literal("1") // the number of the job
	}
	if strings.HasPrefix(in, "=") {
		return flow.Unknown(&flow.Hole{Why: "an argument that code changes"})
	}
	digits := strings.TrimLeft(in, "+-")
	digits = digits[:len(digits)-len(strings.TrimLeft(digits, "0123456789"))]
	f := flow.Join(tuple)
	if n, err := strconv.Atoi(digits); err == nil && n > 0 {
		switch {
		case n <= len(tuple):
			f = tuple[n-1]
		case u.has("colsep"):
			f = flow.Unknown(&flow.Hole{Why: "a column of a line", Taint: f.Taint()})
		default:
			return flow.Literal(placeholder)
		}
	}
	v := f.Value()
	if v == nil {
		return f
	}
	text := *v
	if in == "+/" { // of --plus
		return flow.Literal(path.Dir(text))
	}
	switch strings.TrimLeft(in, "+-0123456789") {
	case "//":
		text = path.Dir(text)
	case "/":
		text = path.Base(text)
	case ".":
		text = strings.TrimSuffix(text, path.Ext(text))
	case "/.":
		text = strings.TrimSuffix(path.Base(text), path.Ext(text))
	}
	return flow.Literal(text)
}
