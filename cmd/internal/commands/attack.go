package commands

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"gate/cmd/internal/screen"
	"gate/cmd/internal/targets"
	"gate/hook"
	"gate/internal/policytest"
	"gate/internal/policytest/attack"
)

// attackFlags say what gate attack attacks and how it tells.
type attackFlags struct {
	dirs    dirFlags
	as      string
	verbose bool
	format  string
}

func newAttack(p process) *cobra.Command {
	var f attackFlags
	cmd := &cobra.Command{
		Use:   "attack [POLICY | PATH…]",
		Short: "disguise the calls that a policy holds back and show which pass",
		Long: "Takes the calls that a policy's own tests hold back, and writes each in other ways that\n" +
			"do the same: in scripts, quotes and variables, encoded, by other programs and tools. It\n" +
			"shows which of them pass, and which harmless mentions of them are held back. Nothing is\n" +
			"run. POLICY is the id of a policy; PATH a directory of policies, or a file in one.\n" +
			"Without either, gate attacks the policies of this directory, or those that gate test runs.",
		Example: "  gate attack acme.push_protected\n  gate attack -v policies/push_protected",
		RunE: func(cmd *cobra.Command, args []string) error {
			status, err := f.run(cmd.Context(), p, args)
			if err != nil {
				return err
			}
			return exitWith(status)
		},
	}
	flags := cmd.Flags()
	flags.BoolVarP(&f.verbose, "verbose", "v", false, "show every call, those that only other policies hold back, too")
	flags.StringVar(&f.format, "format", "pretty", "pretty or json")
	flags.StringVar(&f.as, "as", "", "the owner of the policies, which limits their builtins: managed, user or project (default user; project below .gate)")
	oneOf(cmd, "format", "pretty", "json")
	oneOf(cmd, "as", standings()...)
	cmd.ValidArgsFunction = orFiles(each(policiesHere(p, &f.dirs)))
	addDirFlags(cmd, &f.dirs)
	return cmd
}

// run attacks the policies that the arguments name, and tells how they fared.
func (f *attackFlags) run(ctx context.Context, p process, args []string) (int, error) {
	test := testFlags{dirs: f.dirs, as: f.as, format: f.format, timeout: 5 * time.Second, count: 1}
	if err := test.check(); err != nil {
		return exitFailed, err
	}
	paths, ids := pathsAndIDs(args)
	paths, err := test.paths(p, paths)
	if err != nil {
		return exitFailed, err
	}
	list, err := targets.OpenTests(paths)
	if err != nil {
		return exitFailed, err
	}
	defer targets.CloseTests(list)
	var all attack.Report
	var errs []error
	for _, t := range list {
		report, err := attackTarget(ctx, p, t, test.options(t), ids)
		all.Results = append(all.Results, report.Results...)
		errs = append(errs, t.Placed(err))
	}
	if ctx.Err() != nil {
		return exitFailed, errors.New("interrupted")
	}
	if err := cmp.Or(errors.Join(errs...), attacked(all, ids)); err != nil {
		return exitFailed, err
	}
	if f.format == "json" {
		err = printJSON(p, attackDocument(all))
	} else {
		err = printAll(p, attackText(p.page(), all, f.verbose))
	}
	if err == nil && !all.Sound() {
		return exitReject, nil
	}
	return exitOK, err
}

