package confine

import (
	"fmt"
	"gate/internal/confine/profile"
	"math/rand/v2"
	"os"
	"path"
	"strings"
	"testing"
)

// generated is how many profiles are made up and tried on real processes.
const generated = 500

// TestGenerated holds made-up profiles against what real programs can do: nothing that a
// profile forbids succeeds, and nothing that it grants fails.
func TestGenerated(t *testing.T) {
	requireFull(t)
	g := rand.New(rand.NewPCG(3, 4))
	base := t.TempDir() + "/tree"
	names := tree(t, base)
	tried := [2]int{}
	for n := range generated {
		p, err := generate(g, base).At(Place{Home: t.TempDir(), Project: base})
		if err != nil {
			t.Fatal(err)
		}
		var script strings.Builder
		for i, name := range names {
			fmt.Fprintf(&script, "{ read x < %s/f; } 2>/dev/null && echo %d read; { command : >> %s/f; } 2>/dev/null && echo %d write\n", name, i, name, i)
		}
		output, _, err := runs(t, Command{Profile: p, Place: Place{Home: p.Read[0], Project: base}, Dir: "/usr", Env: []string{"PATH=/usr/bin:/bin"}, Args: []string{"/bin/sh", "-c", script.String()}})
		if err != nil {
			t.Fatalf("profile %d %+v: %v", n, p, err)
		}
		for i, name := range names {
			for do, word := range map[profile.Access]string{profile.ToRead: "read", profile.ToWrite: "write"} {
				got, want := strings.Contains("\n"+output, fmt.Sprintf("\n%d %s\n", i, word)), p.May(do, name+"/f")
				if got != want {
					t.Errorf("profile %d %+v\n%s %s/f: %v", n, p, word, name, got)
				}
				if want {
					tried[do]++
				}
			}
		}
	}
	if tried[profile.ToRead] < generated || tried[profile.ToWrite] < generated/2 {
		t.Errorf("the profiles grant too little: %v", tried)
	}
}

// tree makes directories in each other, with a file in each.
func tree(t *testing.T, base string) (names []string) {
	t.Helper()
	for _, a := range []string{"a", "b", "c"} {
		for _, b := range []string{"", "a", "b"} {
			for _, c := range []string{"", "a", "b"} {
				if b == "" && c != "" {
					continue
				}
				name := path.Join(base, a, b, c)
				if err := os.MkdirAll(name, 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(name+"/f", []byte("x\n"), 0o644); err != nil {
					t.Fatal(err)
				}
				names = append(names, name)
			}
		}
	}
	return names
}

// generate makes a profile up out of the directories of the tree, and of what a shell
// needs.
func generate(g *rand.Rand, base string) Profile {
	p := Profile{Name: "generated", Read: []string{"/usr", "/bin", "/lib", "/lib64"}}
	for _, list := range []*[]string{&p.Read, &p.Write, &p.Guard, &p.Deny} {
		for range g.IntN(4) {
			name := base
			for range 1 + g.IntN(3) {
				name = path.Join(name, string(rune('a'+g.IntN(2))))
			}
			*list = append(*list, name)
		}
	}
	return p
}
