package program

import (
	"slices"
	"strings"

	"gate/facts/internal/flow"
	"gate/internal/strictjson"
	"gate/internal/wordlist"
)

// migrates reports a call that changes a database by files of migrations.
func (u *use) migrates() bool {
	return slices.ContainsFunc(u.Given(), func(f flow.Word) bool {
		text := strings.ToLower(f.Text())
		for part := range strings.FieldsFuncSeq(text, func(r rune) bool { return r < 'a' || r > 'z' }) {
			if wordlist.Has(" up upgrade migrate migration latest deploy apply run push execute update updatesql head ", part) {
				return true
			}
		}
		return false
	})
}

// migration judges code that changes a database: of Python, Ruby or JavaScript, in a
// directory whose name says so.
func (u *use) migration(file, text string) {
	if !u.migrates() || !ofMigrations(file) {
		return
	}
	language := "node"
	switch file[strings.LastIndexByte(file, '.'):] {
	case ".py":
		language = "python"
	case ".rb":
		language = "ruby"
	}
	u.surely(func() { u.bare().code(language, flow.Literal(upward(language, text)), "file") })
	u.lineage(text)
}

func ofMigrations(file string) bool {
	return strings.Contains(file, "migrat") || strings.Contains(file, "/versions/") || strings.Contains(file, "alembic") || strings.Contains(file, "changelog")
}

// sqlMigration judges a file of statements that changes a database, but for what takes a
// change back, and for tables that a new one with the same name takes the place of.
func (u *use) sqlMigration(file, text string) {
	lower := strings.ToLower(file)
	if !u.migrates() || !ofMigrations(lower) || strings.Contains(lower, "down.") || strings.Contains(lower, "undo") || strings.Contains(lower, "rollback") {
		return
	}
	for _, mark := range []string{"-- +goose Down", "-- migrate:down", "-- +migrate Down", "--rollback", "-- rollback", "-- Down"} {
		text, _, _ = strings.Cut(text, mark)
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		if words := strings.Fields(strings.Trim(line, "; \t\r\n")); len(words) > 2 && strings.EqualFold(words[0]+words[1], "droptable") && strings.Contains(text, "RENAME TO "+words[len(words)-1]) {
			continue
		}
		b.WriteString(line)
	}
	u.sql(flow.Literal(b.String()))
}

// upward is a migration without the part that takes it back, which stands behind the other.
func upward(language, text string) string {
	for _, begin := range []string{"\ndef downgrade", "\n  def down", "\nexports.down", "\nexport async function down", "\nexport function down", "\n  async down", "\n    async down", "\n  down:", "\n  down("} {
		if before, after, ok := strings.Cut(text, begin); ok && !marksUp(after) {
			return before
		}
	}
	return text
}

func marksUp(text string) bool {
	return strings.Contains(text, "def up") || strings.Contains(text, "exports.up") || strings.Contains(text, "function up") || strings.Contains(text, "async up") || strings.Contains(text, " up(")
}

// nixLines are the scripts that a shell or a build of nix runs: attributes whose names end
// in Hook, Phase or Script, and those of commands.
func nixLines(text string) (lines []string) {
	for _, found := range nixScript().FindAllStringSubmatch(text, -1) {
		lines = append(lines, strings.ReplaceAll(unquote(found[1]), "''$", "$")+found[2])
	}
	return lines
}

// bazelLines are the commands of rules, where $$ stands for a dollar and $@ for a file.
func bazelLines(text string) (lines []string) {
	for _, found := range bazelExecute().FindAllStringSubmatch(bazelHome().ReplaceAllString(text, `"$${HOME}`), -1) {
		words, _ := quotedWords(found[1])
		lines = append(lines, strings.ReplaceAll(shellLine(words), "'${HOME}", "~'"))
	}
	for _, found := range bazelCommand().FindAllStringSubmatch(text, -1) {
		line := unquote(found[1] + found[2] + found[3])
		lines = append(lines, strings.NewReplacer("$$", "$", "$@", "target", "$<", "source", "$(SRCS)", "source", "$(OUTS)", "target").Replace(line))
	}
	return lines
}

