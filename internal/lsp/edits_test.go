package lsp_test

import (
	"flag"
	"fmt"
	"hash/fnv"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"gate/examples"
	"gate/hook"
	"gate/internal/lsp"
	"gate/internal/policycheck"
	"gate/policies"
	"gate/scopes"
)

// A subject is a policy that edits are made to, with the files around it.
type subject struct {
	name    string // of the file
	files   fstest.MapFS
	library bool
}

// subjects are the example policies and those of the library.
func subjects(t testing.TB) []subject {
	t.Helper()
	var list []subject
	add := func(fsys fs.FS, library bool) {
		shared := fstest.MapFS{}
		dirs := map[string]fstest.MapFS{}
		err := fs.WalkDir(fsys, ".", func(name string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() || !strings.HasSuffix(name, ".rego") || strings.HasSuffix(name, "_test.rego") {
				return err
			}
			text, err := fs.ReadFile(fsys, name)
			if library && (strings.HasPrefix(name, "gate/lib/") || strings.HasPrefix(name, "gate/proof/")) {
				shared[name] = &fstest.MapFile{Data: text}
			}
			dir := path.Dir(name)
			if dirs[dir] == nil {
				dirs[dir] = fstest.MapFS{}
			}
			dirs[dir][name] = &fstest.MapFile{Data: text}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, files := range dirs {
			for name := range files {
				all := fstest.MapFS{}
				for _, part := range []fstest.MapFS{files, shared} {
					for name, file := range part {
						all[name] = file
					}
				}
				list = append(list, subject{name, all, library})
			}
		}
	}
	add(examples.FS(), false)
	add(policies.FS(), true)
	slices.SortFunc(list, func(a, b subject) int { return strings.Compare(a.name, b.name) })
	return list
}

// checkOptions are those of a check of a subject.
func (s *subject) checkOptions(files fs.FS) policycheck.Options {
	o := options(files, false)
	if s.library {
		o.Source = scopes.Source{Name: "library", Scope: hook.Policy, Authority: hook.User, Library: true}
	}
	return o
}

var edits = flag.Int("edits", 4, "how many edits are made to each policy; .ci/with editors makes over a hundred")

// TestEdits makes edits to each example and each policy of the library: a
// beginning of the text, and random changes, one after the other. Each time the server says
// what gate check says of the same text, and answers about a random place.
func TestEdits(t *testing.T) {
	var w waits
	t.Cleanup(func() { w.log(t) })
	for _, s := range subjects(t) {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			s.edit(t, &w)
		})
	}
}

// waits are how long answers took, in milliseconds: they are said, and hold nothing.
type waits struct {
	mu   sync.Mutex
	took map[string][]float64 // by what was asked
}

func (w *waits) since(what string, start time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.took == nil {
		w.took = map[string][]float64{}
	}
	w.took[what] = append(w.took[what], float64(time.Since(start).Microseconds())/1000)
}

func (w *waits) log(t *testing.T) {
	for _, what := range slices.Sorted(maps.Keys(w.took)) {
		list := w.took[what]
		t.Logf("%s: %d answers, p50 %.1f ms, p95 %.1f ms, p99 %.1f ms", what, len(list), percentile(list, 50), percentile(list, 95), percentile(list, 99))
	}
}

func (s *subject) edit(t *testing.T, took *waits) {
	dir := t.TempDir()
	s.write(t, dir)
	m := machine(t)
	m.Open = s.opens(dir)
	e := startRaw(t, lsp.Options{Machine: m})
	e.ask("initialize", map[string]any{})
	file := filepath.Join(dir, filepath.FromSlash(s.name))
	w := s.writer()
	e.open(file, w.text, 0)
	s.compare(t, w.text, e.diagnosed(file, 0))
	for version := 1; version <= *edits; version++ {
		change, start := w.edit(), time.Now()
		e.edit(file, version, change)
		d := e.diagnosed(file, version)
		took.since("diagnostics", start)
		s.compare(t, w.text, d)
		at := about(file, place(w.text, boundary(w.text, w.IntN(len(w.text)+1))))
		for _, method := range []string{"textDocument/hover", "textDocument/completion", "textDocument/definition", "textDocument/documentSymbol", "textDocument/codeLens"} {
			start := time.Now()
			e.ask(method, at)
			took.since(method, start)
		}
	}
}

func (s *subject) write(t testing.TB, dir string) {
	t.Helper()
	for name, file := range s.files {
		write(t, dir, name, string(file.Data))
	}
}

// A writer edits a policy, always in the same way.
type writer struct {
	*rand.Rand
	original, text string
	edits          int
}

func (s *subject) writer() *writer {
	seed := fnv.New64()
	fmt.Fprint(seed, s.name)
	text := string(s.files[s.name].Data)
	return &writer{Rand: rand.New(rand.NewPCG(seed.Sum64(), 27)), original: text, text: text}
}

