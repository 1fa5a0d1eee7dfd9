package scopes

import (
	"maps"

	"gate/hook"
)

// DecisionLogs say where the decision log is sent, and whether a call may pass
// that is not in it. The zero value sends nothing.
type DecisionLogs struct {
	URL        string            // as [CheckAddress] wants it; batches are posted there
	TokenFile  string            // absolute; holds the bearer token, "": none
	CA         string            // absolute; PEM of who may have signed the server's certificate, "": whom the system trusts
	ClientCert string            // absolute; PEM of a certificate of this machine, "": none
	ClientKey  string            // absolute; its key, "": it stands in ClientCert
	Labels     map[string]string // go with every record, beside those of the machine

	// Optional is true where calls pass though the log cannot be written.
	Optional bool
}

// tree is what the file says.
func (d DecisionLogs) tree() map[string]any {
	out := map[string]any{"required": !d.Optional}
	for key, value := range map[string]string{
		"url": d.URL, "token_file": d.TokenFile, "ca": d.CA, "client_cert": d.ClientCert, "client_key": d.ClientKey,
	} {
		if value != "" {
			out[key] = value
		}
	}
	if len(d.Labels) > 0 {
		labels := map[string]any{}
		for name, value := range d.Labels {
			labels[name] = value
		}
		out["labels"] = labels
	}
	return out
}

// decisionLogs takes in what a managed layer says of the log. Only the machine's
// own files and the first bundle may, and the files come first: whoever signs a
// later bundle must not have the log sent elsewhere. Two of one rank that say
// different things are an error of [Combine].
func (s *Settings) decisionLogs() {
	if l := s.logLayer(); l != nil {
		s.DecisionLogs = *l.DecisionLogs
		s.DecisionLogs.Labels = maps.Clone(l.DecisionLogs.Labels)
	}
}

// logLayer is the layer that speaks for the log.
func (s *Settings) logLayer() *Layer {
	for i := range s.layers {
		if l := &s.layers[i]; l.Authority == hook.Managed && l.Order <= 1 && l.DecisionLogs != nil {
			return l
		}
	}
	return nil
}
