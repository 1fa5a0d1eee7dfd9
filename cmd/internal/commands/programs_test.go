package commands

import (
	"runtime/debug"
	"strings"
	"testing"
)

func TestAnotherBuild(t *testing.T) {
	build := func(version, revision, when string) *debug.BuildInfo {
		return &debug.BuildInfo{Main: debug.Module{Version: version}, Settings: []debug.BuildSetting{{Key: "vcs.revision", Value: revision}, {Key: "vcs.time", Value: when}}}
	}
	own := build("v2.0.0", "b", "2026-11-02T00:00:00Z")
	for _, c := range []struct {
		name, want string
		other      *debug.BuildInfo
	}{
		{"the same", "", own},
		{"older", "is older than gate", build("v1.0.0", "a", "2026-11-01T00:00:00Z")},
		{"newer", "is another version than gate: v3.0.0, not v2.0.0", build("v3.0.0", "c", "2026-11-03T00:00:00Z")},
		{"without a revision", "is another version", build("v1.0.0", "", "")},
	} {
		got := anotherBuild(own, c.other)
		if (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
