package drive

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"

	"gate/internal/conformance"
)

// row is a run of one vector.
func row(version, mode, vector string, outcome conformance.Outcome) Run {
	return Run{From: version, To: version, Mode: mode, How: "kit", Date: "2026-11-28", Results: []Recorded{{vector, outcome, ""}}}
}

func TestStand(t *testing.T) {
	r := Record{Runs: []Run{
		row("1.2.0", "m", "allow", conformance.Differs), row("1.9.0", "m", "allow", conformance.Held), row("1.9.5", "m", "allow", conformance.NotDriven), row("1.10.0", "m", "allow", conformance.Held),
		row("2.0.0", "m", "allow", conformance.Differs), row("1.9.0", "other", "allow", conformance.NotDriven), row("1.9.0", "third", "deny", conformance.Held),
	}}
	for version, want := range map[string][]Standing{
		"1.0.0":  {{Mode: "m"}, {Mode: "other"}},
		"1.2.0":  {{"m", conformance.Differs, "", "1.2.0", "1.2.0"}, {Mode: "other"}},
		"1.9.6":  {{"m", conformance.NotDriven, "", "1.9.5", "1.9.5"}, {"other", conformance.NotDriven, "", "1.9.0", "1.9.0"}},
		"1.11.0": {{"m", conformance.Held, "", "1.9.0", "1.10.0"}, {"other", conformance.NotDriven, "", "1.9.0", "1.9.0"}},
		"":       {{"m", conformance.Differs, "", "2.0.0", "2.0.0"}, {"other", conformance.NotDriven, "", "1.9.0", "1.9.0"}},
	} {
		if got := r.Stand("allow", version); !slices.Equal(got, want) {
			t.Errorf("%q: %+v, want %+v", version, got, want)
		}
	}
	if oldest, newest := r.Tried(); oldest != "1.2.0" || newest != "2.0.0" {
		t.Errorf("tried %s to %s", oldest, newest)
	}
}

// TestPut: the same version and mode has one run, and the file can be read again.
func TestPut(t *testing.T) {
	h := Host{Agent: "a", Client: "A", Package: "p"}
	var r Records
	put := func(version string, outcome conformance.Outcome) {
		t.Helper()
		list := []Result{{Finding: conformance.Finding{ID: "deny", Outcome: outcome, Why: "the \"call\" ran"}, How: "not kept"}}
		if err := r.Put(h, version, "m", "2026-11-28", list); err != nil {
			t.Fatal(err)
		}
	}
	put("1.10.0", conformance.Held)
	put("1.9.0", conformance.Held)
	put("1.10.0", conformance.Differs)
	again, err := ReadRecords(r.JSON())
	if err != nil {
		t.Fatal(err)
	}
	runs := again.Of("a").Runs
	if len(runs) != 2 || runs[0].From != "1.9.0" || runs[1].Results[0].Outcome != conformance.Differs || runs[1].Results[0].Why != "the \"call\" ran" {
		t.Errorf("%+v", runs)
	}
	if err := r.Put(h, "latest", "m", "2026-11-28", nil); err == nil {
		t.Error("a version that is none is taken")
	}
}

func TestReadRecords(t *testing.T) {
	var r Records
	if err := r.Put(Host{Agent: "a"}, "1.0.0", "m", "2026-11-28", []Result{{Finding: conformance.Finding{ID: "deny", Outcome: conformance.Held}}}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ old, wrong, want string }{
		{`"schema": 1`, `"schema": 2`, "schema 2 is not known"},
		{`"deny"`, `"dney"`, "no vector"},
		{`as its file says`, `fine`, "no outcome"},
		{`"from": "1.0.0"`, `"from": "1.1.0"`, "is not before"},
		{`"from": "1.0.0"`, `"from": "x"`, "is no version"},
		{`2026-11-28`, `yesterday`, "the date"},
		{`"kit"`, `"guess"`, "kit, rig or contract"},
		{`"kit"`, `"contract"`, "has a source"},
		{`"source": ""`, `"source": "hearsay"`, "has a source"},
		{`"mode"`, `"node"`, "unknown field"},
	} {
		if _, err := ReadRecords(bytes.Replace(r.JSON(), []byte(c.old), []byte(c.wrong), 1)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.wrong, err, c.want)
		}
	}
}

// TestFile: docs/hosts.json is as the kit writes it, and has all vectors of each run.
func TestFile(t *testing.T) {
	r := recorded(t)
	data, err := os.ReadFile("../../../docs/hosts.json")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(r.JSON(), data) {
		t.Error("it was written by hand; gate conformance hooks --into writes it")
	}
	for _, h := range r.Hosts {
		for _, run := range h.Runs {
			var ids []string
			for _, one := range run.Results {
				ids = append(ids, one.Vector)
				if (one.Outcome == conformance.Held) != (one.Why == "") {
					t.Errorf("%s %s: %s is %s, because of %q", h.Agent, run.Mode, one.Vector, one.Outcome, one.Why)
				}
			}
			var want []string
			for _, v := range Vectors() {
				want = append(want, v[0])
			}
			if run.How == "kit" && !slices.Equal(ids, want) {
				t.Errorf("%s %s %s has vectors %v, want %v", h.Agent, run.From, run.Mode, ids, want)
			}
		}
	}
	for _, name := range Clients() {
		if r.Of(name) == nil {
			t.Errorf("nobody tried %s", name)
		}
	}
}
