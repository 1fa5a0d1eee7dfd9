package program

import (
	"strings"
	"testing"
)

func TestPicksOutput(t *testing.T) {
	for filter, want := range map[string]bool{
		".outputs.host.value":                      true,
		"{a:.outputs.host.value,b:.values.region}": true,
		"{v:.values.outputs,r:.outputs.host}":      false,
		`.resources[]|select(.type|test("db"))`:    false,
		".outputs":                                 false,
	} {
		if got := picksOutput(filter); got != want {
			t.Errorf("%s: %t", filter, got)
		}
	}
}

func TestCMakeValues(t *testing.T) {
	text := "set(ENV{ROOT} \"${HOME}/.cache\")\nget_filename_component(UP \"$ENV{ROOT}/..\" ABSOLUTE)\nset(OUT build/x)\nget_filename_component(DIR ${OUT} DIRECTORY)\nrun(${UP} ${DIR})\n"
	if got := strings.TrimSpace(cmakeValues(text)); got != "run(${HOME}/.cache/.. build/x/..)" {
		t.Error(got)
	}
}
