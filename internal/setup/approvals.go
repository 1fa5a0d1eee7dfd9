package setup

import (
	"crypto/ed25519"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"gate/internal/consent"
	"gate/internal/setting"
	"gate/internal/strictjson"
)

// useApprovals has the Gate look for what a person approved, where settings
// let a person.
func (g *Gate) useApprovals() {
	rules, err := ApprovalRules(g.Set.Settings().Approvals)
	if err != nil {
		g.Notices = append(g.Notices, "nobody can approve a call: "+err.Error())
		return
	}
	g.Approve(rules)
}

// ApprovalRules reads the keys that settings name. Without any that can be
// read, a machine that requires one has nobody who could approve.
func ApprovalRules(a setting.Approvals) (consent.Approvals, error) {
	if !a.Enabled {
		return consent.Approvals{}, nil
	}
	rules := consent.Approvals{Enabled: true, Life: time.Duration(a.Minutes) * time.Minute}
	if !a.KeyRequired {
		return rules, nil
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
		return consent.Approvals{}, errors.Join(append(errs, errors.New("a key is required, and settings name none"))...)
	}
	rules.Signed = func(form, signature []byte) bool {
		for _, key := range keys {
			if ed25519.Verify(key, form, signature) {
				return true
			}
		}
		return false
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
