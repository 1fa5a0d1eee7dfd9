package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"gate/hook"
	"gate/internal/policycheck"
	"gate/internal/policytest"
)

// The commands that the server runs, and the one that an editor may have: it asks the
// person for a line, and has the server try it.
const (
	testCommand    = "gate.test"    // URI, name of the test or case
	tryCommand     = "gate.try"     // URI, line
	tryLineCommand = "gate.tryLine" // URI
)

// maxRun is how long a command may take.
const maxRun = 30 * time.Second

// codeLens offers to run tests and cases, and to try the lines that tests have.
func (s *server) codeLens(ctx context.Context, params json.RawMessage) (any, error) {
	a, err := s.about(ctx, params)
	if err != nil {
		return nil, err
	}
	list := []codeLens{}
	add := func(at span, title, name string, args ...any) {
		list = append(list, codeLens{at, command{title, name, append([]any{a.d.uri}, args...)}})
	}
	if isCases(a.d.path) {
		cases, _ := policytest.ParseCases(filepath.Base(a.d.path), []byte(a.d.text)) // what is wrong is shown as a diagnostic
		for _, c := range cases {
			add(s.rangeOf(c.Line, 0, a.d), "run case", testCommand, c.Name)
		}
		return list, nil
	}
	v := a.view()
	if v == nil {
		return list, nil
	}
	for _, x := range v.Symbols() {
		switch at := a.d.span(x.From, x.NameTo); {
		case x.Kind == policycheck.TestSymbol:
			add(at, "run test", testCommand, v.Package()+"."+x.Name)
		case x.Kind == policycheck.PackageSymbol && s.canAsk():
			add(at, "try a line", tryLineCommand)
		}
	}
	for _, l := range v.Lines() {
		add(a.d.span(l.From, l.To), "try this line", tryCommand, l.Text)
	}
	return list, nil
}

// canAsk reports an editor that can ask for a line.
func (s *server) canAsk() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asks
}

// execute runs a command: a test, or gate's decision about a line. Nothing else is run.
func (s *server) execute(ctx context.Context, params json.RawMessage) (any, error) {
	var p executeParams
	if err := json.Unmarshal(params, &p); err != nil {
		return nil, invalid(err)
	}
	if p.Command != testCommand && p.Command != tryCommand {
		return nil, invalid(fmt.Errorf("gate has no command %q", p.Command))
	}
	var uri, text string
	if len(p.Arguments) != 2 || json.Unmarshal(p.Arguments[0], &uri) != nil || json.Unmarshal(p.Arguments[1], &text) != nil {
		return nil, invalid(fmt.Errorf("%s wants the URI of a document and a text", p.Command))
	}
	s.mu.Lock()
	d := s.open[uri]
	if s.lost[uri] {
		d = nil
	}
	s.mu.Unlock()
	if d == nil {
		return nil, invalid(fmt.Errorf("%s is not open", uri))
	}
	ctx, cancel := context.WithTimeout(ctx, maxRun)
	defer cancel()
	t, err := s.options.Machine.Tests(d.path)
	if err != nil {
		return nil, failed("%v", err)
	}
	defer t.Close()
	name, err := filepath.Rel(t.Dir, d.path)
	if err != nil {
		return nil, failed("%v", err)
	}
	open, _ := s.documents()
	o := t.Options
	o.Files, o.Untested, o.Partly = overlay{o.Files, texts(t.Dir, open)}, true, true
	if p.Command == tryCommand {
		return s.try(ctx, o, text)
	}
	return s.test(ctx, o, d, filepath.ToSlash(name), text)
}

// A ran is what a command came to, for the editor: a client may show it as it likes. The
// server has shown the message already.
type ran struct {
	Passed  bool   `json:"passed"`
	Message string `json:"message"`
}

// tell shows what a command came to.
func (s *server) tell(r ran) ran {
	kind := severityInfo
	if !r.Passed {
		kind = severityError
	}
	s.show(kind, r.Message)
	return r
}

