package consent

import "testing"

// FuzzParentOf holds that a process cannot name its parent by its own name.
func FuzzParentOf(f *testing.F) {
	f.Add("a.out", "")
	f.Add(") S 1 (x", "garbage")
	f.Fuzz(func(t *testing.T, name, garbage string) {
		if got := parentOf("42 (" + name + ") S 7 42 42 0 -1"); got != 7 {
			t.Fatalf("a program called %q has the parent %d", name, got)
		}
		if parentOf(garbage) < 0 {
			t.Fatalf("%q has a negative parent", garbage)
		}
	})
}
