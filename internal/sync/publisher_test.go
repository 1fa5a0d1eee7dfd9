package sync_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"
	"time"

	"gate/bundles"
	"gate/internal/sealed"
	"gate/internal/sync"
)

// now is the time of every test.
var now = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// A publisher makes and signs bundles.
type publisher struct {
	t       testing.TB
	private *bundles.PrivateKey
	keys    *bundles.KeySet
}

func newPublisher(t testing.TB) *publisher {
	t.Helper()
	p := &publisher{t: t}
	var public bundles.Key
	p.private, public = p.key()
	public.Bundles = []string{"*"}
	p.keys = &bundles.KeySet{
		Version: 1, Root: sealed.Role{Keys: []string{"release"}, Threshold: 1}, Keys: map[string]bundles.Key{"release": public},
	}
	return p
}

// key makes a key.
func (p *publisher) key() (*bundles.PrivateKey, bundles.Key) {
	p.t.Helper()
	pem, err := bundles.GenerateKey(sealed.ES256)
	p.check(err)
	private, err := bundles.ParsePrivate(pem)
	p.check(err)
	public, err := private.Public()
	p.check(err)
	key, err := bundles.ImportKey(public, sealed.ES256)
	p.check(err)
	return private, key
}

func (p *publisher) check(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

// keySet is the file keys.json.
func (p *publisher) keySet() []byte {
	p.t.Helper()
	data, err := p.keys.Encode()
	p.check(err)
	return data
}

// offer is a bundle that denies, in its reason, what its version is.
func (p *publisher) offer(name string, version int64, change ...func(*bundles.Metadata)) sync.Offer {
	p.t.Helper()
	manifest, err := json.Marshal(map[string]any{
		"roots": []string{name, "gate/bundles/" + name}, "metadata": map[string]any{"gate": map[string]any{"name": name, "version": version}},
	})
	p.check(err)
	archive, err := bundles.Pack(fstest.MapFS{
		".manifest":                           {Data: manifest},
		name + "/a.rego":                      {Data: fmt.Appendf(nil, "package %s\n\nversion := %d\n", name, version)},
		name + "/b/data.json":                 {Data: fmt.Appendf(nil, `{"version": %d}`, version)},
		"gate/bundles/" + name + "/data.json": {Data: []byte(`{"settings": {}}`)},
	}, func(m *bundles.Metadata) {
		for _, c := range change {
			c(m)
		}
	})
	p.check(err)
	signed, err := bundles.SignInside(archive, bundles.Signing{ID: "release", Key: p.keys.Keys["release"], By: p.private})
	p.check(err)
	return sync.Offer{Name: name, Archive: signed}
}

// A machine is a managed directory.
type machine struct {
	t     testing.TB
	dir   string
	rules sync.Rules
}

func newMachine(t testing.TB, keys []byte) *machine {
	t.Helper()
	m := &machine{t: t, dir: t.TempDir(), rules: sync.Rules{Now: now, Gate: "v1.0.0"}}
	m.write(sync.KeysFile, keys)
	return m
}

// copy is another machine with the same files.
func (m *machine) copy() *machine {
	m.t.Helper()
	other := &machine{t: m.t, dir: m.t.TempDir(), rules: m.rules}
	if err := os.CopyFS(other.dir, os.DirFS(m.dir)); err != nil {
		m.t.Fatal(err)
	}
	return other
}

func (m *machine) write(name string, data []byte) {
	m.t.Helper()
	if err := os.WriteFile(filepath.Join(m.dir, name), data, 0o644); err != nil {
		m.t.Fatal(err)
	}
}

// activate expects the machine to be in order.
func (m *machine) activate(offers ...sync.Offer) []sync.Outcome {
	m.t.Helper()
	out, err := sync.Store{Dir: m.dir}.Activate(context.Background(), offers, m.rules)
	if err != nil {
		m.t.Fatal(err)
	}
	return out
}

// inForce reads what a call would be judged by: name and version, in order.
// Files that are not those that were verified fail the test.
func (m *machine) inForce() string {
	m.t.Helper()
	text := ""
	for i, a := range m.current().All() {
		files, err := a.Open(os.DirFS(filepath.Join(m.dir, sync.Dir)))
		if err != nil {
			m.t.Fatal(err)
		}
		var doc struct{ Version int64 }
		data, err := fs.ReadFile(files, a.Name+"/b/data.json")
		if err == nil {
			err = json.Unmarshal(data, &doc)
		}
		if err != nil || doc.Version != a.Version {
			m.t.Fatalf("%s: version %d has the data of %d, %v", a.Name, a.Version, doc.Version, err)
		}
		trial := ""
		if i >= len(m.current().Bundles) {
			trial = "trial "
		}
		text += fmt.Sprintf("%s%s %d;", trial, a.Name, a.Version)
	}
	return text
}

func (m *machine) current() sync.Current {
	m.t.Helper()
	data, err := os.ReadFile(filepath.Join(m.dir, sync.CurrentFile))
	if os.IsNotExist(err) {
		return sync.Current{}
	}
	if err != nil {
		m.t.Fatal(err)
	}
	c, err := sync.ParseCurrent(data)
	if err != nil {
		m.t.Fatal(err)
	}
	return c
}

// leftovers lists every file and directory below the directory of bundles that
// nobody expects there.
func (m *machine) leftovers() []string {
	m.t.Helper()
	kept := map[string]bool{".": true, ".lock": true, "current.json": true, "synced.json": true, "fetched.json": true}
	for _, a := range m.current().All() {
		kept[a.Name], kept[a.Dir] = true, true
	}
	var list []string
	err := fs.WalkDir(os.DirFS(filepath.Join(m.dir, sync.Dir)), ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if !kept[name] {
			list = append(list, name)
		}
		if e.IsDir() && (!kept[name] || filepath.Dir(name) != ".") {
			return fs.SkipDir
		}
		return nil
	})
	if err != nil {
		m.t.Fatal(err)
	}
	return list
}
