package main

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/validate"
)

func TestImage(t *testing.T) {
	r, s := sample(t, "v1.2+b")
	arm := s
	arm.Platform.Arch = "arm64"
	mac := s
	mac.Platform.OS = "darwin"
	made, err := images(t.Context(), r, []Staged{s, arm, mac})
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"gate-v1.2+b-oci.tar"}; !slices.Equal(made, want) {
		t.Errorf("made %q, want %q", made, want)
	}
	first, err := os.ReadFile(filepath.Join(r.Out, made[0]))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := images(t.Context(), r, []Staged{s, arm, mac}); err != nil {
		t.Fatal(err)
	}
	if again, err := os.ReadFile(filepath.Join(r.Out, made[0])); err != nil || !bytes.Equal(first, again) {
		t.Errorf("two images of one release differ: %v", err)
	}

	outer, err := layout.ImageIndexFromPath(unpackLayout(t, first))
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := outer.IndexManifest()
	if err != nil || len(manifest.Manifests) != 1 {
		t.Fatalf("the layout has %+v: %v", manifest, err)
	}
	if got := manifest.Manifests[0].Annotations["org.opencontainers.image.ref.name"]; got != "v1.2-b" {
		t.Errorf("the image is called %q", got)
	}
	index, err := outer.ImageIndex(manifest.Manifests[0].Digest)
	if err != nil {
		t.Fatal(err)
	}
	if err := validate.Index(index); err != nil {
		t.Error(err)
	}
	manifest, err = index.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	var platforms []string
	for _, m := range manifest.Manifests {
		platforms = append(platforms, m.Platform.String())
		image, err := index.Image(m.Digest)
		if err != nil {
			t.Fatal(err)
		}
		checkImage(t, image, m.Platform.Architecture)
	}
	if want := []string{"linux/amd64", "linux/arm64"}; !slices.Equal(platforms, want) {
		t.Errorf("platforms %q, want %q", platforms, want)
	}
}

func checkImage(t *testing.T, image v1.Image, arch string) {
	t.Helper()
	config, err := image.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	if config.Architecture != arch || config.Config.User != "65532:65532" || !slices.Equal(config.Config.Entrypoint, []string{"/usr/bin/gate"}) {
		got, _ := json.Marshal(config)
		t.Errorf("the config is %s", got)
	}
	layers, err := image.Layers()
	if err != nil || len(layers) != 1 {
		t.Fatalf("%d layers: %v", len(layers), err)
	}
	content, err := layers[0].Uncompressed()
	if err != nil {
		t.Fatal(err)
	}
	owned := map[string]int{}
	var files []string
	for archive := tar.NewReader(content); ; {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		owned[h.Name] = h.Uid
		if h.Typeflag != tar.TypeDir {
			files = append(files, h.Name)
		}
	}
	want := strings.Fields(`etc/group etc/passwd usr/bin/gate usr/bin/gate-hook usr/bin/gate-run usr/bin/gate-server
		usr/share/doc/gate/copyright usr/share/doc/gate/licences/example.com/a@v1.0.0/LICENSE`)
	if !slices.Equal(files, want) {
		t.Errorf("the layer has %q, want %q", files, want)
	}
	if owned["home/gate/"] != imageUser || owned["usr/bin/gate"] != 0 {
		t.Errorf("owners are %v", owned)
	}
}

// unpackLayout puts an archive into a directory.
func unpackLayout(t *testing.T, data []byte) string {
	t.Helper()
	dir := t.TempDir()
	for archive := tar.NewReader(bytes.NewReader(data)); ; {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return dir
		}
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Join(dir, filepath.FromSlash(h.Name))
		content, err := io.ReadAll(archive)
		if err = errors.Join(err, os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, content, 0o644)); err != nil {
			t.Fatal(err)
		}
	}
}
