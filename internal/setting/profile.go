package setting

import "gate/hook"

// A Profile is what a settings file says of what confined calls can do. A list that is nil
// and a number that is 0 say nothing.
type Profile struct {
	Read, Write, Cache, Guard, Deny, Hosts, Programs, Env *[]string

	Processes int
	Memory    int // MiB
}

// A SaidProfile is a profile where it is said.
type SaidProfile struct {
	Profile
	Authority hook.Authority
	Pos       string
}

// Profile returns what the layers say of a profile, the highest authority first.
func (s *Settings) Profile(name string) (list []SaidProfile) {
	for i := range s.Layers {
		l := &s.Layers[i]
		if p, ok := l.Profiles[name]; ok && HasSettings(l.Authority) {
			list = append(list, SaidProfile{p, l.Authority, l.Pos(keyProfiles + "." + name)})
		}
	}
	return list
}

// A said list is one that a file speaks of: it may be empty, and takes everything away
// then.
type said struct{ at **[]string }

func (s said) tree(*Type) any {
	if *s.at == nil {
		return nil
	}
	list := make([]any, len(**s.at))
	for i, text := range **s.at {
		list[i] = text
	}
	return list
}

func (s said) take(_ *Type, v any) {
	texts := []string{}
	list, _ := v.([]any)
	for _, e := range list {
		if text, ok := e.(string); ok {
			texts = append(texts, text)
		}
	}
	*s.at = &texts
}
