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
	alone := func(key, form string, said bool) {
		if said && d.Form != form {
			r.bad("/decisionLogs/"+key, `decisionLogs.%s: it goes with "form": %q only`, key, form)
		}
	}
	alone("signals", setting.FormOTLP, len(d.Signals) > 0)
	alone("call_text", setting.FormOTLP, d.CallText)
	alone("level", setting.FormCollector, d.Level != "")
	alone("pseudonyms", setting.FormCollector, d.Pseudonyms != "")
	if d.Form == setting.FormCollector && d.TokenFile != "" {
		r.bad("/decisionLogs/token_file", `decisionLogs.token_file: with "form": "collector" the machine signs; gate enroll takes the token`)
	}
	if d.ClientKey != "" && d.ClientCert == "" {
		r.bad("/decisionLogs/client_key", "decisionLogs.client_key: there is no client_cert that it belongs to")
	}
}
