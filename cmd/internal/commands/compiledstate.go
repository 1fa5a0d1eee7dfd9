package commands

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"gate/cmd/internal/document"
	"gate/internal/artifact"
	"gate/internal/artifact/build"
	"gate/internal/install"
	"gate/internal/places"
)

// compilables are the places of a machine and of projects.
func compilables(d dirs, projects ...string) []compilable {
	list := []compilable{{d, artifact.Managed, d.Managed}, {d, artifact.User, d.User}}
	for _, project := range projects {
		if project != "" {
			list = append(list, compilable{d, artifact.Project, places.ProjectPlace(project)})
		}
	}
	return list
}

// slow says why calls are not answered from the compiled form of a place, "" if
// they are or there is no such place, and what helps.
func (at compilable) slow() (why, remedy string) {
	if at.missing() {
		return "", ""
	}
	err := build.Possible(at.dir)
	if err == nil {
		_, err = at.dirs.Compiled(at.kind, at.dir, artifact.Maker())
	}
	switch {
	case err == nil:
		return "", ""
	case errors.Is(err, fs.ErrNotExist):
		return "it was never compiled", "gate build, or the next call, compiles it"
	case errors.Is(err, artifact.ErrStale):
		return err.Error(), "gate build, or the next call, compiles it anew"
	}
	return err.Error(), "calls are answered all the same, only not as fast"
}

// compiles has what is in force compiled before the first call comes. What cannot
// be is for gate doctor to tell: calls are answered all the same.
func (f *installFlags) compiles(m install.Machine) {
	d, err := f.dirs.Absolute().ForHook()
	if err != nil {
		return
	}
	for _, at := range compilables(d, m.Project) {
		if at.outdated() {
			at.build(false)
		}
	}
}

// slowFindings are the places that gate-hook cannot answer from, where there is
// a gate-hook.
func (f *installFlags) slowFindings(m install.Machine) (list []install.Finding) {
	if _, err := os.Stat(hookProgram(m.Program)); err != nil {
		return nil
	}
	d, err := f.dirs.Absolute().ForHook()
	if err != nil {
		return nil // said already
	}
	for _, at := range compilables(d, m.Project) {
		if why, remedy := at.slow(); why != "" {
			list = append(list, install.Finding{
				ID: "gate.slow", Severity: install.Notice, File: at.dir, Message: fmt.Sprintf("gate-hook hands calls over to gate hook: %s", why), Remedy: remedy,
			})
		}
		for _, line := range at.differs() {
			list = append(list, install.Finding{
				ID: "gate.differs", Severity: install.Notice, File: at.dir, Message: line,
				Remedy: "it is decided as OPA says, only not as fast; please report it",
			})
		}
	}
	return list
}

// differs lists the policies of the place's compiled form that stay with OPA
// because they differ from it in their own tests.
func (at compilable) differs() (list []string) {
	form, err := at.dirs.Compiled(at.kind, at.dir, artifact.Maker())
	if err != nil {
		return nil
	}
	sources, err := form.All(artifact.As{})
	if err != nil {
		return nil // it is as good as none
	}
	for i := range sources {
		for _, h := range sources[i].Hooks {
			if why := sources[i].Unready(h.ID); strings.HasPrefix(why, inTests) {
				list = append(list, fmt.Sprintf("%s stays with OPA: %s", h.ID, why))
			}
		}
	}
	return list
}

// compiledDocuments say of each place whether calls are answered from its
// compiled form.
func compiledDocuments(list []compilable) []any {
	out := []any{}
	for _, at := range list {
		if at.missing() {
			continue
		}
		why, _ := at.slow()
		out = append(out, map[string]any{"place": at.kind.String(), "dir": at.dir, "fresh": why == "", "why": document.OrNull(why)})
	}
	return out
}

// forget removes the compiled form of a place.
func (at compilable) forget() {
	base, _ := at.dirs.CompiledIn(at.kind)
	os.Remove(filepath.Join(base, artifact.Dir, artifact.Name(at.kind, at.dir)))
}
