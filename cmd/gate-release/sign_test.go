package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// newKey makes a pair of keys and returns the private one's file.
func newKey(t *testing.T) string {
	t.Helper()
	if _, err := exec.LookPath("ssh-keygen"); err != nil {
		t.Skip("OpenSSH is missing: .ci/with archives runs this")
	}
	file := filepath.Join(t.TempDir(), "key")
	if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "account@machine", "-f", file).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return file
}

// verify checks a release as docs/releases.md has it.
func verify(dir, allowed string) (string, error) {
	sums, err := os.ReadFile(filepath.Join(dir, checksums))
	if err != nil {
		return "", err
	}
	cmd := exec.Command("ssh-keygen", "-Y", "verify", "-f", allowed, "-I", "releases", "-n", "file", "-s", filepath.Join(dir, signature))
	cmd.Stdin = bytes.NewReader(sums)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// published is the list of keys as it stands in the tree, with one key added.
func published(t *testing.T, key string) string {
	t.Helper()
	list, err := os.ReadFile("../../" + allowedSigners)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "allowed_signers")
	if err := os.WriteFile(file, list, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := publish(key, file); err != nil {
		t.Fatal(err)
	}
	return file
}

// TestSigned holds that a release is verified by OpenSSH with the published key, and no
// longer once a byte of the checksums is another, or with another key.
func TestSigned(t *testing.T) {
	key := newKey(t)
	tree := newTiny(t)
	r := tree.release("linux/amd64")
	r.signer = signer{key, published(t, key)}
	if err := r.Make(t.Context()); err != nil {
		t.Fatal(err)
	}
	out, err := verify(r.Out, r.signer.allowed)
	if err != nil || !strings.Contains(out, `Good "file" signature for releases`) {
		t.Errorf("%v: %s", err, out)
	}
	if out, err := verify(r.Out, published(t, newKey(t))); err == nil {
		t.Errorf("verified by another key: %s", out)
	}
	var said, notes strings.Builder
	if err := r.report(&said, &notes); err != nil || !strings.Contains(notes.String(), "signed by "+key) || strings.Contains(notes.String(), "unsigned") {
		t.Errorf("%v %s", err, notes.String())
	}
	sums, err := os.ReadFile(filepath.Join(r.Out, checksums))
	if err != nil || said.String() != string(sums) {
		t.Fatal(err, said.String())
	}
	sums[0] ^= 1
	if err := os.WriteFile(filepath.Join(r.Out, checksums), sums, 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := verify(r.Out, r.signer.allowed); err == nil {
		t.Errorf("verified although a digest is another: %s", out)
	}
}

// TestUnsigned holds that a release without a key says so, and that an older one's
// signature does not lie beside its checksums.
func TestUnsigned(t *testing.T) {
	r := newTiny(t).release("linux/amd64")
	if err := os.WriteFile(filepath.Join(r.Out, signature), []byte("of an older release"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := r.Make(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(r.Out, signature)); err == nil {
		t.Error("the old signature is there")
	}
	var said, notes strings.Builder
	if err := r.report(&said, &notes); err != nil || !strings.Contains(notes.String(), "the release is unsigned") {
		t.Errorf("%v %s", err, notes.String())
	}
}

// TestKeyRefused holds that nothing is built for a key that nobody could check the
// release by, and that no checksums are left.
func TestKeyRefused(t *testing.T) {
	key, other := newKey(t), newKey(t)
	tree := newTiny(t)
	for name, test := range map[string]struct {
		signer signer
		want   string
	}{
		"the list as it is": {signer{key, ""}, "is not published"},
		"another's":         {signer{key, published(t, other)}, "is not published"},
		"no such key":       {signer{key + "-none", published(t, key)}, "ssh-keygen -Y sign"},
		"no such list":      {signer{key, key + ".none"}, "is not published"},
	} {
		r := tree.release("linux/amd64")
		if test.signer.allowed == "" {
			test.signer.allowed, _ = filepath.Abs("../../" + allowedSigners)
		}
		r.signer = test.signer
		if err := os.WriteFile(filepath.Join(r.Out, checksums), []byte("of an older release"), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := r.Make(t.Context()); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v", name, err)
		}
		if files := read(t, r.Out); len(files) > 0 {
			t.Errorf("%s: %d files are there", name, len(files))
		}
	}
}

// TestPublish holds which keys are taken into the list, and how they stand in it.
func TestPublish(t *testing.T) {
	key := newKey(t)
	list := published(t, key)
	for name, file := range map[string]string{"twice": key, "twice, by its public half": key + ".pub"} {
		if line, err := publish(file, list); err == nil || !strings.Contains(err.Error(), "has this key already") {
			t.Errorf("%s: %q %v", name, line, err)
		}
	}
	text, err := os.ReadFile(list)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	if last := lines[len(lines)-1]; !strings.HasPrefix(last, `releases namespaces="file" ssh-ed25519 AAAA`) || strings.Contains(string(text), "account@machine") {
		t.Errorf("the list is\n%s", text)
	}
	private, err := os.ReadFile(key)
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string]string{
		"private": string(private), "empty": "", "words": "no key at all\n", "two lines": "ssh-ed25519 AAAA a\nssh-ed25519 BBBB b\n",
	} {
		file := filepath.Join(t.TempDir(), "wrong.pub")
		if err := os.WriteFile(file, []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
		if line, err := publish(file, list); err == nil {
			t.Errorf("%s: %q", name, line)
		}
	}
	if line, err := publish(key+"-none", list); err == nil || !strings.Contains(err.Error(), "no public key") {
		t.Errorf("%q %v", line, err)
	}
	if now, err := os.ReadFile(list); err != nil || !bytes.Equal(now, text) {
		t.Errorf("the list was changed: %v\n%s", err, now)
	}
}

// TestLocated holds where files are that a person names.
func TestLocated(t *testing.T) {
	r := Release{Tree: t.TempDir()}
	home, err := os.UserHomeDir()
	if err != nil {
		t.Skip(err)
	}
	for name, want := range map[string]string{
		"~/.ssh/key": filepath.Join(home, ".ssh/key"), "packaging/x": filepath.Join(r.Tree, "packaging/x"), home: home, "-x": filepath.Join(r.Tree, "-x"),
	} {
		if got, err := r.located(name); err != nil || got != want {
			t.Errorf("%s is %s %v", name, got, err)
		}
	}
}
