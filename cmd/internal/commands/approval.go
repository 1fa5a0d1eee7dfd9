package commands

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os/exec"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"gate/hook"
	"gate/internal/audit"
	"gate/internal/consent"
	"gate/internal/core"
	"gate/internal/elsewhere"
	"gate/internal/hostfs"
	"gate/internal/places"
	"gate/internal/secret"
	"gate/internal/setting"
	"gate/internal/setup"
	"gate/scopes"
)

// maxMessage bounds what is read of a message or an answer, in bytes.
const maxMessage = 256 << 10

func newApproval(p process) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "approval",
		Short: "answer a question from elsewhere, by a signature",
		Long: "Where settings say so, a question that nobody at the terminal can answer is delivered\n" +
			"to people elsewhere. They sign an answer on a machine of their own, and the answer\n" +
			"comes back by any way: only the signature counts.",
		Args: subcommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newApprovalSign(p), newApprovalAnswer(p), newApprovalStatement(p))
	return cmd
}

// A yesOrNo is which answer somebody gives.
type yesOrNo struct{ yes, no bool }

func (f *yesOrNo) add(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.yes, "yes", false, "the call may run, once")
	cmd.Flags().BoolVar(&f.no, "no", false, "the call may not run")
}

func (f *yesOrNo) word() (yes bool, err error) {
	if f.yes == f.no {
		return false, usageError("give --yes or --no")
	}
	return f.yes, nil
}

func newApprovalSign(p process) *cobra.Command {
	var answer yesOrNo
	var key string
	cmd := &cobra.Command{
		Use:   "sign [FILE]",
		Short: "sign an answer on the machine of an approver",
		Long: "Reads a message as it was delivered, from a file or standard input, shows what is signed,\n" +
			"and has ssh-keygen sign it. The answer goes to standard output. The message is all that is\n" +
			"needed: sign on a machine that the agent does not run on. A key that has to be touched\n" +
			"(ed25519-sk) is best. With a public key, ssh-agent signs.",
		Example: "  gate approval sign --yes --key ~/.ssh/id_ed25519_sk message > answer",
		Args:    upToOneArg,
		RunE: func(cmd *cobra.Command, args []string) error {
			yes, err := answer.word()
			if err != nil {
				return err
			}
			if key == "" {
				return usageError("give --key, the file of your key")
			}
			if err := noAgent(p); err != nil {
				return err
			}
			message, err := messageIn(p, args)
			if err != nil {
				return err
			}
			q, err := elsewhere.ReadQuestion(message)
			if err != nil {
				return err
			}
			return signAnswer(cmd.Context(), p, q, yes, key, len(args) > 0 && args[0] != "-")
		},
	}
	answer.add(cmd)
	cmd.Flags().StringVar(&key, "key", "", "the private key, or the public one of a key that ssh-agent has, in a `FILE`")
	return cmd
}

// signAnswer shows what is signed and has it signed. asks says that standard input is free
// for a person's word.
func signAnswer(ctx context.Context, p process, q elsewhere.Question, yes bool, key string, asks bool) error {
	until, err := time.Parse(time.RFC3339Nano, q.Until())
	if err != nil {
		return fmt.Errorf("the question names no end: %w", err)
	}
	if !time.Now().Before(until) {
		return fmt.Errorf("the question closed at %s: no answer counts any more", until.Local().Format(time.RFC3339))
	}
	fmt.Fprintf(p.stderr, "%s\n", q.Show(yes))
	if asks && p.isTerminal != nil && p.isTerminal() {
		fmt.Fprintf(p.stderr, "Sign %q? [y/N] ", consent.Word(yes))
		line, _ := bufio.NewReader(p.stdin).ReadString('\n') // an end is no yes
		if said := strings.ToLower(strings.TrimSpace(line)); said != "y" && said != "yes" {
			return errors.New("nothing was signed")
		}
	}
	statement := q.Statement(yes)
	cmd := exec.CommandContext(ctx, "ssh-keygen", "-q", "-Y", "sign", "-n", consent.ApprovalNamespace, "-f", key)
	cmd.Env = append(cmd.Environ(), p.env...)
	cmd.Stdin, cmd.Stderr = bytes.NewReader(statement), p.stderr
	var out limitedBuffer
	cmd.Stdout = &out
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("ssh-keygen has not signed: %w", err)
	}
	return emit(p, append(statement, out.Bytes()...))
}

func newApprovalAnswer(p process) *cobra.Command {
	var f placeFlags
	cmd := &cobra.Command{
		Use:   "answer [FILE]",
		Short: "take an approver's answer, on the machine of the agent",
		Long: "Reads answers from a file or standard input. Whoever brings them does not matter: only the\n" +
			"signature of one of approvals.approvers counts, over the question as it was put. The first\n" +
			"answer is the only one. A yes lets the same call pass once, before the question closes.",
		Example: "  gate approval answer answer.txt\n  ssh ana@laptop cat answer.txt | gate approval answer",
		Args:    upToOneArg,
		RunE: func(_ *cobra.Command, args []string) error {
			text, err := messageIn(p, args)
			if err != nil {
				return err
			}
			answers := elsewhere.ReadAnswers(text)
			if len(answers) == 0 {
				return errors.New("there is no answer in it: an answer is a statement and the signature of ssh-keygen below it")
			}
			c, err := f.answering(p)
			if err != nil {
				return err
			}
			return c.take(p, answers)
		},
	}
	f.add(cmd)
	return cmd
}

