package policies_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gate/internal/framework"
	"gate/scopes"
)

// TestServes holds the library to the lists that gate knows. Each policy that objects
// names an item, each item of an open list has a policy, and gate's claims about itself
// have a page and tests.
func TestServes(t *testing.T) {
	_, src := library(t)
	named := map[string]bool{}
	for _, h := range src.Hooks {
		if len(h.Serves) == 0 && !allows(src, h.File) {
			t.Errorf("%s: it serves no item", h.ID)
		}
		for _, item := range h.Serves {
			named[item] = true
		}
	}
	for _, f := range framework.All() {
		if !slices.IsSortedFunc(f.Items, func(a, b framework.Item) int { return strings.Compare(a.ID, b.ID) }) {
			t.Errorf("%s: its items are in no order", f.Name)
		}
		for _, i := range f.Items {
			if f.Open && !named[framework.Join(f.Name, i.ID)] {
				t.Errorf("%s %s: no policy names it", f.Name, i.ID)
			}
			if (i.Beside == "") != (i.Page == "") || (i.Beside == "") != (len(i.Tests) == 0) {
				t.Errorf("%s %s: says %q, page %q, tests %q", f.Name, i.ID, i.Beside, i.Page, i.Tests)
			}
			if i.Page != "" {
				contains(t, "docs/"+i.Page, "")
			}
			for _, test := range i.Tests {
				file, name, _ := strings.Cut(test, ":")
				contains(t, file, name)
			}
		}
	}
}

// allows reports whether a policy is one that allows: those serve people's patience.
func allows(src scopes.Source, file string) bool {
	return slices.ContainsFunc(src.Modules, func(m scopes.Module) bool { return m.File == file && strings.Contains(m.Text, "\nallow contains ") })
}

// contains wants a file of the repository to be there, and a Go test in it, if a name is given.
func contains(t *testing.T, file, name string) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", filepath.FromSlash(file)))
	if err != nil {
		t.Error(err)
	} else if name != "" && !strings.Contains(string(data), "func "+name+"(") {
		t.Errorf("%s has no %s", file, name)
	}
}
