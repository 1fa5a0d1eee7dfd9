package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// imageUser is the account that the image's programs run as. 65532 is what other images
// without a system call "nonroot".
const imageUser = 65532

// passwd is the image's account database: gate finds its directories there, and believes
// no variable.
const passwd = "root:x:0:0:root:/root:/sbin/nologin\ngate:x:65532:65532:gate:/home/gate:/sbin/nologin\n"

// images writes one image for all platforms of Linux, as a layout of OCI in one archive.
func images(_ context.Context, r *Release, staged []Staged) ([]string, error) {
	staged = linux(staged)
	if len(staged) == 0 {
		return nil, nil
	}
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, s := range staged {
		image, err := r.image(s)
		if err != nil {
			return nil, err
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: image, Descriptor: v1.Descriptor{
			Platform: &v1.Platform{OS: s.Platform.OS, Architecture: s.Platform.Arch}}})
	}
	dir, err := os.MkdirTemp("", "gate-image-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	at, err := layout.Write(dir, empty.Index)
	if err != nil {
		return nil, err
	}
	tag := strings.ReplaceAll(r.Version, "+", "-") // no tag has a plus
	err = at.AppendIndex(index, layout.WithAnnotations(map[string]string{
		"org.opencontainers.image.ref.name": tag,
		"io.containerd.image.name":          "docker.io/library/gate:" + tag,
	}))
	if err != nil {
		return nil, err
	}
	name := "gate-" + r.Version + "-oci.tar"
	return []string{name}, r.packLayout(dir, filepath.Join(r.Out, name))
}

// image is what runs on one platform: gate's programs, an account, its home, and /tmp.
func (r *Release) image(s Staged) (v1.Image, error) {
	files, err := r.layer(s)
	if err != nil {
		return nil, err
	}
	open := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(files)), nil }
	layer, err := tarball.LayerFromOpener(open, tarball.WithMediaType(types.OCILayer), tarball.WithCompressionLevel(gzip.BestCompression), tarball.WithCompressedCaching)
	if err != nil {
		return nil, err
	}
	image := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	created := v1.Time{Time: r.Time}
	image, err = mutate.Append(image, mutate.Addendum{Layer: layer, History: v1.History{Created: created, CreatedBy: "gate-release"}})
	if err != nil {
		return nil, err
	}
	was, err := image.ConfigFile()
	if err != nil {
		return nil, err
	}
	config := was.DeepCopy()
	config.OS, config.Architecture, config.Created = s.Platform.OS, s.Platform.Arch, created
	config.Config = v1.Config{
		Entrypoint: []string{"/usr/bin/gate"},
		User:       fmt.Sprintf("%d:%d", imageUser, imageUser),
		WorkingDir: "/home/gate",
		Env:        []string{"PATH=/usr/bin", "HOME=/home/gate"},
		Labels: map[string]string{
			"org.opencontainers.image.title":       "gate",
			"org.opencontainers.image.description": summary,
			"org.opencontainers.image.version":     r.Version,
			"org.opencontainers.image.revision":    r.Commit,
			"org.opencontainers.image.created":     r.Time.UTC().Format("2006-01-02T15:04:05Z"),
			"org.opencontainers.image.url":         home,
		},
	}
	return mutate.ConfigFile(image, config)
}

// layer is the archive of all that is in the image.
func (r *Release) layer(s Staged) ([]byte, error) {
	files := []File{
		{Page, "/etc/passwd", 0o644, []byte(passwd)},
		{Page, "/etc/group", 0o644, []byte("root:x:0:\ngate:x:65532:\n")},
		{Page, documents + "copyright", 0o644, r.copyright(s)},
	}
	for _, f := range s.Files {
		if f.Kind != Program && f.Kind != Licence {
			continue
		}
		f, err := r.place(f, family{})
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	slices.SortFunc(files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	var b bytes.Buffer
	archive := tar.NewWriter(&b)
	for _, dir := range []tar.Header{
		{Name: "home/gate/", Mode: 0o700, Uid: imageUser, Gid: imageUser},
		{Name: "tmp/", Mode: 0o1777},
	} {
		dir.Typeflag, dir.ModTime, dir.Format = tar.TypeDir, r.Time, tar.FormatPAX
		if err := archive.WriteHeader(&dir); err != nil {
			return nil, err
		}
	}
	if err := r.addTree(archive, "", tar.FormatPAX, files); err != nil {
		return nil, err
	}
	err := archive.Close()
	return b.Bytes(), err
}

// packLayout writes a directory as one archive. What is in it is compressed already.
func (r *Release) packLayout(dir, name string) error {
	out, err := os.Create(name)
	if err != nil {
		return err
	}
	defer out.Close()
	archive := tar.NewWriter(out)
	err = filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		below, err := filepath.Rel(dir, name)
		if err != nil {
			return err
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		h := tar.Header{Name: filepath.ToSlash(below), Mode: 0o644, Size: int64(len(data)), ModTime: r.Time, Format: tar.FormatPAX}
		if err := archive.WriteHeader(&h); err != nil {
			return err
		}
		_, err = archive.Write(data)
		return err
	})
	if err != nil {
		return err
	}
	if err := archive.Close(); err != nil {
		return err
	}
	return out.Close()
}
