package commands

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"gate/bundles"
	"gate/internal/consent"
	"gate/internal/sealed"
)

// signerFlags say who signs: private keys in files, and programs in front of
// hardware or a key service.
type signerFlags struct {
	files, commands []string
}

func (f *signerFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&f.files, "key", nil, "sign with a private key: ID=FILE (repeatable)")
	cmd.Flags().StringArrayVar(&f.commands, "signer", nil, "sign with a program: 'ID=COMMAND'; it gets the digest on standard input and prints the signature in base64 (repeatable)")
}

const signerHelp = "\nA program given with --signer is run by the shell. Its standard input is the digest of\n" +
	"what is signed (for Ed25519 the message), as raw bytes; GATE_KEY and GATE_ALGORITHM\n" +
	"say which key is meant. ECDSA signatures may be DER.\n"

// A namedSigner signs in the name of a key of the key set.
type namedSigner struct {
	id string
	by sealed.Signer
}

// signers opens what the flags name. An agent signs nothing.
func (f *signerFlags) signers(ctx context.Context, p process) ([]namedSigner, error) {
	if len(f.files)+len(f.commands) == 0 {
		return nil, nil
	}
	if err := noAgent(p); err != nil {
		return nil, err
	}
	var list []namedSigner
	for _, given := range f.files {
		id, path, ok := strings.Cut(given, "=")
		if !ok {
			return nil, usageError("--key " + quoted(given) + ": give ID=FILE")
		}
		data, err := readFile(path, 64<<10)
		if err != nil {
			return nil, err
		}
		if info, err := os.Stat(path); err == nil && runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
			return nil, fmt.Errorf("%s: others can read this private key; make it yours alone (chmod 600)", path)
		}
		key, err := bundles.ParsePrivate(data)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		list = append(list, namedSigner{id, key})
	}
	for _, given := range f.commands {
		id, command, ok := strings.Cut(given, "=")
		if !ok || strings.TrimSpace(command) == "" {
			return nil, usageError("--signer " + quoted(given) + ": give ID=COMMAND")
		}
		list = append(list, namedSigner{id, commandSigner{ctx: ctx, p: p, id: id, line: command}})
	}
	return list, nil
}

// ids are the names of the keys that the flags name.
func (f *signerFlags) ids() (ids []string) {
	for _, given := range slices.Concat(f.files, f.commands) {
		id, _, _ := strings.Cut(given, "=")
		ids = append(ids, id)
	}
	return ids
}

// noAgent refuses what only people and their build servers may do.
func noAgent(p process) error { return consent.Refuse(true, p.lookupEnv, p.ancestors()...) }

// A commandSigner has a program sign.
type commandSigner struct {
	ctx      context.Context
	p        process
	id, line string
}

// signerLimit is long enough for somebody to touch a hardware key.
const signerLimit = 2 * time.Minute

// Sign implements [sealed.Signer].
func (c commandSigner) Sign(a bundles.Algorithm, digest []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeout(c.ctx, signerLimit)
	defer cancel()
	shell := []string{"/bin/sh", "-c"}
	if runtime.GOOS == "windows" {
		shell = []string{"cmd", "/c"}
	}
	cmd := exec.CommandContext(ctx, shell[0], shell[1], c.line)
	cmd.Env = append(cmd.Environ(), c.p.env...)
	cmd.Env = append(cmd.Env, "GATE_KEY="+c.id, "GATE_ALGORITHM="+string(a))
	cmd.Stdin, cmd.Stderr, cmd.WaitDelay = bytes.NewReader(digest), c.p.stderr, time.Second
	var out limitedBuffer
	cmd.Stdout = &out
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("the signer %s: %w", quoted(c.line), err)
	}
	sig, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(out.String()), ""))
	if err != nil {
		return nil, fmt.Errorf("the signer %s printed no base64", quoted(c.line))
	}
	return sig, nil
}

// A limitedBuffer takes what a signature needs and no more.
type limitedBuffer struct{ bytes.Buffer }

func (b *limitedBuffer) Write(data []byte) (int, error) {
	if b.Len()+len(data) > 64<<10 {
		return 0, errors.New("too much output")
	}
	return b.Buffer.Write(data)
}
