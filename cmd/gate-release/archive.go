package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// archives writes an archive for each platform: zip on Windows, where tar is no habit.
func archives(_ context.Context, r *Release, staged []Staged) ([]string, error) {
	var made []string
	for _, s := range staged {
		name, write := r.base(s.Platform)+".tar.gz", r.tarball
		if s.Platform.OS == "windows" {
			name, write = r.base(s.Platform)+".zip", r.zip
		}
		var b bytes.Buffer
		files := slices.Clone(s.Files)
		slices.SortFunc(files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
		if err := write(&b, files); err != nil {
			return nil, err
		}
		if err := os.WriteFile(filepath.Join(r.Out, name), b.Bytes(), 0o644); err != nil {
			return nil, err
		}
		made = append(made, name)
	}
	return made, nil
}

// base begins the name of every file for a platform.
func (r *Release) base(p Platform) string { return "gate-" + r.Version + "-" + p.String() }

// tarball writes files as a tar archive, compressed by gzip.
func (r *Release) tarball(w io.Writer, files []File) error {
	packed, err := gzip.NewWriterLevel(w, gzip.BestCompression)
	if err != nil {
		return err
	}
	archive := tar.NewWriter(packed)
	for _, f := range files {
		h := tar.Header{Name: f.Path, Mode: int64(f.Mode), Size: int64(len(f.Data)), ModTime: r.Time, Format: tar.FormatPAX}
		if err := archive.WriteHeader(&h); err != nil {
			return err
		}
		if _, err := archive.Write(f.Data); err != nil {
			return err
		}
	}
	if err := archive.Close(); err != nil {
		return err
	}
	return packed.Close()
}

// zip writes files as a zip archive.
func (r *Release) zip(w io.Writer, files []File) error {
	archive := zip.NewWriter(w)
	for _, f := range files {
		h := zip.FileHeader{Name: f.Path, Method: zip.Deflate, Modified: r.Time}
		h.SetMode(f.Mode)
		out, err := archive.CreateHeader(&h)
		if err != nil {
			return err
		}
		if _, err := out.Write(f.Data); err != nil {
			return err
		}
	}
	return archive.Close()
}
