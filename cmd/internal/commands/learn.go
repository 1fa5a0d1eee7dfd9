package commands

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"gate/adapters"
	"gate/cmd/internal/past"
	"gate/cmd/internal/screen"
	"gate/hook"
	"gate/internal/audit"
	"gate/internal/hostfs"
	"gate/internal/learn"
	"gate/internal/load"
	"gate/internal/replay"
	"gate/internal/setting"
	"gate/internal/setup"
	"gate/internal/sources"
)

// learnFlags are the flags of gate learn.
type learnFlags struct {
	dirs        dirFlags
	since       string
	transcripts []string
	to          string
	accept      string
	forAgent    string
	format      string
}

func newLearn(p process) *cobra.Command {
	var f learnFlags
	cmd := &cobra.Command{
		Use:   "learn",
		Short: "propose policies that allow what you let through before",
		Long: "Reads your decision log, or transcripts of Claude Code's sessions, and groups the calls\n" +
			"that you were asked about and let through: by what they did and where, never by their\n" +
			"text. Proposes at most ten policies, the one that saves the most questions first, and\n" +
			"says of all other calls why it proposes nothing. Runs nothing and changes nothing.\n\n" +
			"--to writes the proposals down, each in a directory of its own with its tests. With\n" +
			"--accept NAME you put one into force, by the code that it shows; at a terminal only,\n" +
			"and never within an agent's session. docs/quiet.md says what is proposed.",
		Example: "  gate learn\n  gate learn --since 30d --to proposals\n  gate learn --transcripts ~/.claude/projects\n" +
			"  gate learn --accept create_files",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd.Context(), p) },
	}
	cmd.Flags().StringVar(&f.since, "since", "30d", "calls that are not older, such as 30d, 12h or a date")
	cmd.Flags().StringSliceVar(&f.transcripts, "transcripts", nil, "read these transcripts, or those below a `DIR`, in the place of the log")
	cmd.Flags().StringVar(&f.to, "to", "", "write the proposals into this `DIR`")
	cmd.Flags().StringVar(&f.accept, "accept", "", "put the proposal `NAME` into force")
	cmd.Flags().StringVar(&f.forAgent, "for", "", "print what the rules of this agent can say of the proposals: claude or codex")
	oneOf(cmd, "for", "claude", "codex")
	addFormat(cmd, &f.format)
	addDirFlags(cmd, &f.dirs)
	return cmd
}

func (f *learnFlags) run(ctx context.Context, p process) error {
	d, err := f.dirs.ForPeople(p.lookupEnv)
	if err != nil {
		return err
	}
	if f.accept != "" {
		if err := p.attended(); err != nil {
			return err
		}
	}
	from, err := sinceTime(f.since, time.Now())
	if err != nil {
		return err
	}
	l := &lesson{process: p, dirs: d, from: from}
	if err := l.read(f.transcripts); err != nil {
		return err
	}
	if err := l.learn(ctx); err != nil {
		return err
	}
	switch {
	case f.accept != "":
		return l.accept(f.accept)
	case f.to != "":
		return l.write(f.to)
	case f.forAgent != "":
		return l.rules(f.forAgent)
	case f.format == "json":
		return printJSON(p, l.document())
	}
	return printAll(p, l.text())
}

// A lesson is what a person let through, and what is made of it.
type lesson struct {
	process
	dirs dirs
	from time.Time

	calls     []*replay.Call
	asked     map[*replay.Call]bool // questions that a person answered by letting the call through
	questions int                   // of all
	list      []learn.Question      // those of asked, in order

	proposals []learn.Proposal
	refusals  []learn.Refusal
	unwritten []string // why a proposal could not be tried, by its name
}

