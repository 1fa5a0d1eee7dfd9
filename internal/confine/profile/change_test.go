package profile

import (
	"slices"
	"strings"
	"testing"
)

// TestOf holds who may say what a profile is: the first who may grants, and all below only
// take away.
func TestOf(t *testing.T) {
	list := func(texts ...string) *[]string { return &texts }
	none := []string{}
	for name, c := range map[string]struct {
		profile string
		said    []Change
		want    func(p Profile) bool
		err     string
	}{
		"gate's own":         {profile: "project", want: func(p Profile) bool { return len(p.Hosts) == 0 && p.May(ToWrite, "/home/dev/src/app/x") }},
		"granted":            {profile: "project", said: []Change{{Hosts: list("a.example:443")}}, want: func(p Profile) bool { return slices.Equal(p.Hosts, []string{"a.example:443"}) && len(p.Write) == 1 }},
		"not by those below": {profile: "project", said: []Change{{Narrows: true, Hosts: list("a.example:443"), Write: list("{project}", "~/elsewhere")}}, want: func(p Profile) bool { return len(p.Hosts) == 0 && !p.May(ToWrite, "/home/dev/elsewhere/x") }},
		"narrowed":           {profile: "project-net", said: []Change{{Narrows: true, Hosts: &none}}, want: func(p Profile) bool { return len(p.Hosts) == 0 && len(p.Write) == 1 }},
		"narrowed where silent": {profile: "project", said: []Change{{Narrows: true, Deny: list("{project}/data")}}, want: func(p Profile) bool {
			return !p.May(ToRead, "/home/dev/src/app/data/x") && p.May(ToWrite, "/home/dev/src/app/x")
		}},
		"of one's own":     {profile: "mine", said: []Change{{Read: list("/usr"), Write: list("{project}/out")}}, want: func(p Profile) bool { return p.Name == "mine" && !p.May(ToWrite, "/home/dev/src/app/x") }},
		"limits":           {profile: "project", said: []Change{{Processes: 10}, {Narrows: true, Processes: 20, Memory: 5}}, want: func(p Profile) bool { return p.Limits.Processes == 10 && p.Limits.Memory == 5 }},
		"unknown":          {profile: "mine", err: `there is no profile "mine"`},
		"nobody's to make": {profile: "mine", said: []Change{{Narrows: true, Read: list("/")}}, err: `there is no profile "mine"`},
		"a bad path":       {profile: "project", said: []Change{{Write: list("app")}}, err: "is no absolute path"},
		"a bad path below": {profile: "project", said: []Change{{Narrows: true, Pos: "s.json:3", Write: list("app")}}, err: "s.json:3: "},
		"the home":         {profile: "project", said: []Change{{Write: list("~/")}}, err: "no project but a home directory"},
	} {
		p, err := Of(c.profile, c.said, place)
		switch {
		case c.err != "":
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s: %v, want %q", name, err, c.err)
			}
		case err != nil || !c.want(p):
			t.Errorf("%s: %+v %v", name, p, err)
		}
	}
}
