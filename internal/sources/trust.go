package sources

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"gate/hook"
	"gate/scopes"
)

// loosening finds the rules of a policy that need trust. It is for people, who
// are to know what there is to trust; what counts is for the engine to say.
var loosening = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^[ \t]*(modify|consult)\b`) })

// NeedsTrust lists what of a source counts only once a person trusted it.
func NeedsTrust(src *scopes.Source) []string {
	var list []string
	for _, m := range src.Modules {
		seen := map[string]bool{}
		for _, found := range loosening().FindAllStringSubmatch(m.Text, -1) {
			if rule := found[1]; !seen[rule] {
				seen[rule] = true
				list = append(list, fmt.Sprintf("%s: rule %s", m.File, rule))
			}
		}
	}
	for _, h := range src.Hooks {
		if h.Kind != hook.Rego {
			list = append(list, fmt.Sprintf("%s: %s hook %s", h.Pos(), h.Kind, h.ID))
		}
	}
	return list
}

// Rewriting lists what of a source may rewrite a call.
func Rewriting(src *scopes.Source) []string {
	return slices.DeleteFunc(NeedsTrust(src), func(what string) bool { return strings.HasSuffix(what, ": rule consult") })
}

// NotTrusted says that something of a source in a directory does not count,
// nothing where all of it does.
func NotTrusted(src *scopes.Source, dir string) []string {
	n := len(NeedsTrust(src))
	if n == 0 || src.Runs() || src.Inactive() {
		return nil
	}
	things, them := "thing does", "it"
	if n > 1 {
		things, them = "things do", "them"
	}
	return []string{fmt.Sprintf(
		"%s (%s) is not trusted as it is: its denials and questions count, %d other %s not until a person looks at %s and runs gate trust in a terminal",
		src.Name, dir, n, things, them)}
}
