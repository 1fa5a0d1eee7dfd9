package testreport

import (
	"fmt"

	"gate/cmd/internal/markdown"
	"gate/internal/policytest"
)

// Markdown is a report for the summary of a job: what is wrong with its reason, and how
// many passed.
func (r *Report) Markdown() string {
	var wrong, skipped, uncovered, survivors []string
	for i := range r.results {
		switch one := &r.results[i]; {
		case one.Skipped:
			skipped = append(skipped, entry(one, ""))
		case one.Err != nil:
			wrong = append(wrong, entry(one, one.Err.Error()))
		case one.Failed:
			wrong = append(wrong, entry(one, one.Message))
		}
	}
	text := ""
	if r.coverage != nil {
		text = fmt.Sprintf("Coverage: %.1f %%. ", r.coverage.Percent())
		for _, f := range r.coverage.Files {
			for _, l := range f.Missing {
				uncovered = append(uncovered, markdown.Code(lineRange(f.File, l)))
			}
		}
	}
	if r.mutation != nil {
		text += fmt.Sprintf("Mutation: %.1f %% of the changes are noticed.", r.mutation.Total().Percent())
		for _, s := range r.mutation.Grouped() {
			survivors = append(survivors, markdown.Code(s.String()))
		}
	}
	return markdown.Page(headline(r), text,
		markdown.Section{Title: "Not finished", Entries: r.stopped()},
		markdown.Section{Title: "Below the threshold", Entries: r.missed()},
		markdown.Section{Title: fmt.Sprintf("Failed (%d)", len(wrong)), Entries: wrong},
		markdown.Section{Title: "Skipped", Folded: true, Entries: skipped},
		markdown.Section{Title: "Lines that no test evaluates", Folded: true, Entries: uncovered},
		markdown.Section{Title: "Changes that no test notices", Folded: true, Entries: survivors})
}

// headline says how it went.
func headline(r *Report) string {
	if r.Passed() {
		return "gate test: passed: " + r.verdict()
	}
	return "gate test: failed: " + r.verdict()
}

// stopped is why the run came to no end, as a list with one entry or none.
func (r *Report) stopped() []string {
	if r.Stopped == nil {
		return nil
	}
	return []string{"gate could not run all tests." + markdown.Block(r.Stopped.Error())}
}

// entry names a test, its place, and why it did not pass.
func entry(r *policytest.Result, why string) string {
	text := markdown.Code(title(r)) + " in " + markdown.Code(fmt.Sprintf("%s:%d", r.File, r.Line))
	if why != "" {
		text += markdown.Block(why)
	}
	return text
}
