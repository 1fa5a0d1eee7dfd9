package program

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"gate/facts/internal/draft"
	"gate/facts/internal/flow"
	"gate/hook"
	"gate/internal/catalogue"
	"gate/internal/wordlist"
)

// TestSpecials holds that there is each function that a row names.
func TestSpecials(t *testing.T) {
	data, err := os.ReadFile("../../../internal/catalogue/catalogue.compact")
	if err != nil {
		t.Fatal(err)
	}
	c, found := catalogue.New(nil), 0
	for line := range strings.Lines(string(data)) {
		name, _, _ := strings.Cut(line, " {")
		name, _, _ = strings.Cut(name, ",")
		if row, ok := c.Lookup(name); ok && row.Special != "" {
			found++
			if wordlist.Find(specials[:], row.Special) == nil {
				t.Errorf("%s: no function %q", row.Name, row.Special)
			}
		}
	}
	if found < 50 {
		t.Errorf("%d rows with a function", found)
	}
}

// TestSpecialsOrder holds that [wordlist.Find] finds every function.
func TestSpecialsOrder(t *testing.T) {
	if !slices.IsSortedFunc(specials[:], func(a, b wordlist.Named[func(*use)]) int { return strings.Compare(a.Name, b.Name) }) {
		t.Error("specials are not in the order of names")
	}
}

// TestOptionsInOrder holds that options whose names become one in the facts, since
// they are no UTF-8, keep the order of the line.
func TestOptionsInOrder(t *testing.T) {
	row := &catalogue.Row{Name: "x"}
	for range 20 {
		d := &draft.Draft{Facts: &hook.Facts{Shell: &hook.Shell{}}}
		u := &use{Draft: d, Invocation: &draft.Invocation{Words: []flow.Word{flow.Literal("x")}}, programs: &Programs{}, shell: nowhere{}, row: row, name: "x", opts: map[string][]flow.Word{}}
		for _, name := range []string{"\xff", "\xfe", "\xfd"} {
			value := flow.Literal(fmt.Sprintf("%x", name))
			u.args = append(u.args, argument{option: &catalogue.Option{Name: name}, value: value})
			u.opts[name] = append(u.opts[name], value)
		}
		u.listUse()
		if got := fmt.Sprint(d.Facts.Shell.Commands[0].Options); got != "map[\uFFFD:[ff fe fd]]" {
			t.Fatal(got)
		}
	}
}

// A nowhere is a shell of which nothing but the directory is asked.
type nowhere struct{ Shell }

func (nowhere) Where() *draft.Where { return &draft.Where{} }
