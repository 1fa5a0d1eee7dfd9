package commands

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"gate/cmd/internal/screen"
	"gate/internal/audit"
)

func newLogVerify(p process) *cobra.Command {
	var dirs dirFlags
	var json bool
	cmd := &cobra.Command{
		Use:   "verify [FILE...]",
		Short: "find missing or changed records",
		Long: "Follows the chain of the log: each record has the digest of the one before. It says\n" +
			"where the chain breaks, what is missing, and how many records were dropped as too\n" +
			"old. Files (- is standard input), a record a line, are verified in the place of your\n" +
			"log, such as what a collector of decision logs has; there records may come twice and\n" +
			"those of several machines may be mixed.\n\n" +
			"Whoever can write a log can also write all of it anew, with a chain that holds: only\n" +
			"what was sent elsewhere proves anything. The status is 4 if something is wrong.",
		Example: "  gate log verify\n  gate log verify --json collected.jsonl",
		RunE: func(cmd *cobra.Command, args []string) error {
			v, err := verify(cmd.Context(), p, dirs, args)
			if err != nil {
				return err
			}
			if json {
				err = printJSON(p, verificationDocument(&v))
			} else {
				err = printAll(p, verificationText(p, &v, len(args) == 0))
			}
			if err == nil && v.Wrong > 0 {
				err = exitWith(exitRefused)
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&json, "json", false, "print JSON")
	addDirFlags(cmd, &dirs)
	return cmd
}

func verify(ctx context.Context, p process, dirs dirFlags, files []string) (audit.Verification, error) {
	if len(files) == 0 {
		h, err := openHistory(p, dirs)
		if err != nil {
			return audit.Verification{}, err
		}
		return h.Verify()
	}
	var x audit.Verifier
	for _, name := range files {
		if name == "-" {
			if err := x.Read(untilDone{ctx, p.stdin}, "standard input"); err != nil {
				return audit.Verification{}, err
			}
			continue
		}
		f, err := os.Open(name)
		if err != nil {
			return audit.Verification{}, err
		}
		err = x.Read(untilDone{ctx, f}, name)
		f.Close()
		if err != nil {
			return audit.Verification{}, err
		}
	}
	return x.Result(), nil
}

// untilDone reads until the context is done: a file may have no end.
type untilDone struct {
	ctx context.Context
	in  io.Reader
}

func (r untilDone) Read(p []byte) (int, error) {
	if r.ctx.Err() != nil {
		return 0, errors.New("interrupted")
	}
	return r.in.Read(p)
}

func verificationText(p process, v *audit.Verification, own bool) string {
	var b strings.Builder
	for _, wrong := range v.Problems {
		fmt.Fprintf(&b, "error: %s\n", visible(p.tilde(wrong.String())))
	}
	if more := v.Wrong - len(v.Problems); more > 0 {
		fmt.Fprintf(&b, "error: and %d more\n", more)
	}
	for _, c := range v.Chains {
		fmt.Fprintf(&b, "chain %s: records %d to %d", oneLine(c.Log), c.First, c.Last)
		if c.Rotated > 0 {
			fmt.Fprintf(&b, "; %s before them dropped as too old", screen.Counted(int(c.Rotated), "record"))
		}
		if c.Lost > 0 {
			fmt.Fprintf(&b, "; %s lost before they were sent", screen.Counted(int(c.Lost), "record"))
		}
		b.WriteByte('\n')
	}
	if v.Old > 0 {
		fmt.Fprintf(&b, "note: %s of an older gate, from before there was a chain\n", screen.Counted(v.Old, "record"))
	}
	if v.Repeated > 0 {
		fmt.Fprintf(&b, "note: %s came more than once\n", screen.Counted(v.Repeated, "record"))
	}
	switch {
	case v.Records+v.Old == 0 && v.Wrong == 0:
		b.WriteString("there are no records\n")
	case own && !v.EndKnown && v.Records > 0:
		b.WriteString("note: decisions.head is missing or unreadable: whether records are missing at the end is not known\n")
	}
	if v.Wrong == 0 && v.Records > 0 {
		b.WriteString("the chain holds\n")
	}
	return b.String()
}

func verificationDocument(v *audit.Verification) map[string]any {
	chains, problems := []any{}, []any{}
	for _, c := range v.Chains {
		chains = append(chains, map[string]any{"log": c.Log, "first": c.First, "last": c.Last, "rotated": c.Rotated, "lost": c.Lost})
	}
	for _, wrong := range v.Problems {
		problems = append(problems, map[string]any{
			"kind": string(wrong.Kind), "file": wrong.File, "line": wrong.Line, "log": wrong.Log, "from": wrong.From, "to": wrong.To, "text": wrong.String(),
		})
	}
	return map[string]any{
		"holds": v.Wrong == 0, "chains": chains, "records": v.Records, "old": v.Old, "repeated": v.Repeated,
		"wrong": v.Wrong, "problems": problems, "end_known": v.EndKnown,
	}
}
