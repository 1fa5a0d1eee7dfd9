package tell

import (
	"fmt"
	"path"
	"strings"

	"gate/internal/confine/profile"
	"gate/internal/strictjson"
)

// Profile says what a call may touch that runs confined by a profile. Whatever it does not
// name is out of view.
func Profile(p profile.Profile, home string) string {
	var b strings.Builder
	for _, row := range []struct {
		what, none string
		list       []string
	}{
		{"reads", "nothing", append(append([]string{}, p.Write...), p.Read...)},
		{"changes", "nothing but temporary files", p.Write},
		{"changes copies of", "", p.Cache},
		{"cannot change", "", p.Guard},
		{"does not see", "", p.Deny},
		{"hosts", "none: it has no network", p.Hosts},
		{"starts programs of", "whatever it reads", p.Programs},
	} {
		text := row.none
		if len(row.list) > 0 {
			text = listOf(row.list, home)
		}
		if text != "" {
			fmt.Fprintf(&b, "  %s: %s\n", row.what, text)
		}
	}
	b.WriteString("  in no case: secrets are read, or what starts by itself or guards the agent is changed\n")
	return b.String()
}

// mostPlaces are named of a list.
const mostPlaces = 12

func listOf(list []string, home string) string {
	var names []string
	for _, name := range list[:min(len(list), mostPlaces)] {
		if below, ok := strings.CutPrefix(name, path.Clean(home)+"/"); ok && home != "" {
			name = "~/" + below
		}
		names = append(names, strictjson.Visible(name))
	}
	text := strings.Join(names, ", ")
	if more := len(list) - mostPlaces; more > 0 {
		text += fmt.Sprintf(", and %d more", more)
	}
	return text
}
