package core

import (
	"slices"
	"testing"
)

func TestExchanged(t *testing.T) {
	old := "x = 1\nfetch(\"https://api.weather.com/v3/sync\")\nurl: http://localhost:8080/a\nhook = 'https://hooks.gls.eu/in'\n"
	for _, c := range []struct{ old, text, want string }{
		{old, "x = 1\nfetch(\"https://api.weather-v3.app/v3/sync\")\n", "api.weather-v3.app"},
		{old, "fetch(\"wss://api.weather-v3.app/v3/sync\")\n", "api.weather-v3.app"},
		{"D = 'https://a7594ed0e1@in.weather.com/1'", "D = 'https://4fb8620db8@in.weather-v3.app/1'", "in.weather-v3.app"}, // with other keys
		{"API_URL=api.weather.com:443", "API_URL=api.weather-v3.app:443", "api.weather-v3.app"},
		{old, "fetch(\"https://api2.weather.com/v3/sync\")\n", ""},                        // the same site
		{old, "url: https://api.new.dev/a\n", ""},                                         // nobody was there
		{old, "see(\"https://docs.new.dev\")\n", ""},                                      // it stands in no one's place
		{old, old + "fetch(\"https://api.new.dev\")\n", ""},                               // both
		{"a(\"https://api.new.dev\")\n" + old, "fetch(\"https://api.new.dev/v3\")\n", ""}, // it was there
		{"", "fetch(\"https://api.new.dev\")\n", ""},
	} {
		got := exchanged(c.old, c.text)
		if c.want == "" && len(got) > 0 || c.want != "" && !slices.Equal(got, []string{c.want}) {
			t.Errorf("%q: %q, not %q", c.text, got, c.want)
		}
	}
}

func TestSwapped(t *testing.T) {
	old := "u = https://api.weather.com/v3\nl = http://localhost:80/\n"
	for word, want := range map[string]string{
		"s#https://api.weather.com#https://api.w3.app#":       "api.w3.app",
		`s/api\.weather\.com/api.w3.app/g`:                    "api.w3.app",
		`s/https:\/\/api\.weather\.com/https:\/\/api.w3.app/`: "api.w3.app",
		"s|api.weather.com|api2.weather.com|":                 "",
		"s|http://localhost:80/|https://api.w3.app/|":         "",
		"s|https://other.com|https://api.w3.app|":             "",
	} {
		got := swapped(substituted(word), old)
		if want == "" && len(got) > 0 || want != "" && !slices.Equal(got, []string{want}) {
			t.Errorf("%s: %q, not %q", word, got, want)
		}
	}
}

func TestReportsTo(t *testing.T) {
	for text, want := range map[string]string{
		"SENTRY_DSN = 'https://in.w3.app/1'":                        "in.w3.app",
		"x('https://0123456789abcdef@in.w3.app/1')":                 "in.w3.app",
		"remote_write:\n\n  - url: https://in.w3.app/1\n":           "in.w3.app",
		"report-uri https://in.w3.app/csp":                          "in.w3.app",
		"https://user@in.w3.app/1":                                  "",
		"https://in.w3.app/0123":                                    "",
		"- u":                                                       "",
		"OTEL_EXPORTER_OTLP_ENDPOINT=http://localhost:4317":         "",
		"webhook: https://hooks.example.com/1":                      "",
		"name: webhook\n\nfetch('https://in.w3.app')\n":             "",
		"webhooks are told in the guide.\nsee https://in.w3.app/\n": "",
	} {
		got := reportsTo(text)
		if want == "" && len(got) > 0 || want != "" && !slices.Equal(got, []string{want}) {
			t.Errorf("%q: %q, not %q", text, got, want)
		}
	}
}
