// Package emit writes a profile down for sandboxes that are not gate's: those of agents,
// bubblewrap, and macOS.
//
// No other sandbox holds all of a profile. [For] returns, beside the text, each thing that
// the text cannot hold.
package emit

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"gate/facts"
	"gate/internal/confine/profile"
	"gate/internal/secret"
	"gate/internal/strictjson"
)

// A Text is a profile in the words of a sandbox.
type Text struct {
	Body  string
	Lacks []string // what the sandbox does not hold of the profile, a part of a sentence each
}

// Names are the sandboxes that [For] knows.
func Names() []string { return []string{"claude", "codex", "bwrap", "seatbelt"} }

// For writes a profile, as [profile.Profile.At] returned it, for a sandbox. look reports
// whether a path exists, and whether it is a directory.
func For(name string, p profile.Profile, at profile.Place, look func(string) (there, dir bool)) (Text, error) {
	w := writer{p, at, newTables(at), look}
	switch name {
	case "claude":
		return w.claude(), nil
	case "codex":
		return w.codex(), nil
	case "bwrap":
		return w.bwrap(), nil
	case "seatbelt":
		return w.seatbelt(), nil
	}
	return Text{}, fmt.Errorf("there is no sandbox %q; there are %s", name, strings.Join(Names(), ", "))
}

type writer struct {
	p      profile.Profile
	at     profile.Place
	tables tables
	look   func(string) (there, dir bool)
}

// tables are the secrets and the guarded files that facts know.
type tables struct {
	secrets  []string // absolute, without wildcards
	anywhere []string // names of secrets wherever they lie
	guards   []string // below the project
}

func newTables(at profile.Place) (t tables) {
	world := facts.World{Home: at.Home, Project: at.Project, OS: "linux"}
	for dir := range strings.FieldsSeq(secret.Directories) {
		t.secrets = append(t.secrets, path.Join(at.Home, dir))
	}
	for _, pattern := range world.Patterns("secret.") {
		name := strings.TrimSuffix(pattern, "/**")
		below, own := strings.CutPrefix(name, "~/")
		switch {
		case strings.Contains(name, ":/"): // of Windows, where none of these sandboxes runs
		case strings.HasPrefix(name, "**/"):
			t.anywhere = append(t.anywhere, path.Base(name))
		case strings.ContainsAny(name, "*?["):
		case own:
			t.secrets = append(t.secrets, path.Join(at.Home, below))
		case strings.HasPrefix(name, "/"):
			t.secrets = append(t.secrets, name)
		}
	}
	for _, pattern := range facts.Guarded(world) {
		t.guards = append(t.guards, path.Join(at.Project, strings.TrimSuffix(pattern, "/**")))
	}
	t.secrets, t.guards, t.anywhere = sorted(profile.LeastOf(t.secrets)), sorted(profile.LeastOf(t.guards)), sorted(t.anywhere)
	return t
}

func sorted(list []string) []string {
	list = slices.Clone(list)
	slices.Sort(list)
	return slices.Compact(list)
}

// guarded are the files that may not be changed though they lie below what may.
func (w writer) guarded() []string {
	all := slices.DeleteFunc(append(slices.Clone(w.p.Guard), w.tables.guards...), func(name string) bool { return !profile.WithinAny(name, w.p.Write) })
	return sorted(all)
}

// hidden are the paths that may not be read.
func (w writer) hidden() []string { return sorted(append(slices.Clone(w.p.Deny), w.tables.secrets...)) }

// common is what only gate run holds.
func (w writer) common() (lacks []string) {
	if len(w.p.Cache) > 0 {
		lacks = append(lacks, "changes in caches are not kept apart for the project")
	}
	l := w.p.Limits
	if l.Processes+l.Files > 0 || l.Memory > 0 || l.Temp > 0 || l.CPU > 0 {
		lacks = append(lacks, "the limits of processes, memory and temporary files")
	}
	if len(w.p.Programs) > 0 {
		lacks = append(lacks, "the list of programs")
	}
	return lacks
}

const lacksAnywhere = "files of secrets in the project, such as .env, are not looked for"

// claude is what Claude Code's settings say of its sandbox.
func (w writer) claude() Text {
	var domains []string
	for _, h := range w.p.Hosts {
		name, _, _ := strings.Cut(h, ":")
		domains = append(domains, name)
	}
	doc := map[string]any{"sandbox": map[string]any{
		"enabled": true, "failIfUnavailable": true, "allowUnsandboxedCommands": false, "autoAllowBashIfSandboxed": false,
		"filesystem": map[string]any{
			"allowWrite": list(append(slices.Clone(w.p.Write), w.p.Cache...)), "denyWrite": list(w.guarded()), "denyRead": list(w.hidden()),
		},
		"network": map[string]any{"allowedDomains": list(sorted(domains)), "allowUnixSockets": []any{}, "allowLocalBinding": true},
	}}
	lacks := append(w.common(), "reading is by a list of what is denied: all else of the machine can be read", lacksAnywhere, "variables that promise a secret stay")
	if len(w.p.Write) == 0 {
		lacks = append(lacks, "the working directory can be changed: that sandbox always lets it be")
	}
	if len(w.p.Hosts) > 0 {
		lacks = append(lacks, "hosts are names without their port, and TLS is not compared with them")
	}
	lacks = append(lacks, "files that steer agents and are missing can be made", "the line is the client's: a policy cannot choose the profile by call")
	return Text{strictjson.Indent(doc) + "\n", lacks}
}

