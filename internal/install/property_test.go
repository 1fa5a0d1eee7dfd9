package install_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"gate/internal/install"
)

// roundTrip installs twice and uninstalls; it reports whether text was
// accepted.
func roundTrip(t *testing.T, text []byte) bool {
	t.Helper()
	sys := newMemory()
	sys.put(text)
	m := sys.machine()
	before := m.Status().Agents[0]
	had := len(before.Guards[0].Events) > 0
	plan, err := m.Install(request(install.User))
	if err != nil {
		if !bytes.Equal(sys.text(), text) {
			t.Fatalf("a refusal changed %q", text)
		}
		return false
	}
	must(t, plan.Apply())
	installed := sys.text()
	if g := guard(t, m, install.User); !g.Complete {
		t.Fatalf("%q: incomplete after installation: %+v\n%s", text, g, installed)
	}
	if again, err := m.Install(request(install.User)); err != nil || !again.Empty() {
		t.Fatalf("%q: a second installation: %v\n%s", text, err, again.Diff())
	}
	sameElsewhere(t, text, installed)
	undo, err := m.Uninstall(request(install.User))
	if err != nil {
		t.Fatalf("%q: uninstallation: %v", text, err)
	}
	must(t, undo.Apply())
	switch after := sys.text(); {
	case had:
		if bytes.Contains(after, []byte(`"--agent", "claude"`)) {
			t.Fatalf("%q: gate is still there:\n%s", text, after)
		}
	case !bytes.Equal(after, text) || after == nil:
		t.Fatalf("uninstallation leaves\n%q, want\n%q; installed was\n%s", after, text, installed)
	}
	if left := sys.names(); len(left) != 5 {
		t.Fatalf("left behind: %v", left)
	}
	return true
}

// sameElsewhere holds, for texts that are plain JSON, that an installation
// changes nothing but the hooks, and of those removes nothing.
func sameElsewhere(t *testing.T, before, after []byte) {
	t.Helper()
	var was, is map[string]any
	if json.Unmarshal(before, &was) != nil {
		return
	}
	if err := json.Unmarshal(after, &is); err != nil {
		t.Fatalf("%q is JSON, what became of it is not: %v\n%s", before, err, after)
	}
	old, _ := was["hooks"].(map[string]any)
	hooks, _ := is["hooks"].(map[string]any)
	for event, list := range old {
		for _, group := range list.([]any) {
			now, _ := hooks[event].([]any)
			if !strings.Contains(fmt.Sprint(group), "gate") && !slices.ContainsFunc(now, func(g any) bool { return reflect.DeepEqual(g, group) }) {
				t.Fatalf("%v of %s is lost", group, event)
			}
		}
	}
	delete(was, "hooks")
	delete(is, "hooks")
	if !maps.EqualFunc(was, is, func(a, b any) bool { return reflect.DeepEqual(a, b) }) {
		t.Fatalf("%q became %s", before, after)
	}
}

func FuzzInstallUninstall(f *testing.F) {
	for _, text := range samples(f) {
		f.Add([]byte(text))
	}
	for seed := range uint64(8) {
		f.Add([]byte(generate(rand.New(rand.NewPCG(seed, 1)))))
	}
	f.Add([]byte(`{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"/x/gate hook --agent claude"},{}]}]}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		if len(text) < 1<<16 {
			roundTrip(t, text)
		}
	})
}

// TestGenerated holds the promises for settings of every layout.
func TestGenerated(t *testing.T) {
	for seed := range uint64(100) {
		text := generate(rand.New(rand.NewPCG(seed, 2)))
		if !roundTrip(t, []byte(text)) {
			t.Fatalf("seed %d: refused: %q", seed, text)
		}
	}
}

// TestTruncated cuts settings at every byte: what is left is refused, or
// comes back whole.
func TestTruncated(t *testing.T) {
	for name, text := range samples(t) {
		if strings.HasSuffix(name, "newline") || strings.HasSuffix(name, "mark") || strings.HasSuffix(name, "crlf") {
			continue // the same bytes as another, nearly
		}
		refused := 0
		for i := range len(text) {
			if !roundTrip(t, []byte(text[:i])) {
				refused++
			}
		}
		if len(text) > 40 && refused < len(text)/2 {
			t.Errorf("%s: only %d of %d cut texts are refused", name, refused, len(text))
		}
	}
}

// A layout writes random settings.
type layout struct {
	*rand.Rand
	strings.Builder
	nl       string
	comments bool
}

func generate(r *rand.Rand) string {
	g := &layout{Rand: r, nl: []string{"", " ", "\n", "\r\n", "\n\n\t"}[r.IntN(5)], comments: r.IntN(2) == 0}
	if r.IntN(8) == 0 {
		g.WriteString("\ufeff")
	}
	g.space()
	g.object([]string{"a", "env", "permissions", "hooks"}, g.setting)
	g.space()
	return g.String()
}

// space writes white space and comments.
func (g *layout) space() {
	for range g.IntN(3) {
		switch g.IntN(6) {
		case 0:
			if g.comments {
				g.WriteString("/* , } ] \" */")
			}
		case 1:
			if g.comments {
				g.WriteString("// , } ] \"\n")
			}
		case 2:
			g.WriteString(" ")
		default:
			g.WriteString(g.nl)
		}
	}
}

func (g *layout) list(open, shut string, item func(i int) bool) {
	g.WriteString(open)
	g.space()
	n := g.IntN(4)
	for i := range n {
		if !item(i) {
			break
		}
		g.space()
		if i < n-1 || g.comments && g.IntN(3) == 0 {
			g.WriteString(",")
		}
		g.space()
	}
	g.WriteString(shut)
}

// object writes an object with members of the names given.
func (g *layout) object(names []string, value func(name string)) {
	g.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	g.list("{", "}", func(i int) bool {
		if i >= len(names) {
			return false
		}
		fmt.Fprintf(g, "%q", names[i])
		g.space()
		g.WriteString(":")
		g.space()
		value(names[i])
		return true
	})
}

func (g *layout) setting(name string) {
	switch {
	case name == "hooks":
		g.object([]string{"PreToolUse", "Stop", "SessionEnd", "Nonsense"}, g.groups)
	case name == "env" && g.IntN(2) == 0:
		g.object([]string{"a", "hooks", "PreToolUse"}, g.setting)
	default:
		g.WriteString([]string{"1", "true", "null", `"x\"y"`, "[]", "{}", "[[1], {}]", "-1.5e+3"}[g.IntN(8)])
	}
}

// groups writes what stands under an event's name.
func (g *layout) groups(string) {
	g.list("[", "]", func(int) bool {
		g.object([]string{"matcher", "hooks"}, func(name string) {
			if name == "matcher" {
				g.WriteString(`"Bash"`)
				return
			}
			g.list("[", "]", func(int) bool {
				g.WriteString(`{"type": "command", "command": "echo"}`)
				return true
			})
		})
		return true
	})
}
