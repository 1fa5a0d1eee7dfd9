// Package credential tells secrets by their looks: by the name of a variable that
// holds one, and by the shape of a text. It knows no files: package world does.
package credential

import "strings"

// Promised reports whether the name of a variable promises a secret, for readers of
// programs and settings: it takes in names that Variable does not, DATABASE_URL and
// PASSPHRASE.
func Promised(name string) bool {
	name = strings.ToUpper(name)
	for _, s := range []string{"SECRET", "TOKEN", "PASSWORD", "PASSWD", "PASSPHRASE", "CREDENTIAL", "API_KEY", "APIKEY", "ACCESS_KEY", "PRIVATE_KEY", "_KEY", "DATABASE_URL"} {
		if strings.Contains(name, s) {
			return true
		}
	}
	return false
}

// Variable reports whether programs expect credentials in the environment under
// this name.
func Variable(name string) bool {
	upper := strings.ToUpper(name)
	for _, s := range []string{"SECRET", "TOKEN", "PASSWORD", "PASSWD", "API_KEY", "APIKEY", "ACCESS_KEY", "PRIVATE_KEY", "CREDENTIAL"} {
		if strings.Contains(upper, s) {
			return true
		}
	}
	return strings.HasSuffix(upper, "_PAT") || strings.HasSuffix(upper, "_KEY") && upper != "PUBLIC_KEY"
}

// InText returns what kind of well-known credential stands in text, by its shape:
// "cloud credentials", or "" where there is none.
func InText(text string) string {
	for _, s := range []struct{ prefix, what string }{
		{"AKIA", "cloud credentials"}, {"ASIA", "cloud credentials"}, {"ghp_", "login credentials"}, {"gho_", "login credentials"}, {"ghs_", "login credentials"},
		{"github_pat_", "login credentials"}, {"glpat-", "login credentials"}, {"xoxb-", "login credentials"}, {"xoxp-", "login credentials"}, {"sk-ant-", "agent credentials"},
		{"sk-proj-", "agent credentials"}, {"sk_live_", "payment credentials"}, {"npm_", "package registry login"}, {"AIza", "cloud credentials"}, {"-----BEGIN ", "private key"},
	} {
		if s.what == "private key" && strings.Contains(text, s.prefix) && strings.Contains(text, "PRIVATE KEY-----") {
			return s.what
		}
		i := strings.Index(text, s.prefix)
		if i >= 0 && len(text)-i >= len(s.prefix)+12 && tokenLike(text[i+len(s.prefix):]) {
			return s.what
		}
	}
	return ""
}

func tokenLike(s string) bool {
	n := 0
	for n < len(s) && (s[n] == '_' || s[n] == '-' || s[n] >= '0' && s[n] <= '9' || s[n] >= 'A' && s[n] <= 'Z' || s[n] >= 'a' && s[n] <= 'z') {
		n++
	}
	return n >= 12
}
