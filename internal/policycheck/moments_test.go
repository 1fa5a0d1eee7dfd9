package policycheck_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"gate/internal/load"
	"gate/internal/moment"
	"gate/internal/policycheck"
	"gate/policies"
)

// fieldsOfEvent are the fields of an event, each once: a few are common and its own.
func fieldsOfEvent(m moment.Moment) []moment.Field {
	fields := slices.Clone(m.Fields)
	for _, f := range moment.CommonFields() {
		if !slices.ContainsFunc(m.Fields, func(own moment.Field) bool { return own.Name == f.Name }) {
			fields = append(fields, f)
		}
	}
	return fields
}

// TestMoments holds that the check knows each field of each event, and none
// that the table does not have.
func TestMoments(t *testing.T) {
	lib, faults := load.Lib(policies.FS())
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	fsys := fstest.MapFS{}
	var want []string
	for _, m := range moment.Every() {
		var b strings.Builder
		fmt.Fprintf(&b, "# METADATA\n# custom:\n#   gate: {events: [%s]}\npackage acme.%s\n", m.Name, strings.ToLower(string(m.Name)))
		for _, f := range fieldsOfEvent(m) {
			fmt.Fprintf(&b, "\nwarn contains \"%s\" if object.get(input, \"%[1]s\", null) != null\n\nwarn contains \"also\" if input.%[1]s\n", f.Name)
		}
		fmt.Fprintf(&b, "\nwarn contains \"none\" if input.nothing_like_it\n")
		name := string(m.Name) + ".rego"
		fsys[name] = &fstest.MapFile{Data: []byte(b.String()), Mode: 0o644}
		want = append(want, name)
	}
	report, err := policycheck.Check(policycheck.Options{Files: fsys, Lib: lib})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range report.Findings {
		if f.Rule == "format" || f.Rule == "title" {
			continue
		}
		if f.Rule != "field" || !strings.Contains(f.Message, "nothing_like_it") {
			t.Errorf("%s: %s", f.Rule, f)
		}
		got = append(got, f.File)
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("reported in %v, want in %v", got, want)
	}
}
