package bundles

import (
	"bytes"
	"maps"
	"slices"

	"gate/internal/format"
	sealeds "gate/internal/sealed"
)

// ParseKeySet reads a key set and reports every mistake in it. Its signatures
// are not checked: where it lies decides whether the first one is trusted, and
// [KeySet.Follow] whether a later one is.
func ParseKeySet(data []byte) (*KeySet, error) {
	doc, err := sealeds.ParseSealed(data, format.Keys)
	if err != nil {
		return nil, sealeds.Refuse(sealeds.BadKeySet, "%w", err)
	}
	f := sealeds.NewFields("signed", doc.Body)
	f.Text("type")
	s := &KeySet{
		Version: f.Number("version", sealeds.MaxInteger), Expires: f.Moment("expires"),
		Keys: map[string]Key{}, Thresholds: map[string]int{}, Signatures: doc.Signatures,
	}
	root := sealeds.NewFields("signed.root", f.Object("root"))
	s.Root = sealeds.Role{Keys: root.Texts("keys"), Threshold: int(root.Number("threshold", sealeds.MaxSignatures))}
	f.Errs = append(f.Errs, root.Done())
	keys := f.Object("keys")
	for _, id := range slices.Sorted(maps.Keys(keys)) {
		f.Errs = append(f.Errs, s.ParseKey(id, keys[id]))
	}
	object := f.Object("thresholds")
	thresholds := sealeds.NewFields("signed.thresholds", object)
	for name := range object {
		s.Thresholds[name] = int(thresholds.Number(name, sealeds.MaxSignatures))
	}
	f.Errs = append(f.Errs, thresholds.Done(), f.Done())
	if err := sealeds.FirstAndCount(f.Errs); err != nil {
		return nil, sealeds.Refuse(sealeds.BadKeySet, "%w", err)
	}
	if err := s.Check(); err != nil {
		return nil, err
	}
	// What is signed is what Encode writes: a second spelling would be a second
	// document with the same meaning.
	normal, err := s.Sealed()
	if err != nil || !bytes.Equal(normal.Message(), doc.Message()) {
		return nil, sealeds.Refuse(sealeds.BadKeySet, "not written as gate keys writes it: times in UTC, keys as PUBLIC KEY, no empty lists")
	}
	return s, nil
}
