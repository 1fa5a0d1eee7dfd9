package commands

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"gate/cmd/internal/screen"
	"gate/hook"
	"gate/internal/hostfs"
	"gate/internal/rego"
	"gate/internal/setup"
	"gate/scopes"
)

// An unloaded policy is one that cannot be loaded, whatever is asked about.
type unloaded struct {
	policy string
	errors int
	file   string // in full
	line   int    // 0 where it is not known
	denies bool   // what it is asked about
}

// String is the one line that every command has of it; gate check has all of them.
func (u unloaded) String() string {
	return fmt.Sprintf("%s: %s; gate check", u.policy, screen.Counted(u.errors, "error"))
}

// unloadedOf lists the policies of a source that cannot be loaded: those in files that
// cannot be read, and those that do not compile. The library was compiled with gate, and
// a signed bundle before it came into force.
func unloadedOf(g *setup.Gate, src *scopes.Source) []unloaded {
	list := unreadable(src)
	if src.Library || src.Bundle != nil || len(src.Modules) == 0 {
		return list
	}
	wrong := rego.Unloaded(g.Loaded.Lib, *src)
	for _, h := range src.Hooks {
		if errs := wrong[h.ID]; len(errs) > 0 {
			list = append(list, unloaded{h.ID, len(errs), g.Position(src.Name, h.File), h.Line, h.Authority.MayAllow()})
		}
	}
	return list
}

var (
	policyFault = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(\S.*\.rego):\d+: `) })
	packageLine = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^package[ \t]+([\w.]+)`) })
)

// unreadable lists the policies of files with a mistake that a source's faults name, by
// the package that the file begins with, and without one by the file's name.
func unreadable(src *scopes.Source) []unloaded {
	count := map[string]int{}
	for i := range src.Faults {
		if m := policyFault().FindStringSubmatch(src.Faults[i].Error()); m != nil && src.Faults[i].Kind == hook.FaultLoad {
			count[m[1]]++
		}
	}
	var list []unloaded
	for _, file := range slices.Sorted(maps.Keys(count)) {
		text, _ := hostfs.Files{}.ReadFile(file, maxSettings)
		name := filepath.Base(file)
		if m := packageLine().FindSubmatch(text); m != nil {
			name = string(m[1])
		}
		list = append(list, unloaded{name, count[file], file, 0, src.Closes()})
	}
	return list
}

// unloadedLines are the lines of what cannot be loaded here, the names in order.
func unloadedLines(g *setup.Gate) string {
	var list []unloaded
	for _, src := range g.Set.Sources() {
		list = append(list, unloadedOf(g, src)...)
	}
	slices.SortStableFunc(list, func(a, b unloaded) int { return cmp.Compare(a.policy, b.policy) })
	var b strings.Builder
	for _, u := range list {
		fmt.Fprintf(&b, "note: %s\n", visible(u.String()))
	}
	return b.String()
}
