package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/CycloneDX/cyclonedx-go"
	"github.com/google/uuid"
)

// sbom writes what each program links, as CycloneDX has it: the programs of every platform
// with their digests, the modules with the checksums of go.sum, and Go.
func sbom(_ context.Context, r *Release, staged []Staged) ([]string, error) {
	list := inventory{parts: map[string]cyclonedx.Component{}}
	for _, s := range staged {
		for _, name := range s.Platform.programs() {
			if err := list.add(s.Platform, s.Program(name)); err != nil {
				return nil, err
			}
		}
	}
	bom := cyclonedx.NewBOM()
	bom.SpecVersion, bom.JSONSchema = cyclonedx.SpecVersion1_6, "http://cyclonedx.org/schema/bom-1.6.schema.json"
	bom.SerialNumber = uuid.NewSHA1(uuid.NameSpaceURL, []byte(home+"/"+r.Version+"/"+r.Commit)).URN()
	bom.Metadata = &cyclonedx.Metadata{
		Timestamp: r.Time.Format(time.RFC3339),
		Component: &cyclonedx.Component{
			BOMRef: "gate", Type: cyclonedx.ComponentTypeApplication, Name: "gate", Version: r.Version,
			Properties: &[]cyclonedx.Property{{Name: "gate:commit", Value: r.Commit}},
		},
	}
	components := list.components()
	bom.Components = &components
	refs := []string{}
	for _, d := range list.links {
		refs = append(refs, d.Ref)
	}
	links := append([]cyclonedx.Dependency{{Ref: "gate", Dependencies: &refs}}, list.links...)
	bom.Dependencies = &links

	var out bytes.Buffer

	if err := cyclonedx.NewBOMEncoder(&out, cyclonedx.BOMFileFormatJSON).SetPretty(true).SetEscapeHTML(false).EncodeVersion(bom, cyclonedx.SpecVersion1_6); err != nil {
		return nil, err
	}
	name := "gate-" + r.Version + ".cdx.json"
	return []string{name}, os.WriteFile(filepath.Join(r.Out, name), out.Bytes(), 0o644)
}

// An inventory is all that programs are made of.
type inventory struct {
	parts map[string]cyclonedx.Component // by their references
	links []cyclonedx.Dependency         // what each program links
}

// add takes one program in, and what it links.
func (list *inventory) add(p Platform, program File) error {
	info, modules, err := linked(program)
	if err != nil {
		return fmt.Errorf("%s: %w", p, err)
	}
	ref := p.String() + "/" + program.Path
	list.parts[ref] = cyclonedx.Component{
		BOMRef: ref, Type: cyclonedx.ComponentTypeApplication, Name: program.Path, Version: info.Main.Version,
		Hashes:     &[]cyclonedx.Hash{{Algorithm: cyclonedx.HashAlgoSHA256, Value: digest(program.Data)}},
		Properties: &[]cyclonedx.Property{{Name: "gate:platform", Value: p.String()}},
	}
	goes := cyclonedx.Component{
		Type: cyclonedx.ComponentTypeLibrary, Name: "std", Version: info.GoVersion,
		Description: "Go's standard library and runtime", PackageURL: "pkg:golang/std@" + strings.TrimPrefix(info.GoVersion, "go"),
	}
	refs := []string{list.part(goes)}
	for _, m := range modules {
		refs = append(refs, list.part(cyclonedx.Component{
			Type: cyclonedx.ComponentTypeLibrary, Name: m.path, Version: m.version, PackageURL: m.purl(),
			// It is no digest of a file, so that it stands among no hashes.
			Properties: &[]cyclonedx.Property{{Name: "gate:go.sum", Value: m.sum}},
		}))
	}
	slices.Sort(refs)
	list.links = append(list.links, cyclonedx.Dependency{Ref: ref, Dependencies: &refs})
	return nil
}

// part takes in what several programs link, and returns its reference.
func (list *inventory) part(c cyclonedx.Component) string {
	c.BOMRef = c.PackageURL
	list.parts[c.BOMRef] = c
	return c.BOMRef
}

// components are all parts, ordered by their references.
func (list *inventory) components() []cyclonedx.Component {
	var all []cyclonedx.Component
	for _, c := range list.parts {
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b cyclonedx.Component) int { return strings.Compare(a.BOMRef, b.BOMRef) })
	return all
}

// purl names a module as lists of vulnerabilities do (package-url's "golang": lower case).
func (m module) purl() string {
	return "pkg:golang/" + strings.ToLower(m.path) + "@" + strings.ReplaceAll(m.version, "+", "%2B")
}

// digest is the SHA-256 of a file, in hexadecimal.
func digest(data []byte) string { return fmt.Sprintf("%x", sha256.Sum256(data)) }
