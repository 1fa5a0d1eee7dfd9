package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cavaliergopher/cpio"
)

// sample is a release of programs that are none, with a file of each kind.
func sample(t *testing.T, version string) (*Release, Staged) {
	t.Helper()
	tree, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	r := &Release{Tree: tree, Version: version, Commit: "abc1234def", Time: time.Date(2026, 11, 27, 3, 15, 22, 0, time.UTC), Out: t.TempDir()}
	s := Staged{Platform: Platform{"linux", "amd64"}}
	for _, name := range s.Platform.programs() {
		s.Files = append(s.Files, File{Program, name, 0o755, []byte("program " + name)})
	}
	units, err := r.units(s.Platform)
	if err != nil {
		t.Fatal(err)
	}
	s.Files = append(s.Files,
		File{Page, "README.md", 0o644, []byte("read me")},
		File{Page, "docs/mdm/gate-sync.service", 0o644, []byte("# /etc/systemd/system/gate-sync.service: fetches\nExecStart=/usr/local/bin/gate sync\n")},
		File{Licence, "licences/example.com/a@v1.0.0/LICENSE", 0o644, []byte("do what you like")},
		File{Manual, "man/man1/gate-try.1", 0o644, []byte(".TH GATE-TRY")},
		File{Completion, "completions/bash/gate", 0o644, []byte("bash")},
		File{Completion, "completions/zsh/_gate", 0o644, []byte("zsh")},
		File{Completion, "completions/fish/gate.fish", 0o644, []byte("fish")},
		File{Completion, "completions/powershell/gate.ps1", 0o644, []byte("powershell")},
	)
	s.Files = append(s.Files, units...)
	return r, s
}

// everywhere is what packages of both families install of the sample.
const everywhere = `
0755 /usr/bin/gate
0755 /usr/bin/gate-hook
0755 /usr/bin/gate-run
0755 /usr/bin/gate-server
0644 /usr/lib/systemd/system/gate-sync.service
0644 /usr/lib/systemd/user/gate-serve.service
0644 /usr/share/bash-completion/completions/gate
0644 /usr/share/doc/gate/README.md
0644 /usr/share/doc/gate/completions/powershell/gate.ps1
0644 /usr/share/doc/gate/copyright
0644 /usr/share/doc/gate/docs/mdm/gate-sync.service
0644 /usr/share/doc/gate/licences/example.com/a@v1.0.0/LICENSE
0644 /usr/share/fish/vendor_completions.d/gate.fish
0644 /usr/share/man/man1/gate-try.1.gz
`

// sorted are the lines of lists, in their order by path.
func sorted(lists ...string) string {
	all := strings.Split(strings.TrimSpace(strings.Join(lists, "\n")), "\n")
	all = slices.DeleteFunc(all, func(s string) bool { return s == "" })
	slices.SortFunc(all, func(a, b string) int { return strings.Compare(a[5:], b[5:]) })
	return strings.Join(all, "\n")
}

func TestDeb(t *testing.T) {
	r, s := sample(t, "v1.2-3-gabc1234")
	data, err := r.deb(s)
	if err != nil {
		t.Fatal(err)
	}
	again, err := r.deb(s)
	if err != nil || !bytes.Equal(data, again) {
		t.Errorf("two packages of one release differ: %v", err)
	}
	parts := unpackAr(t, data)
	if got := string(parts["debian-binary"]); got != "2.0\n" {
		t.Errorf("debian-binary is %q", got)
	}
	list, content := unpackTar(t, parts["data.tar.gz"])
	if want := sorted(everywhere, "0644 /usr/share/doc/gate/changelog.gz\n0644 /usr/share/zsh/vendor-completions/_gate"); sorted(list) != want {
		t.Errorf("installs\n%s\nwant\n%s", sorted(list), want)
	}
	if got := string(content["/usr/bin/gate-hook"]); got != "program gate-hook" {
		t.Errorf("gate-hook is %q", got)
	}
	if got := string(content["/usr/lib/systemd/system/gate-sync.service"]); got != "# fetches\nExecStart=/usr/bin/gate sync\n" {
		t.Errorf("the unit of sync is %q", got)
	}
	list, content = unpackTar(t, parts["control.tar.gz"])
	if want := "0644 /control\n0644 /md5sums\n0755 /prerm"; sorted(list) != want {
		t.Errorf("control files\n%s\nwant\n%s", sorted(list), want)
	}
	for _, want := range []string{"Package: gate\n", "\nVersion: 1.2+3.gabc1234\n", "\nArchitecture: amd64\n"} {
		if got := string(content["/control"]); !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if got := strings.Count(string(content["/md5sums"]), "\n"); got != strings.Count(sorted(everywhere), "\n")+3 {
		t.Errorf("%d files have sums:\n%s", got, content["/md5sums"])
	}
}

func TestRPM(t *testing.T) {
	r, s := sample(t, "v1.2-3-gabc1234")
	data, err := r.rpm(s)
	if err != nil {
		t.Fatal(err)
	}
	again, err := r.rpm(s)
	if err != nil || !bytes.Equal(data, again) {
		t.Errorf("two packages of one release differ: %v", err)
	}
	list, header, content := unpackRPM(t, data)
	if want := sorted(everywhere, "0644 /usr/share/zsh/site-functions/_gate"); sorted(list) != want {
		t.Errorf("installs\n%s\nwant\n%s", sorted(list), want)
	}
	if got := string(content["/usr/bin/gate"]); got != "program gate" {
		t.Errorf("gate is %q", got)
	}
	for _, want := range []string{"1.2^3.gabc1234", "x86_64", noLicence, "localhost"} {
		if !bytes.Contains(header, append([]byte(want), 0)) {
			t.Errorf("the header does not say %q", want)
		}
	}
}

// TestLargeRPM: more than a megabyte is compressed by several at once, and always alike.
func TestLargeRPM(t *testing.T) {
	r, s := sample(t, "v1.2")
	var large []byte
	for i := range 600_000 {
		large = strconv.AppendInt(large, int64(i), 36)
	}
	s.Files[0].Data = large
	first, err := r.rpm(s)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if again, err := r.rpm(s); err != nil || !bytes.Equal(first, again) {
			t.Fatalf("two packages of one release differ: %v", err)
		}
	}
	if _, _, content := unpackRPM(t, first); !bytes.Equal(content["/usr/bin/gate"], large) {
		t.Error("what is unpacked is not what was packed")
	}
}

