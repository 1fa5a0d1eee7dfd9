package commands

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"gate/internal/audit"
	"gate/internal/consent"
	"gate/internal/install"
	"gate/internal/setup"
)

// approveFlags are the flags of gate approve.
type approveFlags struct {
	placeFlags
	until     string
	signature string
	form      bool
}

func newApprove(p process) *cobra.Command {
	var f approveFlags
	cmd := &cobra.Command{
		Use:   "approve [ID]",
		Short: "let one call pass after a policy has asked about it",
		Long: "Shows the call of a decision that asked, with a code. When you type the code, exactly\n" +
			"this call may pass once within some minutes. An approval answers a question, never a\n" +
			"denial. The command works at a terminal only, and never within an agent's session.\n" +
			"Without an id it lists the waiting calls. If settings require an approver's key,\n" +
			"--form writes the text for the approver to sign (Ed25519), and --signature gives the\n" +
			"signature.",
		Example: "  gate approve\n  gate approve 5spyyq\n  gate approve 5spyyq --until 2026-11-21T15:00:00Z --form > form",
		Args:    upToOneArg,
		RunE: func(_ *cobra.Command, args []string) error {
			g, err := f.gate(p)
			if err != nil {
				return err
			}
			d, _, err := f.places()
			if err != nil {
				return err
			}
			rules, err := setup.ApprovalRules(g.Set.Settings().Approvals)
			if err != nil && !rules.Enabled { // otherwise it is about people elsewhere
				return err
			}
			if len(args) == 0 {
				return listPending(p, d.Grants(), rules)
			}
			return f.approve(p, d, rules, args[0])
		},
	}
	cmd.ValidArgsFunction = first(f.waiting)
	f.add(cmd)
	cmd.Flags().StringVar(&f.until, "until", "", "when the approver's signature ends, such as 2026-11-21T15:00:00Z")
	cmd.Flags().StringVar(&f.signature, "signature", "", "the approver's signature, in hex")
	cmd.Flags().BoolVar(&f.form, "form", false, "write what the approver signs, and approve nothing")
	return cmd
}

// approvalsOn is the setting that lets a person approve what waits.
const approvalsOn = `{"enabled": true, "minutes": 10, "keyRequired": false}`

func (f *approveFlags) approve(p process, d dirs, rules consent.Approvals, id string) error {
	if !rules.Enabled {
		return fmt.Errorf("%w; the administrator's settings do that, or where there are none: gate set approvals '%s'", consent.Off, approvalsOn)
	}
	store := d.Grants()
	sig, err := f.signed()
	if err != nil {
		return err
	}
	if !f.form {
		if err := p.attended(); err != nil {
			return err
		}
	}
	waits, err := store.Pending(id)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("no call waits as %s; calls wait for an hour, and gate approve lists them", quoted(id))
	}
	if err != nil {
		return err
	}
	if f.form {
		if sig == nil {
			return usageError("--form needs --until")
		}
		return printAll(p, string(waits.SignedForm(sig.Until)))
	}
	if sig != nil && len(sig.Sig) == 0 {
		return usageError("--until goes with --form or --signature")
	}
	session := askedIn(d, id)
	shows := waits.String()
	if session != "" {
		shows += fmt.Sprintf("  session  %s\n", shown(session))
	}
	witness, err := p.person(d, shows+"This one call passes once, if it comes again just so in the same session.")
	if err != nil {
		return err
	}
	until, err := store.Approve(witness, waits, rules, sig)
	if err != nil {
		return err
	}
	return printAll(p, approvedText(p, waits.Call, session, until))
}

// askedIn is what the agent calls the session of a decision, by the log; "" where that
// does not say.
func askedIn(d dirs, id string) string {
	h, err := audit.OpenHistory(d.State)
	if err != nil {
		return ""
	}
	r, err := h.Find(id)
	if err != nil || r.ID != id {
		return ""
	}
	return r.Session
}

// approvedText says where an approval holds, and how to go on there.
func approvedText(p process, call consent.Call, session string, until time.Time) string {
	where := "the session that asked"
	if session != "" {
		where = "session " + session
	}
	text := fmt.Sprintf("approved until %s, for %s of %s in %s\n", until.Local().Format("15:04:05"), visible(where), visible(call.Agent), visible(p.tilde(call.Dir)))
	again := "let the agent try the same call again in that session"
	if resume := install.Resume(call.Agent, session); resume != "" {
		again += "; if it has ended, go on in it with " + resume
	}
	return text + "hint: " + again + "\n"
}

// signed reads the flags about a signature, nil if there are none.
func (f *approveFlags) signed() (*consent.Signature, error) {
	if f.until == "" && f.signature == "" {
		return nil, nil
	}
	until, err := time.Parse(time.RFC3339, f.until)
	if err != nil {
		return nil, usageError("give --until as a time such as 2026-11-21T15:00:00Z")
	}
	sig, err := hex.DecodeString(f.signature)
	if err != nil {
		return nil, usageError("give --signature in hex")
	}
	return &consent.Signature{Until: until, Sig: sig}, nil
}

func listPending(p process, store consent.Store, rules consent.Approvals) error {
	waiting, broken := store.AllPending()
	var b strings.Builder
	for _, w := range waiting {
		fmt.Fprintf(&b, "%s, asked at %s:\n%s", w.ID, w.Asked.Local().Format("15:04:05"), visible(w.String()))
	}
	switch {
	case len(waiting) == 0 && !rules.Enabled:
		fmt.Fprintf(&b, "no call waits: %s\n", consent.Off)
	case len(waiting) == 0:
		b.WriteString("no call waits\n")
	}
	return errors.Join(printAll(p, b.String()), broken)
}
