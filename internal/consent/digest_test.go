package consent_test

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"gate/internal/consent"
)

// tree makes a file system of names and contents; a name with "!" is a program,
// one with a slash at its end a directory.
func tree(files ...string) fstest.MapFS {
	m := fstest.MapFS{}
	for i := 0; i < len(files); i += 2 {
		name, program := strings.CutSuffix(files[i], "!")
		f := &fstest.MapFile{Data: []byte(files[i+1]), Mode: 0o644}
		if program {
			f.Mode = 0o755
		}
		if dir, ok := strings.CutSuffix(name, "/"); ok {
			name, f.Mode = dir, fs.ModeDir|0o755
		}
		m[name] = f
	}
	return m
}

// TestDigest holds that trees that differ in anything that counts have
// different digests, above all where names and contents run together when they
// are written one after another.
func TestDigest(t *testing.T) {
	trees := map[string]fstest.MapFS{
		"empty":               tree(),
		"base":                tree("a", "1", "b", "2"),
		"one byte":            tree("a", "1", "b", "3"),
		"a byte more":         tree("a", "1", "b", "2\n"),
		"a program":           tree("a!", "1", "b", "2"),
		"the other program":   tree("a", "1", "b!", "2"),
		"renamed":             tree("a", "1", "c", "2"),
		"swapped":             tree("a", "2", "b", "1"),
		"joined":              tree("a", "1b2"),
		"joined name":         tree("ab", "12"),
		"moved border":        tree("a", "", "b", "12"),
		"deeper":              tree("x/a", "1", "x/b", "2"),
		"deeper otherwise":    tree("a", "1", "x/b", "2"),
		"empty file":          tree("a", "1", "b", "2", "c", ""),
		"empty directory":     tree("a", "1", "b", "2", "c/", ""),
		"hidden":              tree("a", "1", "b", "2", ".c", ""),
		"upper case":          tree("A", "1", "b", "2"),
		"composed":            tree("\u00e9", "1"),
		"decomposed":          tree("e\u0301", "1"),
		"name holds a length": tree("a\x00\x00\x00\x01b", "2"),
		"line feeds":          tree("a\n1\nb", "2"),
	}
	seen := map[string]string{}
	for name, files := range trees {
		_, d, err := consent.Snapshot(files)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if twin, ok := seen[d]; ok {
			t.Errorf("%s and %s have one digest", name, twin)
		}
		seen[d] = name
		if _, again, err := consent.Snapshot(files); again != d || err != nil {
			t.Errorf("%s: %s, %s, %v", name, d, again, err)
		}
	}
	writable := tree("a", "1", "b", "2")
	writable["a"].Mode = 0o600
	if _, d, _ := consent.Snapshot(writable); seen[d] != "base" {
		t.Error("who may write a file counts")
	}
	if _, d, _ := consent.Snapshot(trees["base"]); d != "sha256:94c4d32e8e392233782d9e0bcc8538f639f0127d5b81c8d12032f35e343c599e" {
		t.Errorf("the digest of a known tree is now %s: all trust lapses", d)
	}
}

func TestDigestRefuses(t *testing.T) {
	many := fstest.MapFS{}
	for i := range 10_001 {
		many[fmt.Sprint(i)] = &fstest.MapFile{}
	}
	odd := func(mode fs.FileMode) fstest.MapFS {
		return fstest.MapFS{"dir/odd": &fstest.MapFile{Mode: mode, Data: []byte("a")}}
	}
	half := strings.Repeat("x", 33<<20)
	for name, row := range map[string]struct {
		fsys fs.FS
		want string
	}{
		"link":       {odd(fs.ModeSymlink | 0o777), "dir/odd: a symbolic link"},
		"FIFO":       {odd(fs.ModeNamedPipe), "dir/odd: not a regular file"},
		"device":     {odd(fs.ModeDevice), "dir/odd: not a regular file"},
		"socket":     {odd(fs.ModeSocket), "dir/odd: not a regular file"},
		"setuid":     {odd(fs.ModeSetuid | 0o755), "dir/odd: a set-user-id"},
		"setgid":     {odd(fs.ModeSetgid | 0o755), "dir/odd: a set-user-id"},
		"many":       {many, "more than 10000 files"},
		"large":      {tree("a", half, "b", half), "b: the files are larger"},
		"deep":       {tree(strings.Repeat("d/", 64)+"f", ""), "nested deeper than 64"},
		"not there":  {os.DirFS("/no/such/directory"), "no such file"},
		"unreadable": {broken{tree("a", "1")}, "a: it broke"},
		"bad name":   {os.DirFS(badName(t)), "not valid UTF-8"},
	} {
		f, d, err := consent.Snapshot(row.fsys)
		if f != nil || d != "" || err == nil || !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s: %q, %v, want %q", name, d, err, row.want)
		}
	}
}

