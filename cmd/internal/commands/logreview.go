package commands

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"gate/cmd/internal/document"
	"gate/hook"
	"gate/internal/audit"
	"gate/internal/core"
	"gate/internal/places"
	"gate/internal/setting"
)

// reviewFlags are the flags of gate log review.
type reviewFlags struct {
	placeFlags
	falseAlarm, missed, withdraw bool
	note                         string
}

func newLogReview(p process) *cobra.Command {
	var f reviewFlags
	cmd := &cobra.Command{
		Use:   "review ID|last",
		Short: "say of a decision that it was wrong",
		Long: "Writes down what you think of a decision, behind the others in the log: that it was a\n" +
			"false alarm, or that it should have held the call back. Nothing is decided otherwise\n" +
			"for that. gate log and gate log --stats, gate policies NAME, gate learn and the page show\n" +
			"it to those who look after the policies. The last review of a decision counts. It is for\n" +
			"a person at a terminal, and refuses to run within an agent's session.",
		Example: "  gate log review last --false-alarm\n  gate log review 5spyyq --missed --note 'it empties the bucket'\n  gate log review 5spyyq --withdraw",
		Args:    oneArg("a decision's id, or last"),
		RunE:    func(_ *cobra.Command, args []string) error { return f.run(p, args[0]) },
	}
	cmd.Flags().BoolVar(&f.falseAlarm, "false-alarm", false, "what it held back, or remarked on, was all right")
	cmd.Flags().BoolVar(&f.missed, "missed", false, "it should have held the call back")
	cmd.Flags().BoolVar(&f.withdraw, "withdraw", false, "what was said of it earlier counts no more")
	cmd.Flags().StringVar(&f.note, "note", "", "why, in your words; secrets are taken out, as of all in the log")
	cmd.MarkFlagsMutuallyExclusive("false-alarm", "missed", "withdraw")
	cmd.ValidArgsFunction = first(decisions(p, &f.dirs))
	addDirFlags(cmd, &f.dirs)
	return cmd
}

// opinion is what the flags say.
func (f *reviewFlags) opinion() (audit.Opinion, error) {
	switch {
	case f.falseAlarm:
		return audit.FalseAlarm, nil
	case f.missed:
		return audit.Missed, nil
	case f.withdraw:
		return audit.Withdrawn, nil
	}
	return "", usageError("say what is wrong with the decision: --false-alarm or --missed; --withdraw takes that back")
}

func (f *reviewFlags) run(p process, id string) error {
	says, err := f.opinion()
	if err != nil {
		return err
	}
	if err := p.attended(); err != nil {
		return err
	}
	r, err := findRecord(p, f.dirs, id)
	if err != nil {
		return err
	}
	v, err := audit.NewReview(&r, says, f.note)
	if err != nil {
		return fmt.Errorf("%s: %w", r.ID, err)
	}
	before, err := reviewOf(p, f.dirs, &r)
	if err != nil {
		return err
	}
	if says == audit.Withdrawn && before == nil {
		return fmt.Errorf("%s: nobody has said anything of it", r.ID)
	}
	if err := f.write(p, v); err != nil {
		return err
	}
	about := ""
	if len(v.Policies) > 0 {
		about = ", about " + oneLine(strings.Join(v.Policies, ", "))
	}
	return printAll(p, fmt.Sprintf("%s: %s%s\n", r.ID, says, about))
}

// write adds the record of a review to the log.
func (f *reviewFlags) write(p process, v *audit.Review) error {
	g, err := f.gate(p)
	if err != nil {
		return err
	}
	d, err := f.dirs.ForPeople(p.lookupEnv) // where the decision was found
	if err != nil {
		return err
	}
	settings := g.Set.Settings()
	if !settings.On(setting.Log) {
		return errors.New("settings switch the decision log off, and a review is a record in it")
	}
	call := v.Says.String() + ": " + v.Of
	if v.Note != "" {
		call += ", " + strings.Join(strings.Fields(v.Note), " ")
	}
	err = core.Append(d, settings, audit.Record{
		ID: core.NewID(), Time: time.Now(), User: places.AccountName(), Labels: core.LogLabels(settings), Agent: "gate",
		Call: call, Effect: hook.Pass, Result: hook.Continue, Review: v,
	})
	if err != nil {
		return fmt.Errorf("the review is not in the decision log: %w", err)
	}
	return nil
}

// reviewDocument is a review for programs, null where there is none.
func reviewDocument(v *audit.Review) any {
	if v == nil {
		return nil
	}
	return map[string]any{"says": string(v.Says), "by": v.By, "at": v.At.UTC().Format(time.RFC3339), "note": v.Note, "policies": document.Strings(v.Policies)}
}

// reviewOf is what a person said of a decision of the log, nil: nothing that counts.
func reviewOf(p process, dirs dirFlags, r *audit.Record) (*audit.Review, error) {
	if !r.IsDecision() {
		return nil, nil
	}
	h, err := openHistory(p, dirs)
	if err != nil {
		return nil, err
	}
	return h.Review(r)
}
