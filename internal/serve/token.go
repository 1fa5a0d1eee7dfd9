package serve

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"gate/internal/hostfs"
)

// minToken is the shortest token that is taken from a file.
const minToken = 32

// Token reads the token in a file that must be this account's alone, and makes
// both where they are missing.
func Token(path string) (string, error) {
	dir, name := filepath.Split(path)
	if err := privateDir(dir); err != nil {
		return "", err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return "", err
	}
	defer root.Close()
	if err := makeToken(root, name); err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	data, err := hostfs.ReadFile(root, name, 1<<10)
	if err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	token := strings.TrimSpace(string(data))
	if len(token) < minToken || strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return "", fmt.Errorf("%s: a token is at least %d printable ASCII characters; remove the file to get a new one", path, minToken)
	}
	return token, nil
}

// makeToken writes a token unless there is a file already. It gets its name when
// it is whole.
func makeToken(root *os.Root, name string) error {
	if _, err := root.Lstat(name); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	fresh := name + "." + rand.Text()
	if err := root.WriteFile(fresh, []byte(rand.Text()+rand.Text()+"\n"), 0o600); err != nil {
		return err
	}
	defer root.Remove(fresh)
	if err := root.Link(fresh, name); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}
