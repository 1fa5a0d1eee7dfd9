package conformance_test

import (
	"context"
	"testing"

	"gate/internal/conformance"
)

// TestWrongPoints has the kit show decision points that are deliberately wrong.
func TestWrongPoints(t *testing.T) {
	for name, p := range map[string]struct {
		status int
		answer string
		shows  string
	}{
		"always yes":         {200, `{"decision":true}`, "c-2-2-2"},
		"always no":          {200, `{"decision":false}`, "c-2-2-1"},
		"a no by the status": {403, `{"decision":false}`, "c-2-2-2"},
		"no mistakes":        {200, `{"decision":true}`, "form-empty"},
		"one for several":    {200, `{"decision":true}`, "c-3-2-2"},
		"no JSON":            {200, `yes`, "c-2-2-1"},
		"an item without":    {200, `{"evaluations":[{},{}]}`, "c-3-2-1"},
	} {
		list, err := conformance.AuthZEN(t.Context(), func(context.Context, string, string, []byte) (int, []byte, error) {
			return p.status, []byte(p.answer), nil
		}, false)
		if err != nil {
			t.Fatal(err)
		}
		shown := false
		for _, f := range list {
			shown = shown || f.ID == p.shows && f.Outcome == conformance.Differs
		}
		if !shown {
			t.Errorf("%s: %s does not show it", name, p.shows)
		}
	}
}
