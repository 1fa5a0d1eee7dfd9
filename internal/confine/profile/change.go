package profile

import (
	"fmt"
	"strings"
)

// A Change is what settings say of a profile. A nil list says nothing.
type Change struct {
	Narrows bool // it only takes away from what stands above it
	Pos     string

	Read, Write, Guard, Deny, Cache, Hosts, Programs, Env *[]string

	Processes int   // 0 says nothing
	Memory    int64 // bytes; 0 says nothing
}

// Of returns a profile of a name at a place, as settings say, the highest authority
// first. Of a profile of gate's the first of them that may grants and takes what it
// names; those below only narrow it.
func Of(name string, said []Change, at Place) (Profile, error) {
	p, known := Builtin(name)
	if len(said) > 0 && !said[0].Narrows {
		p.Name = name
		p, known, said = said[0].over(p), true, said[1:]
	}
	if !known {
		return Profile{}, fmt.Errorf("there is no profile %q; gate's own are %s", name, strings.Join(Names(), ", "))
	}
	p, err := p.At(at)
	if err != nil {
		return Profile{}, err
	}
	for _, c := range said {
		inner, err := c.over(p).At(at)
		if err != nil {
			return Profile{}, fmt.Errorf("%s: %w", c.Pos, err)
		}
		p = Narrow(p, inner)
	}
	return p, nil
}

// over puts what is said in the place of what was there.
func (c Change) over(p Profile) Profile {
	for _, x := range []struct {
		said *[]string
		to   *[]string
	}{
		{c.Read, &p.Read}, {c.Write, &p.Write}, {c.Guard, &p.Guard}, {c.Deny, &p.Deny}, {c.Cache, &p.Cache},
		{c.Hosts, &p.Hosts}, {c.Programs, &p.Programs}, {c.Env, &p.Env},
	} {
		if x.said != nil {
			*x.to = *x.said
		}
	}
	if c.Processes != 0 {
		p.Limits.Processes = c.Processes
	}
	if c.Memory != 0 {
		p.Limits.Memory = c.Memory
	}
	return p
}
