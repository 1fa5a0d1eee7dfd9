package program

import "testing"

// TestChangeOfSettings holds which changes of an agent's settings a person may be asked
// about, and how they are said. The empty text is the denial that there was before.
func TestChangeOfSettings(t *testing.T) {
	for _, c := range []struct{ before, after, want string }{
		{`{}`, `{"permissions":{"allow":["Bash(go test:*)"]}}`, `adds permissions.allow "Bash(go test:*)"`},
		{`{"model":"a"}`, `{"model":"b"}`, `adds model "b", removes model "a"`},
		{`{"permissions":{"allow":["A(x)","B(y)"]}}`, `{"permissions":{"allow":["B(y)","A(x)"]}}`, ``}, // the order alone
		{`{}`, `{"permissions":{"deny":["Read(./.env)"]}}`, `adds permissions.deny "Read(./.env)"`},
		{`{}`, `{"env":{"FOO":"1"}}`, `adds env.FOO "1"`},
		{`{}`, `{"mcpServers":{"x":{"command":"npx","args":["-y","server"]}}}`, `adds mcpServers.x.args "-y", adds mcpServers.x.args "server", adds mcpServers.x.command "npx"`},

		{`{}`, `{"disableAllHooks":true}`, ``},
		{`{}`, `{"permissions":{"allow":["Bash(*)"]}}`, ``},
		{`{}`, `{"permissions":{"allow":["Bash"]}}`, ``},
		{`{}`, `{"permissions":{"defaultMode":"bypassPermissions"}}`, ``},
		{`{"permissions":{"deny":["Read(./.env)"]}}`, `{}`, ``},
		{`{"permissions":{"ask":["Bash(git push:*)"]}}`, `{"permissions":{}}`, ``},
		{`{"hooks":{"PreToolUse":[{"hooks":[{"command":"gate-hook"}]}]}}`, `{}`, ``},
		{`{"hooks":{"PreToolUse":[{"hooks":[{"command":"gate-hook"}]}]}}`, `{"hooks":{"PreToolUse":[{"hooks":[{"command":"true"}]}]}}`, ``},
		{`{}`, `{"sandbox":{"enabled":false}}`, ``},
		{`{}`, `{"enableAllProjectMcpServers":true,"skipDangerousModePermissionPrompt":true}`, ``},

		{`{}`, `{"enabledPlugins":{"fmt@acme":true}}`, `adds enabledPlugins.fmt@acme true`},
		{`{"enabledPlugins":{"fmt@acme":false}}`, `{"enabledPlugins":{"fmt@acme":true}}`, `adds enabledPlugins.fmt@acme true, removes enabledPlugins.fmt@acme false`},
		{`{}`, `{"enabledPlugins":{"gate@gate":false}}`, ``},
		{`{}`, `{"enabledPlugins":{"guard@acme":false}}`, ``},
		{`{"enabledPlugins":{"guard@acme":true}}`, `{}`, ``},
		{`{"enabledPlugins":{"gate@gate":true}}`, `{"enabledPlugins":{}}`, ``},
		{`{}`, `{"extraKnownMarketplaces":{"acme":{"source":{"path":"x"}}}}`, `adds extraKnownMarketplaces.acme.source.path "x"`},
		{`{}`, `{"extraKnownMarketplaces":{"gate":{"source":{"path":"x"}}}}`, ``},
		{`{"extraKnownMarketplaces":{"acme":{"source":{"path":"x"}}}}`, `{"extraKnownMarketplaces":{"acme":{"source":{"path":"y"}}}}`, ``},
		{`{`, `{"model":"b"}`, ``},
		{`{}`, `{"model":`, ``},
	} {
		if got := changeOfSettings(c.before, c.after); got != c.want {
			t.Errorf("%s to %s: got %q, want %q", c.before, c.after, got, c.want)
		}
	}
}
