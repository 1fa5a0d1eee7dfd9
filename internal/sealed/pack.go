package sealed

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"time"

	"github.com/open-policy-agent/opa/v1/bundle"

	"gate/internal/strictjson"
)

// Republish makes an unsigned archive of the content of another, signed or not,
// with a change of metadata.gate: the way back, since no machine takes an older
// version.
func Republish(archive []byte, change func(*Metadata)) ([]byte, error) {
	files, err := Unpack(archive, Limits{})
	if err != nil {
		return nil, err
	}
	delete(files, SignaturesFile)
	manifest, there := files[ManifestFile]
	if !there {
		return nil, RefuseFile(BadManifest, ManifestFile, fs.ErrNotExist)
	}
	before, err := ParseManifest(manifest)
	if err != nil {
		return nil, err
	}
	if files[ManifestFile], err = NormalManifest(manifest, change); err != nil {
		return nil, err
	}
	after, err := ParseManifest(files[ManifestFile])
	if err != nil {
		return nil, err
	}
	if after.Gate.Version <= before.Gate.Version {
		return nil, Refuse(Rollback, "version %d would follow version %d", after.Gate.Version, before.Gate.Version)
	}
	if archive, err = PackOf(files); err != nil {
		return nil, err
	}
	return archive, PackedWell(archive)
}

// Add makes an unsigned archive of an unsigned one and of files, which come to its
// own or take their place.
func Add(archive []byte, files map[string][]byte) ([]byte, error) {
	all, err := Unpack(archive, Limits{})
	if err != nil {
		return nil, err
	}
	maps.Copy(all, files)
	if archive, err = PackOf(all); err != nil {
		return nil, err
	}
	return archive, PackedWell(archive)
}

// normalManifest writes the manifest in its one form.
func NormalManifest(data []byte, change func(*Metadata)) ([]byte, error) {
	m, err := ParseManifest(data)
	if err != nil {
		return nil, err
	}
	doc, err := strictjson.Object(data, strictjson.Limits{})
	if err != nil {
		return nil, RefuseFile(BadManifest, ManifestFile, err)
	}
	if change != nil {
		change(&m.Gate)
	}
	switch {
	case m.Gate.Name == "":
		return nil, &Refusal{Reason: NoMetadata, File: ManifestFile}
	case doc["roots"] == nil:
		return nil, RefuseFile(BadManifest, ManifestFile, errors.New("roots: say which parts of data the bundle owns"))
	}
	metadata := map[string]any{}
	if old, ok := doc["metadata"].(map[string]any); ok {
		metadata = maps.Clone(old)
	}
	metadata["gate"] = m.Gate.object()
	doc["metadata"] = metadata
	return append(strictjson.Append(nil, doc), '\n'), nil
}

// packedWell reads an archive as those will who take it.
func PackedWell(archive []byte) error {
	files, err := Unpack(archive, Limits{})
	if err != nil {
		return err
	}
	if _, err := ParseManifest(files[ManifestFile]); err != nil {
		return err
	}
	for name, data := range files {
		if _, err := OpaBytes(name, data); err != nil {
			return RefuseFile(BadFile, name, err)
		}
	}
	loader := bundle.NewTarballLoaderWithBaseURL(bytes.NewReader(archive), "")
	_, err = bundle.NewCustomReader(loader).WithSkipBundleVerification(true).Read()
	return err
}

// pack writes an archive: names sorted, no times, no owners, one compression.
func PackOf(files map[string][]byte) ([]byte, error) {
	var out bytes.Buffer
	gz, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	w := tar.NewWriter(gz)
	// OPA wants the signatures before what they cover, and reads the manifest
	// from anywhere; both sort to the front.
	for _, name := range slices.Sorted(maps.Keys(files)) {
		h := &tar.Header{
			Typeflag: tar.TypeReg, Name: name, Size: int64(len(files[name])), Mode: 0o644,
			ModTime: time.Unix(0, 0),
		}
		if err := w.WriteHeader(h); err != nil {
			return nil, fmt.Errorf("%s: %w", Shown(name), err)
		}
		if _, err := w.Write(files[name]); err != nil {
			return nil, err
		}
	}
	if err := errors.Join(w.Close(), gz.Close()); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}
