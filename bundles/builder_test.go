package bundles

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"fmt"
	"strconv"
	"strings"
	"testing"

	sealeds "gate/internal/sealed"
)

// An archiveBuilder writes tar blocks by hand where the library would not.
type archiveBuilder struct {
	tar     bytes.Buffer
	after   []byte
	last    int // where the last header stands
	raw     []byte
	changes []func([]byte) []byte // of the compressed bytes
}

func (b *archiveBuilder) step(t *testing.T, step string) {
	a := args(t, step)
	number := func() int {
		n, err := strconv.Atoi(a[len(a)-1])
		if err != nil {
			t.Fatalf("%s: %v", step, err)
		}
		return n
	}
	switch a[0] {
	case "file":
		b.entry(tar.TypeReg, a[1], "", a[2])
	case "file-slash":
		b.entry(tar.TypeReg, "x", "", "x")
		b.rename(a[1])
	case "dir":
		b.entry(tar.TypeDir, strings.TrimSuffix(a[1], "/")+"/", "", "")
	case "dir-with":
		b.entry(tar.TypeReg, a[1], "", a[2])
		b.retype(tar.TypeDir)
	case "link":
		b.entry(tar.TypeSymlink, a[1], a[2], "")
	case "hard":
		b.entry(tar.TypeLink, a[1], a[2], "")
	case "entry":
		b.entry(tar.TypeReg, a[2], "", "")
		b.retype(a[1][0])
	case "global":
		b.write(&tar.Header{Typeflag: tar.TypeXGlobalHeader, Name: "g", PAXRecords: map[string]string{a[1]: a[2]}}, "")
	case "pax":
		b.pax(a[1], a[2:])
	case "long-name":
		b.entry(tar.TypeReg, strings.Repeat("n", number()), "", "x")
	case "long-path":
		b.entry(tar.TypeReg, strings.Repeat("d/", number())+"x", "", "x")
	case "sized":
		b.entry(tar.TypeReg, a[1], "", noise(number()))
	case "many", "many-dirs":
		for i := range number() {
			if a[0] == "many" {
				b.entry(tar.TypeReg, fmt.Sprintf("f%d", i), "", "x")
			} else {
				b.entry(tar.TypeDir, fmt.Sprintf("f%d/", i), "", "")
			}
		}
	case "deep":
		for i := range number() {
			b.entry(tar.TypeReg, strings.Repeat(fmt.Sprintf("d%d/", i), sealeds.MaxDeep-1)+"x", "", "x")
		}
	case "bomb":
		b.raw = bomb(number() << 20)
	case "bytes":
		b.raw = []byte(a[1])
	case "claim":
		b.sized(fmt.Sprintf("%011o\x00", number()))
	case "raw-size":
		b.sized(a[1])
	default:
		b.finish(t, a, number)
	}
}

// finish takes the steps about what is around the entries.
func (b *archiveBuilder) finish(t *testing.T, a []string, number func() int) {
	change := func(f func([]byte) []byte) { b.changes = append(b.changes, f) }
	switch a[0] {
	case "zeros-after":
		b.after = make([]byte, number())
	case "after":
		var second archiveBuilder
		second.entry(tar.TypeReg, "second.rego", "", a[1])
		b.after = second.tar.Bytes()
	case "damage":
		b.tar.Bytes()[b.last+number()] ^= 1
	case "member":
		var second archiveBuilder
		second.entry(tar.TypeReg, "second.rego", "", "x")
		change(func(z []byte) []byte { return append(z, second.bytes()...) })
	case "trail":
		change(func(z []byte) []byte { return append(z, a[1]...) })
	case "cut":
		n := number()
		change(func(z []byte) []byte { return z[:len(z)-n] })
	case "cut-to":
		n := number()
		change(func(z []byte) []byte { return z[:n] })
	case "crc":
		change(func(z []byte) []byte { z[len(z)-8] ^= 1; return z })
	default:
		t.Fatalf("unknown step %v", a)
	}
}

