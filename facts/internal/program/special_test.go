package program_test

import (
	"errors"
	"flag"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mvdan.cc/sh/v3/syntax"

	"gate/facts/internal/draft"
	"gate/facts/internal/flow"
	"gate/facts/internal/program"
	"gate/facts/internal/world"
	"gate/hook"
	"gate/internal/catalogue"
)

var update = flag.Bool("update", false, "rewrite the expectations in testdata")

// TestSpecialFunctions gives invocations to programs, without a shell. A block of
// testdata/NAME.txt is an invocation after "$ ", then its effects, "runs" for each
// text and command that the program hands to its shell, and "writes" for its output.
// The repository's HEAD is the branch feature.
func TestSpecialFunctions(t *testing.T) {
	for _, name := range []string{"find", "git_push", "tar"} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join("testdata", name+".txt")
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var out []string
			for block := range strings.SplitSeq(strings.TrimSpace(string(data)), "\n\n") {
				line, want, _ := strings.Cut(block, "\n")
				line, ok := strings.CutPrefix(line, "$ ")
				if !ok {
					t.Fatalf("no invocation: %s", block)
				}
				got := invoke(t, line)
				if !*update && got != want {
					t.Errorf("%s\ngot:\n%s\nwant:\n%s", line, got, want)
				}
				out = append(out, strings.TrimSpace("$ "+line+"\n"+got)+"\n")
			}
			if len(out) < 15 {
				t.Errorf("%d invocations", len(out))
			}
			if *update {
				if err := os.WriteFile(file, []byte(strings.Join(out, "\n")), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// invoke runs one invocation and says what came of it, a line each.
func invoke(t *testing.T, line string) string {
	d := &draft.Draft{
		World: world.World{Home: "/home/dev", Project: "/home/dev/project", Dir: "/home/dev/project", Files: &world.Glances{Files: repository{}}},
		Facts: &hook.Facts{Shell: &hook.Shell{}},
	}
	shell := &recorder{at: draft.Where{Dirs: []string{d.World.Dir}}}
	inv := &draft.Invocation{Words: cut(t, line)}
	out := program.New(catalogue.New(nil)).Run(d, shell, inv, inv.Words[0].Text())
	var said []string
	for _, e := range d.Facts.Effects {
		text := e.Kind()
		tree := hook.Tree(&e)
		for name := range sorted(tree) {
			if v := tree[name]; !slices.Contains([]string{"kind", "command"}, name) && fmt.Sprint(v) != "false" && fmt.Sprint(v) != "[]" && v != nil {
				text += fmt.Sprintf(" %s=%v", name, v)
			}
		}
		said = append(said, text)
	}
	for _, u := range d.Facts.Unknown {
		said = append(said, "unknown "+u.Kind+": "+u.Why)
	}
	for _, text := range shell.runs {
		said = append(said, "runs "+text)
	}
	if s := out.Taint.Secret; s != "" {
		said = append(said, "writes "+s)
	}
	return strings.Join(said, "\n")
}

// sorted yields the names of a tree in order.
func sorted(tree map[string]any) iter.Seq[string] {
	var names []string
	for name := range tree {
		names = append(names, name)
	}
	slices.Sort(names)
	return slices.Values(names)
}

// cut makes the words of a line; $X in it is a word that is not known.
func cut(t *testing.T, line string) (words []flow.Word) {
	t.Helper()
	for word, err := range syntax.NewParser().WordsSeq(strings.NewReader(line)) {
		if err != nil {
			t.Fatal(err)
		}
		var w flow.Word
		for _, p := range word.Parts {
			switch p := p.(type) {
			case *syntax.Lit:
				w.Parts = append(w.Parts, flow.Part{Text: strings.ReplaceAll(p.Value, `\`, "")})
			case *syntax.SglQuoted:
				w.Parts = append(w.Parts, flow.Part{Text: p.Value, Quoted: true})
			case *syntax.ParamExp:
				w.Parts = append(w.Parts, flow.Part{Hole: &flow.Hole{Why: "$" + p.Param.Value}})
			default:
				t.Fatalf("%T in %s", p, line)
			}
		}
		words = append(words, w)
	}
	return words
}

// A repository is the files of a project on the branch feature.
type repository struct{}

func (repository) Lstat(string) (os.FileInfo, error) { return nil, os.ErrNotExist }
func (repository) Readlink(string) (string, error)   { return "", errors.New("no links") }
func (repository) ReadFile(name string, _ int) ([]byte, error) {
	if name == "/home/dev/project/.git/HEAD" {
		return []byte("ref: refs/heads/feature\n"), nil
	}
	return nil, os.ErrNotExist
}

// A recorder is a shell that notes what it is asked to run.
type recorder struct {
	at      draft.Where
	current draft.Current
	runs    []string
}

func (r *recorder) Where() *draft.Where     { return &r.at }
func (r *recorder) Current() *draft.Current { return &r.current }
func (r *recorder) Fork() func()            { was := r.at; return func() { r.at = was } }
func (r *recorder) Inside(f func())         { back := r.Fork(); f(); back() }
func (r *recorder) Arguments(flow.Word, []flow.Word) {
}
func (r *recorder) Named(flow.Word) {}
func (r *recorder) Text(text flow.Word, _ flow.Stream) flow.Stream {
	r.runs = append(r.runs, text.Text())
	return flow.Stream{}
}
func (r *recorder) Other(language string, text flow.Word, _ flow.Stream) flow.Stream {
	r.runs = append(r.runs, language+": "+text.Text())
	return flow.Stream{}
}
func (r *recorder) Handed(text string, words []flow.Word) flow.Stream {
	r.runs = append(r.runs, text+" "+flow.Join(words).Text())
	return flow.Stream{}
}
func (r *recorder) Command(inv *draft.Invocation) flow.Stream {
	r.runs = append(r.runs, flow.Join(inv.Words).Written())
	return flow.Stream{}
}
func (r *recorder) Line(via, text string)                   { r.runs = append(r.runs, via+": "+text) }
func (r *recorder) Try(string) []hook.FactEffect            { return nil }
func (r *recorder) Enter(_ string, f func())                { f() }
func (r *recorder) Cut(text flow.Word) ([]flow.Word, error) { return []flow.Word{text}, nil }
func (r *recorder) Variable(string) (draft.Held, bool)      { return draft.Held{}, false }
func (r *recorder) Value(string) flow.Word                  { return flow.Literal("") }
func (r *recorder) Set(string, flow.Word)                   {}
func (r *recorder) Mark(string, flow.Word)                  {}
func (r *recorder) Names() iter.Seq[string]                 { return slices.Values([]string(nil)) }
func (r *recorder) Exports() bool                           { return false }
