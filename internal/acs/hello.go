package acs

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"gate/adapters"
	"gate/internal/moment"
	"gate/internal/strictjson"
)

// Methods that are no steps.
const (
	hello      = "handshake/hello"
	ping       = "system/ping"
	sessionEnd = "steps/sessionEnd"
)

// profiles are those that hold here.
func (g *Guardian) profiles() []string {
	if g.o.Trace == nil {
		return []string{"acs-core", "acs-audit"}
	}
	return []string{"acs-core", "acs-audit", "acs-trace"}
}

// greet answers a hello that is authenticated, fresh and well formed.
func (g *Guardian) greet(r *request) (map[string]any, *refusal) {
	if no := checkHello(r); no != nil {
		return nil, no
	}
	if !r.key.admits(r.agent) {
		return nil, refuse(CodeSessionRefused, "the key is not for this agent")
	}
	canonical, err := Canonical(r.payload)
	if err != nil {
		return nil, refuse(CodeParams, err.Error())
	}
	s, fresh, no := g.admit(r)
	if no != nil {
		return nil, no
	}
	if !fresh {
		defer s.mu.Unlock()
		if s.keyID != r.key.ID || s.agent != r.agent {
			return nil, refuse(CodeSessionRefused, "the session is another agent's, or was begun with another key")
		}
		if no := g.reserve(s, r); no != nil {
			return nil, no
		}
		if s.sealed || !s.sameHello(r, canonical) {
			return nil, refuse(CodeSessionRefused, "the session has begun with another hello; version 0.1 has no second negotiation")
		}
		return maps.Clone(s.serverHello), nil
	}
	s.clientHello, s.serverHello = canonical, g.serverHello(r)
	s.methods, s.wraps = strictjson.Texts(s.serverHello["methods_evaluated"]), wraps(r.payload)
	if err := g.begin(s); err != nil {
		no = refuse(CodeSessionRefused, "the session cannot be kept: "+err.Error())
	} else {
		no = g.reserve(s, r)
	}
	s.mu.Unlock()
	if no != nil {
		g.drop(s)
		return nil, no
	}
	return maps.Clone(s.serverHello), nil
}

// checkHello holds a ClientHello against what it has to say.
func checkHello(r *request) *refusal {
	texts := func(name string) ([]string, *refusal) {
		list, ok := r.payload[name].([]any)
		if !ok || len(list) == 0 || len(list) > maxName {
			return nil, refuse(CodeParams, name+": a list of texts is wanted")
		}
		var out []string
		for _, v := range list {
			text, ok := v.(string)
			if !ok || len(text) > maxName {
				return nil, refuse(CodeParams, name+": a list of texts is wanted")
			}
			out = append(out, text)
		}
		return out, nil
	}
	versions, no := texts("acs_versions_supported")
	if no != nil {
		return no
	}
	if !slices.ContainsFunc(versions, sameMajor) {
		return &refusal{code: CodeVersion, why: "no version in common", data: map[string]any{"supported_versions": []any{Version}}}
	}
	if _, given := r.payload["methods_implemented"].([]any); !given {
		return refuse(CodeParams, "methods_implemented: a list of texts is wanted")
	}
	if list := r.payload["methods_implemented"].([]any); len(list) > 0 {
		if _, no := texts("methods_implemented"); no != nil {
			return no
		}
	}
	transports, no := texts("transports_supported")
	if no != nil {
		return no
	}
	if !slices.Contains(transports, "http") {
		return refuse(CodeSessionRefused, "the one transport here is http, on this machine")
	}
	if producer := textOf(r.payload, "provenance_producer"); producer != "deterministic" && producer != "none" {
		return refuse(CodeParams, "provenance_producer: deterministic or none is wanted")
	}
	return nil
}

// serverHello says what gate does, and nothing that it does not.
func (g *Guardian) serverHello(r *request) map[string]any {
	var methods, profiles []any
	for _, name := range strictjson.Texts(r.payload["methods_implemented"]) {
		if judges(name) && !slices.Contains(methods, any(name)) {
			methods = append(methods, name)
		}
	}
	for _, name := range strictjson.Texts(r.payload["profiles_supported"]) {
		if slices.Contains(g.profiles(), name) && !slices.Contains(profiles, any(name)) {
			profiles = append(profiles, name)
		}
	}
	return map[string]any{
		"negotiated_version": Version, "methods_evaluated": notNil(methods), "selected_transport": "http",
		"timeout_config": map[string]any{"default_ms": adapters.ACS().Deadline("").Milliseconds()}, "signature_algorithms_supported": []any{Algorithm},
		"skew_window_ms": skewWindow.Milliseconds(), "on_decision_failure": "deny", "approver_types_supported": []any{"human"},
		"policy_requires_provenance": false, "trace_emission": map[string]any{"otel_enabled": false, "ocsf_enabled": g.o.Trace != nil},
		"profiles_accepted": notNil(profiles),
	}
}

func notNil(list []any) []any {
	if list == nil {
		return []any{}
	}
	return list
}

// judges reports a name that a client may list and that gate gives an answer to. A client
// may say that it wraps all of MCP.
func judges(name string) bool {
	if name == ping || name == hello || name == "protocols/MCP/*" {
		return true
	}
	_, known := moment.FindStep(name)
	return known
}

// wraps are the versions of MCP that a client says it wraps.
func wraps(payload map[string]any) (list []string) {
	protocols, _ := payload["wrapped_protocols"].([]any)
	for _, p := range protocols {
		doc, _ := p.(map[string]any)
		if version := textOf(doc, "version"); doc["protocol"] == "MCP" && version != "" && len(version) < 64 {
			list = append(list, version)
		}
	}
	return list
}

// negotiated reports why a session may not use a method.
func (s *session) negotiated(method string) error {
	if rest, explicit := strings.CutPrefix(method, "wrapped:mcp-"); explicit {
		version, _, _ := strings.Cut(rest, "/")
		if !slices.Contains(s.wraps, version) {
			return fmt.Errorf("the session did not say that it wraps this version of MCP")
		}
	}
	if slices.Contains(s.methods, method) {
		return nil
	}
	if _, wrapped := moment.WrappedMCP(method); wrapped && strings.HasPrefix(method, "protocols/") && slices.Contains(s.methods, "protocols/MCP/*") {
		return nil
	}
	return fmt.Errorf("the method is none that this session has negotiated")
}
