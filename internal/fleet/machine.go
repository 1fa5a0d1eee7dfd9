package fleet

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"path/filepath"
	"strings"
	"time"

	"gate/internal/format"
	"gate/internal/hostfs"
	"gate/internal/strictjson"
)

// Files of a machine in the state directory of the account that sends.
const (
	keyFile       = "machine.key"
	pseudonymFile = "pseudonyms.key"
	statusFile    = "status.json"
	lockFile      = "machine.lock"
)

// maxKeyFile bounds a file of keys, in bytes.
const maxKeyFile = 16 << 10

// A Machine can sign. It has no key of anything else.
type Machine struct {
	Name     string    // as sealed.MachineName makes it
	URL      string    // the collector that took the key; "": none did so far
	Enrolled time.Time // when

	dir string
	key ed25519.PrivateKey
}

// Open reads the key of this machine from a state directory. Where there is none, the error
// is fs.ErrNotExist.
func Open(dir string) (*Machine, error) {
	m, err := readMachine(dir)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(dir, keyFile), hostfs.Reason(err))
	}
	return m, nil
}

func readMachine(dir string) (*Machine, error) {
	data, err := readPrivate(dir, keyFile, maxKeyFile)
	if err != nil {
		return nil, err
	}
	doc, err := strictjson.Object(data, strictjson.Limits{Bytes: maxKeyFile})
	if err != nil {
		return nil, err
	}
	if err := format.MachineKey.CheckMark(text(doc, "type")); err != nil {
		return nil, fmt.Errorf("type: %w", err)
	}
	seed, err := base64.StdEncoding.DecodeString(text(doc, "key"))
	if err != nil || len(seed) != ed25519.SeedSize {
		return nil, errors.New("key: it is no key")
	}
	m := &Machine{Name: text(doc, "machine"), URL: text(doc, "url"), dir: dir, key: ed25519.NewKeyFromSeed(seed)}
	if !IsMachine(m.Name) {
		return nil, fmt.Errorf("machine: %w", errNoMachine)
	}
	m.Enrolled, _ = time.Parse(time.RFC3339, text(doc, "enrolled"))
	return m, nil
}

// readPrivate reads a file of a directory that is this account's alone.
func readPrivate(dir, name string, most int) ([]byte, error) {
	root, err := hostfs.OpenDir(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return hostfs.ReadFile(root, name, most)
}

// Make returns the machine of a state directory, with a key and a key for pseudonyms that
// are made where they are missing. The directory must be there, and its lock held: see
// [Lock].
func Make(dir, name string) (*Machine, error) {
	if !IsMachine(name) {
		return nil, errNoMachine
	}
	m, err := Open(dir)
	if errors.Is(err, fs.ErrNotExist) {
		m = &Machine{Name: name, dir: dir}
		if _, m.key, err = ed25519.GenerateKey(rand.Reader); err == nil {
			err = m.save()
		}
	}
	if err != nil {
		return nil, err
	}
	if err := m.Is(name); err != nil {
		return nil, err
	}
	return m, makePseudonyms(filepath.Join(dir, pseudonymFile))
}

// Is reports why the key is not that of a machine: a copy of a disk brings another
// machine's.
func (m *Machine) Is(name string) error {
	if m.Name == name {
		return nil
	}
	return fmt.Errorf("%s is the key of machine %s, and this is machine %s: where the disk was copied, remove the file and enrol this machine",
		filepath.Join(m.dir, keyFile), m.Name, name)
}

// Taken notes that a collector has the machine's key.
func (m *Machine) Taken(url string, now time.Time) error {
	m.URL, m.Enrolled = url, now
	return m.save()
}

func (m *Machine) save() error {
	doc := map[string]any{"type": format.MachineKey.Mark(), "machine": m.Name, "key": base64.StdEncoding.EncodeToString(m.key.Seed())}
	if m.URL != "" {
		doc["url"], doc["enrolled"] = m.URL, m.Enrolled.UTC().Format(time.RFC3339)
	}
	return replace(filepath.Join(m.dir, keyFile), strictjson.Append(nil, doc))
}

func replace(path string, data []byte) error {
	if err := hostfs.Replace(path, append(data, '\n'), 0o600); err != nil {
		return fmt.Errorf("%s: %w", path, hostfs.Reason(err))
	}
	return nil
}

// Public is the machine's public key, as [ParseKey] reads it.
func (m *Machine) Public() string {
	return base64.StdEncoding.EncodeToString(m.key.Public().(ed25519.PublicKey))
}

// signs returns what signs requests to a path.
func (m *Machine) signs(path string) func(http.Header, []byte) {
	return func(h http.Header, body []byte) {
		Sign(h, m.key, m.Name, http.MethodPost, path, body, time.Now())
	}
}

// Enrollment is what the machine posts to be enrolled.
func (m *Machine) Enrollment(token, host string, labels map[string]string) Enrollment {
	return Enrollment{Token: token, Machine: m.Name, Key: m.Public(), Host: host, Labels: labels}
}

// makePseudonyms makes a key for pseudonyms where there is none.
func makePseudonyms(path string) error {
	_, err := ReadPseudonyms(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	var key [32]byte
	rand.Read(key[:]) // never fails
	return replace(path, []byte(format.PseudonymKey.Mark()+" "+hex.EncodeToString(key[:])))
}

// ReadPseudonyms reads a key for pseudonyms, which several machines may share.
func ReadPseudonyms(path string) (Pseudonyms, error) {
	data, err := hostfs.Files{}.ReadFile(filepath.ToSlash(path), maxKeyFile)
	if err != nil {
		return Pseudonyms{}, fmt.Errorf("%s: %w", path, hostfs.Reason(err))
	}
	mark, digits, _ := strings.Cut(strings.TrimSpace(string(data)), " ")
	if err := format.PseudonymKey.CheckMark(mark); err != nil {
		return Pseudonyms{}, fmt.Errorf("%s: %w", path, err)
	}
	key, err := hex.DecodeString(digits)
	if err != nil || len(key) < MinPseudonymKey {
		return Pseudonyms{}, fmt.Errorf("%s: %d hexadecimal digits or more are wanted behind %s", path, 2*MinPseudonymKey, mark)
	}
	return Pseudonyms{Key: key}, nil
}

// Pseudonyms reads the key for pseudonyms that [Make] made.
func (m *Machine) Pseudonyms() (Pseudonyms, error) {
	return ReadPseudonyms(filepath.Join(m.dir, pseudonymFile))
}
