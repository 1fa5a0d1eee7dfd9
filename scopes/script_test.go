package scopes_test

import (
	"testing"

	"gate/hook"
	"gate/internal/setting"
	"gate/scopes"
)

// The status line is what the highest authority names, unless its hooks are
// switched off; a project names none.
func TestScripts(t *testing.T) {
	yes := true
	names := func(a hook.Authority, command string) scopes.Layer {
		return scopes.Layer{Authority: a, File: a.String(), StatusLine: &setting.Script{Command: command}}
	}
	off := func(a hook.Authority) scopes.Layer {
		return scopes.Layer{Authority: a, File: "off " + a.String(), DisableAllHooks: &yes}
	}
	only := scopes.Layer{Authority: hook.Managed, File: "only", AllowManagedHooksOnly: &yes}
	managed, user, project := names(hook.Managed, "m"), names(hook.User, "u"), names(hook.Project, "p")
	for name, row := range map[string]struct {
		layers []scopes.Layer
		want   string
		by     hook.Authority
	}{
		"none":                  {nil, "", 0},
		"user":                  {[]scopes.Layer{user}, "u", hook.User},
		"managed first":         {[]scopes.Layer{user, managed}, "m", hook.Managed},
		"project":               {[]scopes.Layer{project, names(hook.Local, "l")}, "", 0},
		"managed switched off":  {[]scopes.Layer{managed, user, off(hook.Managed)}, "", 0},
		"user switched off":     {[]scopes.Layer{user, off(hook.User)}, "", 0},
		"user off, managed not": {[]scopes.Layer{managed, user, off(hook.User)}, "m", hook.Managed},
		"project switched off":  {[]scopes.Layer{user, off(hook.Project)}, "u", hook.User},
		"managed only":          {[]scopes.Layer{user, only}, "", 0},
		"managed only, and one": {[]scopes.Layer{user, managed, only}, "m", hook.Managed},
	} {
		s, err := setting.Combine(row.layers...)
		if err != nil || s.StatusLine.Command != row.want || s.StatusLine.Authority != row.by {
			t.Errorf("%s: %+v, %v", name, s.StatusLine, err)
		}
		if s.FileSuggestion.Command != "" {
			t.Errorf("%s: suggestions by %q", name, s.FileSuggestion.Command)
		}
	}
	other := names(hook.Managed, "n")
	other.File = "other"
	if _, err := setting.Combine(managed, other); err == nil {
		t.Error("two managed files name two programs")
	}
}
