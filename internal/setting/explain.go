package setting

import (
	"gate/hook"
)

// A Row is one value that a settings file gives, for gate settings: where it
// stands and what became of it.
type Row struct {
	Key       string // disableAllHooks, policies.acme.push, params.acme.push.branches, exceptions.0 …
	Value     any    // a JSON tree
	Authority hook.Authority
	Pos       string // file:line
	Counts    bool
	Why       string // why it does not count, or what it overrides; "" if there is nothing to say
	Bundle    string // the signed bundle that it stands in; "" for a file of the machine's own
	Breaks    string // the policy that cannot answer while it stands; "" if it does no such harm

	Layer *Layer
}

// rows lists what one layer says, not yet in order.
func (l *Layer) Rows() []Row {
	var rows []Row
	for i := range TableOf {
		TableOf[i].Values(TableOf[i].said(l), func(key string, value any, _ ...string) {
			rows = append(rows, Row{Key: key, Value: value, Authority: l.Authority, Pos: l.Pos(key), Bundle: l.Bundle, Layer: l})
		})
	}
	return rows
}
