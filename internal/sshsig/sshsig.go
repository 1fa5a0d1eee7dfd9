// Package sshsig verifies signatures of ssh-keygen -Y sign: one armoured signature over
// one text, for one purpose, by one of some public keys.
//
// It signs nothing, and knows neither certificates nor lists of revoked keys. Start
// with [Key], and ask [Verify]; where keys have names and an end, start with [ReadSigner],
// and ask [Check].
package sshsig

import (
	"bytes"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"

	"golang.org/x/crypto/ssh"
)

// magic begins a signature, and what is signed, by PROTOCOL.sshsig of OpenSSH.
const magic = "SSHSIG"

// Key reads a public key, as in a line of authorized_keys without options.
func Key(line string) (ssh.PublicKey, error) {
	key, _, options, rest, err := ssh.ParseAuthorizedKey([]byte(line))
	switch {
	case err != nil:
		return nil, errors.New("no public key of SSH")
	case len(options) > 0 || len(bytes.TrimSpace(rest)) > 0:
		return nil, errors.New("a public key with options or further lines")
	}
	if _, certificate := key.(*ssh.Certificate); certificate {
		return nil, errors.New("a certificate, not a key")
	}
	return key, nil
}

// ErrStranger says that a signature is by none of the keys that count.
var ErrStranger = errors.New("a signature by a key that is not among them")

// Verify returns nil if one of the keys signed the text for the namespace. A signature of
// a security key counts only if it was touched.
func Verify(text, armoured []byte, namespace string, keys ...ssh.PublicKey) error {
	block, _ := pem.Decode(bytes.TrimSpace(bytes.ReplaceAll(armoured, []byte("\r"), nil)))
	if block == nil || block.Type != "SSH SIGNATURE" {
		return errors.New("no signature of ssh-keygen -Y sign")
	}
	body, begins := bytes.CutPrefix(block.Bytes, []byte(magic))
	var s struct {
		Version                   uint32
		Key                       []byte
		Namespace, Reserved, Hash string
		Signature                 []byte
	}
	if err := ssh.Unmarshal(body, &s); err != nil || !begins || s.Version != 1 {
		return errors.New("a signature of an unknown form")
	}
	if s.Namespace != namespace {
		return fmt.Errorf("a signature for %q, not for %q", s.Namespace, namespace)
	}
	var sum []byte
	switch s.Hash {
	case "sha256":
		h := sha256.Sum256(text)
		sum = h[:]
	case "sha512":
		h := sha512.Sum512(text)
		sum = h[:]
	default:
		return errors.New("a signature with an unknown hash")
	}
	var sig ssh.Signature
	if err := ssh.Unmarshal(s.Signature, &sig); err != nil {
		return errors.New("a signature of an unknown form")
	}
	for _, key := range keys {
		if !bytes.Equal(key.Marshal(), s.Key) {
			continue
		}
		if sig.Format == ssh.KeyAlgoRSA {
			return errors.New("an RSA signature with SHA-1")
		}
		if strings.HasPrefix(key.Type(), "sk-") && (len(sig.Rest) == 0 || sig.Rest[0]&1 == 0) {
			return errors.New("a signature of a security key that nobody touched")
		}
		signed := append([]byte(magic), ssh.Marshal(struct {
			Namespace, Reserved, Hash string
			Sum                       []byte
		}{s.Namespace, s.Reserved, s.Hash, sum})...)
		return key.Verify(signed, &sig)
	}
	return ErrStranger
}
