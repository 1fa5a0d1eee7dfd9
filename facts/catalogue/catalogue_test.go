package catalogue

import (
	"strings"
	"testing"

	"gate/strictjson"
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
		if _, err := parseRow(list, "{"+row); err != nil {
			t.Error(err)
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

func TestMistakes(t *testing.T) {
	for name, c := range map[string]struct{ row, want string }{
		"rm":         {`{}`, "gate knows rm already"},
		"git x":      {`{}`, "gate knows git already"},
		"./acme":     {`{}`, "no name of a program"},
		" acme":      {`{}`, "no name of a program"},
		"acme":       {`{"special": "git"}`, "special is for gate's own rows"},
		"acme one":   {`{"option": "-x"}`, "unknown field"},
		"acme two":   {`{"operands": ["reads"]}`, `unknown role "reads"`},
		"acme odd":   {`{"effects": [{"verb": "x"}]}`, "an effect without kind"},
		"acme spell": {`{"effects": [{"kind": "git.push", "brnches": []}]}`, `git.push has no field "brnches"`},
		"acme type":  {`{"effects": [{"kind": "git.push", "force": "yes"}]}`, "git.push: force cannot be yes"},
		"acme null":  {`{"effects": [{"kind": "self", "what": "$opt:what"}]}`, "self: what cannot be $opt:what"},
		"acme list":  {`{"effects": [{"kind": "git.push", "branches": "$operands"}]}`, "git.push: branches cannot be $operands"},
		"acme id":    {`{"effects": [{"kind": "acme.deploy", "command": 1}]}`, "command is for gate to say"},
	} {
		entry, err := strictjson.Object([]byte(c.row), strictjson.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		if err := Check(name, entry); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
	fine, err := strictjson.Object([]byte(`{"effects": [{"kind": "acme.deploy", "any": "$operands"}, {"kind": "git.push", "force": "$has:force", "remote": "$operand:0"}]}`), strictjson.Limits{})
	if err != nil || Check("acme", fine) != nil {
		t.Error(err, Check("acme", fine))
	}
	if err := Check("acme", "rm"); err == nil {
		t.Error("a text is no row")
	}
}
