package commands

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"gate/internal/consent"
	"gate/internal/install"
	"gate/internal/places"
	"gate/internal/setup"
)

// trustInjector lets a program tell the agents of a project something.
func trustInjector(p process, d dirs, dir, project string) error {
	if err := p.attended(); err != nil {
		return err
	}
	full, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	in, err := consent.InjectorOf(full, places.ProjectRoot("", project))
	if err != nil {
		return err
	}
	store := d.Grants()
	known, err := store.Injectors()
	if err != nil {
		return err
	}
	if slices.ContainsFunc(known, func(k consent.Injector) bool { return k.Dir == in.Dir && k.Project == in.Project }) {
		return printAll(p, fmt.Sprintf("texts are taken from %s already\n", visible(p.tilde(in.Dir))))
	}
	witness, err := p.person(d, fmt.Sprintf("Let every program that can write this directory tell agents something?\n  %s\nThe agents are those that work in\n  %s\n",
		shown(in.Dir), shown(in.Project)))
	if err != nil {
		return err
	}
	if err := store.GrantInjector(witness, in); err != nil {
		return err
	}
	return printAll(p, fmt.Sprintf("texts are taken from %s\n", visible(p.tilde(in.Dir))))
}

// distrustInjector needs no person: it only tightens.
func distrustInjector(p process, store consent.Store, dir string) error {
	full, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	if real, err := filepath.EvalSymlinks(full); err == nil {
		full = real
	}
	known, broken := store.Injectors()
	var b strings.Builder
	for _, in := range known {
		if in.Dir != full {
			continue
		}
		if err := store.RevokeInjector(in); err != nil {
			return err
		}
		fmt.Fprintf(&b, "texts for %s are no longer taken from %s\n", visible(p.tilde(in.Project)), visible(p.tilde(in.Dir)))
	}
	if b.Len() == 0 {
		fmt.Fprintf(&b, "no texts were taken from %s\n", visible(p.tilde(full)))
	}
	return errors.Join(printAll(p, b.String()), broken)
}

// injectorFindings are the directories of which a person granted that texts are taken,
// and none is.
func injectorFindings(g *setup.Gate) []install.Finding {
	known, err := g.Grants().Injectors()
	var list []install.Finding
	wrong := func(err error) {
		list = append(list, install.Finding{
			ID: "gate.injector", Severity: install.Warning, Message: "no text of an injector is told: " + err.Error(),
			Remedy: "give the directory back to this account alone, or run gate distrust --injector with it",
		})
	}
	if err != nil {
		wrong(err)
	}
	for _, in := range known {
		if err := in.Holds(); err != nil {
			wrong(err)
		}
	}
	return list
}
