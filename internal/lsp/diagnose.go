package lsp

import (
	"errors"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"gate/internal/policycheck"
	"gate/internal/policytest"
)

// A watched is a target with files that are open. It is checked again after each edit,
// one check at a time; a newer edit ends the check that runs.
type watched struct {
	named   string
	dir     string // what names of files are relative to
	library bool   // it is gate's own policies
	kept    policycheck.Kept

	mu      sync.Mutex
	some    string // a file of it: what it is opened by
	edits   int    // how many were made
	busy    bool   // a check runs, or is about to
	checked *policycheck.Inspection
	done    chan struct{}   // closed when checked is there for the first time
	told    map[string]bool // the files that something was said about
}

// concerns reports a file that gate check reads.
func concerns(path string) bool {
	return isRego(path) || isCases(path) || slices.Contains([]string{".yaml", ".yml", ".toml", ".json"}, filepath.Ext(path))
}

func isRego(path string) bool  { return strings.HasSuffix(path, ".rego") }
func isCases(path string) bool { return strings.HasSuffix(path, policytest.CasesSuffix) }

// recheck has the target of a file checked, as soon as nothing is typed any more.
func (s *server) recheck(path string) {
	if !concerns(path) {
		return
	}
	if isCases(path) {
		s.cases(path)
		return
	}
	w := s.watch(path)
	if w == nil {
		return
	}
	w.mu.Lock()
	w.edits++
	start := !w.busy
	w.busy = true
	w.mu.Unlock()
	if start {
		s.work.Go(func() { s.keepChecking(w) })
	}
}

// watch returns the target that a file belongs to.
func (s *server) watch(path string) *watched {
	t, err := s.options.Machine.Open(path)
	if err != nil {
		if isRego(path) {
			s.publish(path, "check", s.whole(err))
		}
		return nil
	}
	t.Close()
	if !isRego(path) && !t.Check.Place {
		return nil // somebody else's file
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	w := s.targets[t.Named]
	if w == nil {
		w = &watched{named: t.Named, dir: t.Dir, library: t.Check.Source.Library, done: make(chan struct{}), told: map[string]bool{}}
		s.targets[t.Named] = w
	}
	s.of[path] = w
	w.mu.Lock()
	w.some = path
	w.mu.Unlock()
	return w
}

// keepChecking checks a target until no edit is newer than what was checked.
func (s *server) keepChecking(w *watched) {
	for {
		w.mu.Lock()
		edits := w.edits
		w.mu.Unlock()
		if s.options.Delay > 0 {
			select {
			case <-time.After(s.options.Delay):
			case <-s.ctx.Done():
			}
		}
		newer := func() bool {
			w.mu.Lock()
			defer w.mu.Unlock()
			return w.edits != edits
		}
		if !newer() {
			_, err := guarded(func() (any, error) { return nil, s.check(w, newer) })
			if err != nil && !errors.Is(err, policycheck.ErrStopped) {
				s.publish(w.opener(), "check", s.whole(err))
			}
		}
		w.mu.Lock()
		if w.edits == edits || s.ctx.Err() != nil {
			w.busy = false
			w.finished()
			w.mu.Unlock()
			return
		}
		w.mu.Unlock()
	}
}

// finished says that one check is over, whatever came of it.
func (w *watched) finished() {
	select {
	case <-w.done:
	default:
		close(w.done)
	}
}

// documents are those that are open, as they are now, and those whose text is not known.
func (s *server) documents() (open map[string]*document, lost map[string]bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	open, lost = map[string]*document{}, map[string]bool{}
	for uri, d := range s.open {
		if s.lost[uri] {
			lost[d.path] = true
		} else {
			open[d.path] = d
		}
	}
	return open, lost
}

// texts are the open documents below a directory, by their names in it.
func texts(dir string, open map[string]*document) map[string]string {
	out := map[string]string{}
	for path, d := range open {
		if name, err := filepath.Rel(dir, path); err == nil && filepath.IsLocal(name) {
			out[filepath.ToSlash(name)] = d.text
		}
	}
	return out
}

// check checks a target once, and publishes what is wrong.
func (s *server) check(w *watched, newer func() bool) error {
	some := w.opener()
	t, err := s.options.Machine.Open(some)
	if err != nil {
		return err
	}
	defer t.Close()
	open, lost := s.documents()
	o := t.Check
	o.Stopped = func() bool { return newer() || s.ctx.Err() != nil }
	o.Files, o.Kept = t.files(open), &w.kept
	report, learned, err := policycheck.Examine(o)
	if errors.Is(err, policycheck.ErrStopped) || o.Stopped() {
		return policycheck.ErrStopped
	}
	if errors.Is(err, policycheck.ErrNoPolicies) && slices.ContainsFunc(slices.Collect(maps.Keys(open)), isRego) {
		err = nil // as before the first line is written
	}
	if err != nil {
		return err
	}
	found := map[string][]diagnostic{}
	for _, f := range report.Findings {
		path := some
		if f.File != "" {
			if !t.Holds(f.File) {
				continue
			}
			path = filepath.Join(t.Dir, filepath.FromSlash(f.File))
		}
		if !lost[path] {
			found[path] = append(found[path], s.finding(f, open[path]))
		}
	}
	w.mu.Lock()
	w.checked = learned
	w.finished()
	told := w.told
	w.told = map[string]bool{}
	for path := range found {
		w.told[path] = true
	}
	w.mu.Unlock()
	for path := range told {
		if found[path] == nil {
			found[path] = nil
		}
	}
	for path := range open { // an answer for each: an editor waits for it
		if name, err := filepath.Rel(t.Dir, path); err == nil && filepath.IsLocal(name) && concerns(path) && !isCases(path) && t.Holds(filepath.ToSlash(name)) {
			found[path] = append(found[path], []diagnostic{}...)
		}
	}
	for _, path := range slices.Sorted(maps.Keys(found)) {
		s.publishFor(path, "check", found[path], open[path])
	}
	return nil
}

// finding is a finding as editors show it. d is its document, nil where it is not open.
func (s *server) finding(f policycheck.Finding, d *document) diagnostic {
	out := diagnostic{Severity: severityError, Code: f.Rule, Source: "gate", Message: f.Message}
	if f.Severity == policycheck.Warning {
		out.Severity = severityWarning
	}
	if f.Hint != "" {
		out.Message += "; " + f.Hint
	}
	out.Range = s.rangeOf(f.Line, f.Column, d)
	return out
}

// word is what a finding with a column is about.
var word = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:"(?:[^"\\]|\\.)*"|[\pL\pN_]+(?:\.[\pL\pN_]+)*|\S)`)
})

