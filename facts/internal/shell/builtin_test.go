package shell

import (
	"slices"
	"strings"
	"testing"

	"gate/facts/internal/flow"
	"gate/internal/wordlist"
)

// TestBuiltinsOrder holds that [wordlist.Find] finds every builtin.
func TestBuiltinsOrder(t *testing.T) {
	if !slices.IsSortedFunc(builtins[:], func(a, b wordlist.Named[func(*Call) (flow.Stream, bool)]) int { return strings.Compare(a.Name, b.Name) }) {
		t.Error("builtins are not in the order of names")
	}
	if !Builtin("cd") || Builtin("ls") {
		t.Error("cd is a builtin, ls is none")
	}
}
