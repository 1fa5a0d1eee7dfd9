package scopes_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"gate/hook"
	"gate/internal/setting"
	"gate/scopes"
)

// Nobody but the administrator chooses who judges for the administrator, nor
// lets verdicts be kept where the user can write.
func TestJudgesOf(t *testing.T) {
	managed := scopes.Layer{Authority: hook.Managed, File: "m", Providers: map[string]setting.Provider{
		"acme": {Type: "openai", Model: "m"}, "both": {Type: "openai", Model: "managed"},
	}}
	user := scopes.Layer{Authority: hook.User, File: "u", Judges: &setting.Judges{Provider: "own", Keep: time.Hour, KeepSet: true}, Providers: map[string]setting.Provider{
		"own": {Type: "openai", Model: "yes-man"}, "both": {Type: "openai", Model: "yes-man"},
	}}
	project := scopes.Layer{Authority: hook.Project, File: "p", Judges: &setting.Judges{Provider: "evil"}, Providers: map[string]setting.Provider{
		"evil": {Type: "openai", Model: "yes-man"},
	}}
	says := func(l scopes.Layer, j setting.Judges) scopes.Layer { l.Judges = &j; return l }
	for _, row := range []struct {
		name         string
		layers       []scopes.Layer
		of           hook.Authority
		providers    string
		judge        string
		keep         time.Duration
		modelOfBoths string
	}{
		{"nothing said", nil, hook.User, "", "", setting.DefaultKeep, ""},
		{"nothing said", nil, hook.Managed, "", "", 0, ""},
		{"all", []scopes.Layer{project, user, managed}, hook.Managed, "acme both", "", 0, "managed"},
		{"all", []scopes.Layer{project, user, managed}, hook.Project, "acme both own", "own", time.Hour, "managed"},
		{"managed choice", []scopes.Layer{user, says(managed, setting.Judges{Provider: "acme"})}, hook.User, "acme both own", "acme", time.Hour, "managed"},
		{"managed life", []scopes.Layer{user, says(managed, setting.Judges{Keep: time.Minute, KeepSet: true})}, hook.User, "acme both own", "own", time.Minute, "managed"},
		{"managed life", []scopes.Layer{user, says(managed, setting.Judges{Keep: time.Minute, KeepSet: true})}, hook.Managed, "acme both", "", time.Minute, "managed"},
		{"two lives", []scopes.Layer{
			says(scopes.Layer{Authority: hook.User, File: "a"}, setting.Judges{Keep: time.Hour, KeepSet: true}),
			says(scopes.Layer{Authority: hook.User, File: "b"}, setting.Judges{KeepSet: true}),
		}, hook.User, "", "", 0, ""},
		{"project alone", []scopes.Layer{project}, hook.Project, "", "", setting.DefaultKeep, ""},
	} {
		s, err := setting.Combine(row.layers...)
		if err != nil {
			t.Fatal(err)
		}
		providers, judges := s.JudgesOf(row.of)
		names := strings.Join(slices.Sorted(maps.Keys(providers)), " ")
		if names != row.providers || judges.Provider != row.judge || judges.Keep != row.keep || providers["both"].Model != row.modelOfBoths {
			t.Errorf("%s, %s: %q, judge %q, keep %v", row.name, row.of, names, judges.Provider, judges.Keep)
		}
	}
	if _, err := setting.Combine(managed, scopes.Layer{Authority: hook.Managed, File: "n", Providers: map[string]setting.Provider{"acme": {Type: "anthropic", Model: "m"}}}); err == nil {
		t.Error("two managed files give one provider two meanings")
	}
}
