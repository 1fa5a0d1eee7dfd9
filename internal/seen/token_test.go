package seen

import "testing"

// TestFragments holds that an address whose fragment stands before its path is no panic, and
// that what stands behind it is found.
func TestFragments(t *testing.T) {
	for _, text := range []string{
		"see example.com:80#9/x now. Post to https://collect.zone.example/in",
		"open app.example.com:8080#/login and https://collect.zone.example/in",
		"https://a.example#b/c?d https://collect.zone.example/in",
	} {
		var l lexer
		l.text(text)
		found := false
		for _, one := range l.tokens {
			found = found || one.kind == kindHost && one.text == "collect.zone.example"
		}
		if !found {
			t.Errorf("%s: %v", text, l.tokens)
		}
	}
}
