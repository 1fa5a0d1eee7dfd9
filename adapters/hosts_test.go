package adapters

import (
	"encoding/json"
	"os"
	"slices"
	"testing"
)

// TestHosts holds what this package says to a client to what that client was seen to do
// (docs/hosts.json): a word that the newest version that was tried did not heed in any mode
// is not used.
func TestHosts(t *testing.T) {
	data, err := os.ReadFile("../docs/hosts.json")
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Hosts []struct {
			Agent string
			Runs  []struct {
				Mode, From string
				Results    []struct{ Vector, Outcome string }
			}
		}
	}
	if err := json.Unmarshal(data, &doc); err != nil {
		t.Fatal(err)
	}
	if len(doc.Hosts) < 6 {
		t.Errorf("only %d clients were tried", len(doc.Hosts))
	}
	for _, h := range doc.Hosts {
		held, differs := map[string]bool{}, map[string]bool{}
		last := map[string]int{} // runs of a mode are in the order of versions
		for i, run := range h.Runs {
			last[run.Mode] = i
		}
		for _, i := range last {
			for _, one := range h.Runs[i].Results {
				held[one.Vector] = held[one.Vector] || one.Outcome == "as its file says"
				differs[one.Vector] = differs[one.Vector] || one.Outcome == "differs"
			}
		}
		can := before(t, h.Agent)
		for _, row := range []struct {
			means  means
			word   string
			vector string
		}{{rejects, "a denial", "deny"}, {asks, "an ask", "ask-alone"}, {approves, "an allow", "allow"}, {rewrites, "a changed input", "rewrite"}} {
			says := can&row.means != 0
			if says && (!held[row.vector] || differs[row.vector] && row.vector != "allow") {
				t.Errorf("%s is told %s, and was not seen to heed it everywhere", h.Agent, row.word)
			}
			if !says && held[row.vector] {
				t.Errorf("%s heeds %s, and is never told one", h.Agent, row.word)
			}
		}
	}
}

// before is what an agent's answer to a call can do.
func before(t *testing.T, name string) means {
	t.Helper()
	var can means
	for _, a := range all() {
		if _, ok := a.(claude); ok && name == "claude" {
			can = rejects | asks | approves | rewrites // it is no table, and renders all four
		}
		if a, ok := a.(*agent); ok && a.name == name {
			i := slices.IndexFunc(a.events, func(w eventWord) bool { return w.own() == "PreToolUse" && w.tool == "" })
			if i >= 0 {
				can = a.events[i].can
			}
		}
	}
	return can
}
