package commands

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"gate/cmd/internal/targets"
	"gate/internal/load"
	"gate/internal/lsp"
	"gate/internal/places"
	"gate/internal/setup"
)

// typing is how long after an edit gate lsp waits for the next one.
const typing = 150 * time.Millisecond

func newLSP(p process) *cobra.Command {
	f := checkFlags{}
	cmd := &cobra.Command{
		Use:   "lsp",
		Short: "tell an editor about policies while they are written",
		Long: "Speaks the language server protocol on standard input and output: an editor starts it.\n" +
			"What is wrong is what gate check says, of the text as it stands. It runs tests and tries\n" +
			"lines when the person asks for it, and nothing else. See docs/editors.md.",
		Example: "  gate lsp\n  gate lsp --as managed",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			m := lsp.Machine{Open: func(file string) (*lsp.Target, error) { return f.target(p, file) }}
			o := lsp.Options{Version: setup.Version(), Machine: m, Delay: typing}
			err := lsp.Serve(cmd.Context(), p.stdin, p.stdout, o)
			if errors.Is(err, lsp.ErrAbrupt) {
				return exitWith(exitFailed) // as the protocol has it; nobody reads a message
			}
			return err
		},
	}
	cmd.Flags().StringVar(&f.as, "as", "", "the owner of the policies: managed, user or project (default: the project's in .gate, else a user's)")
	oneOf(cmd, "as", standings()...)
	addDirFlags(cmd, &f.dirs)
	return cmd
}

// target is what a file of an editor is checked with: the place of gate's that it lies
// in, otherwise its directory.
func (f *checkFlags) target(p process, file string) (*lsp.Target, error) {
	named := cmp.Or(placeOf(file), filepath.Dir(file))
	list, err := targets.Named(named)
	if err != nil {
		return nil, err
	}
	t := list[0]
	place := places.Open(t.Dir, ".", nil)
	if place == nil {
		return nil, fmt.Errorf("%s: there is nothing in it", named)
	}
	if place.Err != nil {
		return nil, fmt.Errorf("%s: %w", named, place.Err)
	}
	out := &lsp.Target{Named: named, Dir: t.Dir, Holds: t.Holds, View: func(files fs.FS) fs.FS { return t.View(files) }, Close: place.Close}
	if out.Check, err = f.options(p, t, place.Files); err != nil {
		place.Close()
		return nil, err
	}
	out.Check.Files = place.Files
	return out, nil
}

// placeOf is the directory of gate's in which a file is settings, hooks or a policy; "" if
// there is none.
func placeOf(file string) string {
	below := ""
	for dir := filepath.Dir(file); dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if targets.IsPlace(dir) && (below == "" || slices.Contains([]string{load.PoliciesDir, load.HooksDir}, below)) {
			return dir
		}
		below = filepath.Base(dir)
	}
	return ""
}
