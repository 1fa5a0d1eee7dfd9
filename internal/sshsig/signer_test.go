package sshsig_test

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"gate/internal/sshsig"
)

const plainKey = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIKHEChAaEEchkCcWAv5cs/vl9GZHjeYXPkh4lf9lTMU1"

// TestReadSigner reads lines of allowed signers, and refuses what it cannot keep to.
func TestReadSigner(t *testing.T) {
	s, err := sshsig.ReadSigner(`ana@acme.example,ana namespaces="gate-approval,git",valid-after="20260101Z",valid-before="202701011230Z" ` + plainKey + " key of Ana")
	if err != nil {
		t.Fatal(err)
	}
	if s.Name() != "ana@acme.example" || len(s.Names) != 2 || len(s.Namespaces) != 2 ||
		!s.After.Equal(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)) || !s.Before.Equal(time.Date(2027, 1, 1, 12, 30, 0, 0, time.UTC)) {
		t.Errorf("%+v", s)
	}
	for line, want := range map[string]string{
		"":                                     "no line of allowed signers",
		plainKey:                               "no line of allowed signers", // without a name
		"ana":                                  "no line of allowed signers",
		"# ana " + plainKey:                    "no line of allowed signers",
		"ana " + plainKey + "\nbo " + plainKey: "no line of allowed signers",
		"ana,,bo " + plainKey:                  "a name is empty",
		"ana cert-authority " + plainKey:       "not supported",
		`ana valid-before="soon" ` + plainKey:  "no time such as",
		`ana valid-before="2027" ` + plainKey:  "no time such as",
		`ana verify-required ` + plainKey:      "not supported",
	} {
		if _, err := sshsig.ReadSigner(line); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", line, err, want)
		}
	}
}

// TestCheck holds what a signer's line allows to signatures of the real program.
func TestCheck(t *testing.T) {
	text := []byte("answer yes\n")
	file, _ := keygen(t, "ed25519")
	public, err := os.ReadFile(file + ".pub")
	if err != nil {
		t.Fatal(err)
	}
	sig := sign(t, file, "gate-approval", text)
	now := time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)
	for options, want := range map[string]string{
		"":                                  "",
		`namespaces="gate-approval" `:       "",
		`valid-before="20261129Z" `:         "",
		`valid-after="20261128Z" `:          "",
		`valid-before="20261128Z" `:         "has expired",
		`valid-before="202611281200Z" `:     "has expired",
		`valid-after="202611281201Z" `:      "does not count yet",
		`namespaces="git" `:                 "may not sign",
		`namespaces="gate-approval-other" `: "may not sign",
	} {
		s, err := sshsig.ReadSigner("ana " + options + string(public))
		if err != nil {
			t.Fatal(options, err)
		}
		who, err := sshsig.Check(text, sig, "gate-approval", now, s)
		switch {
		case want == "" && (err != nil || who.Name() != "ana" || who.Fingerprint() != s.Fingerprint()):
			t.Errorf("%s: %v", options, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%s: %v, want %q", options, err, want)
		}
		if _, err := sshsig.Check([]byte("answer no\n"), sig, "gate-approval", now, s); err == nil {
			t.Errorf("%s: another text counts", options)
		}
	}
	stranger, err := sshsig.ReadSigner("bo " + plainKey)
	if err != nil {
		t.Fatal(err)
	}
	for name, list := range map[string][]sshsig.Signer{"nobody": nil, "somebody else": {stranger}} {
		if _, err := sshsig.Check(text, sig, "gate-approval", now, list...); !errors.Is(err, sshsig.ErrStranger) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
