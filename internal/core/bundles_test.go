package core

import (
	"strings"
	"testing"
	"time"

	"gate/hook"
	"gate/internal/setting"
)

// TestAged: what a clock or a file says wrongly makes no bundle young.
func TestAged(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	day := 24 * time.Hour
	for name, c := range map[string]struct {
		synced []time.Time // of bundles a, b …
		want   string
	}{
		"synced":                    {[]time.Time{now.Add(-day)}, ""},
		"never":                     {[]time.Time{{}}, "never synced"},
		"long ago":                  {[]time.Time{now.Add(-9 * day)}, "last synced on 2026-11-12 12:00 UTC, more than 7 days ago"},
		"a little ahead":            {[]time.Time{now.Add(time.Hour)}, ""},
		"far ahead":                 {[]time.Time{now.Add(100 * 365 * day)}, "still to come: the clock of this machine is wrong, or what the sync wrote"},
		"far ahead, beside another": {[]time.Time{now.Add(-9 * day), now.Add(2 * day)}, "more than 7 days ago"},
		"the clock was set back":    {[]time.Time{now.Add(-6*day - 20*time.Hour), now.Add(20 * time.Hour)}, "more than 7 days ago"},
	} {
		var f Found
		for i, at := range c.synced {
			f.Bundles = append(f.Bundles, Bundle{Bundle: hook.Bundle{Name: string(rune('a' + i)), Version: 1}, Synced: at})
		}
		got := ""
		for _, a := range f.aged(now, setting.Stale{After: 7 * day, Then: setting.StaleClose}) {
			got += a.text + "\n"
			if a.follows != setting.StaleClose {
				t.Errorf("%s: follows %v", name, a.follows)
			}
		}
		if (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q", name, got)
		}
	}
}
