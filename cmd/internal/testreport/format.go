package testreport

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"strconv"
	"strings"
	"time"

	"gate/cmd/internal/document"
	"gate/internal/policytest"
	"gate/internal/strictjson"
)

// Document is a report as programs read it.
func (r *Report) Document() map[string]any {
	c := r.counts()
	doc := map[string]any{
		"passed": c.passed, "failed": c.failed, "errors": c.broken, "skipped": c.skipped,
		"results": []any{}, "missed": document.Strings(r.missed()), "benchmarks": nil, "coverage": nil, "mutation": nil,
	}
	if r.Stopped != nil {
		doc["stopped"] = r.Stopped.Error()
	}
	results := []any{}
	for i := range r.results {
		results = append(results, resultDocument(&r.results[i]))
	}
	doc["results"] = results
	if r.benchmarks != nil {
		list := []any{}
		for _, b := range r.benchmarks {
			list = append(list, map[string]any{
				"name": b.Name, "file": b.File, "line": b.Line, "runs": b.Runs, "ns_per_op": b.NsPerOp,
				"bytes_per_op": b.BytesPerOp, "allocs_per_op": b.AllocsPerOp, "error": errorText(b.Err),
			})
		}
		doc["benchmarks"] = list
	}
	if r.coverage != nil {
		doc["coverage"] = coverageDocument(r.coverage)
	}
	if r.mutation != nil {
		doc["mutation"] = r.mutationDocument()
	}
	return doc
}

func resultDocument(r *policytest.Result) map[string]any {
	state := "passed"
	switch {
	case r.Err != nil:
		state = "error"
	case r.Failed:
		state = "failed"
	case r.Skipped:
		state = "skipped"
	}
	return map[string]any{
		"kind": string(r.Kind), "name": r.Name, "policy": document.OrNull(r.Policy), "file": r.File, "line": r.Line, "state": state,
		"message": document.OrNull(r.Message), "error": errorText(r.Err), "judged": document.OrNull(r.Judged), "output": document.OrNull(r.Output),
		"took_us": r.Took.Microseconds(),
	}
}

func errorText(err error) any {
	if err == nil {
		return nil
	}
	return err.Error()
}

func coverageDocument(c *policytest.Coverage) map[string]any {
	files := []any{}
	for _, f := range c.Files {
		missing := []any{}
		for _, l := range f.Missing {
			missing = append(missing, []any{l.First, l.Last})
		}
		files = append(files, map[string]any{
			"file": f.File, "covered": f.Covered, "missed": f.Missed, "percent": percent(f.Percent()), "missing": missing,
		})
	}
	return map[string]any{"percent": percent(c.Percent()), "files": files}
}

// percent is a share with two decimals.
func percent(p float64) json.Number { return json.Number(strconv.FormatFloat(p, 'f', 2, 64)) }

func (r *Report) mutationDocument() map[string]any {
	files, survivors := []any{}, []any{}
	for _, s := range r.mutation.Policies {
		files = append(files, map[string]any{
			"file": s.File, "noticed": s.Killed, "survived": s.Survived, "invalid": s.Invalid, "percent": percent(s.Percent()),
		})
	}
	for _, s := range r.mutation.Survivors {
		survivors = append(survivors, map[string]any{
			"file": s.File, "line": s.Line, "column": s.Column, "text": s.Text, "change": s.Change, "advice": s.Advice(),
		})
	}
	return map[string]any{"percent": percent(r.mutation.Total().Percent()), "files": files, "survivors": survivors}
}

// The elements of a JUnit report, as most CI systems read it.
type (
	junitSuites struct {
		XMLName xml.Name     `xml:"testsuites"`
		Suites  []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name     string      `xml:"name,attr"`
		Tests    int         `xml:"tests,attr"`
		Failures int         `xml:"failures,attr"`
		Errors   int         `xml:"errors,attr"`
		Skipped  int         `xml:"skipped,attr"`
		Time     string      `xml:"time,attr"`
		Cases    []junitCase `xml:"testcase"`
	}
	junitCase struct {
		Class   string        `xml:"classname,attr"`
		Name    string        `xml:"name,attr"`
		File    string        `xml:"file,attr"`
		Line    int           `xml:"line,attr"`
		Time    string        `xml:"time,attr"`
		Skipped *struct{}     `xml:"skipped"`
		Failure *junitProblem `xml:"failure"`
		Error   *junitProblem `xml:"error"`
		Output  string        `xml:"system-out,omitempty"`
	}
	junitProblem struct {
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	}
)

// JUnit is a report with a suite for each file, and one more with an error where not
// all tests could be run: a page of tests has no other place for it.
func (r *Report) JUnit() (string, error) {
	var doc junitSuites
	var took time.Duration
	for i := range r.results {
		one := &r.results[i]
		if len(doc.Suites) == 0 || doc.Suites[len(doc.Suites)-1].Name != one.File {
			doc.Suites, took = append(doc.Suites, junitSuite{Name: one.File}), 0
		}
		suite := &doc.Suites[len(doc.Suites)-1]
		took += one.Took
		suite.Time = seconds(took)
		suite.add(one)
	}
	if r.Stopped != nil {
		why := strictjson.Visible(r.Stopped.Error())
		doc.Suites = append(doc.Suites, junitSuite{Name: "gate test", Tests: 1, Errors: 1, Time: seconds(0), Cases: []junitCase{{
			Class: "gate", Name: "all tests were run", Time: seconds(0), Error: &junitProblem{Message: strictjson.OneLine(why), Text: why},
		}}})
	}
	text, err := xml.MarshalIndent(doc, "", "  ")
	return xml.Header + string(text) + "\n", err
}

func (s *junitSuite) add(r *policytest.Result) {
	class := strings.TrimSuffix(r.File, ".rego")
	name := r.Name
	if i := strings.LastIndexByte(name, '.'); r.Kind == policytest.RegoTest && i > 0 && !strings.Contains(name, " ") {
		class, name = name[:i], name[i+1:]
	}
	if r.Policy != "" {
		class = r.Policy
	}
	c := junitCase{Class: class, Name: strictjson.Visible(name), File: r.File, Line: r.Line, Time: seconds(r.Took), Output: strictjson.Visible(r.Output)}
	s.Tests++
	problem := func(text string) *junitProblem {
		text = strictjson.Visible(text)
		first, _, _ := strings.Cut(text, "\n")
		return &junitProblem{Message: first, Text: text}
	}
	switch {
	case r.Err != nil:
		s.Errors++
		c.Error = problem(r.Err.Error())
	case r.Failed:
		s.Failures++
		c.Failure = problem(r.Message)
	case r.Skipped:
		s.Skipped++
		c.Skipped = &struct{}{}
	}
	s.Cases = append(s.Cases, c)
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.6f", d.Seconds()) }