// test runs one test or case of a document.
func (s *server) test(ctx context.Context, o policytest.Options, d *document, file, name string) (any, error) {
	suite, err := policytest.Prepare(o)
	if err != nil {
		return s.tell(ran{Message: "gate test: " + err.Error()}), nil
	}
	only := regexp.MustCompile("^(data\\.)?" + regexp.QuoteMeta(name) + "$")
	sel := policytest.Selection{Name: only, Files: []string{file}}
	results, err := suite.Run(ctx, sel)
	switch {
	case errors.Is(err, policytest.ErrNoTests):
		return nil, failed("%s has no test or case %s", filepath.Base(d.path), name)
	case err != nil:
		return s.tell(ran{Message: "gate test: " + err.Error()}), nil
	}
	out, wrong := ran{Passed: true}, []diagnostic{}
	for i := range results {
		r := &results[i]
		text := "passed: " + r.Name
		switch {
		case r.Skipped:
			text = "skipped: " + r.Name
		case !r.Passed():
			out.Passed = false
			text = "failed: " + r.Name
			if why := strings.TrimSpace(r.Message); r.Err != nil || why != "" {
				text += ": " + strings.TrimSpace(why+" "+errorText(r.Err))
			}
			line := r.Line
			if r.File != file {
				line = 1
			}
			wrong = append(wrong, diagnostic{Range: s.rangeOf(line, 0, d), Severity: severityError, Code: string(r.Kind), Source: "gate test", Message: text})
		}
		out.Message = strings.TrimPrefix(out.Message+"\n"+text, "\n")
	}
	s.publishFor(d.path, "tests", wrong, d)
	return s.tell(out), nil
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// try decides about a line by the policies as they stand, with gate's own, in a world of
// its own: no handler takes part, and the line does not run.
func (s *server) try(ctx context.Context, o policytest.Options, line string) (any, error) {
	o.Bare = true
	suite, err := policytest.Prepare(o)
	if err != nil {
		return s.tell(ran{Message: "gate try: " + err.Error()}), nil
	}
	decide := func(w policytest.CaseWorld) ([]hook.Decision, error) {
		return suite.Decide(ctx, &policytest.Case{Name: "try", File: "try", Line: 1, Lines: []string{line}, World: w})
	}
	decisions, err := decide(policytest.CaseWorld{})
	if err != nil || len(decisions) != 1 {
		return s.tell(ran{Message: "gate try: " + errorText(err)}), nil
	}
	text := decided(&decisions[0])
	if !o.Source.Library && ownAlone(&decisions[0]) {
		without := false
		if alone, err := decide(policytest.CaseWorld{Library: &without}); err == nil && len(alone) == 1 {
			text += "\nwithout gate's own policies: " + decided(&alone[0])
		}
	}
	if broken := suite.Mistakes(policytest.Selection{}); len(broken) > 0 {
		text += fmt.Sprintf("\n%s and others with mistakes took no part", broken[0].File)
	}
	return s.tell(ran{true, line + "\n" + text}), nil
}

// ownAlone reports that gate's own policies alone said something, so that nobody sees
// what others would have said: the library comes first.
func ownAlone(d *hook.Decision) bool {
	return len(d.Reasons) > 0 && !slices.ContainsFunc(d.Reasons, func(r hook.Reason) bool { return !strings.HasPrefix(r.ID, "gate.") })
}

// decided says what a decision is, and why.
func decided(d *hook.Decision) string {
	lines := []string{d.Effect.String()}
	for _, r := range slices.Concat(d.Reasons, d.Warnings) {
		lines = append(lines, fmt.Sprintf("%s: %s: %s", r.Effect, r.ID, r.Reason))
	}
	if d.Fault != nil {
		lines = append(lines, "fault: "+d.Fault.Error())
	}
	for _, c := range d.Context {
		lines = append(lines, "context: "+c.Text)
	}
	if d.Rewrite != nil {
		text, err := json.Marshal(d.Rewrite)
		if err == nil {
			lines = append(lines, "changed to: "+string(text))
		}
	}
	return strings.Join(lines, "\n")
}
