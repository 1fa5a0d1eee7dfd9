// Package policycheck reports what is wrong with policies before they run:
// what cannot be loaded or compiled, fields and values that no event has, facts
// whose null would silently mean "no", rules that can never decide anything, and
// text that is not as the formatter prints it.
//
// It looks at policies only. It runs none and knows no results of tests. Where it
// cannot tell, it says nothing, such as about the input of undescribed tools. The
// directory schema holds what it knows of events, tools and facts. Start with [Check].
package policycheck

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"gate/hook"
	"gate/internal/catalogue"
	"gate/internal/setting"
	"gate/scopes"
)

// Options say what to check. Files is required.
type Options struct {
	// Files holds the policies.
	Files fs.FS

	// Place says that Files is a whole directory of gate's: policies below
	// policies/, a hook file, settings. Otherwise every Rego file counts, at any
	// depth.
	Place bool

	// Source says whose the policies are: its authority decides which builtins
	// they may call. The zero Source means a user's.
	Source scopes.Source

	// Lib is data.gate.lib. When Source.Library is set it is taken from Files.
	Lib []scopes.Module

	// Others are the sources outside Files whose policies the settings of a
	// place may name.
	Others []scopes.Source

	// Elsewhere looks at a program outside Files that a hook names by its absolute
	// path; nil: nobody does.
	Elsewhere func(name string) (fs.FileInfo, error)

	// Above are the settings outside Files that may be relied on: by a place's
	// hooks, for who judges and whose tools they call; by policies, for the
	// programs that have effects of their own.
	Above []scopes.Layer

	// Stopped is asked now and then; once it says true, nobody wants the report any
	// more. nil: somebody does.
	Stopped func() bool

	// Kept is what checks of the same files keep for the next one; nil: nothing is kept.
	Kept *Kept
}

// A Severity says how sure a finding is.
type Severity string

const (
	Error   Severity = "error"   // the policy does not do what it says
	Warning Severity = "warning" // it probably does not, or it holds what nobody needs
)

// LoadRule is the rule of what keeps a file, or a part of it, from being loaded.
const LoadRule = "load"

// A Finding is one mistake.
type Finding struct {
	File     string   `json:"file"`             // within Options.Files
	Line     int      `json:"line"`             // counts from 1; 0: the file as a whole
	Column   int      `json:"column,omitempty"` // in characters, counts from 1; 0: the line as a whole
	Severity Severity `json:"severity"`
	Rule     string   `json:"rule"`           // which check found it: the ID of one of Rules
	Message  string   `json:"message"`        // what is wrong
	Hint     string   `json:"hint,omitempty"` // what to do
}

// String returns file:line: message; hint.
func (f Finding) String() string {
	text := f.Message
	if f.Hint != "" {
		text += "; " + f.Hint
	}
	switch {
	case f.File == "":
		return text
	case f.Line == 0:
		return f.File + ": " + text
	}
	return fmt.Sprintf("%s:%d: %s", f.File, f.Line, text)
}

// ErrStopped reports that Options.Stopped said so.
var ErrStopped = errors.New("stopped")

// ErrNoPolicies reports files among which there is neither a policy nor a
// helper of one.
var ErrNoPolicies = errors.New("no policies")

// A Report is everything that is wrong with some policies, in the order of
// files and lines.
type Report struct {
	Policies  []string           // the files of those that could be loaded
	HookFiles []setting.HookFile // of a place, those that could be read
	Findings  []Finding
}

// Check reports on the policies in o.Files. The error is [ErrNoPolicies], [ErrStopped] or
// says why the schemas of this program cannot be used.
func Check(o Options) (Report, error) {
	r, _, err := Examine(o)
	return r, err
}

