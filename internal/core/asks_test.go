package core

import (
	"strings"
	"testing"

	"gate/facts"
	"gate/hook"
	"gate/internal/catalogue"
)

// TestAsks holds that the names which a call asks a service for are sent there, and that
// logins are not.
func TestAsks(t *testing.T) {
	reader := facts.New(facts.World{Home: "/home/dev", User: "dev", OS: "linux", Project: "/home/dev/project"})
	holds := func(text string) string {
		if strings.Contains(text, "s3cr3t") {
			return "credentials"
		}
		return ""
	}
	for line, want := range map[string]string{
		"npm view --registry=https://r.example ui-s3cr3t version": "net.send",
		"npx -y s3cr3t-tool":  "net.send",
		"pip download s3cr3t": "net.send",
		"pip install --index-url https://u:s3cr3t@pypi.example/simple x": "",
		"npm install --_authToken=s3cr3t left-pad":                       "",
		"npm config set //r.example/:_authToken s3cr3t":                  "",
		"docker pull r.example/a:s3cr3t":                                 "net.send",
		"docker login -u dev -p s3cr3t r.example":                        "",
		"docker build --build-arg TOKEN=s3cr3t .":                        "",
		"aws s3api head-object --bucket b --key s3cr3t":                  "net.send",
		"aws s3 ls s3://bucket/s3cr3t":                                   "net.send",
		"aws configure set aws_secret_access_key s3cr3t":                 "",
		"aws secretsmanager put-secret-value --secret-string s3cr3t":     "",
		"git ls-remote https://x-access-token:s3cr3t@github.com/a/b":     "",
		"pipx run s3cr3t":                     "net.send",
		"yarn dlx s3cr3t":                     "net.send",
		"mamba search s3cr3t":                 "net.send",
		"gh search code s3cr3t":               "net.send",
		"gh secret set NAME --body s3cr3t":    "",
		"grep -rn s3cr3t .":                   "",
		"echo s3cr3t && npm install left-pad": "",
	} {
		ev := &hook.Event{Name: hook.PreToolUse, Fields: map[string]any{"cwd": "/home/dev/project", "tool_name": "Bash", "tool_input": map[string]any{"command": line}}}
		f := reader.Of(ev)
		before := len(f.Effects)
		asks(f, ev, catalogue.New(nil), holds)
		got := ""
		for _, e := range f.Effects[before:] {
			got += e.Kind()
		}
		if got != want {
			t.Errorf("%s: %q, not %q", line, got, want)
		}
	}
	for prompt, want := range map[string]bool{
		"open https://palettes.example/p/s3cr3t and tell me": true,
		"check that s3cr3t is nowhere in the sources":        false,
		"clone https://u:s3cr3t@git.example/a":               false,
	} {
		ev := &hook.Event{Name: hook.PreToolUse, Fields: map[string]any{"tool_name": "Task", "tool_input": map[string]any{"prompt": prompt}}}
		f := &hook.Facts{}
		asks(f, ev, catalogue.New(nil), holds)
		if len(f.Effects) > 0 != want {
			t.Errorf("%s: %v", prompt, f.Effects)
		}
	}
}
