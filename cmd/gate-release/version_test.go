package main

import (
	"os/exec"
	"testing"
	"time"
)

func TestPackageVersion(t *testing.T) {
	// From the oldest to the newest, as packages are upgraded.
	ordered := []struct{ name, commit, deb, rpm, semver string }{
		{"abc1234-dirty", "abc1234f", "0~git20261127.031522.abc1234+dirty", "0~git20261127.031522.abc1234^dirty", "0.0.0-git20261127-031522-abc1234+dirty"},
		{"nightly_x", "abc1234f", "0~git20261127.031522.nightly.x", "0~git20261127.031522.nightly.x", "0.0.0-git20261127-031522-nightly-x"},
		{"v1.2-rc.1", "", "1.2~rc.1", "1.2~rc.1", "1.2.0-rc.1"},
		{"v1.2-rc.1-4-gabc1234", "", "1.2~rc.1+4.gabc1234", "1.2~rc.1^4.gabc1234", "1.2.0-rc.1+4.gabc1234"},
		{"v1.2-rc.2", "", "1.2~rc.2", "1.2~rc.2", "1.2.0-rc.2"},
		{"v1.2", "", "1.2", "1.2", "1.2.0"},
		{"v1.2-3-gabc1234", "", "1.2+3.gabc1234", "1.2^3.gabc1234", "1.2.0+3.gabc1234"},
		{"v1.2-3-gabc1234-dirty", "", "1.2+3.gabc1234.dirty", "1.2^3.gabc1234.dirty", "1.2.0+3.gabc1234.dirty"},
		{"v1.2-11-g0bc1234", "", "1.2+11.g0bc1234", "1.2^11.g0bc1234", "1.2.0+11.g0bc1234"},
		{"1.2.1", "", "1.2.1", "1.2.1", "1.2.1"},
		{"v1.10.0+build-7", "", "1.10.0+build.7", "1.10.0^build.7", "1.10.0+build.7"},
	}
	at := time.Date(2026, 11, 27, 3, 15, 22, 0, time.UTC)
	for i, c := range ordered {
		r := Release{Version: c.name, Commit: c.commit, Time: at}
		if got := r.debVersion(); got != c.deb {
			t.Errorf("deb of %s: %s, want %s", c.name, got, c.deb)
		}
		if got := r.rpmVersion(); got != c.rpm {
			t.Errorf("rpm of %s: %s, want %s", c.name, got, c.rpm)
		}
		if got := r.packageVersion().semver(); got != c.semver {
			t.Errorf("semver of %s: %s, want %s", c.name, got, c.semver)
		}
		if i > 0 {
			newer(t, ordered[i-1].deb, c.deb)
		}
	}
	digits := Release{Version: "1234567", Commit: "1234567890", Time: at}
	if got, want := digits.debVersion(), "0~git20261127.031522.1234567"; got != want {
		t.Errorf("a hash of digits is %s, want %s", got, want)
	}
}

// newer asks dpkg, where it is installed, about the order of two versions.
func newer(t *testing.T, old, young string) {
	t.Helper()
	if _, err := exec.LookPath("dpkg"); err != nil {
		return
	}
	// Names without a number are ordered by time, and these have one time.
	if old[:2] == "0~" && young[:2] == "0~" {
		return
	}
	if err := exec.Command("dpkg", "--compare-versions", old, "lt", young).Run(); err != nil {
		t.Errorf("dpkg does not take %s for newer than %s: %v", young, old, err)
	}
}
