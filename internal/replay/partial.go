package replay

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"gate/hook"
	"gate/internal/audit"
	"gate/internal/format"
)

// A Task says what is decided, and by what: only results of one task are taken together.
type Task struct {
	Held    string `json:"held"`    // the name of the [Past]
	Records int64  `json:"records"` // of all of it
	Then    string `json:"then"`    // digest of the policies and settings of that side; "": what was recorded
	Now     string `json:"now"`
	Facts   string `json:"facts"`
	Against string `json:"against"` // for people; "" where nothing is compared with what was recorded
}

// differs says in what two tasks are not the same, "" where they are.
func (t Task) differs(o Task) string {
	switch {
	case t.Held != o.Held || t.Records != o.Records:
		return "other records"
	case t.Then != o.Then || (t.Then == "") != (o.Then == ""):
		return "other policies or settings in force"
	case t.Now != o.Now:
		return "another candidate, or other policies in force"
	case t.Facts != o.Facts:
		return "other facts"
	}
	return ""
}

// A Partial is the result of some parts of a task. [Partial.Merge] takes more of them in.
type Partial struct {
	Task    Task
	Parts   []string // such as "1/8", each once, sorted
	Summary *Summary
}

// ErrOtherTask says that results are not of one replay.
var ErrOtherTask = errors.New("it is of another replay")

// Merge takes the parts of another one in. A part that both have is an error, and so is a
// result of another task.
func (p *Partial) Merge(o *Partial) error {
	if why := p.Task.differs(o.Task); why != "" {
		return fmt.Errorf("%w: of %s", ErrOtherTask, why)
	}
	for _, a := range p.Parts {
		for _, b := range o.Parts {
			if overlap(a, b) {
				return fmt.Errorf("the part %s is in it and %s was counted already", b, a)
			}
		}
	}
	p.Summary.Merge(o.Summary)
	p.Parts = append(p.Parts, o.Parts...)
	slices.SortFunc(p.Parts, func(a, b string) int {
		x, _ := ParsePart(a)
		y, _ := ParsePart(b)
		return cmp.Or(cmp.Compare(x.N, y.N), cmp.Compare(x.I, y.I))
	})
	return nil
}