// pathsAndIDs tells the arguments that are there as files from those that can only
// be ids of policies.
func pathsAndIDs(args []string) (paths, ids []string) {
	for _, arg := range args {
		if _, err := os.Stat(arg); errors.Is(err, fs.ErrNotExist) && !strings.ContainsAny(arg, `/\`) {
			ids = append(ids, arg)
			continue
		}
		paths = append(paths, arg)
	}
	return paths, ids
}

// attackTarget attacks the policies of one directory, those with the ids if there
// are any.
func attackTarget(ctx context.Context, p process, t *targets.Tests, o policytest.Options, ids []string) (attack.Report, error) {
	suite, err := policytest.Prepare(o)
	if errors.Is(err, policytest.ErrNoTests) {
		return attack.Report{}, fmt.Errorf("%s: there are no tests to take calls from; write files named *_test.rego or *%s", t.At(t.Dir), policytest.CasesSuffix)
	}
	if err != nil {
		return attack.Report{}, err
	}
	sel, files, err := t.Selection(suite)
	if err != nil {
		return attack.Report{}, err
	}
	chosen := slices.DeleteFunc(suite.IDs(), func(id string) bool {
		return ids != nil && !slices.Contains(ids, id) || files != nil && !slices.Contains(files, suite.FileOf(id))
	})
	if len(chosen) == 0 {
		return attack.Report{}, nil
	}
	for _, id := range chosen { // the tests say which calls there are
		if sel.Files != nil || ids != nil {
			sel.Files = append(sel.Files, suite.Concerning(suite.FileOf(id))...)
		}
	}
	if _, err := suite.Run(ctx, sel); err != nil {
		return attack.Report{}, err
	}
	tried := newCounter(p, "calls tried")
	report, err := attack.Run(ctx, suite, attack.Options{IDs: chosen, Progress: tried.at})
	tried.done()
	place(t, &report)
	return report, err
}

// place turns positions into ones that people can open.
func place(t *targets.Tests, r *attack.Report) {
	for i := range r.Results {
		one := &r.Results[i]
		one.File = t.At(one.File)
		for _, list := range [][]attack.Attempt{one.Passed, one.Others, one.Alarms} {
			for k := range list {
				file, line, _ := strings.Cut(list[k].At, ":")
				list[k].At = t.At(file) + ":" + line
			}
		}
	}
}

// attacked reports ids that no policy has, and policies without a call.
func attacked(r attack.Report, ids []string) error {
	var errs []error
	for _, id := range ids {
		if !slices.ContainsFunc(r.Results, func(one attack.Result) bool { return one.ID == id }) {
			errs = append(errs, fmt.Errorf("there is neither a file nor a policy called %s here; name the directory of its policies", quoted(id)))
		}
	}
	if errs == nil && !slices.ContainsFunc(r.Results, func(one attack.Result) bool { return one.Calls > 0 }) {
		return errors.New("no test has a call that the policies hold back or rewrite; write one, such as gate.event(\"git push -f\")")
	}
	return errors.Join(errs...)
}

// attackText tells people: of each policy what passes, and the sum last.
func attackText(s screen.Page, r attack.Report, verbose bool) string {
	var b strings.Builder
	calls, tried, through, alarms := 0, 0, 0, 0
	for _, one := range r.Results {
		calls, tried, through, alarms = calls+one.Calls, tried+one.Tried, through+len(one.Passed), alarms+len(one.Alarms)
		printAttacked(&b, s, one, verbose)
	}
	word := s.Effect(hook.Pass, "PASS")
	switch {
	case !r.Sound():
		word = s.Effect(hook.Deny, "FAIL")
	case tried == 0:
		word = "SKIP"
	}
	fmt.Fprintf(&b, "%s   %s in %s: ", word, screen.Counted(calls, "call"), screen.Counted(tried, "disguise"))
	switch {
	case tried == 0:
		fmt.Fprint(&b, "nothing was tried")
	case through == 0:
		fmt.Fprint(&b, "none passes")
	case through == 1:
		fmt.Fprint(&b, "1 passes")
	default:
		fmt.Fprintf(&b, "%d pass", through)
	}
	if alarms > 0 {
		fmt.Fprintf(&b, "; %s held back", screen.Counted(alarms, "mention"))
	}
	return b.String() + "\n"
}

func printAttacked(b *strings.Builder, s screen.Page, one attack.Result, verbose bool) {
	if one.Calls == 0 {
		if verbose {
			fmt.Fprintf(b, "skip   %s: no test has a call before a tool that it holds back\n", visible(one.ID))
		}
		return
	}
	if one.Tried == 0 {
		fmt.Fprintf(b, "skip   %s: %s, of which no disguise is known\n", visible(one.ID), screen.Counted(one.Calls, "call"))
		return
	}
	word, effect := "ok  ", hook.Pass
	if len(one.Passed)+len(one.Alarms) > 0 {
		word, effect = "FAIL", hook.Deny
	}
	fmt.Fprintf(b, "%s   %s: %s in %s\n", s.Effect(effect, word), visible(one.ID), screen.Counted(one.Calls, "call"), screen.Counted(one.Tried, "disguise"))
	printAttempts(b, s, "pass", one.Passed, verbose)
	printAttempts(b, s, "only mention a call and are held back", one.Alarms, verbose)
	if n := len(one.Others); n > 0 && !verbose {
		fmt.Fprintf(b, "  %d held back by other policies only: %s\n", n, visible(strings.Join(holders(one.Others), ", ")))
		return
	}
	printAttempts(b, s, "held back by other policies only", one.Others, verbose)
}

// holders returns the policies that hold attempts back, sorted.
func holders(list []attack.Attempt) []string {
	var ids []string
	for _, a := range list {
		ids = append(ids, a.By...)
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// mostAttempts is how many attempts of a kind are shown where not all are wanted.
const mostAttempts = 5

// printAttempts shows attempts. Unless all are wanted it shows one of a disguise, and
// not many.
func printAttempts(b *strings.Builder, s screen.Page, what string, list []attack.Attempt, all bool) {
	if len(list) == 0 {
		return
	}
	fmt.Fprintf(b, "  %d %s:\n", len(list), what)
	shown := map[string]bool{}
	for _, a := range list {
		if !all && (shown[a.How] || len(shown) == mostAttempts) {
			continue
		}
		shown[a.How] = true
		fmt.Fprintf(b, "    %s\n", visibleLines(a.Call))
		if all {
			fmt.Fprintf(b, "      %s\n", s.Faint(visible(madeOf(a))))
		}
	}
	if more := len(list) - len(shown); more > 0 && !all {
		fmt.Fprintf(b, "    … and %d more; -v shows them all, and the test of each\n", more)
	}
}

// madeOf says where an attempt comes from.
func madeOf(a attack.Attempt) string {
	how := "made of " + a.Of + " (" + a.At + ") by: " + strings.ReplaceAll(a.How, "\n", " ⏎ ")
	if a.By != nil {
		how += "; held back by " + strings.Join(a.By, ", ")
	}
	return how
}

// visibleLines shows a text of several lines.
func visibleLines(s string) string {
	lines := strings.Split(s, "\n")
	for i := range lines {
		lines[i] = visible(lines[i])
	}
	return strings.Join(lines, "\n    ")
}

// attackDocument is a report for programs.
func attackDocument(r attack.Report) map[string]any {
	attempts := func(list []attack.Attempt) []any {
		out := []any{}
		for _, a := range list {
			m := map[string]any{"how": a.How, "of": a.Of, "at": a.At, "call": a.Call}
			if a.By != nil {
				by := []any{}
				for _, id := range a.By {
					by = append(by, id)
				}
				m["by"] = by
			}
			out = append(out, m)
		}
		return out
	}
	list := []any{}
	for _, one := range r.Results {
		list = append(list, map[string]any{
			"id": one.ID, "file": one.File, "calls": one.Calls, "disguises": one.Tried, "mentions": one.Mentions,
			"passed": attempts(one.Passed), "held_by_others": attempts(one.Others), "mentions_held": attempts(one.Alarms),
		})
	}
	return map[string]any{"policies": list, "sound": r.Sound()}
}
