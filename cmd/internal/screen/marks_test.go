package screen

import (
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"gate/hook"
	"gate/internal/explain"
)

func TestMark(t *testing.T) {
	long := strings.Repeat("x", 200) + " rm -rf / " + strings.Repeat("y", 200)
	for _, test := range []struct {
		name, text string
		span       hook.Span
		want       string
	}{
		{"whole", "rm -rf /", hook.Span{0, 8}, "  rm -rf /\n  ^^^^^^^^\n"},
		{"second line", "ls\nrm x\nls", hook.Span{3, 7}, "  rm x\n  ^^^^\n"},
		{"over the end of a line", "rm a\nrm b", hook.Span{0, 9}, "  rm a\n  ^^^^\n"},
		{"outside", "rm", hook.Span{5, 9}, ""},
		{"empty", "rm", hook.Span{1, 1}, ""},
		{"negative", "rm", hook.Span{-4, 1}, "  rm\n  ^\n"},
		{"wide and combining", "é一e\u0301 rm", hook.Span{5, 7}, "  é一e\u0301 rm\n       ^^\n"},
		{"control", "a\x1b[2J rm", hook.Span{6, 8}, "  a\\x1b[2J rm\n           ^^\n"},
		{"tab", "a\trm", hook.Span{2, 4}, "  a rm\n    ^^\n"},
		{
			"far away", long, hook.Span{201, 209},
			"  … " + strings.Repeat("x", 43) + " rm -rf / " + strings.Repeat("y", 43) + " …\n" + strings.Repeat(" ", 48) + "^^^^^^^^\n",
		},
	} {
		if got := (Style{}).Marked(hook.Deny, test.text, []explain.Mark{{Span: test.span}}); got != test.want {
			t.Errorf("%s:\n%s\nwant\n%s", test.name, got, test.want)
		}
	}
}

func TestMarked(t *testing.T) {
	mark := func(from, to int, label string) explain.Mark {
		return explain.Mark{Span: hook.Span{from, to}, Label: label}
	}
	for _, test := range []struct {
		name, text string
		marks      []explain.Mark
		want       string
	}{
		{"labels", "sudo rm -rf /", []explain.Mark{mark(12, 13, "path"), mark(0, 4, "wrapper"), mark(5, 7, "program")},
			"  sudo rm -rf /\n  ^^^^ ^^     ^ path\n  |    program\n  wrapper\n"},
		{"no label at the end", "a b c", []explain.Mark{mark(0, 1, "one"), mark(4, 5, "")}, "  a b c\n  ^   ^\n  one\n"},
		{"lines apart", "ls\nrm x\nls\nrm y", []explain.Mark{mark(3, 5, "one"), mark(11, 13, "two")},
			"  rm x\n  ^^ one\n  …\n  rm y\n  ^^ two\n"},
		{"lines together", "rm x\nrm y", []explain.Mark{mark(0, 2, "one"), mark(5, 7, "two")}, "  rm x\n  ^^ one\n  rm y\n  ^^ two\n"},
		{"wide", "é一🎉e\u0301 rm", []explain.Mark{mark(1, 2, "one"), mark(6, 8, "two")},
			"  é一🎉e\u0301 rm\n   ^^    ^^ two\n   one\n"},
		{"a label that steers", "rm", []explain.Mark{mark(0, 2, "a\x1b[2J\nb")}, "  rm\n  ^^ a\\x1b[2J b\n"},
		{"far apart", "rm " + strings.Repeat("x", 200) + " /", []explain.Mark{mark(0, 2, "one"), mark(204, 205, "two")},
			"  rm xxxxxxxxxxxxxxx … xxxxxxxxxxxxxxx /\n  ^^                                   ^ two\n  one\n"},
	} {
		if got := (Style{}).Marked(hook.Deny, test.text, test.marks); got != test.want {
			t.Errorf("%s:\n%s\nwant\n%s", test.name, got, test.want)
		}
	}
}

// TestStyle colours what is marked and nothing that moves the marks.
func TestStyle(t *testing.T) {
	marks := []explain.Mark{{Span: hook.Span{3, 5}, Label: "here"}}
	plain, coloured := Style{}.Marked(hook.Ask, "a 一b", marks), Style{Colour: true}.Marked(hook.Ask, "a 一b", marks)
	if !strings.Contains(coloured, sgrYellow+"b"+sgrReset) {
		t.Errorf("%q", coloured)
	}
	if got := regexp.MustCompile("\x1b\\[[0-9]+m").ReplaceAllString(coloured, ""); got != plain {
		t.Errorf("%q without colours is %q, want %q", coloured, got, plain)
	}
}

// FuzzMarked looks for texts and spans that break the two lines.
func FuzzMarked(f *testing.F) {
	f.Add("cd / && rm -rf x", 8, 16)
	f.Add(strings.Repeat("a\t\u202e", 100), 3, 290)
	f.Fuzz(func(t *testing.T, text string, from, to int) {
		labelled := Style{}.Marked(hook.Deny, text, []explain.Mark{
			{Span: hook.Span{from, to}, Label: text}, {Span: hook.Span{to, to + 5}, Label: "after"}, {Span: hook.Span{0, 1}, Label: "first"},
		})
		if strings.ContainsAny(labelled, "\x1b\x00\r\u202e") || !utf8.ValidString(labelled) {
			t.Errorf("marked(%q, %d, %d) = %q", text, from, to, labelled)
		}
		for line := range strings.Lines(labelled) {
			if n := Columns(line); n > 12*LineWidth {
				t.Errorf("marked(%q, %d, %d): a line of %d columns", text, from, to, n)
			}
		}
		got := Style{}.Marked(hook.Deny, text, []explain.Mark{{Span: hook.Span{from, to}}})
		if n := strings.Count(got, "\n"); n != 0 && n != 2 {
			t.Errorf("marked(%q, %d, %d) = %q", text, from, to, got)
		}
		if !utf8.ValidString(got) || strings.ContainsAny(got, "\x1b\x00\r\u202e") {
			t.Errorf("marked(%q, %d, %d) = %q", text, from, to, got)
		}
	})
}