// read reads the calls of the log, or of transcripts.
func (l *lesson) read(transcripts []string) error {
	inputs, err := past.Files(l.dirs, transcripts)
	if err != nil {
		return err
	}
	adapter, _ := adapters.Lookup("claude")
	for c, err := range past.Calls(l.stdin, l.page(), transcripts, inputs, adapter, func(int) {}) {
		if err != nil {
			return err
		}
		if c.Kind == replay.Decision || c.Kind == replay.Transcript {
			l.calls = append(l.calls, c)
		}
	}
	l.asked = map[*replay.Call]bool{}
	l.fromTranscripts()
	return l.fromLog()
}

// fromLog finds the questions in decisions: those of policies, and dialogs of the agent
// that it told gate of.
func (l *lesson) fromLog() error {
	begins := map[string]*replay.Call{}
	calls, err := l.reviewed()
	if err != nil {
		return err
	}
	judge := func(call *audit.Call) {
		c := begins[call.Records[0].ID]
		if c == nil || c.Then.Time.Before(l.from) {
			return
		}
		own := slices.ContainsFunc(call.Records, func(r audit.Record) bool { return r.Event == hook.PermissionRequest })
		ran := slices.ContainsFunc(call.Records, func(r audit.Record) bool { return r.Event == hook.PostToolUse })
		if effect := call.Deciding().Effect; effect != hook.Ask && (!own || effect == hook.Deny) {
			return
		}
		l.questions++
		l.asked[c] = call.Outcome() == audit.CallApproved || own && ran
		if v := call.Review; v != nil && (v.Says == audit.FalseAlarm || v.Says == audit.Missed) { // the last word of a person
			l.asked[c] = v.Says == audit.FalseAlarm
		}
	}
	for _, c := range slices.Backward(l.calls) {
		if c.Then == nil {
			continue
		}
		if c.Then.Begins() {
			begins[c.Then.ID] = c
		}
		if call := calls.Add(*c.Then); call != nil {
			judge(call)
		}
	}
	return nil
}

// reviewed are no calls yet, with what a person said of decisions of the log: what is
// replayed does not have it.
func (l *lesson) reviewed() (calls audit.Calls, err error) {
	h, err := audit.OpenHistory(l.dirs.State)
	if err != nil {
		return calls, fmt.Errorf("decision log: %w", err)
	}
	for r, err := range h.Newest() {
		var line *audit.TornError
		switch {
		case err != nil && !errors.As(err, &line):
			return calls, err
		case err == nil && r.Review != nil:
			calls.Add(r)
		}
	}
	return calls, nil
}

// fromTranscripts finds the calls of which Claude Code asks in its default mode. A
// transcript does not say whether it asked.
func (l *lesson) fromTranscripts() {
	for _, c := range l.calls {
		mode := c.Event.Text("permission_mode")
		if c.Kind != replay.Transcript || c.Event.Name != hook.PreToolUse || mode != "" && mode != "default" || c.Event.Gate.Now.Before(l.from) {
			continue
		}
		l.questions++
		l.asked[c] = c.Ran
	}
}

// learn decides the calls again, makes proposals of those that were let through, and
// keeps of each proposal what it really allows.
func (l *lesson) learn(ctx context.Context) error {
	options := setup.Options{For: sources.For{Machine: l.machine(l.dirs, "")}}
	questions := map[*replay.Call]*learn.Question{}
	err := l.decide(ctx, options, past.Quiet(), func(c *replay.Call, then, now *audit.Record) {
		q := &learn.Question{Event: &c.Event, Project: cmp.Or(c.Project, c.Event.Dir()), At: c.At}
		switch {
		case then.Effect >= hook.Ask:
			q.Held = firstReason(then)
		case now.Effect == hook.Allow:
			q.Looks = strings.HasPrefix(firstReason(now), setting.Quiet+".")
		}
		questions[c] = q
	})
	if err != nil {
		return err
	}
	for _, c := range l.calls {
		if q := questions[c]; q != nil && l.asked[c] {
			l.list = append(l.list, *q)
		}
	}
	l.proposals, l.refusals = learn.Propose(l.list)
	if len(l.proposals) == 0 {
		return nil
	}
	allowed, err := l.allowed(ctx, options)
	if err != nil {
		return err
	}
	l.proposals, l.refusals = learn.Narrowed(l.list, func(q *learn.Question) bool { return allowed[q.Event] })
	return nil
}

