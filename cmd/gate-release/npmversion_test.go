package main

import (
	"testing"
	"time"

	"golang.org/x/mod/semver"
)

func TestNPMVersion(t *testing.T) {
	at := time.Date(2026, 11, 27, 3, 15, 0, 0, time.UTC)
	for _, c := range []struct{ version, want string }{
		{"v1.2.0", "1.2.0"},
		{"1.2.0", "1.2.0"},
		{"v1.2", "1.2.0"},
		{"v3", "3.0.0"},
		{"2026.11", "2026.11.0"},
		{"v01.002.0", "1.2.0"},
		{"v1.2.0-rc.1", "1.2.0-rc.1"},
		{"v1.2.0-rc.01", "1.2.0-rc.1"},
		{"v1.2.0-rc..x", "1.2.0-rc.x"},
		{"v1.2.0-3-gabc1234", "1.2.1-dev.3.gabc1234"},
		{"v1.2.0-3-gabc1234-dirty", "1.2.1-dev.3.gabc1234.dirty"},
		{"v1.2.0-dirty", "1.2.1-dev.0.dirty"},
		{"v1.2.0+linux.5", "1.2.1-dev.linux.5"},
		{"v1.3.0-rc.1-4-gabc1234", "1.3.0-rc.1.dev.4.gabc1234"},
		{"7476bc5e", "0.0.0-git20261127.31500.7476bc5e"},
		{"7476bc5e-dirty", "0.0.0-git20261127.31500.7476bc5e.dev.0.dirty"},
		{"nightly_2-3-gabc1234", "0.0.0-git20261127.31500.nightly.2.dev.3.gabc1234"},
	} {
		got, err := (&Release{Version: c.version, Time: at}).npmVersion()
		if err != nil || got != c.want {
			t.Errorf("%s: %s, want %s (%v)", c.version, got, c.want, err)
		}
		if !semver.IsValid("v"+got) || semver.Canonical("v"+got) != "v"+got {
			t.Errorf("%s: %s is no version by semver", c.version, got)
		}
	}
}

func TestNPMVersionHash(t *testing.T) {
	got, err := (&Release{Version: "01234567", Commit: "0123456789", Time: time.Unix(0, 0)}).npmVersion()
	if err != nil || !semver.IsValid("v"+got) || semver.Compare("v"+got, "v0.0.0") >= 0 {
		t.Error(got, err)
	}
}

func TestNPMVersionRefused(t *testing.T) {
	for version, want := range map[string]string{
		"v1.2.3.4":            `version "v1.2.3.4": npm's versions have three numbers`,
		"v1.9007199254740993": `version "v1.9007199254740993": 9007199254740993 is too large for npm`,
	} {
		if got, err := (&Release{Version: version}).npmVersion(); err == nil || err.Error() != want {
			t.Errorf("%s: %q, %v", version, got, err)
		}
	}
}

// TestNPMVersionOrder follows one line of commits.
func TestNPMVersionOrder(t *testing.T) {
	at := time.Date(2026, 11, 27, 3, 15, 0, 0, time.UTC)
	var last string
	for i, version := range []string{
		"ffff1234", "abcd123-dirty", "v0.9", "v0.9-2-gffff123", "v0.9-10-g0000123", "v0.9.1",
		"v1.0.0-rc.1", "v1.0.0-rc.1-2-gabc1234", "v1.0.0-rc.2", "v1.0.0", "v1.0.0-dirty", "v1.0.0-1-gabc1234",
		"v1.0.0-1-gabc1234-dirty", "v1.0.0-2-g1111111", "v1.0.1", "v1.1.0", "v1.10.0",
	} {
		got, err := (&Release{Version: version, Time: at.Add(time.Duration(i) * time.Second)}).npmVersion()
		if err != nil || semver.Compare("v"+last, "v"+got) >= 0 {
			t.Errorf("%s: %s does not come after %s (%v)", version, got, last, err)
		}
		last = got
	}
}
