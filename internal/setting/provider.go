package setting

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"gate/hook"
)

// A Provider is a service with language models that judge calls.
type Provider struct {
	Type      string // "anthropic" (the Messages API) or "openai" (chat completions, as many servers speak it)
	URL       string // below which the API lies; "" is that of the company itself
	Model     string // used where a hook names none
	KeyEnv    string // the environment variable that holds the key; "" sends none
	MaxTokens int    // of one answer; 0 means DefaultMaxTokens

	Authority hook.Authority // of the settings that name it; filled in by Combine
}

// DefaultMaxTokens is the longest answer of a provider that says nothing else.
const DefaultMaxTokens = 2048

// Judges say who judges where a hook names no provider, and how long a verdict
// is good for the same call. The zero value keeps none.
type Judges struct {
	Provider string        // a name among the providers; "": the only one that there is
	Keep     time.Duration // of a verdict; zero keeps none
	KeepSet  bool          // a file says so; else Keep is the default
}

// Of verdicts that are kept for the same call.
const (
	DefaultKeep = 10 * time.Minute
	MaxKeep     = 24 * time.Hour
)

// JudgesOf returns the providers that a hook may ask, and who judges for it. Hooks of
// managed sources go by managed settings only, and have no verdict kept unless
// these say so: nobody else chooses who judges for the administrator, or writes
// down what was judged.
func (s Settings) JudgesOf(a hook.Authority) (map[string]Provider, Judges) {
	if a != hook.Managed {
		return s.Providers, s.judges(hook.Managed, hook.User, DefaultKeep)
	}
	own := maps.Clone(s.Providers)
	maps.DeleteFunc(own, func(_ string, p Provider) bool { return p.Authority != hook.Managed })
	return own, s.judges(hook.Managed, hook.Managed, 0)
}

// Judge finds whom a hook of authority a asks that names model: a provider
// ("local"), one with a model ("local/qwen3:8b"), a model of the default
// provider, or nothing. The Provider's Model is the one to ask. The error says
// whom there is to ask.
func (s Settings) Judge(a hook.Authority, model string) (name string, p Provider, j Judges, err error) {
	providers, j := s.JudgesOf(a)
	names := slices.Sorted(maps.Keys(providers))
	whose := "settings name"
	if a == hook.Managed {
		whose = "managed settings name"
	}
	known := whose + " " + strings.Join(names, ", ")
	if len(names) == 0 {
		known = whose + " none; see providers in the page about settings"
	}
	name, of, qualified := strings.Cut(model, "/")
	if _, ok := providers[name]; !ok {
		if qualified {
			return "", Provider{}, j, fmt.Errorf("there is no provider %s: %s", shown(name), known)
		}
		name, of = j.Provider, model
		if name == "" && len(names) == 1 {
			name = names[0]
		}
	}
	p, ok := providers[name]
	switch {
	case name == "" && len(names) > 0:
		return "", p, j, fmt.Errorf("no provider is named to judge: %s; name one as provider in judges", known)
	case name == "":
		return "", p, j, errors.New("there is nobody to judge: " + known)
	case !ok:
		return "", p, j, fmt.Errorf("there is no provider %s: %s", shown(name), known)
	}
	p.Model = cmp.Or(of, p.Model)
	return name, p, j, nil
}

// shown is a name from a file on one line, without quotes around it.
func shown(name string) string {
	q := strconv.Quote(name)
	return q[1 : len(q)-1]
}

// judges weighs what layers say, the highest authority first. Of several files
// of one authority the shorter life counts.
func (s Settings) judges(first, last hook.Authority, keep time.Duration) Judges {
	j := Judges{Keep: keep}
	for a := first; a <= last; a++ {
		found := false
		for i := range s.Layers {
			l := s.Layers[i].Judges
			if l == nil || s.Layers[i].Authority != a {
				continue
			}
			j.Provider = cmp.Or(j.Provider, l.Provider)
			if l.KeepSet && (!j.KeepSet || found && l.Keep < j.Keep) {
				j.Keep, j.KeepSet, found = l.Keep, true, true
			}
		}
	}
	return j
}

// judgesNow are those of hooks that are not managed.
func (s *Settings) judgesNow() any {
	_, j := s.JudgesOf(hook.User)
	j.KeepSet = true
	return plain[Judges]{&j}
}
