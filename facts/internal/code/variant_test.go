package code

import (
	"fmt"
	"strings"
	"testing"
)

// A spelling writes one text in different ways of a language.
type spelling struct {
	texts []func(string) string // spellings of a literal
	wraps []string              // surroundings of a statement
}

func double(s string) string { return `"` + s + `"` }
func single(s string) string { return `'` + s + `'` }

// halves joins two literals with an operator.
func halves(op string) func(string) string {
	return func(s string) string { return double(s[:len(s)/2]) + op + double(s[len(s)/2:]) }
}

// escaped writes every byte as \xNN.
func escaped(s string) string {
	var b strings.Builder
	for i := range len(s) {
		fmt.Fprintf(&b, `\x%02x`, s[i])
	}
	return double(b.String())
}

// points writes a text by its code points.
func points(format, sep string) func(string) string {
	return func(s string) string {
		var all []string
		for _, r := range s {
			all = append(all, fmt.Sprint(int(r)))
		}
		return fmt.Sprintf(format, strings.Join(all, sep))
	}
}

var spellings = map[string]spelling{
	"python": {
		texts: []func(string) string{double, single, halves(" + "), halves(" "), escaped, points("bytes([%s]).decode()", ","),
			func(s string) string { return `"""` + s + `"""` },
			func(s string) string { return "r" + double(s) },
			func(s string) string { return `f"{'` + s + `'}"` },
			func(s string) string { return `"".join(["` + s[:1] + `", "` + s[1:] + `"])` },
			func(s string) string { return `"%s" % "` + s + `"` },
			func(s string) string { return `"{}".format("` + s + `")` },
			func(s string) string { return `str("` + s + `")` },
		},
		wraps: []string{"%s", "x = 1; %s", "if 1: %s", "try:\n  %s\nexcept Exception: pass", "def f():\n    %s\nf()", "print('a') # b\n%s", "for i in range(3): %s", "[%s for _ in (1,)]", "(lambda: %s)()", "x = {'a': %s}", "print(f\"{%s}\")"},
	},
	"node": {
		texts: []func(string) string{double, single, halves(" + "), escaped, points("String.fromCharCode(%s)", ","),
			func(s string) string { return "`" + s + "`" },
			func(s string) string { return "`${'" + s + "'}`" },
			func(s string) string { return `["` + s[:1] + `","` + s[1:] + `"].join("")` },
		},
		wraps: []string{"%s", "var x = 1; %s", "if (1) { %s }", "try { %s } catch (e) {}", "(() => { %s })()", "(async () => await %s)()", "[1].forEach(x => %s)", "/a'b/.test('x'); %s", "x => %s", "`${%s}`", "({a: %s})", "function f() { return %s }\nf()", "// c\n%s"},
	},
	"perl": {
		texts: []func(string) string{double, single, halves(" . "), escaped,
			func(s string) string { return "q(" + s + ")" },
			func(s string) string { return "qq{" + s + "}" },
			func(s string) string { return `join("", "` + s[:1] + `", "` + s[1:] + `")` },
			func(s string) string { return `sprintf("%s", "` + s + `")` },
		},
		wraps: []string{"%s", "my $x = 1; %s;", "if (1) { %s }", "eval { %s };", "%s or die", "print 'a'; # b\n%s", "BEGIN { %s }", "sub f { %s } f();", "/a'b/; %s", "\"@{[ %s ]}\""},
	},
	"ruby": {
		texts: []func(string) string{double, single, halves(" + "), halves(" "), escaped,
			func(s string) string { return "%q(" + s + ")" },
			func(s string) string { return `"#{'` + s + `'}"` },
			func(s string) string { return `["` + s[:1] + `", "` + s[1:] + `"].join` },
		},
		wraps: []string{"%s", "x = 1; %s", "if true\n  %s\nend", "begin; %s; rescue; end", "3.times { %s }", "%s if true", "def f\n  %s\nend\nf", "puts 'a' # b\n%s", "\"#{%s}\"", "[%s]"},
	},
	"php": {
		texts: []func(string) string{double, single, halves(" . "), escaped,
			func(s string) string { return `implode("", ["` + s[:1] + `", "` + s[1:] + `"])` },
			func(s string) string { return `strrev(strrev("` + s + `"))` },
		},
		wraps: []string{"%s;", "$x = 1; %s;", "if (1) { %s; }", "@%s;", "try { %s; } catch (E $e) {}", "function f() { %s; } f();", "/* a */ %s; // b", "<?php %s; ?>", "$x = %s;", "\\%s;"},
	},
	"lua": {
		texts: []func(string) string{double, single, halves(" .. "), escaped, points("string.char(%s)", ","), func(s string) string { return "[[" + s + "]]" }},
		wraps: []string{"%s", "local x = 1 %s", "if x then %s end", "local function f() %s end f()", "-- a\n%s", "pcall(function() %s end)", "return %s"},
	},
	"r": {
		texts: []func(string) string{double, single, escaped, func(s string) string { return `paste0("` + s[:1] + `", "` + s[1:] + `")` }, func(s string) string { return `r"(` + s + `)"` }},
		wraps: []string{"%s", "x <- 1; %s", "if (TRUE) { %s }", "f <- function() { %s }\nf()", "invisible(%s)", "tryCatch(%s)"},
	},
	"awk": {
		texts: []func(string) string{double, halves(" "), escaped},
		wraps: []string{"BEGIN { %s }", "{ x = 1; %s }", "/a\"b/ { %s }", "NR == 1 { if (1) { %s } }", "function f(a) { %s } { f(1) }", "END { x = %s }"},
	},
}

