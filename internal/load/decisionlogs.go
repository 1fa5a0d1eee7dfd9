package load

import (
	"gate/internal/outgoing"
	"gate/internal/setting"
)

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
	if d.Form != setting.FormOTLP {
		const alone = `decisionLogs.%s: it goes with "form": "otlp" only`
		if len(d.Signals) > 0 {
			r.bad("/decisionLogs/signals", alone, "signals")
		}
		if d.CallText {
			r.bad("/decisionLogs/call_text", alone, "call_text")
		}
	}
	if d.ClientKey != "" && d.ClientCert == "" {
		r.bad("/decisionLogs/client_key", "decisionLogs.client_key: there is no client_cert that it belongs to")
	}
}
