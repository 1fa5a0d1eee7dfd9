package sealed

import (
	"maps"
	"slices"
)

// Contents is what an archive says about itself. Nothing of it was verified.
type Contents struct {
	Manifest   Manifest
	Digest     string // of the archive
	Files      []File // sorted by name, without the signature file
	Signatures []Signature
}

// A File is one file of a bundle.
type File struct {
	Name string
	Size int
}

// Inspect looks at an archive, and at its envelope unless that is nil, without
// any key: Counts is false for all signatures, and the algorithm is what the
// bundle says.
func Inspect(archive, envelope []byte, l Limits) (*Contents, error) {
	files, err := Unpack(archive, l)
	if err != nil {
		return nil, err
	}
	c := &Contents{Digest: Digest(archive)}
	if data, there := files[SignaturesFile]; there {
		j, err := ParseSignatures(data)
		if err != nil {
			return nil, err
		}
		c.Signatures = append(c.Signatures, Signature{Key: j.key, Algorithm: Algorithm(j.algorithm)})
	}
	if envelope != nil {
		doc, s, err := ParseEnvelope(envelope)
		if err != nil {
			return nil, err
		}
		if err := s.IsFor(c.Digest); err != nil {
			return nil, err
		}
		for _, g := range doc.Signatures {
			c.Signatures = append(c.Signatures, Signature{Key: g.key, Detached: true})
		}
	}
	if c.Manifest, err = ManifestOf(files[ManifestFile]); err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if name != SignaturesFile {
			c.Files = append(c.Files, File{name, len(files[name])})
		}
	}
	return c, nil
}
