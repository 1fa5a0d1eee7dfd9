package main

import (
	"bytes"
	"context"
	"strings"

	"github.com/google/rpmpack"
)

var redHat = family{
	zsh:    "/usr/share/zsh/site-functions/",
	arches: map[string]string{"amd64": "x86_64", "arm64": "aarch64", "386": "i686", "riscv64": "riscv64", "ppc64le": "ppc64le", "s390x": "s390x"},
}

// rpms writes a package of rpm's for each platform of Linux.
func rpms(_ context.Context, r *Release, staged []Staged) ([]string, error) {
	return r.packages(staged, ".rpm", r.rpm)
}

// rpm is one package of rpm's. It is not signed by itself: the checksums of the release are.
func (r *Release) rpm(s Staged) ([]byte, error) {
	arch, err := redHat.arch(s.Platform)
	if err != nil {
		return nil, err
	}
	files, err := r.placed(s, redHat)
	if err != nil {
		return nil, err
	}
	script, err := r.removal()
	if err != nil {
		return nil, err
	}
	p, err := rpmpack.NewRPM(rpmpack.RPMMetaData{
		Name: "gate", Summary: summary, Description: strings.Join(lines(description, 76), "\n"),
		Version: r.rpmVersion(), Release: "1", Arch: arch, OS: "linux", URL: home, Packager: maintainer,
		Licence: noLicence, BuildHost: "localhost", BuildTime: r.Time, Compressor: "gzip:9", Epoch: rpmpack.NoEpoch,
	})
	if err != nil {
		return nil, err
	}
	p.AddPreun(string(script))
	p.AddFile(rpmpack.RPMFile{Name: strings.TrimSuffix(documents, "/"), Mode: 0o40755, Owner: "root", Group: "root", MTime: uint32(r.Time.Unix())})
	for _, f := range files {
		p.AddFile(rpmpack.RPMFile{
			Name: f.Path, Body: f.Data, Mode: uint(f.Mode), Owner: "root", Group: "root",
			MTime: uint32(r.Time.Unix()), Type: rpmType(f),
		})
		for _, dir := range above(f.Path) {
			if strings.HasPrefix(dir, documents) {
				p.AddFile(rpmpack.RPMFile{Name: dir, Mode: 0o40755, Owner: "root", Group: "root", MTime: uint32(r.Time.Unix())})
			}
		}
	}
	var b bytes.Buffer
	err = p.Write(&b)
	return b.Bytes(), err
}

// rpmType marks documents, which some systems leave out.
func rpmType(f File) rpmpack.FileType {
	switch f.Kind {
	case Page, Manual:
		return rpmpack.DocFile
	case Licence:
		return rpmpack.LicenceFile
	}
	return rpmpack.GenericFile
}