// Examine is [Check], and returns what it learned about the policies. That is nil with
// an error.
func Examine(o Options) (Report, *Inspection, error) {
	known, err := schemas()
	if err != nil {
		return Report{}, nil, err
	}
	if o.Source.Scope == 0 {
		o.Source.Name, o.Source.Scope, o.Source.Authority = "user", hook.Session, hook.User
	}
	c := &checker{schema: known, files: o.Files, place: o.Place, others: o.Others, elsewhere: o.Elsewhere, programs: catalogue.New(nil), said: map[string]bool{}, stopped: o.Stopped, kept: cmp.Or(o.Kept, &Kept{})}
	if c.stopped == nil {
		c.stopped = func() bool { return false }
	}
	lib := c.load(o)
	if len(c.src.Modules)+len(c.src.HookFiles)+len(c.src.Faults)+len(lib) == 0 {
		return Report{}, nil, ErrNoPolicies
	}
	if o.Place {
		c.configure(o)
	}
	all, err := setting.Combine(slices.Concat(o.Above, c.layers)...)
	if err == nil { // each file's own mistakes are reported
		c.schema = known.with(all.Programs)
		c.programs = catalogue.New(all.Programs)
	}
	asks := func() {
		if o.Place && err == nil {
			c.asked(all)
			c.doubts()
		}
		if o.Place {
			c.settings(o)
		}
	}
	compiled := c.compiling(lib)
	for _, step := range []func(){
		func() { c.parse(lib) }, func() { c.formatting(o) },
		c.metadata, c.conditions, c.fields, c.shadows, c.unused, c.marks, asks, compiled,
	} {
		if step(); c.stopped() {
			return Report{}, nil, ErrStopped
		}
	}
	return Report{Policies: c.policies(), HookFiles: c.src.HookFiles, Findings: c.sorted()}, &Inspection{c}, nil
}

// A checker holds what one run knows and has found.
type checker struct {
	schema *schema
	files  fs.FS
	place  bool            // as in Options
	others []scopes.Source // as in Options

	elsewhere func(name string) (fs.FileInfo, error) // as in Options
	stopped   func() bool
	kept      *Kept

	src    scopes.Source
	layers []scopes.Layer // the settings of a place
	units  []*unit        // the source's own, and with the library its helpers
	byName map[string]*unit
	calls  map[string][]call // by function
	access map[string][]pair // by function
	memo   map[string]value

	wrappers map[string]bool // whether a program vanishes behind what it runs
	programs *catalogue.Catalogue
	rows     map[string]bool // whether programs has one, or the shell runs it itself

	look     *look // what an editor asks about; nil: nobody does
	pass     pass
	skip     any // *ast.Expr: the expression whose own demand does not count now
	depth    int
	work     int
	said     map[string]bool
	findings []Finding
}

// load reads the policies as gate does.
func (c *checker) load(o Options) []scopes.Module {
	lib := o.Lib
	if o.Source.Library {
		modules, faults := c.kept.trees.Lib(o.Files)
		lib = modules
		c.faults(faults)
	}
	if o.Place {
		c.src = c.kept.trees.Dir(o.Files, o.Source)
	} else {
		c.src = c.kept.trees.Rego(o.Files, o.Source)
	}
	c.faults(c.src.Faults)
	return lib
}

func (c *checker) policies() []string {
	var files []string
	for _, h := range c.src.Hooks {
		if h.Kind == hook.Rego {
			files = append(files, h.File)
		}
	}
	return files
}

func (c *checker) faults(list []hook.Fault) {
	for i := range list {
		c.failure(list[i].Err)
	}
}

// add records a finding once, unless a comment in the file says that it is
// meant.
func (c *checker) add(f Finding) {
	key := fmt.Sprint(f.File, ":", f.Line, f.Rule, f.Message)
	if c.said[key] || c.ignored(f) {
		return
	}
	c.said[key] = true
	c.findings = append(c.findings, f)
}

// ignored reports that the line, or the one above it, says
// "# gate ignore: RULE".
func (c *checker) ignored(f Finding) bool {
	for _, m := range c.src.Modules {
		if m.File != f.File || f.Line == 0 {
			continue
		}
		lines := strings.Split(m.Text, "\n")
		for _, n := range []int{f.Line, f.Line - 1} {
			if n < 1 || n > len(lines) {
				continue
			}
			_, list, found := strings.Cut(lines[n-1], "# gate ignore:")
			alone := strings.HasPrefix(strings.TrimSpace(lines[n-1]), "#")
			if found && (n == f.Line || alone) && slices.Contains(strings.Fields(strings.ReplaceAll(list, ",", " ")), f.Rule) {
				return true
			}
		}
	}
	return false
}

func (c *checker) sorted() []Finding {
	slices.SortStableFunc(c.findings, func(a, b Finding) int {
		return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), strings.Compare(a.Message, b.Message))
	})
	return c.findings
}