// An answering is where answers are taken.
type answering struct {
	elsewhere.Desk
	dirs     dirs
	settings scopes.Settings
}

// answering is the one of this machine.
func (f *placeFlags) answering(p process) (*answering, error) {
	g, err := f.gate(p)
	if err != nil {
		return nil, err
	}
	d, _, err := f.places()
	if err != nil {
		return nil, err
	}
	settings := g.Set.Settings()
	rules, err := setup.ApprovalRules(settings.Approvals)
	switch {
	case rules.Elsewhere != nil: // an error is about other approvers
	case err != nil:
		return nil, err
	case !rules.Enabled:
		return nil, consent.Off
	default:
		return nil, consent.NoApprovers
	}
	return &answering{elsewhere.Desk{Store: d.Grants(), Rules: rules, Settings: settings.Approvals}, d, settings}, nil
}

// take gives answers to the store and says what became of each, here and in the log.
func (c *answering) take(p process, answers []elsewhere.Answer) error {
	var b strings.Builder
	var errs []error
	for _, a := range answers {
		taken, err := c.Answer(a, time.Now())
		switch {
		case err != nil:
			err = fmt.Errorf("the answer to %s: %w", quoted(a.ID), err)
			errs = append(errs, err)
		case taken.Yes:
			fmt.Fprintf(&b, "%s: %s said yes; the same call passes once, if it is repeated before %s\n", a.ID, visible(taken.Who), taken.Question.Until.Local().Format("15:04:05"))
		default:
			fmt.Fprintf(&b, "%s: %s said no\n", a.ID, visible(taken.Who))
		}
		c.note(p, a, taken, err)
	}
	return errors.Join(printAll(p, b.String()), errors.Join(errs...))
}

// note writes into the decision log what became of an answer. It counts as it was taken,
// whether or not that can be written.
func (c *answering) note(p process, a elsewhere.Answer, taken consent.Answer, refused error) {
	if !c.settings.On(setting.Log) {
		return
	}
	r := audit.Record{
		ID: core.NewID(), Time: time.Now(), User: places.AccountName(), Labels: core.LogLabels(c.settings), Agent: "gate",
		Call:   fmt.Sprintf("answer %s to the question %s, by %s", consent.Word(a.Yes), oneLine(a.ID), taken.Who),
		Effect: hook.Pass, Result: hook.Continue, Approved: true,
	}
	why := ""
	switch {
	case refused != nil:
		why = refused.Error()
		r.Call = fmt.Sprintf("answer %s to the question %s: refused", consent.Word(a.Yes), oneLine(a.ID))
	case !a.Yes:
		why = taken.Who + " said no to the question " + a.ID
	}
	if why != "" {
		r.Effect, r.Result, r.Approved = hook.Deny, hook.Reject, false
		r.Reasons = []audit.Reason{{ID: "gate.approval", Effect: hook.Deny, Reason: secret.Redact(why), Source: "gate"}}
	}
	if err := core.Append(c.dirs, c.settings, r); err != nil {
		fmt.Fprintf(p.stderr, "gate: note: this is not in the decision log: %s\n", oneLine(err.Error()))
	}
}

func newApprovalStatement(p process) *cobra.Command {
	var f placeFlags
	var answer yesOrNo
	cmd := &cobra.Command{
		Use:   "statement ID",
		Short: "print exactly what an approver signs",
		Long: "Prints the statement of an open question, for ssh-keygen -Y sign -n gate-approval. An\n" +
			"answer is the statement with the signature behind it.",
		Example: "  gate approval statement --yes 5spyyq > statement",
		Args:    oneArg("the id of the decision that asked"),
		RunE: func(_ *cobra.Command, args []string) error {
			yes, err := answer.word()
			if err != nil {
				return err
			}
			d, _, err := f.places()
			if err != nil {
				return err
			}
			q, err := d.Grants().Question(args[0])
			if errors.Is(err, fs.ErrNotExist) {
				err = consent.NoQuestion
			}
			if err != nil {
				return err
			}
			return printAll(p, string(q.Statement(yes)))
		},
	}
	cmd.ValidArgsFunction = first(f.waiting)
	f.add(cmd)
	answer.add(cmd)
	return cmd
}

// messageIn reads the file that an argument names, or standard input.
func messageIn(p process, args []string) ([]byte, error) {
	if len(args) > 0 && args[0] != "-" {
		return readFile(args[0], maxMessage)
	}
	data, err := io.ReadAll(io.LimitReader(p.stdin, maxMessage+1))
	if err == nil && len(data) > maxMessage {
		err = hostfs.TooLarge(maxMessage)
	}
	if err != nil {
		return nil, fmt.Errorf("standard input: %w", err)
	}
	return data, nil
}
