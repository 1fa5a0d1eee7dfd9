package policytest

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	opa "github.com/open-policy-agent/opa/v1/rego"
	"github.com/open-policy-agent/opa/v1/topdown"

	gaterego "gate/internal/rego"
)

// notCompiled makes results of the files of tests that an error of the compiler is
// about, and returns the selection without them. Without any the error is about more.
func (s *Suite) notCompiled(sel Selection, err error) (results []Result, rest Selection, _ error) {
	err = gaterego.Tidy(err)
	rest = sel
	rest.Files = s.testsOf(sel)
	for _, one := range unjoin(err) {
		at := position().FindStringSubmatch(one.Error())
		if at == nil || !s.options.Partly || !slices.Contains(s.testsOf(sel), at[1]) {
			return nil, sel, err
		}
		results = withMistake(results, at[1], at[2], one)
		rest.Files = slices.DeleteFunc(slices.Clone(rest.Files), func(name string) bool { return name == at[1] })
	}
	return results, rest, nil
}

// sayErrors puts errors of builtins with their positions in the place of the text
// that OPA's runner has of them if there are several.
func (s *Suite) sayErrors(ctx context.Context, sel Selection, results []Result) error {
	var names []string
	for _, r := range results {
		var one *topdown.Error
		if r.Err != nil && !errors.As(r.Err, &one) && strings.HasPrefix(r.Err.Error(), "[{") {
			names = append(names, regexp.QuoteMeta("data."+r.Name))
		}
	}
	if len(names) == 0 {
		return nil
	}
	sel.Name = regexp.MustCompile("^(" + strings.Join(names, "|") + ")$")
	list, _, err := s.testQueries(ctx, sel) // what does not compile has its result already
	if err != nil {
		return err
	}
	for _, q := range list {
		ctx, cancel := context.WithTimeout(ctx, s.timeout())
		var faults []topdown.Error
		_, err := q.query.Eval(ctx, opa.EvalBuiltinErrorList(&faults))
		cancel()
		i := slices.IndexFunc(results, func(r Result) bool { return r.Name == q.name })
		if i >= 0 && (err != nil || len(faults) > 0) {
			results[i].Err = errors.Join(append(oncePerPlace(faults), plain(err))...)
		}
	}
	return nil
}

// oncePerPlace says for each place what failed there first, and how often more.
func oncePerPlace(faults []topdown.Error) []error {
	var places, texts []string
	more := map[string]int{}
	for i := range faults {
		text := plain(&faults[i]).Error()
		place := strings.Join(strings.SplitN(text, ":", 4)[:min(3, strings.Count(text, ":"))], ":")
		if slices.Contains(texts, text) {
			continue
		}
		if slices.Contains(places, place) {
			more[place]++
			continue
		}
		places, texts = append(places, place), append(texts, text)
	}
	errs := make([]error, len(places))
	for i, place := range places {
		if n := more[place]; n > 0 {
			texts[i] += fmt.Sprintf(" (and %d more there)", n)
		}
		errs[i] = errors.New(texts[i])
	}
	return errs
}
