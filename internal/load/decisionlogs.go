package load

import "gate/internal/outgoing"

// decisionLogs checks where the decision log is sent.
func (r *layerReader) decisionLogs() {
	d := r.layer.DecisionLogs
	if d == nil {
		return
	}
	if d.URL != "" {
		if err := outgoing.CheckAddress(d.URL); err != nil {
			r.bad("/decisionLogs/url", "decisionLogs.url %w", err)
		}
	}
	if d.ClientKey != "" && d.ClientCert == "" {
		r.bad("/decisionLogs/client_key", "decisionLogs.client_key: there is no client_cert that it belongs to")
	}
}
