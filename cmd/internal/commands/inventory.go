package commands

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"gate/cmd/internal/document"
	"gate/internal/audit"
	"gate/internal/format"
	"gate/internal/hostfs"
	"gate/internal/install"
	"gate/internal/load"
	"gate/internal/sealed"
	"gate/internal/setup"
	"gate/internal/sources"
	"gate/internal/sync"
	"gate/scopes"
)

// inventory is what a fleet's owner collects from a machine: what is in force,
// how old it is, and whether it is logged.
func (f *installFlags) inventory(p process, m install.Machine) map[string]any {
	doc := map[string]any{
		"gate":    map[string]any{"version": setup.Version(), "go": runtime.Version(), "os": runtime.GOOS, "arch": runtime.GOARCH, "program": programDocument(m.Program), "hook": programDocument(m.Command[0]), "channel": format.Channel.Number()},
		"bundles": []any{}, "enrolling": false, "keys": nil, "settings": []any{}, "policies": nil, "last_decision": nil, "log": nil, "compiled": []any{}, "sync": []any{},
	}
	d, err := f.dirs.Absolute().ForHook()
	if err != nil {
		return doc
	}
	doc["directories"] = map[string]any{"managed": d.Managed, "user": d.User, "state": d.State}
	doc["compiled"] = compiledDocuments(compilables(d, m.Project))
	doc["keys"] = keySetDocument(filepath.Join(d.Managed, sync.KeysFile))
	doc["sync"] = failureDocuments(d)
	doc["settings"] = settingsFiles(d)
	doc["log"], doc["last_decision"] = logDocuments(d.State)
	place := placeFlags{dirs: f.dirs, dir: f.dir}
	g, err := place.gate(p)
	if err != nil {
		return doc // the findings say why
	}
	doc["enrolling"] = g.Enrolling
	doc["bundles"] = bundleAges(g.Loaded.Signed, time.Now())
	count := 0
	for _, src := range g.Set.Sources() {
		count += len(src.Hooks)
	}
	doc["policies"] = map[string]any{"hooks": count, "sources": sourceNames(g.Set.Sources()), "labels": labels(g.Set.Settings().Labels), "off": document.OrNull(g.Set.Off())}
	return doc
}

func labels(m map[string]string) map[string]any {
	doc := map[string]any{}
	for k, v := range m {
		doc[k] = visible(v)
	}
	return doc
}

func sourceNames(list []*scopes.Source) []any {
	out := []any{}
	for _, src := range list {
		out = append(out, map[string]any{"name": src.Name, "authority": src.Authority.String(), "digest": document.OrNull(src.Digest), "hooks": len(src.Hooks), "faults": len(src.Faults)})
	}
	return out
}

func programDocument(path string) map[string]any {
	doc := map[string]any{"path": path, "digest": nil}
	if sum, err := digestOf(path); err == nil {
		doc["digest"] = sum
	}
	return doc
}

// maxProgram bounds a program that is looked at.
const maxProgram = 512 << 20

func digestOf(path string) (string, error) {
	data, err := readFile(path, maxProgram)
	if err != nil {
		return "", err
	}
	return sealed.Digest(data), nil
}

// bundleAges are the bundles in force, with how old they are.
func bundleAges(list []sources.Bundle, now time.Time) []any {
	out := []any{}
	for _, b := range list {
		doc := map[string]any{
			"name": b.Name, "version": b.Version, "digest": b.Digest, "trial": b.Trial, "broken": b.Broken,
			"synced": nil, "age_s": nil, "expires": nil,
		}
		if !b.Synced.IsZero() {
			doc["synced"], doc["age_s"] = b.Synced.UTC().Format(time.RFC3339), int64(max(now.Sub(b.Synced), 0).Seconds())
		}
		if end := b.Manifest.Gate.Expires; !end.IsZero() {
			doc["expires"] = end.UTC().Format(time.RFC3339)
		}
		out = append(out, doc)
	}
	return out
}

func keySetDocument(path string) any {
	set, err := readKeys(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return map[string]any{"error": oneLine(err.Error())}
	}
	waiting, err := set.Waiting(set)
	if err != nil {
		return map[string]any{"error": oneLine(err.Error())}
	}
	return keysDocument(set, waiting)
}

// settingsFiles are the machine's own settings files, with digests by which a
// fleet sees where they differ.
func settingsFiles(d dirs) []any {
	var names []string
	for _, dir := range []string{d.Managed, d.User} {
		for _, pattern := range []string{load.SettingsStem + ".*", filepath.Join(load.SettingsDir, "*")} {
			found, _ := filepath.Glob(filepath.Join(globQuote(dir), pattern))
			names = append(names, found...)
		}
	}
	out := []any{}
	for _, name := range names {
		doc := map[string]any{"path": name, "digest": nil}
		if data, err := readFile(name, maxSealed); err == nil {
			doc["digest"] = sealed.Digest(data)
		}
		out = append(out, doc)
	}
	return out
}

// globQuote makes a directory's name mean itself in a pattern.
func globQuote(dir string) string {
	if runtime.GOOS == "windows" {
		return dir // has no escape, and a name with a bracket just matches nothing
	}
	var b []byte
	for i := range len(dir) {
		if c := dir[i]; c == '*' || c == '?' || c == '[' || c == '\\' {
			b = append(b, '\\')
		}
		b = append(b, dir[i])
	}
	return string(b)
}

// logDocuments say where the decision log is, how large, and what came last.
func logDocuments(state string) (log, last any) {
	path := filepath.Join(state, audit.FileName)
	info, err := os.Lstat(path)
	doc := map[string]any{"path": path, "bytes": nil, "modified": nil, "error": nil}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return doc, nil
	case err != nil:
		doc["error"] = oneLine(hostfs.Reason(err).Error())
		return doc, nil
	}
	doc["bytes"], doc["modified"] = info.Size(), info.ModTime().UTC().Format(time.RFC3339)
	h, err := audit.OpenHistory(state)
	if err != nil {
		doc["error"] = oneLine(err.Error())
		return doc, nil
	}
	r, err := h.Last()
	if err != nil {
		doc["error"] = oneLine(err.Error())
		return doc, nil
	}
	return doc, map[string]any{
		"id": r.ID, "time": r.Time.UTC().Format(time.RFC3339), "agent": r.Agent, "event": string(r.Event), "tool": r.Tool, "effect": r.Effect.String(),
	}
}
