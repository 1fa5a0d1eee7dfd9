package drive

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gate/internal/conformance"
)

var update = flag.Bool("update", false, "write the tables of docs/agents.md")

const page = "../../../docs/agents.md"

func recorded(t *testing.T) Records {
	t.Helper()
	data, err := os.ReadFile("../../../docs/hosts.json")
	if err != nil {
		t.Fatal(err)
	}
	r, err := ReadRecords(data)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestPage holds the tables of docs/agents.md to docs/hosts.json. With -update it writes them.
func TestPage(t *testing.T) {
	r := recorded(t)
	data, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	const begin, end = "<!-- hosts -->\n", "<!-- end of hosts -->"
	head, rest, ok1 := strings.Cut(string(data), begin)
	_, tail, ok2 := strings.Cut(rest, end)
	if !ok1 || !ok2 {
		t.Fatalf("%s has no place for the tables", page)
	}
	want := head + begin + "\n" + vectorTable(t, r) + "\n" + modeTable(r) + "\n" + end + tail
	if *update {
		if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if want != string(data) {
		t.Errorf("%s does not show what docs/hosts.json has; run: go test ./internal/conformance/drive -run TestPage -update", page)
	}
}

// vectorTable has all vectors, for the newest version of each client in its usual mode.
func vectorTable(t *testing.T, r Records) string {
	var b strings.Builder
	line, rule := "| vector | a host must see to it that |", "|---|---|"
	for _, h := range r.Hosts {
		_, newest := h.Tried()
		line, rule = line+" "+h.Client+" "+newest+" |", rule+"---|"
	}
	fmt.Fprintf(&b, "%s\n%s\n", line, rule)
	for _, v := range Vectors() {
		fmt.Fprintf(&b, "| `%s` | %s |", v[0], v[1])
		for _, h := range r.Hosts {
			fmt.Fprintf(&b, " %s |", cell(h.Stand(v[0], ""), usualMode(t, h.Agent)))
		}
		b.WriteString("\n")
	}
	return b.String()
}

func usualMode(t *testing.T, agent string) string {
	h, err := Client(agent)
	if err != nil {
		t.Fatal(err)
	}
	return h.Mode
}

// cell is one client's outcome, in a word.
func cell(list []Standing, mode string) string {
	i := slices.IndexFunc(list, func(s Standing) bool { return s.Mode == mode })
	if i < 0 {
		return "not tried"
	}
	switch s := list[i]; s.Outcome {
	case conformance.Held:
		return "yes"
	case conformance.Differs:
		return "**no**: " + s.Why
	case conformance.NotApplicable:
		return "n/a"
	default:
		return "not shown"
	}
}

// modeTable has what depends on a client's mode, with the versions that were tried.
func modeTable(r Records) string {
	var b strings.Builder
	b.WriteString("| client | mode | versions tried | a question that nobody can answer stops the call | a yes runs it | a no stops it | an allow takes the place of its own question |\n|---|---|---|---|---|---|---|\n")
	for _, h := range r.Hosts {
		for _, mode := range h.Modes() {
			var versions []string
			for _, run := range h.Runs {
				if run.Mode == mode {
					versions = append(versions, run.From)
				}
			}
			fmt.Fprintf(&b, "| %s | `%s` | %s |", h.Client, mode, strings.Join(versions, ", "))
			for _, vector := range []string{"ask-alone", "ask-yes", "ask-no", "allow"} {
				fmt.Fprintf(&b, " %s |", since(&h, vector, mode))
			}
			b.WriteString("\n")
		}
	}
	return b.String()
}

// since is a cell with the version from which on it stands so, where an older one differs.
func since(h *Record, vector, mode string) string {
	list := h.Stand(vector, "")
	text := cell(list, mode)
	i := slices.IndexFunc(list, func(s Standing) bool { return s.Mode == mode })
	first := slices.IndexFunc(h.Runs, func(r Run) bool { return r.Mode == mode })
	if i >= 0 && list[i].Since != h.Runs[first].From {
		text += ", since " + list[i].Since
	}
	return text
}

// TestVersions: the versions that docs/agents.md says were observed are among those that
// were tried, in the table of all agents and in the one about an allow.
func TestVersions(t *testing.T) {
	r := recorded(t)
	data, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range r.Hosts {
		tried := map[string]bool{}
		for _, run := range h.Runs {
			tried[run.From] = true
		}
		for _, form := range []string{
			`(?m)^\| [^|]+ \| ` + "`" + h.Agent + "`" + ` \| ([0-9.]+) \|`,
			`(?m)^\| ` + regexp.QuoteMeta(h.Client) + ` \| .*\| the real client, ([0-9.]+)`,
		} {
			groups := regexp.MustCompile(form).FindStringSubmatch(string(data))
			if groups == nil || !tried[groups[1]] {
				t.Errorf("%s: the page says %q, and %v were tried (%s)", h.Agent, groups, tried, form)
			}
		}
	}
}
