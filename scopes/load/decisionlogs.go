package load

import (
	"maps"
	"path/filepath"
	"slices"

	"gate/outgoing"
	"gate/scopes"
)

// decisionLogs reads where the decision log is sent.
func (r *layerReader) decisionLogs() {
	m, ok := r.value["decisionLogs"].(map[string]any)
	if !ok {
		return
	}
	d := &scopes.DecisionLogs{}
	if d.URL, _ = m["url"].(string); d.URL != "" {
		if err := outgoing.CheckAddress(d.URL); err != nil {
			r.bad("/decisionLogs/url", "decisionLogs.url %w", err)
		}
	}
	d.TokenFile, d.CA = r.logFile(m, "token_file"), r.logFile(m, "ca")
	d.ClientCert, d.ClientKey = r.logFile(m, "client_cert"), r.logFile(m, "client_key")
	if d.ClientKey != "" && d.ClientCert == "" {
		r.bad("/decisionLogs/client_key", "decisionLogs.client_key: there is no client_cert that it belongs to")
	}
	if labels, ok := m["labels"].(map[string]any); ok {
		d.Labels = map[string]string{}
		for _, name := range slices.Sorted(maps.Keys(labels)) {
			d.Labels[name], _ = labels[name].(string)
		}
	}
	if required, ok := m["required"].(bool); ok {
		d.Optional = !required
	}
	r.layer.DecisionLogs = d
}

func (r *layerReader) logFile(m map[string]any, key string) string {
	path, _ := m[key].(string)
	if path != "" && !filepath.IsAbs(path) {
		r.bad("/decisionLogs/"+key, "decisionLogs.%s: the path must be absolute", key)
	}
	return path
}
