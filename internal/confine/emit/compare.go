package emit

import (
	"path"
	"slices"
	"strings"

	"gate/internal/confine/profile"
)

// A Comparison is what an agent's own sandbox holds beside what [For] writes for it.
type Comparison struct {
	Missing bool     // the agent's settings have no sandbox
	Weaker  []string // what it lets be done and the profile does not, a part of a sentence each; none: it holds all that it can
}

// Compare holds the settings of an agent, those that win first, against what [For] would
// write for it. known is false for another sandbox than that of Claude Code or Codex.
func Compare(name string, p profile.Profile, at profile.Place, layers []map[string]any) (c Comparison, known bool) {
	w := writer{p, at, newTables(at), nil}
	switch name {
	case "claude":
		return w.compareClaude(layers), true
	case "codex":
		return w.compareCodex(layers), true
	}
	return Comparison{}, false
}

// value is the value at a path of members, of the settings that win where it is there.
func value(layers []map[string]any, members ...string) any {
	for _, doc := range layers {
		var at any = doc
		for _, m := range members {
			in, _ := at.(map[string]any)
			at = in[m]
		}
		if at != nil {
			return at
		}
	}
	return nil
}

// all are the texts of lists at a path of members, of all settings: the client joins them.
func all(layers []map[string]any, members ...string) (texts []string) {
	for _, doc := range layers {
		list, _ := value([]map[string]any{doc}, members...).([]any)
		for _, e := range list {
			if text, ok := e.(string); ok {
				texts = append(texts, text)
			}
		}
	}
	return sorted(texts)
}

// paths are lists of paths as the client's settings write them.
func (w writer) paths(names []string) (out []string) {
	for _, name := range names {
		name = strings.TrimSuffix(strings.TrimSuffix(name, "/**"), "/*")
		if below, ok := strings.CutPrefix(name, "~"); ok && (below == "" || below[0] == '/') {
			name = w.at.Home + below
		}
		if !strings.HasPrefix(name, "/") {
			name = w.at.Project + "/" + name
		}
		out = append(out, path.Clean(name))
	}
	return out
}

func (w writer) compareClaude(layers []map[string]any) (c Comparison) {
	if value(layers, "sandbox", "enabled") != true {
		return Comparison{Missing: true}
	}
	says := func(wrong bool, what string) {
		if wrong {
			c.Weaker = append(c.Weaker, what)
		}
	}
	is := func(members ...string) any { return value(layers, append([]string{"sandbox"}, members...)...) }
	texts := func(members ...string) []string { return all(layers, append([]string{"sandbox"}, members...)...) }
	says(is("failIfUnavailable") != true, "where it cannot start, commands run without it (failIfUnavailable)")
	says(is("allowUnsandboxedCommands") != false, "the agent may ask to leave it (allowUnsandboxedCommands)")
	says(is("autoAllowBashIfSandboxed") != false, "commands in it are not asked about (autoAllowBashIfSandboxed)")
	says(is("enableWeakerNestedSandbox") == true, "it may be the weaker one for containers (enableWeakerNestedSandbox)")
	says(is("network", "allowAllUnixSockets") == true, "every socket can be reached (network.allowAllUnixSockets)")
	c.name("these commands run without it", texts("excludedCommands"))
	c.name("these sockets can be reached", texts("network", "allowUnixSockets"))
	writes := append(slices.Clone(w.p.Write), w.p.Cache...)
	c.name("these can be changed", outside(w.paths(texts("filesystem", "allowWrite")), writes))
	c.name("these are not kept from being changed", outside(w.guarded(), w.paths(texts("filesystem", "denyWrite"))))
	c.name("these can be read", outside(w.hidden(), w.paths(texts("filesystem", "denyRead"))))
	c.name("these can be read again", w.within(w.paths(texts("filesystem", "allowRead"))))
	var hosts []string
	for _, h := range w.p.Hosts {
		name, _, _ := strings.Cut(h, ":")
		hosts = append(hosts, name)
	}
	c.name("these hosts can be reached", slices.DeleteFunc(texts("network", "allowedDomains"), func(h string) bool { return slices.Contains(hosts, h) }))
	return c
}

// within are paths that lead to what is hidden.
func (w writer) within(names []string) []string {
	return slices.DeleteFunc(names, func(name string) bool {
		return !slices.ContainsFunc(w.hidden(), func(hidden string) bool { return profile.Within(name, hidden) || profile.Within(hidden, name) })
	})
}

// outside are names that lie in none of some directories.
func outside(names, dirs []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return profile.WithinAny(name, dirs) })
}

// mostNamed is how many names a sentence has.
const mostNamed = 3

// name adds what a list names, where it names anything: the shortest names are the widest.
func (c *Comparison) name(what string, names []string) {
	if len(names) == 0 {
		return
	}
	names, more := slices.Clone(names), ""
	slices.SortStableFunc(names, func(a, b string) int { return len(a) - len(b) })
	if len(names) > mostNamed {
		names, more = names[:mostNamed], " and more"
	}
	c.Weaker = append(c.Weaker, what+": "+strings.Join(names, ", ")+more)
}

func (w writer) compareCodex(layers []map[string]any) (c Comparison) {
	if chosen, ok := value(layers, "profile").(string); ok { // it wins over what stands beside it
		var of []map[string]any
		for _, doc := range layers {
			if p, ok := value([]map[string]any{doc}, "profiles", chosen).(map[string]any); ok {
				of = append(of, p)
			}
		}
		layers = append(of, layers...)
	}
	mode, _ := value(layers, "sandbox_mode").(string)
	writes := len(w.p.Write)+len(w.p.Cache) > 0
	switch mode {
	case "read-only":
	case "workspace-write":
		if !writes {
			c.Weaker = append(c.Weaker, "the working directory can be changed (sandbox_mode)")
		}
		roots, _ := value(layers, "sandbox_workspace_write", "writable_roots").([]any)
		var names []string
		for _, r := range roots {
			if name, ok := r.(string); ok {
				names = append(names, name)
			}
		}
		c.name("these can be changed", outside(w.paths(names), append(slices.Clone(w.p.Write), w.p.Cache...)))
		if value(layers, "sandbox_workspace_write", "network_access") == true {
			c.Weaker = append(c.Weaker, "every host can be reached (network_access)")
		}
	case "danger-full-access":
		c.Weaker = append(c.Weaker, "nothing is confined (sandbox_mode)")
	default:
		return Comparison{Missing: true}
	}
	if value(layers, "shell_environment_policy", "ignore_default_excludes") == true {
		c.Weaker = append(c.Weaker, "variables that promise a secret stay (ignore_default_excludes)")
	}
	return c
}