// overlap reports that an account may be in both parts.
func overlap(a, b string) bool {
	x, errX := ParsePart(a)
	y, errY := ParsePart(b)
	if errX != nil || errY != nil {
		return true
	}
	g := gcd(x.N, y.N)
	return (x.I-1)%g == (y.I-1)%g
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// Missing is how many of the task's records are in none of the parts.
func (p *Partial) Missing() int64 { return p.Task.Records - p.Summary.Records }

// partialFile is the form of a partial in a file.
type partialFile struct {
	Type    string       `json:"type"`
	Task    Task         `json:"task"`
	Parts   []string     `json:"parts"`
	Summary *summaryFile `json:"summary"`
}

type summaryFile struct {
	Records   int64                            `json:"records"`
	Textless  int64                            `json:"textless"`
	NoCalls   int64                            `json:"no_calls"`
	Decided   int64                            `json:"decided"`
	Recorded  int64                            `json:"recorded_facts"`
	Strangers int64                            `json:"strangers"`
	Effects   map[string]int64                 `json:"effects"`
	Changed   map[Change]map[string]*tallyFile `json:"changed"`
	Faults    *tallyFile                       `json:"faults"`
	Lost      *tallyFile                       `json:"lost"`
	Then      Took                             `json:"then_took"`
	Now       Took                             `json:"now_took"`
}

type tallyFile struct {
	Calls    int64         `json:"calls"`
	Machines Distinct      `json:"machines"`
	Examples []exampleFile `json:"examples"`
}

type exampleFile struct {
	Key   uint64    `json:"key"`
	Calls int64     `json:"calls"`
	Entry entryFile `json:"entry"`
}

type entryFile struct {
	At       string    `json:"at"`
	ID       string    `json:"id,omitempty"`
	Time     time.Time `json:"time"`
	Tool     string    `json:"tool,omitempty"`
	Call     string    `json:"call,omitempty"`
	Change   Change    `json:"change,omitempty"`
	Policy   string    `json:"policy,omitempty"`
	Failed   bool      `json:"failed,omitempty"`
	Redacted []string  `json:"redacted,omitempty"`
	Why      string    `json:"why,omitempty"`
	Then     sideFile  `json:"then"`
	Now      sideFile  `json:"now"`
}

type sideFile struct {
	Effect  string       `json:"effect"`
	Reasons []reasonFile `json:"reasons,omitempty"`
	Rewrite any          `json:"rewrite,omitempty"`
	Changed []string     `json:"changed,omitempty"`
	Faults  []string     `json:"faults,omitempty"`
}

type reasonFile struct {
	ID     string `json:"id"`
	Effect string `json:"effect"`
	Reason string `json:"reason"`
	Source string `json:"source,omitempty"`
	Pos    string `json:"pos,omitempty"`
}

// MaxPartial is the largest partial that is read, in bytes.
const MaxPartial = 64 << 20

// Append writes a partial as one line of JSON.
func (p *Partial) Append(to []byte) ([]byte, error) {
	s := p.Summary
	f := partialFile{format.Replayed.Mark(), p.Task, p.Parts, &summaryFile{
		s.Records, s.Textless, s.NoCalls, s.Decided, s.Recorded, s.Strangers, s.Effects, map[Change]map[string]*tallyFile{},
		s.Faults.file(), s.Lost.file(), s.Then, s.Now,
	}}
	for c, policies := range s.Changed {
		f.Summary.Changed[c] = map[string]*tallyFile{}
		for policy, t := range policies {
			f.Summary.Changed[c][policy] = t.file()
		}
	}
	text, err := json.Marshal(&f)
	return append(append(to, text...), '\n'), err
}

// ReadPartial reads what [Partial.Append] wrote. Whatever does not fit together in it is
// an error.
func ReadPartial(text []byte) (*Partial, error) {
	if len(text) > MaxPartial {
		return nil, fmt.Errorf("it has %d bytes, and %d are read", len(text), MaxPartial)
	}
	var head struct {
		Type string `json:"type"`
	}
	if err := json.Unmarshal(text, &head); err != nil {
		return nil, errors.New("it is no result of a fleet's replay")
	}
	if err := format.Replayed.CheckMark(head.Type); err != nil {
		return nil, fmt.Errorf("type: %w", err)
	}
	var f partialFile
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	d.DisallowUnknownFields()
	if err := d.Decode(&f); err != nil || f.Summary == nil {
		return nil, errors.New("it is damaged: a member has another form than results of replays have")
	}
	p := &Partial{Task: f.Task, Parts: f.Parts}
	var err error
	if p.Summary, err = f.Summary.summary(); err == nil {
		err = p.check()
	}
	if err != nil {
		return nil, fmt.Errorf("it is damaged: %w", err)
	}
	return p, nil
}

func (p *Partial) check() error {
	for i, a := range p.Parts {
		if _, err := ParsePart(a); err != nil {
			return err
		}
		for _, b := range p.Parts[:i] {
			if overlap(a, b) {
				return fmt.Errorf("the parts %s and %s have accounts in common", b, a)
			}
		}
	}
	s := p.Summary
	if len(p.Parts) == 0 || s.Records != s.Textless+s.NoCalls+s.Calls() || s.Records > p.Task.Records {
		return errors.New("its numbers do not add up")
	}
	return nil
}

func (f *summaryFile) summary() (*Summary, error) {
	s := NewSummary()
	s.Records, s.Textless, s.NoCalls, s.Decided, s.Recorded, s.Strangers = f.Records, f.Textless, f.NoCalls, f.Decided, f.Recorded, f.Strangers
	if min(s.Records, s.Textless, s.NoCalls, s.Decided, s.Recorded, s.Strangers) < 0 {
		return nil, errors.New("it has a number below zero")
	}
	maps.Copy(s.Effects, f.Effects)
	maps.Copy(s.Then, f.Then)
	maps.Copy(s.Now, f.Now)
	for b := range s.Then {
		if b < 0 || b > maxBucket {
			return nil, errors.New("it has times that no decision takes")
		}
	}
	for b := range s.Now {
		if b < 0 || b > maxBucket {
			return nil, errors.New("it has times that no decision takes")
		}
	}
	var err error
	for c, policies := range f.Changed {
		if !slices.Contains(Changes(), c) {
			return nil, errors.New("it has a change that is none")
		}
		s.Changed[c] = map[string]*Tally{}
		for policy, t := range policies {
			if s.Changed[c][policy], err = t.tally(); err != nil {
				return nil, err
			}
		}
	}
	if s.Faults, err = f.Faults.tally(); err == nil {
		s.Lost, err = f.Lost.tally()
	}
	return s, err
}

func (t *Tally) file() *tallyFile {
	f := &tallyFile{t.Calls, t.Machines, make([]exampleFile, len(t.Examples))}
	for i, x := range t.Examples {
		e := x.Entry
		f.Examples[i] = exampleFile{x.Key, x.Calls, entryFile{
			e.At, e.ID, e.Time, e.Tool, e.Call, e.Change, e.Policy, e.Failed, e.Redacted, e.Why, e.Then.file(), e.Now.file(),
		}}
	}
	return f
}

func (f *tallyFile) tally() (*Tally, error) {
	if f == nil || f.Calls < 0 || len(f.Machines) > maxDistinct || len(f.Examples) > maxExamples {
		return nil, errors.New("a number of calls is missing, or has too many examples")
	}
	t := &Tally{Calls: f.Calls, Machines: f.Machines}
	for i := range f.Machines {
		if i > 0 && f.Machines[i-1] >= f.Machines[i] {
			return nil, errors.New("hashes of machines are not in order")
		}
	}
	for i := range f.Examples {
		x := &f.Examples[i]
		if i > 0 && f.Examples[i-1].Key >= x.Key || x.Calls < 1 {
			return nil, errors.New("examples are not in order")
		}
		e := Entry{At: x.Entry.At, ID: x.Entry.ID, Time: x.Entry.Time, Tool: x.Entry.Tool, Call: x.Entry.Call, Change: x.Entry.Change, Policy: x.Entry.Policy, Failed: x.Entry.Failed, Redacted: x.Entry.Redacted, Why: x.Entry.Why}
		var err error
		if e.Then, err = x.Entry.Then.side(); err == nil {
			e.Now, err = x.Entry.Now.side()
		}
		if err != nil {
			return nil, err
		}
		t.Examples = append(t.Examples, Example{x.Key, x.Calls, e})
	}
	return t, nil
}

func (s Side) file() sideFile {
	f := sideFile{Effect: s.Effect.String(), Rewrite: s.Rewrite, Changed: s.Changed, Faults: s.Faults}
	for _, why := range s.Reasons {
		f.Reasons = append(f.Reasons, reasonFile{why.ID, why.Effect.String(), why.Reason, why.Source, why.Pos})
	}
	return f
}

func (f sideFile) side() (Side, error) {
	s := Side{Rewrite: f.Rewrite, Changed: f.Changed, Faults: f.Faults}
	var err error
	if s.Effect, err = effectOf(f.Effect); err != nil {
		return s, err
	}
	for _, why := range f.Reasons {
		effect, err := effectOf(why.Effect)
		if err != nil {
			return s, err
		}
		s.Reasons = append(s.Reasons, audit.Reason{ID: why.ID, Effect: effect, Reason: why.Reason, Source: why.Source, Pos: why.Pos})
	}
	return s, nil
}

func effectOf(word string) (hook.Effect, error) {
	for e := hook.Pass; e <= hook.Deny; e++ {
		if e.String() == word {
			return e, nil
		}
	}
	return hook.Pass, errors.New("it has an effect that is none")
}
