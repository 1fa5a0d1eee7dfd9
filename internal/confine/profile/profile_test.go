package profile

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

var place = Place{Home: "/home/dev", Project: "/home/dev/src/app"}

// TestBuiltin holds the profiles of gate's own: what they let a program do.
func TestBuiltin(t *testing.T) {
	for _, name := range Names() {
		p, ok := Builtin(name)
		if !ok || p.Name != name {
			t.Fatalf("%s: %v %q", name, ok, p.Name)
		}
		p, err := p.At(place)
		if err != nil {
			t.Fatal(err)
		}
		project := name != "look"
		for path, want := range map[string][2]bool{
			"/usr/bin/make":                 {true, false},
			"/home/dev/src/app/main.go":     {true, project},
			"/home/dev/.cache/go-build/x":   {true, project},
			"/home/dev/.ssh/id_rsa":         {false, false},
			"/home/dev/.bashrc":             {false, false},
			"/home/dev/src/other/x":         {false, false},
			"/home/dev/.cargo/bin/cargo":    {true, false},
			"/home/dev/.cargo/credentials":  {false, false},
			"/var/run/docker.sock":          {false, false},
			"/home/dev/.local/state/gate/x": {false, false},
		} {
			if got := [2]bool{p.May(ToRead, path), p.May(ToWrite, path)}; got != want {
				t.Errorf("%s: %s can be read, written: %v, want %v", name, path, got, want)
			}
		}
		if (len(p.Hosts) > 0) != (name == "project-net") {
			t.Errorf("%s: hosts %v", name, p.Hosts)
		}
	}
	if _, ok := Builtin("everything"); ok {
		t.Error("there is a profile everything")
	}
}

// TestAt holds what is no profile at a place.
func TestAt(t *testing.T) {
	for _, c := range []struct {
		p    Profile
		at   Place
		want string
	}{
		{Profile{Name: "x", Write: []string{"{project}"}}, Place{"/home/dev", "/home/dev"}, "no project but a home directory"},
		{Profile{Name: "x", Write: []string{"{project}"}}, Place{"/home/dev", "/home"}, "no project but a home directory"},
		{Profile{Name: "x", Write: []string{"{project}"}}, Place{"/home/dev", "/"}, "no project but a home directory"},
		{Profile{Name: "x", Write: []string{"/etc"}}, place, "or the system's"},
		{Profile{Name: "x", Write: []string{"/usr/lib/x"}}, place, "or the system's"},
		{Profile{Name: "x", Read: []string{"relative"}}, place, `"relative" is no absolute path`},
		{Profile{Name: "x", Read: []string{"{projects}/x"}}, place, "no absolute path"},
		{Profile{Name: "x", Read: []string{"/a\x00b"}}, place, "no absolute path"},
		{Profile{Name: "x"}, Place{"home", "/p"}, "is not absolute"},
	} {
		if _, err := c.p.At(c.at); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v at %v: %v, want %s", c.p, c.at, err, c.want)
		}
	}
	p, err := Profile{Read: []string{"~/../other", "{project}/../x/./y"}}.At(place)
	if err != nil || !slices.Equal(p.Read, []string{"/home/other", "/home/dev/src/x/y"}) {
		t.Errorf("%v %v", p.Read, err)
	}
}

// a random profile of few names, so that directories often lie in each other.
func randomProfile(g *rand.Rand) Profile {
	paths := func(most int) (list []string) {
		for range g.IntN(most + 1) {
			list = append(list, randomPath(g))
		}
		return list
	}
	pick := func(from ...string) (list []string) {
		for _, name := range from {
			if g.IntN(2) == 0 {
				list = append(list, name)
			}
		}
		return list
	}
	return Profile{
		Read: paths(4), Write: paths(3), Cache: paths(2), Guard: paths(2), Deny: paths(2),
		Hosts: pick("a:1", "b:2", "c:3"), Programs: paths(1), Env: pick("GO*", "GOFLAGS", "PATH", "P*"),
		Limits: Limits{Processes: g.IntN(3), Files: g.IntN(3), Memory: int64(g.IntN(3)), Temp: int64(g.IntN(3)), CPU: time.Duration(g.IntN(3))},
	}
}

