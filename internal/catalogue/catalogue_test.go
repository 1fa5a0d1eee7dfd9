package catalogue

import (
	"fmt"
	"strings"
	"testing"

	"gate/internal/strictjson"
)

// TestCatalogue reads every row, by each of its names.
func TestCatalogue(t *testing.T) {
	names := 0
	for line := range strings.Lines(compactRows) {
		list, row, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " {")
		if !ok {
			t.Fatal(line)
		}
		for name := range strings.SplitSeq(list, ",") {
			names++
			if find(name) != "{"+row {
				t.Errorf("%s is not found", name)
			}
		}
		if r, err := parseRow(list, "{"+row); err != nil {
			t.Error(err)
		} else if err := r.check(); err != nil {
			t.Errorf("%s: %v", list, err)
		}
	}
	if names < 6000 {
		t.Errorf("%d names", names)
	}
}

func TestLookup(t *testing.T) {
	c := New(nil)
	for _, name := range []string{"rm", "git push", "kubectl delete", "["} {
		if _, ok := c.Lookup(name); !ok {
			t.Errorf("no row for %q", name)
		}
	}
	for _, name := range []string{"", "no-such-program", "rm\t", "git no-such-verb", "\x00", "zzzz", "!"} {
		if _, ok := c.Lookup(name); ok {
			t.Errorf("a row for %q", name)
		}
	}
}

// TestRead tells the mistakes of settings with the keys at which they stand.
func TestRead(t *testing.T) {
	for text, want := range map[string]string{
		`"rm": {}`:                             "rm: gate knows rm already",
		`"git x": {}`:                          "git x: gate knows git already",
		`"./acme": {}`:                         "./acme: \"./acme\" is no name of a program",
		`"acme, x  y": {}`:                     "acme, x  y: \"x  y\" is no name of a program",
		`" ": {}`:                              " : \"\" is no name of a program",
		`"acme": {"special": "git"}`:           "acme: special is for gate's own rows",
		`"acme": {"option": "-x"}`:             "acme: option: unknown field",
		`"acme": {"options": ["-x", 1]}`:       "acme: options: unknown field or wrong type",
		`"acme": {"operands": ["reads"]}`:      `acme: operands: unknown role "reads"`,
		`"acme": {"style": "gnu"}`:             `acme: style: unknown style "gnu"`,
		`"acme": {"output": "text"}`:           `acme: output: unknown output "text"`,
		`"acme": {"effects": [{"verb": "x"}]}`: "acme: effects: an effect without kind",
		`"acme": ["rm"]`:                       "acme: a row is an object, or the name of another program",
		`"acme": "no-such-program"`:            `acme: "no-such-program" is no program that gate knows or that has a row here`,
		`"acme": "git push"`:                   `acme: "git push" is no program`,
		`"acme x": "git"`:                      "acme x: only a whole program can be another under a new name",
		`"acme": "acme"`:                       "acme: acme is another name itself, for acme",
		`"a1": "git", "b1": "a1"`:              "b1: a1 is another name itself, for git",
		`"a1, b1": {}, "b1": {}`:               "b1: b1 has a row already",
		`"let x": "y", "acme": {}`:             "let x: the list is not used",
		`"let x": 1, "acme": {}`:               "let x: a list is words, in one text or several",
		`"let X": "y"`:                         `let X: "X" is no name of a list`,
		`"acme": {"options": "<x>"}`:           "acme: options: there is no list <x>",
		`"acme <x>": {}`:                       "acme <x>: there is no list <x>",
		`"acme": {"effects": [{"kind": "x", "y": "$operand:"}]}`:               `acme: effects: x: y: unknown value "$operand:"`,
		`"acme": {"effects": [{"kind": "x", "y": "$what"}]}`:                   `acme: effects: x: y: unknown value "$what"`,
		`"acme": {"effects": [{"kind": "git.push", "brnches": []}]}`:           `acme: effects: git.push has no field "brnches"`,
		`"acme": {"effects": [{"kind": "git.push", "force": "yes"}]}`:          "acme: effects: git.push: force cannot be yes",
		`"acme": {"effects": [{"kind": "self", "what": "$opt:what"}]}`:         "acme: effects: self: what cannot be $opt:what",
		`"acme": {"effects": [{"kind": "git.push", "branches": "$operands"}]}`: "acme: effects: git.push: branches cannot be $operands",
		`"acme": {"effects": [{"kind": "acme.deploy", "command": 1}]}`:         "acme: effects: acme.deploy: command is for gate to say",
	} {
		checkRead(t, text, want)
	}
	for _, condition := range []string{"operand:", "operand:-=x", "operand:x=y", "operand:1", "has:", "has:x=y", "opt:x", "opt:=x", "any~(", "known~[", "opt~x", "opt~x=(", "is:a=b", ""} {
		checkRead(t, `"acme": {"effects": [{"kind": "x", "if": ["`+condition+`"]}]}`, `acme: effects: x: condition "`+condition+`": `)
		checkRead(t, `"acme": {"effects": [{"kind": "x", "if": ["!`+condition+`"]}]}`, `acme: effects: x: condition "!`+condition+`": `)
	}
}

func checkRead(t *testing.T, programs, want string) {
	t.Helper()
	m, err := strictjson.Object([]byte("{"+programs+"}"), strictjson.Limits{})
	if err != nil {
		t.Fatal(programs, err)
	}
	var got []string
	Read(m, func(key string, err error) { got = append(got, fmt.Sprintf("%s: %v", key, err)) })
	if len(got) != 1 || !strings.HasPrefix(got[0], want) {
		t.Errorf("%s:\ngot  %q\nwant %q", programs, got, want)
	}
}

// TestFine takes effects of kinds that gate knows and of others.
func TestFine(t *testing.T) {
	m, err := strictjson.Object([]byte(`{"acme": {"effects": [{"kind": "acme.deploy", "any": "$operands"}, {"kind": "git.push", "force": "$has:force", "remote": "$operand:0"}]}}`), strictjson.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if rows, _ := Read(m, func(key string, err error) { t.Errorf("%s: %v", key, err) }); rows["acme"] == nil {
		t.Error(rows)
	}
}
