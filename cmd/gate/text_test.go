package main

import (
	"bufio"
	"errors"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"gate/hook"
)

func TestPointAt(t *testing.T) {
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
		if got := pointAt(test.text, test.span); got != test.want {
			t.Errorf("%s:\n%s\nwant\n%s", test.name, got, test.want)
		}
	}
}

// FuzzPointAt looks for texts and spans that break the two lines.
func FuzzPointAt(f *testing.F) {
	f.Add("cd / && rm -rf x", 8, 16)
	f.Add(strings.Repeat("a\t\u202e", 100), 3, 290)
	f.Fuzz(func(t *testing.T, text string, from, to int) {
		got := pointAt(text, hook.Span{from, to})
		if n := strings.Count(got, "\n"); n != 0 && n != 2 {
			t.Errorf("pointAt(%q, %d, %d) = %q", text, from, to, got)
		}
		if !utf8.ValidString(got) || strings.ContainsAny(got, "\x1b\x00\r\u202e") {
			t.Errorf("pointAt(%q, %d, %d) = %q", text, from, to, got)
		}
	})
}

// TestReadLine reads lines of every length around the limit and the buffer.
func TestReadLine(t *testing.T) {
	const most = 100
	input := "a\r\n\n\n" + strings.Repeat("b", most) + "\n" + strings.Repeat("c", most+1) + "\n" +
		strings.Repeat("d", 10*most) + "\n" + "e\n" + "f"
	in := bufio.NewReaderSize(strings.NewReader(input), 16)
	var got []string
	for {
		line, err := readLine(in, most)
		if err == io.EOF {
			break
		}
		if errors.Is(err, errLongLine) {
			line = []byte("(long)")
		} else if err != nil {
			t.Fatal(err)
		}
		got = append(got, string(line))
	}
	want := []string{"a", strings.Repeat("b", most), "(long)", "(long)", "e", "f"}
	if strings.Join(got, "|") != strings.Join(want, "|") {
		t.Errorf("got %q, want %q", got, want)
	}
}
