package sshsig_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"golang.org/x/crypto/ssh"

	"gate/internal/sshsig"
)

// keygen makes a key by the real program, and signs by it.
func keygen(t *testing.T, kind string) (file string, key ssh.PublicKey) {
	t.Helper()
	if _, err := exec.LookPath("ssh-keygen"); err != nil {
		t.Skip("ssh-keygen is missing")
	}
	file = filepath.Join(t.TempDir(), "key")
	if out, err := exec.Command("ssh-keygen", "-q", "-t", kind, "-N", "", "-C", "ana", "-f", file).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	line, err := os.ReadFile(file + ".pub")
	if err != nil {
		t.Fatal(err)
	}
	if key, err = sshsig.Key(string(line)); err != nil {
		t.Fatal(err)
	}
	return file, key
}

func sign(t *testing.T, file, namespace string, text []byte) []byte {
	t.Helper()
	cmd := exec.Command("ssh-keygen", "-q", "-Y", "sign", "-n", namespace, "-f", file)
	cmd.Stdin = bytes.NewReader(text)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestVerify holds the reader to signatures of the real program.
func TestVerify(t *testing.T) {
	text := []byte("disableAllHooks: true\n")
	for _, kind := range []string{"ed25519", "ecdsa", "rsa"} {
		file, key := keygen(t, kind)
		_, other := keygen(t, "ed25519")
		sig := sign(t, file, "gate-consent", text)
		if err := sshsig.Verify(text, sig, "gate-consent", other, key); err != nil {
			t.Errorf("%s: %v", kind, err)
		}
		if err := sshsig.Verify(text, bytes.ReplaceAll(sig, []byte("\n"), []byte("\r\n")), "gate-consent", key); err != nil {
			t.Errorf("%s, typed by a terminal: %v", kind, err)
		}
		for name, err := range map[string]error{
			"another text":      sshsig.Verify([]byte("log: true\n"), sig, "gate-consent", key),
			"another key":       sshsig.Verify(text, sig, "gate-consent", other),
			"no key":            sshsig.Verify(text, sig, "gate-consent"),
			"another purpose":   sshsig.Verify(text, sign(t, file, "git", text), "gate-consent", key),
			"nothing":           sshsig.Verify(text, nil, "gate-consent", key),
			"a part":            sshsig.Verify(text, sig[:len(sig)/2], "gate-consent", key),
			"other armour":      sshsig.Verify(text, []byte("-----BEGIN X-----\nAAAA\n-----END X-----\n"), "gate-consent", key),
			"armour of nothing": sshsig.Verify(text, []byte("-----BEGIN SSH SIGNATURE-----\nU1NIU0lH\n-----END SSH SIGNATURE-----\n"), "gate-consent", key),
		} {
			if err == nil {
				t.Errorf("%s: %s is taken for a signature", kind, name)
			}
		}
	}
}

// FuzzVerify reads foreign bytes.
func FuzzVerify(f *testing.F) {
	key, err := sshsig.Key("ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIKHEChAaEEchkCcWAv5cs/vl9GZHjeYXPkh4lf9lTMU1 ana")
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte("-----BEGIN SSH SIGNATURE-----\nU1NIU0lHAAAAAQ==\n-----END SSH SIGNATURE-----\n"))
	f.Fuzz(func(t *testing.T, sig []byte) {
		if sshsig.Verify([]byte("x"), sig, "gate-consent", key) == nil {
			t.Error("nobody signed this")
		}
	})
}
