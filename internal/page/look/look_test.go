package look

import "testing"

// TestAddress holds that what Address makes is found again.
func TestAddress(t *testing.T) {
	views := Views{"session": -1}
	for _, name := range []string{"gate.git.push", "acme.json", "acme.html", "a/b", "a b%2Ejson", "", "ü", "x?y#z", "a.json.json"} {
		for _, form := range []string{"", AsHTML, AsJSON} {
			if got, ok := Locate(Address("session", name)+form, views); !ok || got != (Place{"session", name, form}) {
				t.Errorf("%q%s: %+v %v", name, form, got, ok)
			}
		}
	}
}
