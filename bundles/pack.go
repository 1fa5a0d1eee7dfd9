package bundles

import (
	"errors"
	"io/fs"
	"path"
	"strings"

	"gate/internal/hostfs"
	sealeds "gate/internal/sealed"
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
	manifest, there := files[sealeds.ManifestFile]
	if !there {
		return nil, sealeds.RefuseFile(sealeds.BadManifest, sealeds.ManifestFile, fs.ErrNotExist)
	}
	if files[sealeds.ManifestFile], err = sealeds.NormalManifest(manifest, change); err != nil {
		return nil, err
	}
	archive, err := sealeds.PackOf(files)
	if err != nil {
		return nil, err
	}
	return archive, sealeds.PackedWell(archive)
}

// collect reads the files that belong into a bundle. Hidden ones and other
// kinds stay out, because OPA does not read them.
func collect(dir fs.FS) (map[string][]byte, error) {
	files := map[string][]byte{}
	var errs []error
	left := Limits{}.WithDefaults()
	err := fs.WalkDir(dir, ".", func(name string, d fs.DirEntry, err error) error {
		base := path.Base(name)
		switch hidden := strings.HasPrefix(base, ".") && name != "." && name != sealeds.ManifestFile; {
		case err != nil:
			return err
		case hidden && d.IsDir():
			return fs.SkipDir
		case hidden || d.IsDir():
			return nil
		case name != sealeds.ManifestFile && base != sealeds.DataFile && !strings.HasSuffix(base, ".rego"):
			if base == "data.yaml" || base == "data.yml" {
				errs = append(errs, sealeds.RefuseFile(sealeds.BadFile, sealeds.Shown(name), sealeds.CheckMeaning(name)))
			}
			return nil
		case !d.Type().IsRegular():
			errs = append(errs, sealeds.RefuseFile(sealeds.Malformed, sealeds.Shown(name), hostfs.ErrIrregular))
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if left.Total -= int(min(info.Size(), int64(left.File)+1)); info.Size() > int64(left.File) || left.Total < 0 {
			return sealeds.RefuseFile(sealeds.TooLarge, sealeds.Shown(name), nil)
		}
		files[name], err = fs.ReadFile(dir, name)
		return err
	})
	return files, errors.Join(err, errors.Join(errs...))
}
