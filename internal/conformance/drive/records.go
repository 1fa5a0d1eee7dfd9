package drive

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"golang.org/x/mod/semver"

	"gate/internal/conformance"
	"gate/internal/strictjson"
)

// Records are what clients did that were tried.
type Records struct {
	Hosts []Record
}

// A Record is about one client.
type Record struct {
	Agent   string
	Client  string // for people
	Package string // of npm, by which an installed one says its version; "": none is known
	Runs    []Run  // by mode, and of one mode by version
}

// A Run is what a range of versions did in one mode.
type Run struct {
	From, To string // the versions; a run of the kit has one
	Mode     string
	How      string // kit: this package drove it; rig: another program did; contract: somebody says so
	Source   string // which rig, or which document; "" for the kit
	Date     string // YYYY-MM-DD
	Results  []Recorded
}

// A Recorded is the outcome of one vector.
type Recorded struct {
	Vector  string
	Outcome conformance.Outcome
	Why     string // "" for one that held
}

const schema = "1"

// ReadRecords reads a file of them. A vector, an outcome or a version that nobody knows is
// an error.
func ReadRecords(data []byte) (Records, error) {
	var doc struct {
		Schema json.Number
		Hosts  []Record
	}
	tree, err := strictjson.Object(data, strictjson.Limits{})
	if err != nil {
		return Records{}, err
	}
	in := json.NewDecoder(strings.NewReader(string(strictjson.Append(nil, tree))))
	in.DisallowUnknownFields()
	if err := in.Decode(&doc); err != nil {
		return Records{}, err
	}
	if doc.Schema != schema {
		return Records{}, fmt.Errorf("schema %s is not known", doc.Schema)
	}
	for _, h := range doc.Hosts {
		for _, r := range h.Runs {
			if err := r.check(); err != nil {
				return Records{}, fmt.Errorf("%s, mode %s: %w", h.Agent, r.Mode, err)
			}
		}
	}
	return Records{doc.Hosts}, nil
}

func (r Run) check() error {
	for _, v := range []string{r.From, r.To} {
		if !semver.IsValid("v" + v) {
			return fmt.Errorf("%s is no version", strictjson.Quoted(v))
		}
	}
	if compare(r.From, r.To) > 0 {
		return fmt.Errorf("%s is not before %s", r.From, r.To)
	}
	if _, err := time.Parse(time.DateOnly, r.Date); err != nil {
		return fmt.Errorf("the date: %w", err)
	}
	if !slices.Contains([]string{"kit", "rig", "contract"}, r.How) {
		return fmt.Errorf("how is %s, and has to be kit, rig or contract", strictjson.Quoted(r.How))
	}
	if (r.How == "kit") != (r.Source == "") {
		return fmt.Errorf("a %s has a source, and the kit has none", r.How)
	}
	known := map[string]bool{}
	for _, v := range vectors() {
		known[v.id] = true
	}
	for _, one := range r.Results {
		if !known[one.Vector] {
			return fmt.Errorf("there is no vector %s", strictjson.Quoted(one.Vector))
		}
		if !slices.Contains([]conformance.Outcome{conformance.Held, conformance.Differs, conformance.NotApplicable, conformance.NotDriven}, one.Outcome) {
			return fmt.Errorf("%s: there is no outcome %s", one.Vector, strictjson.Quoted(string(one.Outcome)))
		}
	}
	return nil
}

func compare(a, b string) int { return semver.Compare("v"+a, "v"+b) }

// Put takes a run of the kit, in the place of an older one of the same version and mode.
func (r *Records) Put(h Host, version, mode, date string, list []Result) error {
	run := Run{From: version, To: version, Mode: mode, How: "kit", Date: date}
	for _, one := range list {
		run.Results = append(run.Results, Recorded{one.ID, one.Outcome, one.Why})
	}
	if err := run.check(); err != nil {
		return err
	}
	i := slices.IndexFunc(r.Hosts, func(have Record) bool { return have.Agent == h.Agent })
	if i < 0 {
		r.Hosts, i = append(r.Hosts, Record{Agent: h.Agent}), len(r.Hosts)
	}
	have := &r.Hosts[i]
	have.Client, have.Package = h.Client, h.Package
	have.Runs = slices.DeleteFunc(have.Runs, func(old Run) bool { return old.Mode == mode && old.From == version && old.To == version })
	have.Runs = append(have.Runs, run)
	slices.SortStableFunc(have.Runs, func(a, b Run) int { return cmp.Or(cmp.Compare(a.Mode, b.Mode), compare(a.From, b.From)) })
	slices.SortFunc(r.Hosts, func(a, b Record) int { return cmp.Compare(a.Agent, b.Agent) })
	return nil
}

