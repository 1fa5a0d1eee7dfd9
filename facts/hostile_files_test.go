package facts_test

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"gate/facts"
	"gate/hook"
	"gate/internal/origin"
)

// A heap is files of an agent that are made to cost, and the line that reads them.
type heap struct {
	name, format, text string
	n                  int
	line               string
}

// heaps are files by kind: as large as gate reads one, and many.
func heaps() []heap {
	python := filled("import os\nx = f(1, 2)\nopen('a').read()\n")
	return []heap{
		{"script again", "a%d.py", python, 1, strings.Repeat("python3 a0.py; ", 200)},
		{"tests", "test_a%d.py", python, 120, "pytest"},
		{"settings", "a%d.config.js", filled("const x = f(1, 2); require('fs').readFileSync('a')\n"), 120, "vite build"},
		{"tests again", "test_a%d.py", python, 3, strings.Repeat("pytest; ", 200)},
		{"names", "src/a%d.ts", "x", 10000, strings.Repeat("eslint . ; ", 100)},
		{"makefiles", "%d.mk", filled("X = $(Y)\n"), 64, "make"},
		{"tasks", ".github/workflows/a%d.yml", filled("      - run: ls -la\n"), 120, "act"},
		{"terraform", "a%d.tf", filled("command = \"ls\"\n"), 120, "terraform apply"},
		{"notebooks", "a%d.ipynb", `{"cells":[` + filled(`{"cell_type":"code","source":["x=1\n"]},`) + `{}]}`, 120, "jupyter nbconvert --execute a0.ipynb"},
		{"msbuild", "a%d.csproj", filled(`<Exec Command="ls -la" />`), 120, "dotnet build"},
		{"elixir", "a%d.exs", filled("System.cmd(\"ls\", [\"~/\"])\n"), 120, "mix test"},
		{"home", "a%d.rb", filled("x = homedir(); rmtree(a)\n"), 40, "rails s"},
		{"environment", "a%d.rb", filled("for (const k of a) o[k] = process.env[k]; a b c d e f g h i j fetch(y)\n"), 40, "rails s"},
		{"short statements", "a%d.rb", filled("ENV;a=b;"), 40, "rails s"},
		{"caches", "a%d.rb", filled("aaaaaaaaaaaaaaaaaaaaaaaaaaaaa.aaaaaaaaaaaaaaaaaaaa ~/.cach ~/.cache"), 40, "rails s"},
		{"one statement", "a%d.rb", filled("getenv HOME = "), 40, "rails s"},
		{"brackets", "a%d.rb", filled("loadEnv((((a,"), 40, "rails s"},
	}
}

func filled(unit string) string { return strings.Repeat(unit, 63<<10/len(unit)) }

// reader is one of a machine where calls before this one wrote some files.
func (h *heap) reader(more map[string]string) *facts.Reader {
	list, left := files{}, ledgerOf{}
	for i := range h.n {
		list["/p/"+fmt.Sprintf(h.format, i)] = h.text
	}
	for name, text := range more {
		list[name] = text
	}
	for name := range list {
		left.written = append(left.written, name)
	}
	slices.Sort(left.written)
	return facts.New(facts.World{Home: "/home/dev", Project: "/p", OS: "linux", Files: list, Ledger: func(string, string) origin.Ledger { return left }})
}

// TestHostileFiles holds the work that files of an agent can cause for one event to a bound,
// and has facts say that they did not look through all of them.
func TestHostileFiles(t *testing.T) {
	for _, h := range heaps() {
		t.Run(h.name, func(t *testing.T) {
			r := h.reader(nil)
			r.Of(toolEvent("Bash", map[string]any{"command": "p"}))
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			f := r.Of(toolEvent("Bash", map[string]any{"command": h.line}))
			runtime.ReadMemStats(&after)
			if n, size := after.Mallocs-before.Mallocs, after.TotalAlloc-before.TotalAlloc; n > 2*maxWork || size > maxBytes { // files have twice what a line has
				t.Errorf("%d allocations, %d MB", n, size>>20)
			}
			if len(f.Effects) > 16_000 {
				t.Errorf("%d effects", len(f.Effects))
			}
			if !f.Opaque || !slices.ContainsFunc(f.Unknown, func(u hook.Unknown) bool { return u.Kind == "code" && u.Written }) {
				t.Errorf("not said: %+v", f.Unknown)
			}
		})
	}
}

