package bundles

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/open-policy-agent/opa/v1/bundle"

	"gate/hostfs"
	"gate/strictjson"
)

// Pack makes an unsigned archive of a directory: .manifest and every .rego and
// data.json file. Equal files make equal bytes. The change, if there is one, is
// made to metadata.gate on the way. Everything that [Open] or OPA would refuse
// in the result is an error here.
func Pack(dir fs.FS, change func(*Metadata)) ([]byte, error) {
	files, err := collect(dir)
	if err != nil {
		return nil, err
	}
	manifest, there := files[manifestFile]
	if !there {
		return nil, refuseFile(BadManifest, manifestFile, fs.ErrNotExist)
	}
	if files[manifestFile], err = normalManifest(manifest, change); err != nil {
		return nil, err
	}
	archive, err := pack(files)
	if err != nil {
		return nil, err
	}
	return archive, packedWell(archive)
}

// Republish makes an unsigned archive of the content of another, signed or not,
// with a change of metadata.gate: the way back, since no machine takes an older
// version.
func Republish(archive []byte, change func(*Metadata)) ([]byte, error) {
	files, err := unpack(archive, Limits{})
	if err != nil {
		return nil, err
	}
	delete(files, signaturesFile)
	manifest, there := files[manifestFile]
	if !there {
		return nil, refuseFile(BadManifest, manifestFile, fs.ErrNotExist)
	}
	before, err := parseManifest(manifest)
	if err != nil {
		return nil, err
	}
	if files[manifestFile], err = normalManifest(manifest, change); err != nil {
		return nil, err
	}
	after, err := parseManifest(files[manifestFile])
	if err != nil {
		return nil, err
	}
	if after.Gate.Version <= before.Gate.Version {
		return nil, refuse(Rollback, "version %d would follow version %d", after.Gate.Version, before.Gate.Version)
	}
	if archive, err = pack(files); err != nil {
		return nil, err
	}
	return archive, packedWell(archive)
}

// Add makes an unsigned archive of an unsigned one and of files, which come to its
// own or take their place.
func Add(archive []byte, files map[string][]byte) ([]byte, error) {
	all, err := unpack(archive, Limits{})
	if err != nil {
		return nil, err
	}
	maps.Copy(all, files)
	if archive, err = pack(all); err != nil {
		return nil, err
	}
	return archive, packedWell(archive)
}

// collect reads the files that belong into a bundle. Hidden ones and other
// kinds stay out, because OPA does not read them.
func collect(dir fs.FS) (map[string][]byte, error) {
	files := map[string][]byte{}
	var errs []error
	left := Limits{}.withDefaults()
	err := fs.WalkDir(dir, ".", func(name string, d fs.DirEntry, err error) error {
		base := path.Base(name)
		switch hidden := strings.HasPrefix(base, ".") && name != "." && name != manifestFile; {
		case err != nil:
			return err
		case hidden && d.IsDir():
			return fs.SkipDir
		case hidden || d.IsDir():
			return nil
		case name != manifestFile && base != dataFile && !strings.HasSuffix(base, ".rego"):
			if base == "data.yaml" || base == "data.yml" {
				errs = append(errs, refuseFile(BadFile, shown(name), checkMeaning(name)))
			}
			return nil
		case !d.Type().IsRegular():
			errs = append(errs, refuseFile(Malformed, shown(name), hostfs.ErrIrregular))
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if left.Total -= int(min(info.Size(), int64(left.File)+1)); info.Size() > int64(left.File) || left.Total < 0 {
			return refuseFile(TooLarge, shown(name), nil)
		}
		files[name], err = fs.ReadFile(dir, name)
		return err
	})
	return files, errors.Join(err, errors.Join(errs...))
}

// normalManifest writes the manifest in its one form.
func normalManifest(data []byte, change func(*Metadata)) ([]byte, error) {
	m, err := parseManifest(data)
	if err != nil {
		return nil, err
	}
	doc, err := strictjson.Object(data, strictjson.Limits{})
	if err != nil {
		return nil, refuseFile(BadManifest, manifestFile, err)
	}
	if change != nil {
		change(&m.Gate)
	}
	switch {
	case m.Gate.Name == "":
		return nil, &Refusal{Reason: NoMetadata, File: manifestFile}
	case doc["roots"] == nil:
		return nil, refuseFile(BadManifest, manifestFile, errors.New("roots: say which parts of data the bundle owns"))
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
func packedWell(archive []byte) error {
	files, err := unpack(archive, Limits{})
	if err != nil {
		return err
	}
	if _, err := parseManifest(files[manifestFile]); err != nil {
		return err
	}
	for name, data := range files {
		if _, err := opaBytes(name, data); err != nil {
			return refuseFile(BadFile, name, err)
		}
	}
	loader := bundle.NewTarballLoaderWithBaseURL(bytes.NewReader(archive), "")
	_, err = bundle.NewCustomReader(loader).WithSkipBundleVerification(true).Read()
	return err
}

// pack writes an archive: names sorted, no times, no owners, one compression.
func pack(files map[string][]byte) ([]byte, error) {
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
			return nil, fmt.Errorf("%s: %w", shown(name), err)
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
