package commands

import (
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"gate/cmd/internal/document"
	"gate/internal/install"
	"gate/internal/setting"
)

// A completion offers words for the next argument of a command line that somebody is
// typing in a shell. What cannot be read offers nothing: a shell shows no errors.
type completion = func(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective)

// offered are the words that begin as the person did.
func offered(words []string, begun string) ([]string, cobra.ShellCompDirective) {
	words = slices.DeleteFunc(words, func(w string) bool { return !strings.HasPrefix(w, begun) })
	slices.Sort(words)
	return slices.Compact(words), cobra.ShellCompDirectiveNoFileComp
}

// completeAgents offers the agents that gate can be installed for.
func completeAgents(_ *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return offered(install.Agents(), begun)
}

// policyNames are the names of policies, and of the groups that they are in.
func (f *placeFlags) policyNames(p process) []string {
	g, err := f.gate(p)
	if err != nil {
		return nil
	}
	var names []string
	for _, r := range g.Set.Policies() {
		for name := r.ID; name != ""; name = name[:max(strings.LastIndexByte(name, '.'), 0)] {
			names = append(names, name)
		}
	}
	return names
}

// completePolicies offers policies and groups.
func (f *placeFlags) completePolicies(p process) completion {
	return func(_ *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
		return offered(f.policyNames(p), begun)
	}
}

// complete offers the keys of settings, then the values that a key can have.
func (f *setFlags) complete(p process) completion {
	return func(_ *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
		switch {
		case len(args) == 0:
			return offered(f.keys(p), begun)
		case len(args) > 1:
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return offered(f.values(p, settingKey(args[0])), begun)
	}
}

func (f *setFlags) keys(p process) []string {
	var keys []string
	for _, s := range setting.Table() {
		keys = append(keys, s.Key)
	}
	for _, name := range f.policyNames(p) {
		keys = append(keys, "policies."+name)
	}
	if g, err := f.gate(p); err == nil {
		for _, r := range g.Set.Policies() {
			for name := range maps.Keys(r.Hook.Params) {
				keys = append(keys, "params."+r.ID+"."+name)
			}
		}
	}
	return keys
}

// values are the levels of a policy, and the default of a parameter to begin with.
func (f *setFlags) values(p process, key []string) []string {
	if len(key) == 2 && key[0] == "policies" {
		var names []string
		for _, level := range setting.Levels() {
			names = append(names, string(level))
		}
		return names
	}
	g, err := f.gate(p)
	if err != nil || len(key) != 3 || key[0] != "params" {
		return nil
	}
	for _, r := range g.Set.Policies() {
		if param, has := r.Hook.Params[key[2]]; has && r.ID == key[1] && param.Default != nil {
			return []string{document.Line(param.Default)}
		}
	}
	return nil
}

// mostOffered is how many decisions are offered.
const mostOffered = 20

// completeDecisions offers last, and the ids of the newest calls that were held back.
func completeDecisions(p process, dirs *dirFlags) completion {
	return func(_ *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		words := []string{"last"}
		if h, err := openHistory(p, *dirs); err == nil {
			read := 0
			for r, err := range h.Newest() {
				if read++; len(words) > mostOffered || read > mostRecords {
					break
				}
				if err == nil && r.HeldBack() {
					words = append(words, r.ID)
				}
			}
		}
		return offered(words, begun)
	}
}

// completeWaiting offers the ids of the calls that wait for a person.
func (f *approveFlags) completeWaiting(_ *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
	d, _, err := f.places()
	if err != nil || len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	waiting, _ := d.Grants().AllPending()
	var ids []string
	for _, w := range waiting {
		ids = append(ids, w.ID)
	}
	return offered(ids, begun)
}
