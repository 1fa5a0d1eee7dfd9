package install

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
)

// codexConfig looks at what stands beside Codex's hooks and decides whether they
// run: config.toml of the person and of the project, where features.hooks can
// switch them off and where trust in each hook is kept, and requirements.toml of
// the machine, which overrules both.
func codexConfig(t *table, m Machine, v *tableView) {
	scope := v.guard.Scope
	off := func(path, what string, where Scope) {
		v.guard.InForce = false
		v.findings = append(v.findings, Finding{ID: "hooks.disabled", Severity: Error, Agent: t.id, Scope: where, File: path,
			Message: what + " switches gate off", Remedy: "remove it, or install gate in the managed scope"})
	}
	pinned := false
	for _, path := range t.targets(m, Managed) {
		doc := codexDocument(m, path, v)
		switch on, there := lookupTOML(doc, []string{"features", "hooks"}); {
		case on == true:
			pinned = true
		case there:
			off(path, "features.hooks", Managed)
		}
		if only, _ := lookupTOML(doc, []string{"allow_managed_hooks_only"}); only == true && scope != Managed {
			off(path, "allow_managed_hooks_only", Managed)
		}
	}
	trusted := false
	for where, path := range t.codexConfigs(m) {
		doc := codexDocument(m, path, v)
		if on, there := lookupTOML(doc, []string{"features", "hooks"}); there && on != true && !pinned {
			off(path, "features.hooks", where)
		}
		trusted = trusted || where == User && codexTrusts(doc, m.spellings(v.guard.File), "PreToolUse")
	}
	if scope != Managed && !trusted {
		v.guard.InForce = false
		v.findings = slices.DeleteFunc(v.findings, func(f Finding) bool { return f.ID == "gate.trust" }) // the weaker words for it
		v.report("gate.untrusted", Error, 0, "Codex has no person's trust in this file's PreToolUse hook: it never asks gate",
			"start Codex and trust gate's hooks there (/hooks), or install in the managed scope")
	}
}

// codexConfigs are the files of settings that Codex reads, but the machine's.
func (t *table) codexConfigs(m Machine) map[Scope]string {
	out := map[Scope]string{}
	if dir := t.dir(m); dir != "" {
		out[User] = filepath.Join(dir, "config.toml")
	}
	if path := filepath.Join(m.Project, ".codex", "config.toml"); m.Project != "" && path != out[User] {
		out[Project] = path
	}
	return out
}

// codexDocument reads a file of Codex's; nil if there is none. With one that
// cannot be read, nobody knows what holds.
func codexDocument(m Machine, path string, v *tableView) map[string]any {
	text, err := m.system().ReadFile(path, maxFile)
	if errors.Is(err, fs.ErrNotExist) && !m.exists(path) {
		return nil
	}
	var doc map[string]any
	if err == nil {
		doc, err = readTOML(path, text)
	} else {
		err = fmt.Errorf("%s: %w", path, err)
	}
	if err != nil && path != v.guard.File {
		v.guard.InForce = false
		v.report("settings.unreadable", Error, 0, err.Error(), "correct the file, or make it a regular file that this account can read")
	}
	return doc
}

// codexTrusts reports whether trust is kept in a hook for the event of one of the
// files. Codex keeps a hash under a key of the file, the event and the hook's
// place; how it makes the hash is not known, so a hook that was changed since
// passes for trusted here, and not in Codex.
func codexTrusts(doc map[string]any, files []string, event string) bool {
	state, _ := lookupTOML(doc, []string{"hooks", "state"})
	hooks, _ := state.(map[string]any)
	for key, value := range hooks {
		hook, _ := value.(map[string]any)
		if hash, _ := hook["trusted_hash"].(string); hash == "" || hook["enabled"] == false {
			continue
		}
		for _, file := range files {
			at, ok := strings.CutPrefix(key, file)
			if ok && strings.Contains(strings.ToLower(strings.ReplaceAll(at, "_", "")), strings.ToLower(event)) {
				return true
			}
		}
	}
	return false
}

// spellings are a file's name and the one that it has behind links.
func (m Machine) spellings(path string) []string {
	if real, err := m.real(path); err == nil && real != path {
		return []string{path, real}
	}
	return []string{path}
}