// elixirLines are the commands that a text of Elixir runs, and the files that it removes.
func elixirLines(text string) (lines []string) {
	for _, found := range elixirCall().FindAllStringSubmatch(text, -1) {
		words, _ := quotedWords(found[2])
		switch {
		case len(words) == 0:
		case strings.HasPrefix(found[1], "File.rm"):
			lines = append(lines, "rm -rf "+shellLine(words[:1]))
		case found[1] == "System.cmd":
			rest, _ := quotedWords(strings.TrimSpace(found[3]))
			lines = append(lines, shellLine(append(words[:1:1], rest...)))
		default:
			lines = append(lines, words[0])
		}
	}
	return lines
}

var (
	nixScript    = lazy("(?s)\\b(?:\\w*Hook|\\w+Phase|\\w*[sS]cript|enterShell|enterTest|exec|buildCommand)\\s*=\\s*(?:\"((?:[^\"\\\\]|\\\\.)*)\"|''(.*?)'')")
	bazelCommand = lazy("(?s)\\b(?:cmd|cmd_bash|command|bash|shell_command|script)\\s*=\\s*(?:\"\"\"(.*?)\"\"\"|\"((?:[^\"\\\\]|\\\\.)*)\"|'((?:[^'\\\\]|\\\\.)*)')")
	bazelExecute = lazy("\\.execute\\(\\s*(\\[(?:[^\\]\"']|\"(?:[^\"\\\\]|\\\\.)*\"|'[^']*')*\\])")
	bazelHome    = lazy(`\w+\.(?:os\.environ(?:\[["']HOME["']\]|\.get\(["']HOME["'][^)]*\))|getenv\(["']HOME["'][^)]*\))\s*\+\s*["']`)
	duneCommand  = lazy("\\((?:system|bash|run)\\s+\"?((?:[^\"\\\\)]|\\\\.)*)")
	elixirCall   = lazy("\\b(System\\.cmd|System\\.shell|:os\\.cmd|Mix\\.shell\\(\\)\\.cmd|File\\.rm_rf!?|File\\.rm!?)\\(?\\s*((?:\"(?:[^\"\\\\]|\\\\.)*\"|'[^']*'))(?:\\s*,\\s*(\\[[^\\]]*\\]))?")
	unitCommand  = lazy("(?m)^\\s*Exec(?:Start|StartPre|StartPost|Stop|StopPost|Reload|Condition)\\s*=[ \\t@:+!-]*(.+)$")
	hostPath     = lazy("hostPath[\"']?\\s*:\\s*\\{?\\s*[\"']?path[\"']?\\s*:\\s*[\"']?([^\\s\"',}]+)")
	podAlone     = lazy("(?m)[\"']?(?:privileged|hostPID|hostNetwork|hostIPC)[\"']?\\s*:\\s*true\\b")
)

// notebookCode is the code of the cells of a notebook.
func notebookCode(text string) string {
	book, err := strictjson.Object([]byte(text), strictjson.Limits{})
	if err != nil {
		return ""
	}
	var b strings.Builder
	cells, _ := book["cells"].([]any)
	for _, one := range cells {
		cell, _ := one.(map[string]any)
		if cell["cell_type"] != "code" {
			continue
		}
		switch source := cell["source"].(type) {
		case string:
			b.WriteString(source)
		case []any:
			for _, line := range source {
				s, _ := line.(string)
				b.WriteString(s)
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// pods judges a manifest of a cluster as docker run would start its containers: with the
// directories of the machine that it mounts, and without walls.
func (u *use) pods(text string) {
	if !strings.Contains(text, "apiVersion") || !u.told(" apply create replace install upgrade run dev deploy ") || slices.ContainsFunc(u.Given(), func(f flow.Word) bool {
		return strings.HasPrefix(f.Text(), "--dry-run") && f.Text() != "--dry-run=none"
	}) {
		return
	}
	words := []string{"docker", "run"}
	if podAlone().MatchString(text) && strings.Contains(text, "privileged") {
		words = append(words, "--privileged")
	}
	for _, found := range hostPath().FindAllStringSubmatch(text, 16) {
		words = append(words, "-v", found[1]+":/host")
	}
	if len(words) > 2 {
		line := shellLine(append(words, "image"))
		u.surely(func() { u.inside(func() { u.shell.Text(flow.Literal(line), flow.Stream{}) }) })
	}
}