// decide decides the calls again, by a candidate and by what is in force.
func (l *lesson) decide(ctx context.Context, options setup.Options, candidate *past.Proposal, each func(c *replay.Call, then, now *audit.Record)) error {
	r := past.New(options, candidate, past.Recorded)
	r.Each(each)
	_, err := r.Run(ctx, func(yield func(*replay.Call, error) bool) {
		for _, c := range l.calls {
			if !yield(c, nil) {
				return
			}
		}
	}, nil)
	return err
}

// allowed are the calls that the proposals allow when they are in force.
func (l *lesson) allowed(ctx context.Context, options setup.Options) (map[*hook.Event]bool, error) {
	dir, err := os.MkdirTemp("", "gate-learn")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	written := 0
	for i := range l.proposals {
		if _, err := writeProposal(filepath.Join(dir, learn.Root), &l.proposals[i], nil); err != nil {
			l.unwritten = append(l.unwritten, fmt.Sprintf("%s: %v", l.proposals[i].Name, err)) // its calls are not proven
			continue
		}
		written++
	}
	if written == 0 {
		return nil, nil
	}
	candidate, err := past.LoadProposal(dir, "")
	if err != nil {
		return nil, err
	}
	allowed := map[*hook.Event]bool{}
	err = l.decide(ctx, options, candidate, func(c *replay.Call, then, now *audit.Record) {
		if now.Effect == hook.Allow && strings.HasPrefix(firstReason(now), learn.Root+".") {
			allowed[&c.Event] = true
		}
	})
	return allowed, err
}

// firstReason names the policy whose effect the decision has.
func firstReason(r *audit.Record) string {
	for _, why := range r.Reasons {
		if why.Effect == r.Effect {
			return why.ID
		}
	}
	return ""
}

// near are the five calls that are most like those of a proposal and that it does not
// allow.
func (l *lesson) near(p *learn.Proposal) []learn.Question {
	var others []learn.Question
	for _, r := range l.refusals {
		others = append(others, r.Calls...)
	}
	return p.Near(others, 5)
}

// writeProposal writes a proposal into a directory of its own below the one of its
// package. It overwrites no file.
func writeProposal(root string, p *learn.Proposal, near []learn.Question) (dir string, err error) {
	files, err := p.Files(near)
	if err != nil {
		return "", err
	}
	dir = filepath.Join(root, p.Name)
	if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("%s is there already", dir)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	for _, file := range files {
		if err := hostfs.Replace(filepath.Join(dir, file.Name), []byte(file.Text), 0o644); err != nil {
			return "", err
		}
	}
	return dir, nil
}

// write writes all proposals down.
func (l *lesson) write(to string) error {
	var b strings.Builder
	var failed []error
	for i := range l.proposals {
		dir, err := writeProposal(filepath.Join(to, learn.Root), &l.proposals[i], l.near(&l.proposals[i]))
		if err != nil {
			failed = append(failed, fmt.Errorf("%s is not written: %w", l.proposals[i].Name, err))
			continue
		}
		fmt.Fprintf(&b, "wrote %s\n", visible(l.tilde(dir)))
	}
	if len(l.proposals) == 0 {
		b.WriteString(l.text())
	}
	return errors.Join(append(failed, printAll(l.process, b.String()))...)
}

