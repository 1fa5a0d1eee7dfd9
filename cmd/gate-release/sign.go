package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Releases are signed by OpenSSH, so that whoever checks one needs nothing of gate's.
const (
	signature = checksums + ".sig"
	// principal is who signs, in the list of public keys.
	principal = "releases"
	// namespace is what ssh-keygen(1) has for files.
	namespace = "file"
	// allowedSigners is the list of public keys, in the tree.
	allowedSigners = "packaging/allowed_signers"
)

// A signer signs the checksums of a release with a private key whose public half is
// published. The zero value signs nothing.
type signer struct {
	key     string // a private key, or the public half of one that ssh-agent has
	allowed string // the list of public keys
}

// sign returns the signature of a text, which is verified as users verify it.
func (s signer) sign(ctx context.Context, r *Release, text []byte) ([]byte, error) {
	signed, err := r.feed(ctx, text, nil, "ssh-keygen", "-Y", "sign", "-f", s.key, "-n", namespace)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "gate-release-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, signature)
	if err := os.WriteFile(file, signed, 0o600); err != nil {
		return nil, err
	}
	if _, err := r.feed(ctx, text, nil, "ssh-keygen", "-Y", "verify", "-f", s.allowed, "-I", principal, "-n", namespace, "-s", file); err != nil {
		return nil, fmt.Errorf("the public half of %s is not published in %s, so that nobody could check the release: %w", s.key, s.allowed, err)
	}
	return signed, nil
}

// try signs something that is no release, before anything is built: a key that is missing
// or not published is said at once.
func (s signer) try(ctx context.Context, r *Release) error {
	_, err := s.sign(ctx, r, []byte("a trial of the key, and no release\n"))
	return err
}

// located is the path of a file that a person named: "~/" is the home directory, and
// other relative paths begin at the root of the tree, where make runs.
func (r *Release) located(name string) (string, error) {
	if rest, ok := strings.CutPrefix(name, "~/"); ok {
		home, err := os.UserHomeDir()
		return filepath.Join(home, rest), err
	}
	if filepath.IsAbs(name) {
		return name, nil
	}
	return filepath.Join(r.Tree, name), nil
}

// publish adds the public half of the signer's key to the published ones.
func (r *Release) publish() error {
	if r.signer.key == "" {
		return errors.New("no key is named: KEY=~/.ssh/id_ed25519")
	}
	line, err := publish(r.signer.key, r.signer.allowed)
	if err != nil {
		return err
	}
	fmt.Printf("%s has the key now; commit it:\n%s", r.signer.allowed, line)
	return nil
}

// publish adds a public key to a list of allowed signers, and returns its line there.
func publish(key, list string) (string, error) {
	if !strings.HasSuffix(key, ".pub") {
		key += ".pub"
	}
	data, err := os.ReadFile(key)
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("there is no public key %s: ssh-keygen makes one beside the private key", key)
	} else if err != nil {
		return "", err
	}
	words := strings.Fields(string(data))
	if bytes.Contains(data, []byte("PRIVATE KEY")) || strings.Count(strings.TrimSpace(string(data)), "\n") > 0 || len(words) < 2 || !publicKind(words[0]) {
		return "", fmt.Errorf("%s is no public key of OpenSSH: one line, such as ssh-ed25519 AAAA…", key)
	}
	was, err := os.ReadFile(list)
	if err != nil {
		return "", err
	}
	if slices.Contains(strings.Fields(string(was)), words[1]) {
		return "", fmt.Errorf("%s has this key already", list)
	}
	if len(was) > 0 && was[len(was)-1] != '\n' {
		was = append(was, '\n')
	}
	// Without its comment, which often has the name of an account and a machine.
	line := fmt.Sprintf("%s namespaces=%q %s %s\n", principal, namespace, words[0], words[1])
	return line, os.WriteFile(list, append(was, line...), 0o644)
}

// publicKind reports a kind of keys that OpenSSH signs files with.
func publicKind(word string) bool {
	return slices.Contains([]string{
		"ssh-ed25519", "ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384", "ecdsa-sha2-nistp521", "ssh-rsa",
		"sk-ssh-ed25519@openssh.com", "sk-ecdsa-sha2-nistp256@openssh.com",
	}, word)
}
