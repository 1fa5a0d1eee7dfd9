package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// A statement says of files how they were made: an in-toto statement (v1) with SLSA's
// predicate of provenance (v1). It says nothing of when and where the release was made,
// so that it is the same whoever makes it.
type statement struct {
	Type          string     `json:"_type"`
	Subject       []artifact `json:"subject"`
	PredicateType string     `json:"predicateType"`
	Predicate     provenance `json:"predicate"`
}

// An artifact is a file, or what went into it, with its digests by algorithm.
type artifact struct {
	Name        string            `json:"name"`
	URI         string            `json:"uri,omitempty"`
	Digest      map[string]string `json:"digest,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

type provenance struct {
	BuildDefinition struct {
		BuildType          string         `json:"buildType"`
		ExternalParameters map[string]any `json:"externalParameters"`
		InternalParameters map[string]any `json:"internalParameters"`
		Dependencies       []artifact     `json:"resolvedDependencies"`
	} `json:"buildDefinition"`
	RunDetails struct {
		Builder struct {
			ID string `json:"id"`
		} `json:"builder"`
	} `json:"runDetails"`
}

// provenance writes how the files of the release were made, and returns the name of its own.
func (r *Release) provenance(ctx context.Context, made []string) (string, error) {
	tree, err := r.git(ctx, "rev-parse", "HEAD^{tree}")
	if err != nil {
		return "", err
	}
	version, err := r.run(ctx, nil, "go", "env", "GOVERSION")
	if err != nil {
		return "", err
	}
	s := statement{Type: "https://in-toto.io/Statement/v1", PredicateType: "https://slsa.dev/provenance/v1"}
	for _, path := range slices.Sorted(slices.Values(made)) {
		data, err := os.ReadFile(filepath.Join(r.Out, filepath.FromSlash(path)))
		if err != nil {
			return "", err
		}
		s.Subject = append(s.Subject, artifact{Name: path, Digest: map[string]string{"sha256": digest(data)}})
	}
	var platforms []string
	for _, p := range r.Platforms {
		platforms = append(platforms, p.OS+"/"+p.Arch)
	}
	b := &s.Predicate.BuildDefinition
	b.BuildType = home + "/make-release/v1"
	b.ExternalParameters = map[string]any{"version": r.Version, "platforms": platforms}
	b.InternalParameters = map[string]any{"flags": buildFlags, "environment": buildEnv, "dirty": r.Dirty}
	source := artifact{Name: "source", URI: "git+" + home + "/gate", Digest: map[string]string{"gitCommit": r.Commit, "gitTree": tree},
		Annotations: map[string]string{"committed": r.Time.Format(time.RFC3339)}}
	if r.Dirty {
		source.Annotations["dirty"] = "the release was made of this commit and of changes that are in no commit"
	}
	goes := strings.TrimSpace(string(version))
	b.Dependencies = []artifact{source, {Name: "go", URI: "pkg:golang/toolchain@" + strings.TrimPrefix(goes, "go"), Annotations: map[string]string{"version": goes}}}
	s.Predicate.RunDetails.Builder.ID = home + "/whoever-signed-the-checksums"

	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(s); err != nil {
		return "", err
	}
	name := "gate-" + r.Version + ".provenance.json"
	return name, os.WriteFile(filepath.Join(r.Out, name), out.Bytes(), 0o644)
}
