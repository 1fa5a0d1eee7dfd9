package story

import (
	"slices"

	"gate/hook"
)

// Deeds are what a call does, by its facts. Paths are absolute; a host or path that is not
// known is not listed.
type Deeds struct {
	Secrets []Secret
	Writes  []string
	Deletes []string
	Fetches []string // hosts
	Sends   []string // hosts
	Runs    []string // files
}

// A Secret is one that a call reads.
type Secret struct {
	What string
	Path string // "" where it stands in no file
}

// Of sums facts up.
func Of(f *hook.Facts) Deeds {
	var d Deeds
	if f == nil {
		return d
	}
	for _, e := range f.Effects {
		switch e := e.Is.(type) {
		case *hook.SecretRead:
			if s := (Secret{e.What, or(e.Path)}); !slices.Contains(d.Secrets, s) {
				d.Secrets = append(d.Secrets, s)
			}
		case *hook.NetFetch:
			add(&d.Fetches, e.Host)
		case *hook.NetSend:
			add(&d.Sends, e.Host)
		}
	}
	for i := range f.Paths {
		p := &f.Paths[i]
		switch p.Access {
		case "write":
			add(&d.Writes, target(p))
		case "delete":
			add(&d.Deletes, target(p))
		case "execute":
			add(&d.Runs, target(p))
		}
	}
	return d
}

func or(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func add(list *[]string, s *string) {
	if s != nil && *s != "" && !slices.Contains(*list, *s) {
		*list = append(*list, *s)
	}
}