// TestUnplaced: what no package has a place for is no secret.
func TestUnplaced(t *testing.T) {
	r, s := sample(t, "v1.2")
	for name, c := range map[string]struct {
		file File
		want string
	}{
		"kind":  {File{"song", "song.txt", 0o644, nil}, "packages have no place for a song"},
		"twice": {File{Program, "gate", 0o755, nil}, "/usr/bin/gate would be installed twice"},
		"unit":  {File{Page, "docs/mdm/other.service", 0o644, []byte("ExecStart=/opt/gate\n")}, "does not start a program"},
	} {
		more := Staged{s.Platform, append(slices.Clone(s.Files), c.file)}
		if _, err := r.deb(more); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	if _, err := r.rpm(Staged{Platform{"linux", "mips"}, s.Files}); err == nil {
		t.Error("a processor that no package is named after has a package")
	}
}

func unpackAr(t *testing.T, data []byte) map[string][]byte {
	t.Helper()
	rest, ok := bytes.CutPrefix(data, []byte("!<arch>\n"))
	if !ok {
		t.Fatal("no archive of ar")
	}
	parts := map[string][]byte{}
	for len(rest) > 0 {
		size, err := strconv.Atoi(strings.TrimSpace(string(rest[48:58])))
		if err != nil || string(rest[58:60]) != "`\n" {
			t.Fatalf("a header of ar is %q", rest[:60])
		}
		parts[strings.TrimSpace(string(rest[:16]))] = rest[60 : 60+size]
		rest = rest[60+size+size%2:]
	}
	return parts
}

// unpackTar lists the files of an archive by mode and path, and returns what is in them.
func unpackTar(t *testing.T, data []byte) (list string, content map[string][]byte) {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	content = map[string][]byte{}
	for archive := tar.NewReader(z); ; {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return list, content
		}
		if err != nil {
			t.Fatal(err)
		}
		if h.Uid != 0 || h.Gid != 0 || h.Mode&0o022 != 0 {
			t.Errorf("%s is not root's alone: %d:%d %o", h.Name, h.Uid, h.Gid, h.Mode)
		}
		if h.Typeflag == tar.TypeDir {
			continue
		}
		name := strings.TrimPrefix(h.Name, ".")
		if content[name], err = io.ReadAll(archive); err != nil {
			t.Fatal(err)
		}
		list += fmt.Sprintf("%04o %s\n", h.Mode, name)
	}
}

// unpackRPM skips the lead and the signatures, and returns the header as it stands.
func unpackRPM(t *testing.T, data []byte) (list string, header []byte, content map[string][]byte) {
	t.Helper()
	rest := data[96:]
	length := func(b []byte) int {
		return 16 + 16*int(binary.BigEndian.Uint32(b[8:])) + int(binary.BigEndian.Uint32(b[12:]))
	}
	rest = rest[(length(rest)+7)/8*8:]
	header, rest = rest[:length(rest)], rest[length(rest):]
	z, err := gzip.NewReader(bytes.NewReader(rest))
	if err != nil {
		t.Fatal(err)
	}
	content = map[string][]byte{}
	for archive := cpio.NewReader(z); ; {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return list, header, content
		}
		if err != nil {
			t.Fatal(err)
		}
		if h.Mode.IsDir() {
			continue
		}
		if content[h.Name], err = io.ReadAll(archive); err != nil {
			t.Fatal(err)
		}
		list += fmt.Sprintf("%04o %s\n", h.Mode.Perm(), h.Name)
	}
}