// edit makes an edit, and returns what an editor tells of it: each fourth time the text
// begins anew, as far as it was written.
func (w *writer) edit() map[string]any {
	if w.edits++; w.edits%4 == 0 {
		w.text = strings.ToValidUTF8(w.original[:w.IntN(len(w.original)+1)], "")
		return map[string]any{"text": w.text}
	}
	from := boundary(w.text, w.IntN(len(w.text)+1))
	to := boundary(w.text, min(from+w.IntN(12), len(w.text)))
	now := snippets[w.IntN(len(snippets))]
	change := map[string]any{"range": map[string]any{"start": place(w.text, from), "end": place(w.text, to)}, "text": now}
	w.text = w.text[:from] + now + w.text[to:]
	return change
}

// BenchmarkEdits measures how long an editor waits for what is wrong after an edit, of all
// policies that TestEdits makes edits to, one after the other.
func BenchmarkEdits(b *testing.B) {
	list, dir := subjects(b), b.TempDir()
	m := machine(b)
	files, writers, opens := []string{}, []*writer{}, map[string]func(string) (*lsp.Target, error){}
	for i, s := range list {
		at := filepath.Join(dir, fmt.Sprint(i))
		s.write(b, at)
		files, writers = append(files, filepath.Join(at, filepath.FromSlash(s.name))), append(writers, s.writer())
		opens[files[i]] = s.opens(at)
	}
	m.Open = func(file string) (*lsp.Target, error) { return opens[file](file) }
	e := startRaw(b, lsp.Options{Machine: m})
	e.ask("initialize", map[string]any{})
	for i, file := range files {
		e.open(file, writers[i].text, 0)
		e.diagnosed(file, 0)
	}
	var took []float64
	for b.Loop() {
		i := len(took) % len(list)
		change, start := writers[i].edit(), b.Elapsed()
		e.edit(files[i], writers[i].edits, change)
		e.diagnosed(files[i], writers[i].edits)
		took = append(took, float64((b.Elapsed()-start).Microseconds())/1000)
	}
	b.ReportMetric(percentile(took, 50), "p50-ms")
	b.ReportMetric(percentile(took, 95), "p95-ms")
}

// opens returns how the subject is opened, whose files lie in a directory.
func (s *subject) opens(dir string) func(string) (*lsp.Target, error) {
	return func(string) (*lsp.Target, error) {
		return &lsp.Target{
			Named: dir, Dir: dir, Check: s.checkOptions(os.DirFS(dir)), Close: func() {},
			Holds: func(name string) bool { return name == s.name }, View: func(files fs.FS) fs.FS { return files },
		}, nil
	}
}

// percentile is the number that so many of a hundred are below.
func percentile(list []float64, percent int) float64 {
	slices.Sort(list)
	return list[min(len(list)*percent/100, len(list)-1)]
}

// snippets are what is typed.
var snippets = []string{"", "", "x", ".", "\"", "(", "}", "\n", " ", "input.", "push", "é😀", "\t", "# METADATA\n", "not ", "deny contains {", "\r\n", "some e in input.facts.effects", "\\", "`"}

// boundary is the nearest beginning of a character at or before an offset.
func boundary(text string, at int) int {
	for at > 0 && at < len(text) && (text[at]&0xc0 == 0x80 || text[at] == '\n' && text[at-1] == '\r') {
		at--
	}
	return at
}

// place is an offset as the protocol has it.
func place(text string, at int) map[string]any {
	if at == len(text) {
		return spot(text+"\x00", "\x00")
	}
	return spot(text[:at]+"\x00", "\x00")
}

// compare holds what the server says to what a check of the text says.
func (s *subject) compare(t *testing.T, text string, said diagnostics) {
	t.Helper()
	files := fstest.MapFS{}
	for name, f := range s.files {
		files[name] = f
	}
	files[s.name] = &fstest.MapFile{Data: []byte(text)}
	report, err := policycheck.Check(s.checkOptions(files))
	var want []string
	if err != nil {
		if err != policycheck.ErrNoPolicies {
			want = []string{"1: 1 load: " + err.Error()}
		}
	}
	for _, f := range report.Findings {
		if f.File != s.name && f.File != "" { // what is about none of the files stands in the one that is open
			continue
		}
		severity, message := 1, f.Message
		if f.Severity == policycheck.Warning {
			severity = 2
		}
		if f.Hint != "" {
			message += "; " + f.Hint
		}
		want = append(want, fmt.Sprintf("%d: %d %s: %s", max(f.Line, 1), severity, f.Rule, message))
	}
	for i := range want { // OPA cuts characters in half, of which no message can tell
		want[i] = string([]rune(want[i]))
	}
	if got := said.shown(); !slices.Equal(got, want) {
		t.Fatalf("version %d:\n%s\n--- the server says\n%s\n--- gate check says\n%s", *said.Version, text, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