// accept puts a proposal among the user's policies, once a person has agreed to its
// text. The text is made anew: nothing that an agent may have written down is taken.
func (l *lesson) accept(name string) error {
	i := slices.IndexFunc(l.proposals, func(p learn.Proposal) bool { return p.Name == name })
	if i < 0 {
		var names []string
		for _, p := range l.proposals {
			names = append(names, p.Name)
		}
		hint := "nothing is proposed"
		if len(names) > 0 {
			hint = "there are: " + strings.Join(names, ", ")
		}
		return hintedError{fmt.Errorf("no proposal is named %s", quoted(name)), hint}
	}
	p, near := &l.proposals[i], l.near(&l.proposals[i])
	files, err := p.Files(near)
	if err != nil {
		return err
	}
	question := fmt.Sprintf("Put this policy of yours into force? It would have let through %d of %s.\n\n%s", len(p.Calls), screen.Counted(l.questions, "question"), policyLines(files[0].Text))
	if _, err := l.person(l.dirs, question); err != nil {
		return err
	}
	dir, err := writeProposal(filepath.Join(l.dirs.User, load.PoliciesDir, learn.Root), p, near)
	if err != nil {
		return err
	}
	return printAll(l.process, fmt.Sprintf("%s is in force: %s\n", p.ID(), visible(l.tilde(dir))))
}

// policyLines is a text as people may see it, line by line.
func policyLines(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(visible(strings.TrimSuffix(line, "\n")) + "\n")
	}
	return b.String()
}

// text is the report for people.
func (l *lesson) text() string {
	var b strings.Builder
	saved := 0
	for i := range l.proposals {
		saved += len(l.proposals[i].Calls)
	}
	fmt.Fprintf(&b, "%s, %d let through; proposals would have let through %d\n", screen.Counted(l.questions, "question"), len(l.list), saved)
	for i := range l.proposals {
		p := &l.proposals[i]
		fmt.Fprintf(&b, "\n%s\n  %s\n  would have let through %d of %s, such as:\n", p.Name, visible(p.Title), len(p.Calls), screen.Counted(l.questions, "question"))
		shownCalls(&b, p.Calls, 3)
		if near := l.near(p); len(near) > 0 {
			b.WriteString("  would not let through, though near:\n")
			shownCalls(&b, near, 5)
		}
	}
	for _, why := range l.unwritten {
		fmt.Fprintf(&b, "\nnot tried, and so not proposed: %s\n", visible(why))
	}
	if len(l.refusals) > 0 {
		b.WriteString("\nnothing is proposed for:\n")
	}
	for _, r := range l.refusals {
		fmt.Fprintf(&b, "  %s: %s\n", screen.Counted(len(r.Calls), "call"), visible(r.Reason))
	}
	if len(l.proposals) > 0 {
		b.WriteString("\nnext: gate learn --to DIR writes them down; gate learn --accept NAME puts one into force\n")
	}
	return b.String()
}

// mostOfCall is how much of a call is shown, in code points.
const mostOfCall = 100

// shownCalls lists some calls, equal ones once.
func shownCalls(b *strings.Builder, list []learn.Question, most int) {
	seen := map[string]bool{}
	for i := range list {
		text := []rune(visible(learn.Text(&list[i])))
		line := string(text[:min(mostOfCall, len(text))])
		if !seen[line] && len(seen) < most {
			fmt.Fprintf(b, "    %s\n", line)
		}
		seen[line] = true
	}
}

func (l *lesson) document() map[string]any {
	proposals, refusals := []any{}, []any{}
	texts := func(list []learn.Question) []any {
		out := []any{}
		for i := range list {
			out = append(out, learn.Text(&list[i]))
		}
		return out
	}
	for i := range l.proposals {
		p := &l.proposals[i]
		proposals = append(proposals, map[string]any{
			"name": p.Name, "title": p.Title, "policy": p.ID(), "questions": len(p.Calls), "calls": texts(p.Calls), "near": texts(l.near(p)),
		})
	}
	for _, r := range l.refusals {
		refusals = append(refusals, map[string]any{"reason": r.Reason, "calls": len(r.Calls)})
	}
	return map[string]any{"questions": l.questions, "let_through": len(l.list), "proposals": proposals, "refused": refusals}
}