// rangeOf is the part of a line that a finding is about: a word at its column, otherwise
// all of the line.
func (s *server) rangeOf(line, column int, d *document) span {
	if d == nil {
		at := position{max(line-1, 0), max(column-1, 0)}
		return span{at, at}
	}
	line = min(max(line, 1), len(d.lines))
	text := d.line(line - 1)
	from := d.lines[line-1] + len(text) - len(strings.TrimLeft(text, " \t"))
	to := d.lines[line-1] + len(strings.TrimRight(text, " \t"))
	if column > 0 {
		from = d.column(line, column)
		to = from + len(word().FindString(d.text[from:d.lines[line-1]+len(text)]))
	}
	return d.span(from, max(from, to))
}

// publish shows what one of us says about a file, in the place of what it said before.
func (s *server) publish(path, who string, list []diagnostic) {
	open, _ := s.documents()
	s.publishFor(path, who, list, open[path])
}

// publishFor is publish about a document as it was. What became old meanwhile is not shown.
func (s *server) publishFor(path, who string, list []diagnostic, d *document) {
	s.telling.Lock()
	defer s.telling.Unlock()
	p := diagnosticsParams{URI: uriOf(path), Diagnostics: []diagnostic{}}
	if d != nil {
		p.URI, p.Version = d.uri, &d.version
		if !s.isNow(d) {
			return
		}
	}
	if s.shown[path] == nil {
		s.shown[path] = map[string][]diagnostic{}
	}
	s.shown[path][who] = list
	for _, who := range slices.Sorted(maps.Keys(s.shown[path])) {
		p.Diagnostics = append(p.Diagnostics, s.shown[path][who]...)
	}
	_ = s.client.Notify(s.ctx, "textDocument/publishDiagnostics", p)
}

// forget has one of us say nothing about a file any more; the next one who speaks shows it.
func (s *server) forget(path, who string) {
	s.telling.Lock()
	defer s.telling.Unlock()
	delete(s.shown[path], who)
}

// isNow reports that a document is as the editor has it.
func (s *server) isNow(d *document) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open[d.uri] == d
}

// withdraw takes back what was said about a file.
func (s *server) withdraw(path string) {
	s.telling.Lock()
	defer s.telling.Unlock()
	delete(s.shown, path)
	_ = s.client.Notify(s.ctx, "textDocument/publishDiagnostics", diagnosticsParams{URI: uriOf(path), Diagnostics: []diagnostic{}})
}

// closed takes back what was said about a file that is not open any more, and checks the
// others of its target by what is on the disk.
func (s *server) closed(path string) {
	s.withdraw(path)
	s.recheckAll()
}

// recheckAll checks all targets with open documents. Others are forgotten.
func (s *server) recheckAll() {
	open, _ := s.documents()
	var left []string
	s.mu.Lock()
	for named, w := range s.targets {
		if w.hasOpen(open) {
			continue
		}
		delete(s.targets, named)
		w.mu.Lock()
		left = append(left, slices.Sorted(maps.Keys(w.told))...)
		w.mu.Unlock()
	}
	s.mu.Unlock()
	for _, path := range left {
		s.withdraw(path)
	}
	for path := range open {
		s.recheck(path)
	}
}

// opener is a file that the target is opened by.
func (w *watched) opener() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.some
}

// hasOpen reports an open document at or below what the target is named by.
func (w *watched) hasOpen(open map[string]*document) bool {
	for path := range open {
		if name, err := filepath.Rel(w.named, path); err == nil && filepath.IsLocal(name) {
			return true
		}
	}
	return false
}

// cases says what is wrong with a file of event cases.
func (s *server) cases(path string) {
	open, lost := s.documents()
	d := open[path]
	if d == nil || lost[path] {
		return
	}
	_, err := policytest.ParseCases(filepath.Base(path), []byte(d.text))
	s.publishFor(path, "cases", s.positioned(err, d), d)
}

// place begins an error about a line of a file.
var place = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^([^\s:]+):(\d+): `) })

// whole is an error about nothing less than a whole file.
func (s *server) whole(err error) []diagnostic {
	return []diagnostic{{Severity: severityError, Code: policycheck.LoadRule, Source: "gate", Message: err.Error()}}
}

// positioned are the errors about a document, each at its line.
func (s *server) positioned(err error, d *document) []diagnostic {
	list := []diagnostic{}
	if err == nil {
		return list
	}
	for text := range strings.Lines(err.Error()) {
		text = strings.TrimRight(text, "\n")
		line := 1
		if m := place().FindStringSubmatch(text); m != nil {
			line, _ = strconv.Atoi(m[2])
			text = text[len(m[0]):]
		}
		list = append(list, diagnostic{Range: s.rangeOf(line, 0, d), Severity: severityError, Code: policycheck.LoadRule, Source: "gate", Message: text})
	}
	return list
}
