package install

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
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
	trust := ""
	for where, path := range t.codexConfigs(m) {
		doc := codexDocument(m, path, v)
		if on, there := lookupTOML(doc, []string{"features", "hooks"}); there && on != true && !pinned {
			off(path, "features.hooks", where)
		}
		if where == User && scope != Managed {
			trust = codexTrusts(t, m, v.guard.File, doc)
		}
	}
	if scope == Managed || trust == "trusted" {
		return
	}
	v.guard.InForce = false
	v.findings = slices.DeleteFunc(v.findings, func(f Finding) bool { return f.ID == "gate.trust" }) // the weaker words for it
	message := "Codex has no person's trust in this file's PreToolUse hook: it never asks gate"
	switch trust {
	case "off":
		message = "this file's PreToolUse hook is switched off in Codex: it never asks gate"
	case "changed":
		message = "Codex has a person's trust in this file's PreToolUse hook as it was before: it never asks gate"
	}
	v.report("gate.untrusted", Error, 0, message,
		"gate install codex --scope "+string(scope)+" --trust-hooks at a terminal, or trust it in Codex (/hooks), or install in the managed scope")
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

// codexTrusts says what is kept of a person's trust in a file's hook before a call.
func codexTrusts(t *table, m Machine, file string, doc map[string]any) string {
	text, err := m.system().ReadFile(file, maxFile)
	if err != nil {
		return ""
	}
	hooks, err := codexHooks(t, m, file, text)
	if err != nil {
		return ""
	}
	state := ""
	for _, h := range hooks {
		if h.event == "PreToolUse" && state != "trusted" {
			state = h.trustState(doc)
		}
	}
	return state
}
