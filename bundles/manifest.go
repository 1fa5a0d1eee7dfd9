package bundles

import (
	"errors"
	"io/fs"

	sealeds "gate/internal/sealed"
)

// ReadManifest reads the manifest among the files of a bundle that was verified.
func ReadManifest(files fs.FS) (Manifest, error) {
	data, err := fs.ReadFile(files, sealeds.ManifestFile)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Manifest{}, err
	}
	return sealeds.ManifestOf(data)
}