func (b *archiveBuilder) bytes() []byte {
	z := b.raw
	if z == nil {
		var out bytes.Buffer
		gz := gzip.NewWriter(&out)
		gz.Write(b.tar.Bytes())
		gz.Write(make([]byte, 2*sealeds.TarBlock))
		gz.Write(b.after)
		gz.Close()
		z = out.Bytes()
	}
	for _, f := range b.changes {
		z = f(z)
	}
	return z
}

func (b *archiveBuilder) entry(kind byte, name, target, content string) {
	safe := strings.ToValidUTF8(name, "?")
	b.write(&tar.Header{Typeflag: kind, Name: safe, Linkname: target, Mode: 0o644, Size: int64(len(content))}, content)
	if safe != name {
		b.rename(name)
	}
}

func (b *archiveBuilder) write(h *tar.Header, content string) {
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	if err := w.WriteHeader(h); err != nil {
		panic(err)
	}
	w.Write([]byte(content))
	w.Flush()
	b.last = b.tar.Len()
	b.tar.Write(out.Bytes())
}

// pax writes an extended header with records that the library keeps to itself.
func (b *archiveBuilder) pax(name string, records []string) {
	var body string
	for _, r := range records {
		n := len(r) + 3
		for len(fmt.Sprintf("%d %s\n", n, r)) != n {
			n++
		}
		body += fmt.Sprintf("%d %s\n", n, r)
	}
	b.entry(tar.TypeReg, "PaxHeaders/x", "", body)
	b.retype('x')
	b.entry(tar.TypeReg, name, "", "x")
}

func (b *archiveBuilder) header() []byte { return b.tar.Bytes()[b.last : b.last+sealeds.TarBlock] }

func (b *archiveBuilder) retype(kind byte)   { b.header()[156] = kind; b.resum() }
func (b *archiveBuilder) sized(field string) { copy(b.header()[124:136], field); b.resum() }

func (b *archiveBuilder) rename(name string) {
	clear(b.header()[:100])
	copy(b.header()[:100], name)
	b.resum()
}

// resum writes the checksum of a header that was changed.
func (b *archiveBuilder) resum() {
	h := b.header()
	copy(h[148:156], "        ")
	sum := 0
	for _, c := range h {
		sum += int(c)
	}
	copy(h[148:156], fmt.Sprintf("%06o\x00 ", sum))
}

// noise is text that does not compress well, always the same.
func noise(n int) string {
	out := make([]byte, n)
	x := uint32(1)
	for i := range out {
		x ^= x << 13
		x ^= x >> 17
		x ^= x << 5
		out[i] = 'a' + byte(x>>24)%26
	}
	return string(out)
}

// bomb is an archive with one file of n zeros; n is a multiple of a mebibyte.
func bomb(n int) []byte {
	var head bytes.Buffer
	w := tar.NewWriter(&head)
	w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: "zeros", Size: int64(n)})
	return zeros(head.Bytes(), n)
}

// padding is an archive with one empty file and n zeros behind its end.
func padding(n int) []byte {
	var head bytes.Buffer
	w := tar.NewWriter(&head)
	w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: "a"})
	w.Close()
	return zeros(head.Bytes(), n)
}

// zeros compresses a head and n zeros behind it. After a flush the compressed
// stream of one mebibyte of zeros can be repeated, so gigabytes take no time;
// the checksum at the end is wrong.
func zeros(head []byte, n int) []byte {
	var out bytes.Buffer
	gz, _ := gzip.NewWriterLevel(&out, gzip.BestCompression)
	mebibyte := make([]byte, 1<<20)
	gz.Write(head)
	gz.Write(mebibyte)
	gz.Flush()
	first := out.Len()
	gz.Write(mebibyte)
	gz.Flush()
	again := bytes.Clone(out.Bytes()[first:])
	for range n>>20 - 2 {
		out.Write(again)
	}
	gz.Close()
	return out.Bytes()
}
