package profile

import (
	"encoding/base64"
	"fmt"
	"strconv"
	"time"
)

// lists are the lists of a profile by their names in a document.
func (p *Profile) lists() []struct {
	name string
	at   *[]string
} {
	return []struct {
		name string
		at   *[]string
	}{
		{"read", &p.Read}, {"write", &p.Write}, {"guard", &p.Guard}, {"deny", &p.Deny}, {"cache", &p.Cache},
		{"hosts", &p.Hosts}, {"programs", &p.Programs}, {"env", &p.Env},
	}
}

// limits are the limits of a profile by their names in a document.
func (p *Profile) limits() []struct {
	name string
	get  int64
	set  func(int64)
} {
	l := &p.Limits
	return []struct {
		name string
		get  int64
		set  func(int64)
	}{
		{"processes", int64(l.Processes), func(n int64) { l.Processes = int(n) }},
		{"files", int64(l.Files), func(n int64) { l.Files = int(n) }},
		{"memory", l.Memory, func(n int64) { l.Memory = n }},
		{"temp", l.Temp, func(n int64) { l.Temp = n }},
		{"cpu", int64(l.CPU), func(n int64) { l.CPU = time.Duration(n) }},
	}
}

// Document returns a profile as a JSON tree. A path need not be text, so paths are in
// base64: what runs must be what was decided.
func (p Profile) Document() map[string]any {
	doc := map[string]any{"name": p.Name}
	for _, l := range p.lists() {
		list := make([]any, len(*l.at))
		for i, text := range *l.at {
			list[i] = base64.StdEncoding.EncodeToString([]byte(text))
		}
		doc[l.name] = list
	}
	limits := map[string]any{}
	for _, l := range p.limits() {
		limits[l.name] = strconv.FormatInt(l.get, 10)
	}
	doc["limits"] = limits
	return doc
}

// FromDocument reads what [Profile.Document] has written.
func FromDocument(doc map[string]any) (p Profile, err error) {
	if len(doc) != len(p.lists())+2 {
		return p, fmt.Errorf("the profile has other fields than one has")
	}
	p.Name, _ = doc["name"].(string)
	for _, l := range p.lists() {
		list, ok := doc[l.name].([]any)
		if !ok {
			return p, fmt.Errorf("the profile has no list %s", l.name)
		}
		for _, e := range list {
			text, _ := e.(string)
			data, err := base64.StdEncoding.DecodeString(text)
			if err != nil || len(data) == 0 {
				return p, fmt.Errorf("the list %s of the profile is damaged", l.name)
			}
			*l.at = append(*l.at, string(data))
		}
	}
	limits, _ := doc["limits"].(map[string]any)
	for _, l := range p.limits() {
		text, _ := limits[l.name].(string)
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || n < 0 {
			return p, fmt.Errorf("the profile has no limit %s", l.name)
		}
		l.set(n)
	}
	return p, nil
}

// Document returns what a machine can hold as a JSON tree.
func (c Capability) Document() map[string]any {
	return map[string]any{"level": c.Level.String(), "landlock": strconv.Itoa(c.Landlock), "missing": c.Missing}
}

// CapabilityFrom reads what [Capability.Document] has written.
func CapabilityFrom(doc map[string]any) (c Capability, err error) {
	level, _ := doc["level"].(string)
	for l := None; ; l++ {
		if l > Full {
			return c, fmt.Errorf("%q is no level", level)
		}
		if l.String() == level {
			c.Level = l
			break
		}
	}
	version, _ := doc["landlock"].(string)
	if c.Landlock, err = strconv.Atoi(version); err != nil {
		return c, err
	}
	c.Missing, _ = doc["missing"].(string)
	if c.Level < Full && c.Missing == "" {
		return c, fmt.Errorf("nothing says why the level is %s", level)
	}
	return c, nil
}
