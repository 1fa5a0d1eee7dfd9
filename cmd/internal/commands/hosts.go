package commands

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/mod/semver"

	"gate/docs"
	"gate/internal/conformance"
	"gate/internal/conformance/drive"
	"gate/internal/install"
)

// A hostStanding is what is known of the client of an agent that was found: whether it
// heeds a question and a permission of a hook's.
type hostStanding struct {
	Agent   string      `json:"agent"`
	Version string      `json:"version"` // "": it could not be told
	Oldest  string      `json:"oldest"`  // that was tried; "": the client was not
	Newest  string      `json:"newest"`
	Asks    []modeStand `json:"ask"`
	Allows  []modeStand `json:"allow"`
}

// A modeStand is how an answer stands in one of a client's modes.
type modeStand struct {
	Mode  string `json:"mode"`
	Holds string `json:"holds"` // yes, no, "not shown"
	Since string `json:"since"` // the oldest version that was tried from which on it stands so
	Why   string `json:"why"`
	Alone bool   `json:"alone"` // it was shown only that a question stops a call which nobody is there to permit
}

// hosts says how the answers of hooks stand with the clients that were found, of these
// agents, or all.
func (f *installFlags) hosts(m install.Machine, agents []string) ([]hostStanding, error) {
	data, err := fs.ReadFile(docs.Files(), "hosts.json")
	if err != nil {
		return nil, err
	}
	records, err := drive.ReadRecords(data)
	if err != nil {
		return nil, err
	}
	list := []hostStanding{}
	for _, found := range m.Found() {
		if len(agents) > 0 && !slices.Contains(agents, found.Agent) {
			continue
		}
		s := hostStanding{Agent: found.Agent, Asks: []modeStand{}, Allows: []modeStand{}}
		if of := records.Of(found.Agent); of != nil {
			s.Version = installedVersion(found.Sign, of.Package)
			s.Oldest, s.Newest = of.Tried()
			s.Asks = standOf(of, s.Version, "ask-alone", "ask-yes", "ask-no")
			s.Allows = standOf(of, s.Version, "allow")
			for i := range s.Asks {
				s.Asks[i].Alone = s.Asks[i].Holds == "yes" && !slices.ContainsFunc(of.Stand("ask-yes", s.Version), func(have drive.Standing) bool {
					return have.Mode == s.Asks[i].Mode && have.Outcome == conformance.Held
				})
			}
		}
		list = append(list, s)
	}
	return list, nil
}

// standOf joins vectors: one that differs is a no, and all that were not driven show nothing.
func standOf(of *drive.Record, version string, vectors ...string) []modeStand {
	list := []modeStand{}
	for _, vector := range vectors {
		for _, s := range of.Stand(vector, version) {
			i := slices.IndexFunc(list, func(have modeStand) bool { return have.Mode == s.Mode })
			if i < 0 {
				list, i = append(list, modeStand{Mode: s.Mode, Holds: "not shown", Why: s.Why}), len(list)
			}
			have := &list[i]
			switch {
			case have.Holds == "no" && s.Outcome != conformance.Differs:
			case s.Outcome == conformance.Differs:
				have.Holds, have.Why, have.Since = "no", s.Why, newer(have.Since, s.Since, have.Holds == "no")
			case s.Outcome == conformance.Held:
				have.Holds, have.Why, have.Since = "yes", "", newer(have.Since, s.Since, have.Holds == "yes")
			}
		}
	}
	return list
}

// newer is the newer of two versions, or the second where the first is about something else.
func newer(a, b string, same bool) string {
	if same && semver.Compare("v"+a, "v"+b) > 0 {
		return a
	}
	return b
}

// hostLine says a standing in one line.
func hostLine(s hostStanding) string {
	version := cmp.Or(s.Version, "of a version that cannot be told")
	about := visible(s.Agent) + " " + visible(version)
	switch {
	case s.Newest == "":
		return visible(s.Agent) + ": nobody tried what this client does with an ask or an allow"
	case s.Version != "" && semver.Compare("v"+s.Version, "v"+s.Oldest) < 0:
		return fmt.Sprintf("%s: nobody tried what it does with an ask or an allow; %s is the oldest version that was tried", about, s.Oldest)
	case s.Version != "" && semver.Compare("v"+s.Version, "v"+s.Newest) > 0:
		about += fmt.Sprintf(" (newer than %s, the last that was tried)", s.Newest)
	}
	return about + ": " + standText("an ask", s.Asks) + "; " + standText("an allow", s.Allows)
}

// standText groups modes by what holds in them.
func standText(what string, list []modeStand) string {
	var parts []string
	for _, holds := range []struct{ word, text string }{{"yes", "holds"}, {"no", "does not hold"}, {"not shown", "was not shown"}} {
		var keys []string
		modes := map[string][]string{}
		for _, m := range list {
			if m.Holds != holds.word {
				continue
			}
			key := ""
			if holds.word == "yes" {
				key = " from " + m.Since + " on"
				if m.Alone {
					key += ", as far as nobody is there to answer,"
				}
			} else if m.Why != "" {
				key = " (" + m.Why + ")"
			}
			if modes[key] == nil {
				keys = append(keys, key)
			}
			modes[key] = append(modes[key], m.Mode)
		}
		for _, key := range keys {
			parts = append(parts, fmt.Sprintf("%s%s in %s", holds.text, key, strings.Join(modes[key], ", ")))
		}
	}
	if len(parts) == 0 {
		return what + " was not tried"
	}
	return what + " " + strings.Join(parts, ", ")
}

// installedVersion is the version of a client by the files beside its program: nothing is
// started. npm's packages say it in package.json, installers of programs in a directory's
// name. "" if it cannot be told.
func installedVersion(program, pkg string) string {
	path, err := filepath.EvalSymlinks(program)
	if err != nil {
		return ""
	}
	number := regexp.MustCompile(`^[0-9]+\.[0-9]+\.[0-9]+`)
	const up = 6 // directories between a program and its package
	for dir, i := filepath.Dir(path), 0; i < up && dir != filepath.Dir(dir); dir, i = filepath.Dir(dir), i+1 {
		data, err := readBounded(filepath.Join(dir, "package.json"))
		var doc struct{ Name, Version string }
		if err == nil && json.Unmarshal(data, &doc) == nil && pkg != "" && (doc.Name == pkg || strings.HasPrefix(doc.Name, pkg+"-")) {
			return number.FindString(doc.Version)
		}
	}
	for _, word := range slices.Backward(strings.Split(path, string(os.PathSeparator))) {
		if number.FindString(word) == word && word != "" {
			return word
		}
	}
	return ""
}