// JSON is the file, a line for each result.
func (r Records) JSON() []byte {
	var b strings.Builder
	text := func(s string) string { return string(strictjson.Append(nil, s)) }
	fmt.Fprintf(&b, "{\n  \"schema\": %s,\n  \"hosts\": [", schema)
	for i, h := range r.Hosts {
		fmt.Fprintf(&b, "%s\n    {\n      \"agent\": %s, \"client\": %s, \"package\": %s,\n      \"runs\": [", comma(i), text(h.Agent), text(h.Client), text(h.Package))
		for i, run := range h.Runs {
			fmt.Fprintf(&b, "%s\n        {\n          \"from\": %s, \"to\": %s, \"mode\": %s, \"how\": %s, \"source\": %s, \"date\": %s,\n          \"results\": [",
				comma(i), text(run.From), text(run.To), text(run.Mode), text(run.How), text(run.Source), text(run.Date))
			for i, one := range run.Results {
				fmt.Fprintf(&b, "%s\n            {\"vector\": %s, \"outcome\": %s, \"why\": %s}", comma(i), text(one.Vector), text(string(one.Outcome)), text(one.Why))
			}
			b.WriteString("\n          ]\n        }")
		}
		b.WriteString("\n      ]\n    }")
	}
	b.WriteString("\n  ]\n}\n")
	return []byte(b.String())
}

func comma(i int) string {
	if i > 0 {
		return ","
	}
	return ""
}

// Of is the record of an agent's client, nil if it was not tried.
func (r Records) Of(agent string) *Record {
	for i := range r.Hosts {
		if r.Hosts[i].Agent == agent {
			return &r.Hosts[i]
		}
	}
	return nil
}

// Modes are those that were tried, in alphabetical order.
func (h *Record) Modes() []string {
	modes := map[string]bool{}
	for _, r := range h.Runs {
		modes[r.Mode] = true
	}
	return slices.Sorted(maps.Keys(modes))
}

// Tried are the oldest and the newest version that was tried, in any mode.
func (h *Record) Tried() (oldest, newest string) {
	for _, r := range h.Runs {
		if oldest == "" || compare(r.From, oldest) < 0 {
			oldest = r.From
		}
		if newest == "" || compare(r.To, newest) > 0 {
			newest = r.To
		}
	}
	return oldest, newest
}

// A Standing is what is known of a vector in one mode for one version.
type Standing struct {
	Mode    string
	Outcome conformance.Outcome // "": nobody tried a version as old as this
	Why     string
	Since   string // the oldest version from which on every one that showed anything came out like this
	Upto    string // the version that was tried last before this one, or this one
}

// Stand says how a vector stands for a version, by the newest version that was tried and is
// not newer, in each mode in which it was tried. "" is the newest version.
func (h *Record) Stand(vector, version string) (list []Standing) {
	for _, mode := range h.Modes() {
		s := Standing{Mode: mode}
		tried := false
		var shown Standing // by the last version that showed anything
		for _, r := range h.Runs {
			i := slices.IndexFunc(r.Results, func(one Recorded) bool { return one.Vector == vector })
			if r.Mode != mode || i < 0 {
				continue
			}
			tried = true
			one := r.Results[i]
			switch {
			case version != "" && compare(r.From, version) > 0:
				continue
			case one.Outcome == shown.Outcome:
				s.Since = shown.Since
			case s.Outcome != one.Outcome:
				s.Since = r.From
			}
			s.Outcome, s.Why, s.Upto = one.Outcome, one.Why, r.To
			if one.Outcome == conformance.Held || one.Outcome == conformance.Differs {
				shown = s
			}
		}
		if tried {
			list = append(list, s)
		}
	}
	return list
}
