package commands

import (
	"context"
	"strings"
	"testing"
	"time"

	"gate/internal/conformance"
	"gate/internal/interceptors"
	"gate/internal/serve"
)

// behaviors are the interceptors of the fixtures as policies, for the names that are more
// than what the library says.
func behaviors() map[string]string {
	const about = "# METADATA\n# custom: {gate: {events: [PreToolUse, PostToolUse]}}\npackage acme.behavior\n\n"
	return map[string]string{
		"deny-all":               about + `deny contains "denied by policy"`,
		"require-uppercase-note": about + `note := object.get(input, ["tool_input", "note"], object.get(input, ["tool_response", "arguments", "note"], null))` + "\n\n" + `deny contains "note must be uppercase" if note != upper(note)`,
		"uppercase-note":         about + `modify contains {"reason": "notes are upper case", "input": object.union(input.tool_input, {"note": upper(input.tool_input.note)})} if input.tool_input.note != upper(input.tool_input.note)`,
		"secretless-redactor": about + `pattern := "sk_live_[A-Za-z0-9]{20,}|ghp_[A-Za-z0-9]{20,}|AKIA[A-Z0-9]{16}"` + "\n\n" +
			`query := regex.replace(input.tool_input.query, pattern, "[secret]")` + "\n\n" +
			`modify contains {"reason": "the secret is taken out", "input": object.union(input.tool_input, {"query": query})} if query != input.tool_input.query`,
	}
}

// TestInterceptorFixtures runs all fixtures in this process: each interceptor is a gate of its
// own with the policy that its behaviour is.
func TestInterceptorFixtures(t *testing.T) {
	var host *interceptors.Host
	list, err := conformance.Interceptors(t.Context(), conformance.Host{
		Send: func(ctx context.Context, body []byte) ([]byte, error) { return host.Answer(ctx, body), nil },
		Register: func(wanted []conformance.Registration) error {
			var offered []interceptors.Interceptor
			for _, r := range wanted {
				offered = append(offered, interceptors.Interceptor{
					Name: r.Name, Type: r.Type, Events: r.Events, Phases: r.Phases, Mode: r.Mode, Open: r.FailOpen,
					Judge: interceptors.NewJudge(behaving(t, r.Behavior)),
				})
			}
			host = interceptors.New(offered)
			return nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range list {
		if f.Outcome != conformance.Held {
			t.Errorf("%s %s: %s", f.ID, f.Outcome, f.Why)
		}
	}
	if len(list) != 24 {
		t.Errorf("%d fixtures", len(list))
	}
}

// flowsOnly has the library judge where a secret goes, and not whether it is read: a fixture
// reads /workspace/.env first, which the library asks about, and an invoker can ask nobody.
const flowsOnly = `{"policies": {"gate.secrets.read": "off"}}`

// behaving is a gate with one behaviour of the suite.
func behaving(t *testing.T, behavior string) interceptors.Decide {
	if behavior == "crash" {
		return func(context.Context, []byte, time.Duration) []byte { return nil }
	}
	m := newMachine(t)
	if policy := behaviors()[behavior]; policy != "" {
		m.write("user/policies/behavior.rego", policy+"\n")
	}
	m.write("user/settings.json", flowsOnly)
	a := m.answerer()
	return func(ctx context.Context, message []byte, limit time.Duration) []byte {
		return a.decide(ctx, serve.Question{Agent: "interceptor", Body: message, Timeout: limit}).Answer.Stdout
	}
}

// TestInterceptorsServed drives the kit against gate serve. With the whole library the
// fixtures that read a file of secrets differ in that step, and in no other.
func TestInterceptorsServed(t *testing.T) {
	for name, settings := range map[string]string{"library": "{}", "flows": flowsOnly} {
		t.Run(name, func(t *testing.T) { drivesServed(t, settings) })
	}
}

func drivesServed(t *testing.T, settings string) {
	m := newMachine(t)
	m.write("user/settings.json", settings)
	address := m.serving(serve.Options{}) + "/mcp"
	host := conformance.Host{Send: poster(address, strings.Repeat("t", 40))}
	list, err := conformance.Interceptors(t.Context(), host)
	if err != nil {
		t.Fatal(err)
	}
	count := map[conformance.Outcome]int{}
	for _, f := range append(list, conformance.InterceptorProbes(t.Context(), host)...) {
		count[f.Outcome]++
		if f.Outcome == conformance.Differs && (settings == flowsOnly || !strings.HasPrefix(f.Why, "step 1: it is blocked") || !strings.Contains(f.Why, "may show secrets of /workspace/.env")) {
			t.Errorf("%s: %s", f.ID, f.Why)
		}
	}
	differ := 5
	if settings == flowsOnly {
		differ = 0
	}
	if count[conformance.NotDriven] != 17 || count[conformance.Differs] != differ || count[conformance.Held] != 17-differ {
		t.Errorf("%v", count)
	}
}
