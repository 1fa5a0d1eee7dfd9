package code

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gate/internal/wordlist"
)

// A programCase is one program of testdata/programs and what is expected of it.
type programCase struct {
	pos, language, text, want string
}

// programCases reads the tables. A case begins with a line "language | code", or
// with "language |" and the code on the lines that follow, and ends with the
// expected calls, one "=> …" each, or "?? …" for a reason; without any the code
// is harmless. Blank lines and lines that begin with "##" mean nothing.
func programCases(t testing.TB, pattern string) []programCase {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", "programs", pattern))
	if err != nil || len(files) == 0 {
		t.Fatalf("no tables %s: %v", pattern, err)
	}
	var cases []programCase
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var c *programCase
		for i, line := range strings.Split(string(data), "\n") {
			language, code, start := strings.Cut(line, " |")
			switch {
			case strings.HasPrefix(line, "##"), strings.TrimSpace(line) == "":
				c = nil
			case strings.HasPrefix(line, "=> "), strings.HasPrefix(line, "?? "):
				if c == nil {
					t.Fatalf("%s:%d: no case before", name, i+1)
				}
				c.want += line + "\n"
			case start && !strings.Contains(language, " ") && language != "" && (c == nil || c.want != "" || !strings.HasPrefix(c.text, "\n")):
				cases = append(cases, programCase{pos: fmt.Sprintf("%s:%d", name, i+1), language: language, text: strings.TrimPrefix(code, " ")})
				c = &cases[len(cases)-1]
				if c.text == "" {
					c.text = "\n"
				}
			case c != nil && strings.HasPrefix(c.text, "\n") && c.want == "":
				c.text += line + "\n"
			default:
				t.Fatalf("%s:%d: %q is no part of a case", name, i+1, line)
			}
		}
	}
	return cases
}

// format writes a report as the tables do.
func format(r Report) string {
	var b strings.Builder
	for _, c := range r.Calls {
		b.WriteString("=> " + c.Does)
		if c.Recursive {
			b.WriteString("+r")
		}
		b.WriteString(" " + c.Name)
		for _, a := range c.Args {
			if a == nil {
				b.WriteString(" null")
				continue
			}
			fmt.Fprintf(&b, " %q", *a)
		}
		b.WriteByte('\n')
	}
	if r.Unknown != "" {
		b.WriteString("?? " + r.Unknown + "\n")
	}
	return b.String()
}

func TestInspect(t *testing.T) {
	harmless := 0
	cases := programCases(t, "*.txt")
	for _, c := range cases {
		got := format(Inspect(c.language, c.text))
		if got != c.want {
			t.Errorf("%s: %s: %s\ngot:\n%swant:\n%s", c.pos, c.language, c.text, got, c.want)
		}
		if c.want == "" {
			harmless++
		}
	}
	if len(cases) < 150 || harmless < 60 {
		t.Errorf("%d cases, %d of them harmless: the tables have shrunk", len(cases), harmless)
	}
}

// TestOffsets holds that a call's offset lies in the text.
func TestOffsets(t *testing.T) {
	for _, c := range programCases(t, "*.txt") {
		for _, call := range Inspect(c.language, c.text).Calls {
			if call.Offset < 0 || call.Offset >= len(c.text) {
				t.Errorf("%s: %s at %d of %d", c.pos, call.Name, call.Offset, len(c.text))
			}
		}
	}
}

// TestQuoted puts every program into a string and into a comment of
// its language: as data it does nothing.
func TestQuoted(t *testing.T) {
	asText := map[string]string{
		"python": "print(%s)", "node": "console.log(%s)", "perl": "print %s", "ruby": "puts %s", "php": "echo %s;",
		"lua": "print(%s)", "awk": "BEGIN { print %s }", "r": "print(%s)", "applescript": "display dialog %s", "tcl": "puts %s",
	}
	comment := map[string]string{
		"python": "#", "node": "//", "perl": "#", "ruby": "#", "php": "#", "lua": "--", "awk": "#", "r": "#", "applescript": "--", "tcl": "#",
	}
	escape := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "$", `\$`, "#", `\x23`, "@", `\@`, "[", `\[`)
	for _, c := range programCases(t, "*.txt") {
		if asText[c.language] == "" || strings.Contains(c.text, "<?") || strings.Contains(c.text, "?>") {
			continue
		}
		quoted := fmt.Sprintf(asText[c.language], `"`+escape.Replace(c.text)+`"`)
		if got := format(Inspect(c.language, quoted)); got != "" {
			t.Errorf("%s: %s\ngot:\n%s", c.pos, quoted, got)
		}
		commented := strings.ReplaceAll(strings.ReplaceAll(c.text, "\n", " "), "]]", "")
		commented = comment[c.language] + " " + strings.TrimLeft(commented, "[!")
		if got := format(Inspect(c.language, commented)); got != "" {
			t.Errorf("%s: %s\ngot:\n%s", c.pos, commented, got)
		}
	}
}

// TestTables holds that every row of the tables means something.
func TestTables(t *testing.T) {
	does := " delete write append link read permissions shell argv fetch send connect listen environment list chdir "
	folds := " is digits drop net decoder environment env name text dict pass list join append concat base64 hex within names walk glob format chr lower upper strip reverse dir base clean file secret made "
	for _, name := range languageNames {
		lang := languageOf(name)
		for function, row := range lang.table() {
			for action := range strings.SplitSeq(row, ";") {
				verb, rest, _ := strings.Cut(strings.TrimSpace(action), " ")
				known := false
				switch {
				case verb == "":
				case verb[0] == '=':
					known = wordlist.Has(folds, verb[1:])
				case verb[0] == '!':
					known = handled(lang, verb[1:], rest)
				default:
					word, _, _ := strings.Cut(strings.TrimSuffix(verb, "?"), "+")
					known = wordlist.Has(does, word)
				}
				if !known {
					t.Errorf("%s: %s = %s: %q is no action", name, function, row, verb)
				}
			}
		}
	}
}

// handled reports whether some function performs the special call.
func handled(lang *language, name, rest string) bool {
	p := &parser{inspection: &inspection{lang: lang, table: lang.table(), vars: map[string]value{}, bytes: 1000}}
	for _, try := range []func(string, string, *use) (value, bool){p.specialRun, p.specialFile, p.specialNet, p.specialText} {
		if _, ok := try(name, rest, &use{}); ok {
			return true
		}
	}
	return false
}