func list(names []string) []any {
	out := make([]any, len(names))
	for i, name := range names {
		out[i] = name
	}
	return out
}

// codex is what config.toml says of Codex's sandbox.
func (w writer) codex() Text {
	var b strings.Builder
	lacks := append(w.common(), "the whole machine can be read, secrets too", "files that steer other agents than Codex can be changed in the project", "a policy cannot choose the profile by call")
	if len(w.p.Write) == 0 && len(w.p.Cache) == 0 {
		b.WriteString("sandbox_mode = \"read-only\"\n")
	} else {
		b.WriteString("sandbox_mode = \"workspace-write\"\n\n[sandbox_workspace_write]\n")
		var roots []string
		for _, dir := range append(slices.Clone(w.p.Write), w.p.Cache...) {
			if dir != w.at.Project {
				roots = append(roots, quoted(dir))
			}
		}
		fmt.Fprintf(&b, "writable_roots = [%s]\nnetwork_access = false\nexclude_slash_tmp = false\n", strings.Join(roots, ", "))
		if !slices.Contains(w.p.Write, w.at.Project) {
			lacks = append(lacks, "the working directory can be changed: that sandbox always lets it be")
		}
	}
	b.WriteString("\n[shell_environment_policy]\nignore_default_excludes = false\n")
	if len(w.p.Hosts) > 0 {
		lacks = append(lacks, "a list of hosts: there is no network, so what the profile grants is missing")
	}
	return Text{b.String(), lacks}
}

// quoted is a text for TOML, which reads JSON's.
func quoted(text string) string { return string(strictjson.Append(nil, text)) }

// bwrap is a script that starts a program by bubblewrap.
func (w writer) bwrap() Text {
	var b strings.Builder
	b.WriteString("#!/bin/sh\nexec bwrap --unshare-all --die-with-parent --new-session \\\n")
	add := func(words ...string) {
		b.WriteString(" ")
		for _, word := range words {
			b.WriteString(" " + shellWord(word))
		}
		b.WriteString(" \\\n")
	}
	add("--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--tmpfs", w.at.Home)
	for _, name := range profile.LeastOf(append(slices.Clone(w.p.Read), w.p.Cache...)) {
		if !profile.WithinAny(name, w.p.Write) {
			add("--ro-bind-try", name, name)
		}
	}
	for _, name := range profile.LeastOf(w.p.Write) {
		add("--bind", name, name)
	}
	for _, name := range w.guarded() {
		if there, _ := w.look(name); there {
			add("--ro-bind", name, name)
		}
	}
	in := append(append(slices.Clone(w.p.Read), w.p.Write...), w.p.Cache...)
	for _, name := range w.hidden() {
		switch there, dir := w.look(name); {
		case !there || !profile.WithinAny(name, in):
		case dir:
			add("--tmpfs", name)
		default:
			add("--ro-bind", "/dev/null", name)
		}
	}
	add("--setenv", "TMPDIR", "/tmp", "--chdir", w.at.Project)
	b.WriteString("  -- \"$@\"\n")
	lacks := append(w.common(), "no Landlock and no filter of system calls: vsock, keyrings and perf stay open", lacksAnywhere,
		"files that steer agents and are missing can be made", "variables that promise a secret stay", "a project that changes later is covered as it was now")
	if len(w.p.Cache) > 0 {
		lacks = append(lacks, "caches can be read only")
	}
	if len(w.p.Hosts) > 0 {
		lacks = append(lacks, "a list of hosts: there is no network, so what the profile grants is missing")
	}
	return Text{b.String(), lacks}
}

func shellWord(word string) string {
	if strings.Trim(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+") == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// seatbelt is a profile of macOS: the last rule that matches wins.
func (w writer) seatbelt() Text {
	var b strings.Builder
	b.WriteString("(version 1)\n(deny default)\n(allow process-exec process-fork)\n(allow signal (target same-sandbox))\n(allow sysctl-read)\n(allow file-read-metadata)\n")
	rule := func(what string, kind string, names []string) {
		if len(names) == 0 {
			return
		}
		b.WriteString("(" + what)
		for _, name := range names {
			b.WriteString("\n  (" + kind + " " + quoted(name) + ")")
		}
		b.WriteString(")\n")
	}
	all := append(append(slices.Clone(w.p.Read), w.p.Write...), w.p.Cache...)
	rule("allow file-read*", "subpath", sorted(append(all, "/System", "/Library", "/dev", "/private/etc", "/private/var/db/timezone")))
	rule("allow file-write*", "subpath", sorted(append(append(slices.Clone(w.p.Write), w.p.Cache...), "/private/tmp")))
	rule("deny file-write*", "subpath", w.guarded())
	rule("deny file-read* file-write*", "subpath", w.hidden())
	var names []string
	for _, name := range w.tables.anywhere {
		if !strings.ContainsAny(name, "*?[") {
			names = append(names, "/"+strings.ReplaceAll(name, ".", `\.`)+"$")
		}
	}
	rule("deny file-read* file-write*", "regex", names)
	b.WriteString("(allow network* (local ip \"localhost:*\") (remote ip \"localhost:*\"))\n")
	lacks := append(w.common(), "nobody has tried it: it is text only", "names, sizes and times of all files can be seen", "variables that promise a secret stay",
		"what macOS itself needs to start programs may be missing (mach-lookup)", "other programs on the machine's loopback can be reached")
	if len(w.p.Hosts) > 0 {
		lacks = append(lacks, "a list of hosts: there is no network, so what the profile grants is missing")
	}
	return Text{b.String(), lacks}
}
