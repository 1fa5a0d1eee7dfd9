package look

import (
	"net/url"
	"strings"
)

// The forms in which a view is handed out.
const (
	AsHTML = ".html"
	AsJSON = ".json"
)

// Views say whether the address of a view names something: 0 it does not, 1 it does,
// -1 it may.
type Views map[string]int

// A Place is what an address stands for.
type Place struct {
	View string // the first part
	Name string // the second one, "" where there is none
	Form string // AsHTML, AsJSON, or "" for the empty shell
}

// Locate takes an escaped path apart: /ui/policies/acme.deploy.json is the view
// policies of acme.deploy as JSON. A dot that is escaped belongs to the name.
func Locate(path string, views Views) (Place, bool) {
	rest, ok := strings.CutPrefix(path, "/ui/")
	if !ok {
		return Place{}, false
	}
	var p Place
	for _, f := range []string{AsHTML, AsJSON} {
		if cut, ends := strings.CutSuffix(rest, f); ends {
			rest, p.Form = cut, f
			break
		}
	}
	view, name, slash := strings.Cut(rest, "/")
	named, ok := views[view]
	name, err := url.PathUnescape(name)
	if !ok || err != nil || slash && name == "" || named == 0 && name != "" || named == 1 && name == "" {
		return Place{}, false
	}
	p.View, p.Name = view, name
	return p, true
}

// Address returns the address of a view, in a form that Locate reads.
func Address(view, name string) string {
	if name == "" {
		return "/ui/" + view
	}
	name = url.PathEscape(name)
	for _, f := range []string{AsHTML, AsJSON} {
		if cut, ends := strings.CutSuffix(name, f); ends {
			name = cut + "%2E" + f[1:]
		}
	}
	return "/ui/" + view + "/" + name
}
