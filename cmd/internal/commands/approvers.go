package commands

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/crypto/ssh"

	"gate/internal/hostfs"
	"gate/internal/install"
	"gate/internal/setting"
	"gate/internal/setup"
	"gate/internal/sshsig"
)

const (
	maxKeyFile  = 64 << 10 // bytes of a file of SSH
	maxKeyFiles = 256      // files that are looked at
)

// approverFindings say what is wrong with those who may answer from elsewhere: lines that
// name nobody, and keys that lie on this machine, so that a program of the agent's could
// sign with them.
func approverFindings(home string, a setting.Approvals) (list []install.Finding) {
	signers, err := setup.Approvers(a)
	if err != nil {
		list = append(list, install.Finding{
			ID: "gate.approvers", Severity: install.Warning, Message: err.Error(), Remedy: "write the line as in a file of allowed signers; see man ssh-keygen",
		})
	}
	if len(signers) == 0 || home == "" {
		return list
	}
	dir := filepath.Join(home, ".ssh")
	entries, err := os.ReadDir(dir)
	if err != nil {
		return list
	}
	for _, e := range entries[:min(len(entries), maxKeyFiles)] {
		if e.IsDir() || strings.HasSuffix(e.Name(), ".pub") {
			continue
		}
		file := filepath.Join(dir, e.Name())
		key := privateKeyOf(file)
		if key == nil {
			continue
		}
		for _, s := range signers {
			if bytes.Equal(s.Key.Marshal(), key.Marshal()) {
				list = append(list, keyFinding(file, s))
			}
		}
	}
	return list
}

func keyFinding(file string, s sshsig.Signer) install.Finding {
	f := install.Finding{
		ID: "gate.approvers", Severity: install.Warning, File: file,
		Message: fmt.Sprintf("the private key of the approver %s lies on this machine: a program that the agent runs may sign answers with it", s.Name()),
		Remedy:  "move the key to a machine that no agent runs on, or give the approver a key that has to be touched (ssh-keygen -t ed25519-sk)",
	}
	if strings.HasPrefix(s.Key.Type(), "sk-") { // the file is a handle only
		f.Severity = install.Notice
		f.Message = fmt.Sprintf("the key of the approver %s is used on this machine: each answer needs its touch, and a touch may be meant for something else", s.Name())
		f.Remedy = "sign answers on a machine that no agent runs on"
	}
	return f
}

// privateKeyOf is the public half of a private key in a file, also of one with a
// passphrase; nil: the file is no private key that SSH reads.
func privateKeyOf(file string) ssh.PublicKey {
	text, err := hostfs.Files{}.ReadFile(filepath.ToSlash(file), maxKeyFile)
	if err != nil || !bytes.Contains(text, []byte("PRIVATE KEY-----")) {
		return nil
	}
	signer, err := ssh.ParsePrivateKey(text)
	if err == nil {
		return signer.PublicKey()
	}
	var locked *ssh.PassphraseMissingError
	if errors.As(err, &locked) && locked.PublicKey != nil {
		return locked.PublicKey
	}
	public, err := hostfs.Files{}.ReadFile(filepath.ToSlash(file)+".pub", maxKeyFile) // such as of security keys
	if err != nil {
		return nil
	}
	key, _, _, _, err := ssh.ParseAuthorizedKey(public)
	if err != nil {
		return nil
	}
	return key
}
