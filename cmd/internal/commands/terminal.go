package commands

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/crypto/ssh"

	"gate/hook"
	"gate/internal/consent"
	"gate/internal/load"
	"gate/internal/places"
	"gate/internal/setting"
	"gate/internal/setup"
	"gate/internal/sources"
	"gate/internal/sshsig"
)

// ancestors are the processes above this one, as far as they can be seen.
func (p process) ancestors() []consent.Ancestor {
	if p.above == nil {
		return nil
	}
	return p.above()
}

// terminal is where a person may be.
func (p process) terminal() consent.Terminal {
	t := consent.Terminal{
		In: p.stdin, Err: p.stderr, IsTerminal: p.isTerminal != nil && p.isTerminal(),
		Lookup: p.lookupEnv, Above: p.ancestors(), Account: places.AccountName(), Now: time.Now(),
	}
	if t.IsTerminal && p.farEnd != nil {
		t.Far = p.farEnd()
	}
	return t
}

// farEnd is what is known of the other end of this process's terminal.
func farEnd() consent.FarEnd { return consent.FarEndOf(os.Stdin, os.Stderr) }

// attended returns why nothing can be granted here, nil if it can.
func (p process) attended() error { return p.terminal().Refuse() }

// person shows a person what is about to be loosened, and returns once they agreed to
// it. Every command that loosens anything asks here, and no other way: what is demanded
// of a person has one place.
func (p process) person(d dirs, grant string) (*consent.Witness, error) {
	if err := p.attended(); err != nil {
		return nil, err
	}
	key, err := p.consentKey(d)
	if err != nil {
		return nil, err
	}
	t := p.terminal()
	t.Key = key
	return consent.Confirm(t, grant)
}

// consentKey is the key that settings demand in place of the code, nil if they demand
// none. Where that cannot be told, nothing is loosened.
func (p process) consentKey(d dirs) (*consent.Key, error) {
	g, err := setup.New(setup.Options{For: sources.For{Machine: p.machine(d, "")}})
	if err != nil {
		return nil, err
	}
	for _, src := range g.Sources {
		for _, f := range src.Faults {
			if src.Authority == hook.Managed && len(src.Hooks) == 0 && len(src.Modules) == 0 || src.Authority == hook.User && namesConsent(d) {
				return nil, fmt.Errorf("it is not known whether settings want a signature: %w", &f)
			}
		}
	}
	c := g.Set.Settings().Consent
	if c.Key != setting.KeyRequired {
		return nil, nil
	}
	var keys []ssh.PublicKey
	var errs []error
	for _, line := range c.Signers {
		key, err := sshsig.Key(line)
		if err != nil {
			errs = append(errs, fmt.Errorf("consent.signers: %s: %w", quoted(line), err))
			continue
		}
		keys = append(keys, key)
	}
	if len(keys) == 0 {
		return nil, errors.Join(append(errs, errors.New("settings want a signature and name no key: nobody can agree"))...)
	}
	return &consent.Key{Dir: filepath.Join(d.Grants().Dir, "to-sign"), Signed: func(form, signature []byte) error {
		if err := sshsig.Verify(form, signature, consent.Namespace, keys...); err != nil {
			return fmt.Errorf("%w: %w", consent.NotSigned, err)
		}
		return nil
	}}, nil
}

// namesConsent reports that a settings file of the user speaks of consent, though gate
// may not be able to read what it says.
func namesConsent(d dirs) bool {
	_, data, err := readSettings(d.User, load.SettingsStem)
	return err != nil || bytes.Contains(data, []byte("consent"))
}