func randomPath(g *rand.Rand) string {
	var b strings.Builder
	for range 1 + g.IntN(3) {
		b.WriteString("/" + string(rune('a'+g.IntN(3))))
		if g.IntN(6) == 0 {
			b.WriteString("a") // /a and /aa are no part of each other
		}
	}
	return b.String()
}

// TestNarrow holds that what a narrowed profile lets a program do is what both let it do:
// nothing more, and nothing less.
func TestNarrow(t *testing.T) {
	g := rand.New(rand.NewPCG(1, 2))
	granted := 0
	for range 5000 {
		a, b := randomProfile(g), randomProfile(g)
		n := Narrow(a, b)
		for range 20 {
			name := randomPath(g)
			for _, do := range []Access{ToRead, ToWrite} {
				got, want := n.May(do, name), a.May(do, name) && b.May(do, name)
				if got != want {
					t.Fatalf("%+v\nand %+v\nare %+v\n%s, access %d: %v", a, b, n, name, do, got)
				}
				if got {
					granted++
				}
			}
			runs := func(p Profile) bool { return len(p.Programs) == 0 || WithinAny(name, p.Programs) }
			if runs(n) != (runs(a) && runs(b)) {
				t.Fatalf("programs %v and %v are %v: %s", a.Programs, b.Programs, n.Programs, name)
			}
		}
		for _, name := range []string{"GOFLAGS", "GO", "PATH", "P", "OTHER"} {
			if n.Keeps(name) != (a.Keeps(name) && b.Keeps(name)) {
				t.Fatalf("variables %v and %v are %v: %s", a.Env, b.Env, n.Env, name)
			}
		}
		for _, host := range n.Hosts {
			if !slices.Contains(a.Hosts, host) || !slices.Contains(b.Hosts, host) {
				t.Fatalf("hosts %v and %v are %v", a.Hosts, b.Hosts, n.Hosts)
			}
		}
		for i, limits := range [][3]int64{
			{int64(a.Limits.Processes), int64(b.Limits.Processes), int64(n.Limits.Processes)}, {int64(a.Limits.Files), int64(b.Limits.Files), int64(n.Limits.Files)},
			{a.Limits.Memory, b.Limits.Memory, n.Limits.Memory}, {a.Limits.Temp, b.Limits.Temp, n.Limits.Temp}, {int64(a.Limits.CPU), int64(b.Limits.CPU), int64(n.Limits.CPU)},
		} {
			for _, limit := range limits[:2] {
				if limit != 0 && (limits[2] == 0 || limits[2] > limit) {
					t.Fatalf("limit %d: %v", i, limits)
				}
			}
		}
	}
	if granted < 1000 {
		t.Errorf("only %d accesses were granted: the profiles have too little in common", granted)
	}
}

func ExampleNarrow() {
	outer := Profile{Read: []string{"/usr", "/home/dev"}, Write: []string{"/home/dev/app"}, Hosts: []string{"proxy.golang.org:443"}}
	inner := Profile{Name: "mine", Read: []string{"/"}, Write: []string{"/home/dev/app/out", "/etc"}, Hosts: []string{"evil.example:443"}}
	p := Narrow(outer, inner)
	fmt.Println(p.Write, p.Read, p.Hosts)
	// Output: [/home/dev/app/out] [/home/dev /usr] []
}

// TestParseHost holds how hosts are written.
func TestParseHost(t *testing.T) {
	for text, want := range map[string]string{
		"Example.COM.:443": "example.com:443", "10.0.0.1:80": "10.0.0.1:80", "[::1]:8080": "[::1]:8080", "[::ffff:10.0.0.1]:80": "10.0.0.1:80", "a_b.c:1": "a_b.c:1",
		"example.com": "", "example.com:": "", "example.com:0": "", "example.com:65536": "", "example.com:+1": "", "example.com:01": "", ":443": "", "*.example.com:443": "",
		"::1:443": "", "[::1%25lo]:443": "", "[1.2.3.4]:443": "", "a..b:443": "", "-a.b:443": "", "user@host:443": "", "ho st:443": "", "[::1:443": "", "a/b:443": "",
	} {
		h, err := ParseHost(text)
		if got := h.String(); want == "" && err == nil || want != "" && got != want {
			t.Errorf("%s: %s %v, want %s", text, got, err, want)
		}
	}
}
