package setup

import (
	"crypto/ed25519"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"gate/internal/consent"
	"gate/internal/core"
	"gate/internal/elsewhere"
	"gate/internal/setting"
	"gate/internal/sshsig"
	"gate/internal/strictjson"
)

// useApprovals has the Gate look for what a person approved, where settings
// let a person.
func (g *Gate) useApprovals() {
	rules, err := ApprovalRules(g.Set.Settings().Approvals)
	if err != nil && !rules.Enabled {
		g.Notices = append(g.Notices, "nobody can approve a call: "+err.Error())
		return
	}
	if err != nil {
		g.Notices = append(g.Notices, "not everybody can answer a question from elsewhere: "+err.Error())
	}
	var desk core.Elsewhere
	if rules.Elsewhere != nil {
		desk = &elsewhere.Desk{Store: g.Grants(), Rules: rules, Settings: g.Set.Settings().Approvals, Roots: g.options.Handlers.Roots}
	}
	g.Approve(rules, desk)
}

// ApprovalRules reads the keys that settings name. Without any that can be
// read, a machine that requires one has nobody who could approve: then the rules are the
// zero ones. Otherwise an error is about approvers who cannot answer from elsewhere.
func ApprovalRules(a setting.Approvals) (consent.Approvals, error) {
	if !a.Enabled {
		return consent.Approvals{}, nil
	}
	rules := consent.Approvals{Enabled: true, Life: time.Duration(a.Minutes) * time.Minute}
	if err := requireKey(&rules, a); err != nil {
		return consent.Approvals{}, err
	}
	signers, err := Approvers(a)
	if len(signers) > 0 {
		rules.Elsewhere = func(statement, signature []byte, at time.Time) (string, error) {
			s, err := sshsig.Check(statement, signature, consent.ApprovalNamespace, at, signers...)
			if err != nil {
				return "", err
			}
			return s.Name(), nil
		}
	}
	return rules, err
}

// Approvers reads those of the settings who may answer from elsewhere. An error is about
// lines that name nobody; the others count all the same.
func Approvers(a setting.Approvals) (list []sshsig.Signer, err error) {
	var errs []error
	for _, text := range a.Approvers {
		s, err := sshsig.ReadSigner(text)
		if err != nil {
			errs = append(errs, fmt.Errorf("approvals.approvers: %s: %w", strictjson.Quoted(text), err))
			continue
		}
		list = append(list, s)
	}
	return list, errors.Join(errs...)
}

// requireKey has the rules demand a signature for what is approved at a terminal, where
// settings do.
func requireKey(rules *consent.Approvals, a setting.Approvals) error {
	if !a.KeyRequired {
		return nil
	}
	var keys []ed25519.PublicKey
	var errs []error
	for _, text := range a.Keys {
		key, err := publicKey(text)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		keys = append(keys, key)
	}
	if len(keys) == 0 {
		return errors.Join(append(errs, errors.New("a key is required, and settings name none"))...)
	}
	rules.Signed = func(form, signature []byte) bool {
		for _, key := range keys {
			if ed25519.Verify(key, form, signature) {
				return true
			}
		}
		return false
	}
	return nil
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