// dangers are calls whose %s is the literal, with what they must report.
var dangers = []struct{ language, code, want string }{
	{"python", "__import__('os').remove(%s)", "delete os.remove"},
	{"python", "__import__('shutil').rmtree(%s)", "delete+r shutil.rmtree"},
	{"python", "__import__('os').system(%s)", "shell os.system"},
	{"python", "getattr(__import__('os'), 'un' 'link')(%s)", "delete os.unlink"},
	{"python", "__import__('pathlib').Path(%s).unlink()", "delete unlink"},
	{"python", "__import__('subprocess').run(%s, shell=True)", "shell subprocess.run"},
	{"python", "open(%s, 'w')", "write open"},
	{"node", "require('fs').unlinkSync(%s)", "delete fs.unlinkSync"},
	{"node", "require('fs')['rm' + 'Sync'](%s, {recursive: true})", "delete+r fs.rmSync"},
	{"node", "require('child_process').execSync(%s)", "shell child_process.execSync"},
	{"node", "require('node:fs/promises').rm(%s)", "delete fs.promises.rm"},
	{"perl", "unlink(%s)", "delete unlink"},
	{"perl", "system(%s)", "shell system"},
	{"perl", "unlink %s", "delete unlink"},
	{"ruby", "File.delete(%s)", "delete File.delete"},
	{"ruby", "FileUtils.rm_rf(%s)", "delete+r FileUtils.rm_rf"},
	{"ruby", "system %s", "shell system"},
	{"php", "unlink(%s)", "delete unlink"},
	{"php", "shell_exec(%s)", "shell shell_exec"},
	{"lua", "os.remove(%s)", "delete os.remove"},
	{"lua", "os.execute(%s)", "shell os.execute"},
	{"r", "unlink(%s)", "delete unlink"},
	{"r", "system(%s)", "shell system"},
	{"awk", "system(%s)", "shell system"},
}

// TestVariants puts every dangerous call into every spelling of its
// argument and every surrounding: the call and the argument must be found.
func TestVariants(t *testing.T) {
	n := 0
	for _, d := range dangers {
		s := spellings[d.language]
		for _, text := range s.texts {
			for _, wrap := range s.wraps {
				literal := text("/srv/data")
				call := strings.Replace(d.code, "%s", literal, 1)
				code := strings.Replace(wrap, "%s", call, 1)
				if strings.Contains(wrap, `"`+"#{%s}") || strings.Contains(wrap, `f\"{%s}`) || strings.Contains(wrap, "`${") || strings.Contains(wrap, `"@{[`) {
					if strings.ContainsAny(literal, "`\"") && d.language != "ruby" {
						continue // would end the outer literal in older versions
					}
				}
				n++
				got := format(Inspect(d.language, code))
				want := "=> " + d.want + ` "/srv/data"` + "\n"
				if !strings.Contains(got, want) {
					t.Errorf("%s: %s\ngot:\n%swant:\n%s", d.language, code, got, want)
				}
			}
		}
	}
	if n < 1000 {
		t.Errorf("only %d variants", n)
	}
}
