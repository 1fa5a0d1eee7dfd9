package hookpath

import (
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"sync"
	"time"

	"gate/consent"
	"gate/hook"
	"gate/scopes"
	"gate/strictjson"
)

// An approver looks for what a person approved, and remembers what somebody
// would have to be asked about.
type approver struct {
	store consent.Store
	rules consent.Approvals

	mu  sync.Mutex
	why error // why the last question stays one
}

// Approve has the guard look for what a person approved, where settings let a
// person, and use it up. It is for a call that is about to be made, and comes
// before [Guard.Start].
func (g *Guard) Approve() {
	rules := g.Set.Settings().Approvals
	if !rules.Enabled {
		return
	}
	a, err := newApprover(g.Grants(), rules)
	if err != nil {
		g.Notices = append(g.Notices, "nobody can approve a call: "+err.Error())
		return
	}
	g.approver = a
}

func newApprover(store consent.Store, a scopes.Approvals) (*approver, error) {
	rules, err := ApprovalRules(a)
	return &approver{store: store, rules: rules}, err
}

// ApprovalRules reads the keys that settings name. Without any that can be
// read, a machine that requires one has nobody who could approve.
func ApprovalRules(a scopes.Approvals) (consent.Approvals, error) {
	rules := consent.Approvals{Enabled: a.Enabled, Life: time.Duration(a.Minutes) * time.Minute}
	if !a.KeyRequired {
		return rules, nil
	}
	var errs []error
	for _, text := range a.Keys {
		key, err := publicKey(text)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		rules.Keys = append(rules.Keys, key)
	}
	if len(rules.Keys) == 0 {
		return consent.Approvals{}, errors.Join(append(errs, errors.New("a key is required, and settings name none"))...)
	}
	return rules, nil
}

// publicKey reads an Ed25519 key: its 32 bytes in hex or base64.
func publicKey(text string) (ed25519.PublicKey, error) {
	for _, decode := range []func(string) ([]byte, error){hex.DecodeString, base64.StdEncoding.DecodeString} {
		if key, err := decode(text); err == nil && len(key) == ed25519.PublicKeySize {
			return key, nil
		}
	}
	return nil, fmt.Errorf("%s is no Ed25519 public key: give its 32 bytes in hex or base64", strictjson.Quoted(text))
}

// use is what the engine asks about a question.
func (a *approver) use(_ context.Context, ev *hook.Event, d *hook.Decision) (grant string, ok bool) {
	err := a.store.Use(ev, d, a.rules)
	a.mu.Lock()
	a.why = err
	a.mu.Unlock()
	return "by a person at a terminal, for this one call", err == nil
}

// remember keeps a call that is still asked about for whoever may approve it,
// and returns what the person should know.
func (a *approver) remember(ev *hook.Event, d *hook.Decision) []string {
	if d.Effect != hook.Ask {
		return nil
	}
	a.mu.Lock()
	why := a.why
	a.why = nil
	a.mu.Unlock()
	var notices []string
	var refusal consent.Refusal
	switch {
	case errors.As(why, &refusal) && refusal == consent.NoApproval:
	case why != nil:
		notices = append(notices, why.Error())
	}
	switch _, err := a.store.AddPending(ev, d, a.rules); {
	case errors.As(err, &refusal): // nothing that could be approved
	case err != nil:
		notices = append(notices, "this call cannot be approved: "+err.Error())
	default:
		notices = append(notices, fmt.Sprintf("a person may approve this one call, in a terminal of their own: gate approve %s", d.ID))
	}
	return notices
}
