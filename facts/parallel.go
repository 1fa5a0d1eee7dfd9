package facts

import (
	"path"
	"slices"
	"strconv"
	"strings"
)

// parallel runs its words once for each argument, or for each combination of
// arguments from several sources: what follows ::: and ::::, files, or its
// input.
func (u *use) parallel() {
	words, sources := u.sources()
	u.inner = nil
	if u.has("pipe") || u.has("pipepart") { // the words get pieces of the input, and no arguments
		u.inside(func() { u.prints(u.shellText(join(words), u.stdin)) })
		return
	}
	mark := ""
	if f, ok := u.opt("I"); ok {
		mark = f.text()
	}
	marked := slices.ContainsFunc(words, func(w field) bool {
		return len(placeholders(w.text())) > 0 || mark != "" && strings.Contains(w.text(), mark)
	})
	u.inside(func() {
		for _, t := range combine(sources) {
			var line []field
			for _, w := range words {
				line = append(line, u.filled(w, mark, t))
			}
			if !marked {
				line = append(line, join(t))
			}
			u.shellText(join(line), stream{})
		}
	})
}

// filled is a word with the arguments in place.
func (u *use) filled(w field, mark string, tuple []field) field {
	if mark != "" {
		w = substitute([]field{w}, mark, []field{join(tuple)})[0]
	}
	for _, p := range placeholders(w.text()) {
		w = substitute([]field{w}, p, []field{u.placed(p, tuple)})[0]
	}
	return w
}

// sources are the words to run, and the arguments of each source.
func (u *use) sources() (words []field, sources [][]field) {
	words = u.inner
	if i := slices.IndexFunc(words, sourceMark); i >= 0 {
		for rest := words[i:]; len(rest) > 0; {
			files := strings.HasPrefix(rest[0].text(), "::::")
			end := slices.IndexFunc(rest[1:], sourceMark) + 1
			if end == 0 {
				end = len(rest)
			}
			list := rest[1:end]
			if files {
				list = nil
				for _, f := range rest[1:end] {
					list = append(list, u.lines(u.fileStream(u.s, f))...)
				}
			}
			sources, rest = append(sources, list), rest[end:]
		}
		return words[:i:i], sources
	}
	for _, f := range u.opts["arg-file"] {
		sources = append(sources, u.lines(u.fileStream(u.s, f)))
	}
	if len(sources) == 0 {
		sources = [][]field{u.lines(u.stdin)}
	}
	return words, sources
}

// sourceMark reports the words between the sources.
func sourceMark(f field) bool {
	return slices.Contains([]string{":::", "::::", ":::+", "::::+"}, f.text())
}

// lines are the lines of a stream, or the names that are known to be in it.
func (u *use) lines(st stream) []field {
	var out []field
	if st.text != nil {
		for _, l := range strings.Split(strings.TrimRight(*st.text, "\n"), "\n") {
			out = append(out, literalField(l))
		}
	}
	if out == nil {
		out = st.handed()
	}
	if out == nil {
		out = []field{holeField(&hole{why: "a word from standard input", many: true, taint: st.taint})}
	}
	return out
}

// combine are the combinations of one argument from each source. Where they are
// too many, every argument stands once in every place.
func combine(sources [][]field) [][]field {
	tuples, n := [][]field{nil}, 1
	for _, s := range sources {
		if n *= len(s); n > maxBatches && len(sources) > 1 {
			tuples = nil
			for _, f := range slices.Concat(sources...) {
				tuples = append(tuples, slices.Repeat([]field{f}, len(sources)))
			}
			return tuples
		}
		var more [][]field
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
func (u *use) placed(placeholder string, tuple []field) field {
	in := strings.Trim(placeholder, "{}")
	if strings.ContainsAny(in, "#%") {
		return literalField("1") // the number of the job
	}
	if strings.HasPrefix(in, "=") {
		return holeField(&hole{why: "an argument that code changes"})
	}
	digits := strings.TrimLeft(in, "+-")
	digits = digits[:len(digits)-len(strings.TrimLeft(digits, "0123456789"))]
	f := join(tuple)
	if n, err := strconv.Atoi(digits); err == nil && n > 0 {
		switch {
		case n <= len(tuple):
			f = tuple[n-1]
		case u.has("colsep"):
			f = holeField(&hole{why: "a column of a line", taint: f.taint()})
		default:
			return literalField(placeholder)
		}
	}
	v := f.value()
	if v == nil {
		return f
	}
	text := *v
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
	return literalField(text)
}
