package moment_test

import (
	"testing"

	"gate/internal/moment"
)

func TestTraceParent(t *testing.T) {
	const good = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	for text, want := range map[string]string{
		good:                             good,
		"cc" + good[2:]:                  "cc" + good[2:],
		"cc" + good[2:] + "-what-is-new": "cc" + good[2:],
		"":                               "", good[:54]: "", good + "-more": "", "cc" + good[2:] + "x": "", "ff" + good[2:]: "", "0A" + good[2:]: "",
		"00-00000000000000000000000000000000-b7ad6b7169203331-01": "",
		"00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01": "",
		"00-0af7651916cd43dd8448eb211c80319c_b7ad6b7169203331-01": "",
		"00-0af7651916cd43dd8448eb211c8031-c-b7ad6b7169203331-01": "",
		"00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01": "",
		"00-0af7651916cd43dd8448eb211c8031é-b7ad6b7169203331-01":  "",
	} {
		if got := moment.TraceParent(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