func badName(t *testing.T) string {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a\xff"), nil, 0o600); err != nil {
		t.Skip(err)
	}
	return dir
}

type broken struct{ fs.FS }

func (b broken) Open(name string) (fs.File, error) {
	if name == "a" {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fmt.Errorf("it broke")}
	}
	return b.FS.Open(name)
}

// TestSnapshot holds that a snapshot is a proper file system and stays what it
// was.
func TestSnapshot(t *testing.T) {
	dir := t.TempDir()
	for name, mode := range map[string]fs.FileMode{"policies/a.rego": 0o644, "run.sh": 0o755, "deep/er/x": 0o600} {
		path := filepath.Join(dir, name)
		os.MkdirAll(filepath.Dir(path), 0o755)
		if err := os.WriteFile(path, []byte(name), mode); err != nil {
			t.Fatal(err)
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	files, digest, err := consent.Snapshot(root.FS())
	if err != nil {
		t.Fatal(err)
	}
	if err := fstest.TestFS(files, "policies/a.rego", "run.sh", "deep/er/x"); err != nil {
		t.Error(err)
	}
	os.WriteFile(filepath.Join(dir, "run.sh"), []byte("evil"), 0o755)
	if _, now, _ := consent.Snapshot(root.FS()); now == digest {
		t.Error("the change was not seen")
	}
	if data, _ := fs.ReadFile(files, "run.sh"); string(data) != "run.sh" {
		t.Errorf("the snapshot has %q", data)
	}
	if _, again, err := consent.Snapshot(files); again != digest || err != nil {
		t.Errorf("the digest of the snapshot is %s, %v", again, err)
	}
	none, _, err := consent.Snapshot(fstest.MapFS{})
	if err != nil || fstest.TestFS(none) != nil {
		t.Errorf("an empty snapshot: %v", fstest.TestFS(none))
	}
}

// The order in which files are added does not matter; everything else does.
func TestTreeHash(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 1))
	type file struct {
		name, content string
		mode          fs.FileMode
	}
	sum := func(files []file) string {
		var h consent.TreeHash
		for _, f := range files {
			h.Add(f.name, f.mode, []byte(f.content))
		}
		return h.Sum()
	}
	texts := []string{"", "a", "b", "ab", "aa", "a\x00", "\x00a"}
	modes := []fs.FileMode{0o644, 0o755, fs.ModeDir}
	seen := map[string]string{}
	for range 2000 {
		byName := map[string]file{}
		for range r.IntN(4) {
			f := file{texts[r.IntN(len(texts))], texts[r.IntN(len(texts))], modes[r.IntN(len(modes))]}
			if f.mode.IsDir() {
				f.content = ""
			}
			byName[f.name] = f
		}
		var files []file
		for _, name := range texts {
			if f, ok := byName[name]; ok {
				files = append(files, f)
			}
		}
		text, d := fmt.Sprintf("%#v", files), sum(files)
		if twin, ok := seen[d]; ok && twin != text {
			t.Fatalf("%s and %s have one digest", text, twin)
		}
		seen[d] = text
		r.Shuffle(len(files), func(i, j int) { files[i], files[j] = files[j], files[i] })
		if sum(files) != d {
			t.Fatalf("%s: the order counts", text)
		}
	}
}

func BenchmarkDigest(b *testing.B) {
	dir := b.TempDir()
	for i := range 20 {
		os.WriteFile(filepath.Join(dir, fmt.Sprint(i)), make([]byte, 4<<10), 0o600)
	}
	root, _ := os.OpenRoot(dir)
	defer root.Close()
	for b.Loop() {
		if _, _, err := consent.Snapshot(root.FS()); err != nil {
			b.Fatal(err)
		}
	}
}