// TestCutShort has facts say of a file that an agent wrote that a limit ended the reading:
// the rest may do anything.
func TestCutShort(t *testing.T) {
	for line, text := range map[string]string{
		"make":                  "all:\n" + strings.Repeat("\t@true\n", 2500) + "\trm -rf ~\n",
		"pytest":                strings.Repeat("open('a').read()\n", 1200) + "import shutil\nshutil.rmtree('/home/dev')\n",
		"psql -f x.sql":         strings.Repeat("\\! ls\n", 1200) + "\\! rm -rf ~\n",
		"npm run build":         `{"scripts": {"build": "` + strings.Repeat("true && ", 2500) + `rm -rf ~"}}`,
		"tox":                   "[testenv]\ncommands =\n" + strings.Repeat("    true\n", 1200) + "    rm -rf ~\n",
		"docker compose up":     "services:\n" + strings.Repeat("  x:\n    command: true\n", 1200) + "  y:\n    volumes: [\"/:/host\"]\n    privileged: true\n",
		"python3 build.py":      "import os\n" + strings.Repeat("f(", 400) + ")\nos.remove('/home/dev/x')\n",
		"terraform apply -auto": strings.Repeat("command = \"ls\"\n", 1200) + "command = \"rm -rf ~\"\n",
	} {
		file := map[string]string{"make": "Makefile", "pytest": "conftest.py", "psql": "x.sql", "npm": "package.json", "tox": "tox.ini", "docker": "compose.yml", "python3": "build.py", "terraform": "main.tf"}[strings.Fields(line)[0]]
		h := heap{}
		f := h.reader(map[string]string{"/p/" + file: text}).Of(toolEvent("Bash", map[string]any{"command": line}))
		if !slices.ContainsFunc(f.Unknown, func(u hook.Unknown) bool { return u.Kind == "code" && u.Written }) {
			t.Errorf("%s: not said: %+v", line, f.Unknown)
		}
	}
}

// TestSpentOnOthers: files of the owner do not use up what is there for those of an agent
// without a word.
func TestSpentOnOthers(t *testing.T) {
	list := files{"/p/old.py": filled("open('a').read()\n"), "/p/new.py": "import shutil\nshutil.rmtree('/home/dev')\n"}
	r := facts.New(facts.World{Home: "/home/dev", Project: "/p", OS: "linux", Files: list, Ledger: func(string, string) origin.Ledger { return ledgerOf{written: []string{"/p/new.py"}} }})
	f := r.Of(toolEvent("Bash", map[string]any{"command": strings.Repeat("python3 old.py; ", 200) + "python3 new.py"}))
	if !slices.ContainsFunc(f.Unknown, func(u hook.Unknown) bool { return u.Written }) {
		t.Errorf("not said: %+v", f.Unknown)
	}
	f = r.Of(toolEvent("Bash", map[string]any{"command": strings.Repeat("python3 old.py; ", 200)}))
	if !f.Opaque || len(f.Unknown) != 1 || f.Unknown[0].Kind != "code" {
		t.Errorf("not said: %+v", f.Unknown)
	}
}

// TestTypedBehindMuch: what the line itself runs is not left out by files before it.
func TestTypedBehindMuch(t *testing.T) {
	list := files{"/p/old.py": filled("open('a').read()\n")}
	r := facts.New(facts.World{Home: "/home/dev", Project: "/p", OS: "linux", Files: list})
	f := r.Of(toolEvent("Bash", map[string]any{"command": strings.Repeat("python3 old.py; ", 200) + "python3 -c \"import shutil; shutil.rmtree('/home/dev')\""}))
	if !harms(f) && !slices.ContainsFunc(f.Unknown, func(u hook.Unknown) bool { return u.Kind == "limit" }) {
		t.Errorf("neither judged nor refused: %+v", f.Unknown)
	}
}

// TestStatementsOnce reads a file of statements once for a client, by how many ways others
// take it in.
func TestStatementsOnce(t *testing.T) {
	more := map[string]string{}
	for i := range 40 {
		more[fmt.Sprintf("/p/%d.sql", i)] = fmt.Sprintf("\\i %d.sql\n\\i %d.sql\n\\i %d.sql\n", i+1, i+1, i)
	}
	more["/p/40.sql"] = "\\! rm -rf ~\n"
	h := heap{}
	f := h.reader(more).Of(toolEvent("Bash", map[string]any{"command": "psql -f 10.sql"}))
	if n := len(f.Effects); n > 20 {
		t.Errorf("%d effects", n)
	}
	if !slices.ContainsFunc(f.Effects, func(e hook.FactEffect) bool { return e.Kind() == "fs.delete" }) && unknowns(f) == "" {
		t.Errorf("neither found nor said: %+v", f)
	}
}

func BenchmarkHostileFiles(b *testing.B) {
	for _, h := range heaps() {
		b.Run(h.name, func(b *testing.B) {
			r := h.reader(nil)
			for b.Loop() {
				r.Of(toolEvent("Bash", map[string]any{"command": h.line}))
			}
		})
	}
}
