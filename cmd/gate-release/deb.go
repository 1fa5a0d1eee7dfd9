package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/md5"
	"fmt"
	"strings"
)

var debian = family{
	zsh:    "/usr/share/zsh/vendor-completions/",
	arches: map[string]string{"amd64": "amd64", "arm64": "arm64", "386": "i386", "riscv64": "riscv64", "ppc64le": "ppc64el", "s390x": "s390x"},
}

// debs writes a package of Debian's for each platform of Linux.
func debs(_ context.Context, r *Release, staged []Staged) ([]string, error) {
	return r.packages(staged, ".deb", r.deb)
}

// deb is one package in the form of deb(5): an archive of ar with two of tar, what is
// installed and what is said about it.
func (r *Release) deb(s Staged) ([]byte, error) {
	files, err := r.placed(s, debian)
	if err != nil {
		return nil, err
	}
	history, err := packed(r.changelog())
	if err != nil {
		return nil, err
	}
	files = append(files, File{Page, documents + "changelog.gz", 0o644, history})
	about, err := r.control(s.Platform, files)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	b.WriteString("!<arch>\n")
	r.member(&b, "debian-binary", []byte("2.0\n"))
	for _, part := range []struct {
		name  string
		files []File
	}{{"control.tar.gz", about}, {"data.tar.gz", files}} {
		data, err := r.debTar(part.files)
		if err != nil {
			return nil, err
		}
		r.member(&b, part.name, data)
	}
	return b.Bytes(), nil
}

// member adds a file to an archive of ar.
func (r *Release) member(b *bytes.Buffer, name string, data []byte) {
	fmt.Fprintf(b, "%-16s%-12d%-6d%-6d%-8o%-10d`\n", name, r.Time.Unix(), 0, 0, 0o100644, len(data))
	b.Write(data)
	if len(data)%2 == 1 {
		b.WriteByte('\n')
	}
}

// control are the files that say what a package is.
func (r *Release) control(p Platform, files []File) ([]File, error) {
	arch, err := debian.arch(p)
	if err != nil {
		return nil, err
	}
	script, err := r.removal()
	if err != nil {
		return nil, err
	}
	size := 0
	var sums bytes.Buffer
	for _, f := range files {
		size += len(f.Data)
		fmt.Fprintf(&sums, "%x  %s\n", md5.Sum(f.Data), strings.TrimPrefix(f.Path, "/"))
	}
	var b bytes.Buffer
	for _, field := range [][2]string{
		{"Package", "gate"}, {"Version", r.debVersion()}, {"Architecture", arch},
		{"Maintainer", maintainer}, {"Installed-Size", fmt.Sprint((size + 1023) / 1024)},
		{"Section", "admin"}, {"Priority", "optional"}, {"Homepage", home},
		{"Description", summary + "\n " + strings.Join(lines(description, 76), "\n ")},
	} {
		fmt.Fprintf(&b, "%s: %s\n", field[0], field[1])
	}
	return []File{
		{Page, "/control", 0o644, b.Bytes()},
		{Page, "/md5sums", 0o644, sums.Bytes()},
		{Program, "/prerm", 0o755, script},
	}, nil
}

// changelog says which release a package was made of, in the form of deb-changelog(5).
func (r *Release) changelog() []byte {
	return fmt.Appendf(nil, "gate (%s) unstable; urgency=medium\n\n  * Release %s, of commit %s.\n\n -- %s  %s\n",
		r.debVersion(), r.Version, r.Commit, maintainer, r.Time.UTC().Format("Mon, 02 Jan 2006 15:04:05 -0700"))
}

// debTar writes files and the directories above them, which dpkg wants to know.
func (r *Release) debTar(files []File) ([]byte, error) {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	archive := tar.NewWriter(w)
	if err := r.addTree(archive, "./", tar.FormatGNU, files); err != nil {
		return nil, err
	}
	if err := archive.Close(); err != nil {
		return nil, err
	}
	err = w.Close()
	return b.Bytes(), err
}

// lines breaks a text between words.
func lines(text string, width int) []string {
	var list []string
	line := ""
	for word := range strings.FieldsSeq(text) {
		if line != "" && len(line)+1+len(word) > width {
			list, line = append(list, line), ""
		}
		line = strings.TrimSpace(line + " " + word)
	}
	return append(list, line)
}
