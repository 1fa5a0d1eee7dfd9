package setting

import (
	"maps"
	"slices"
)

// Forms in which the decision log is sent.
const (
	FormOPA  = "opa"  // as OPA sends its own
	FormOTLP = "otlp" // logs, spans and metrics of OpenTelemetry

	FormCollector = "collector" // signed by the machine, to gate collect
)

// Levels of what [FormCollector] sends; package fleet has what each keeps.
const (
	SendCounts  = "counts"
	SendEffects = "effects"
	SendText    = "text"
)

// DecisionLogs say where the decision log is sent, and whether a call may pass
// that is not in it. The zero value sends nothing.
type DecisionLogs struct {
	URL        string            // as [CheckAddress] wants it; batches are posted there
	Form       string            // FormOPA, FormOTLP or FormCollector; "": FormOPA
	Level      string            // of FormCollector: SendCounts, SendEffects or SendText; "": SendEffects
	Pseudonyms string            // of FormCollector: absolute; the key for pseudonyms, "": the one that enrolment made
	Signals    []string          // of FormOTLP: logs, traces, metrics; none: all three
	CallText   bool              // of FormOTLP: the text of calls goes along
	TokenFile  string            // absolute; holds the bearer token, "": none
	CA         string            // absolute; PEM of who may have signed the server's certificate, "": whom the system trusts
	ClientCert string            // absolute; PEM of a certificate of this machine, "": none
	ClientKey  string            // absolute; its key, "": it stands in ClientCert
	Labels     map[string]string // go with every record, beside those of the machine

	// Optional is true where calls pass though the log cannot be written.
	Optional bool
}

// weighDecisionLogs takes in what a managed layer says of the log. Only the machine's
// own files and the first bundle may, and the files come first: whoever signs a
// later bundle must not have the log sent elsewhere. Two of one rank that say
// different things are an error of [Combine].
func (s *Settings) weighDecisionLogs(layers []*Layer) {
	for _, l := range layers {
		if l.DecisionLogs != nil {
			s.DecisionLogs = *l.DecisionLogs
			s.DecisionLogs.Labels = maps.Clone(l.DecisionLogs.Labels)
			s.DecisionLogs.Signals = slices.Clone(l.DecisionLogs.Signals)
			return
		}
	}
}
