package commands

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"gate/cmd/internal/targets"
	"gate/internal/load"
	"gate/internal/lsp"
	"gate/internal/places"
	"gate/internal/setup"
	"gate/policies"
)

// typing is how long after an edit gate lsp waits for the next one. It is short: a newer
// edit ends the check of an older one anyway.
const typing = 25 * time.Millisecond

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
			var library libraryCopy
			defer library.remove()
			m := lsp.Machine{
				Open:    func(file string) (*lsp.Target, error) { return f.target(p, file) },
				Tests:   f.tests,
				Library: library.file,
			}
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

// tests is what gate test makes of the directory of a file.
func (f *checkFlags) tests(file string) (*lsp.Tests, error) {
	list, err := targets.OpenTests([]string{filepath.Dir(file)})
	if err != nil {
		return nil, err
	}
	flags := testFlags{as: f.as}
	return &lsp.Tests{Dir: list[0].At("."), Options: flags.options(list[0]), Close: func() { targets.CloseTests(list) }}, nil
}

// A libraryCopy is gate's own policies as files that an editor can show, for as long as
// the server runs. It is written when somebody wants to see it.
type libraryCopy struct {
	mu  sync.Mutex
	dir string
}

// file returns the path of one of them.
func (l *libraryCopy) file(name string) (string, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.dir == "" {
		dir, err := os.MkdirTemp("", "gate-library-")
		if err != nil {
			return "", err
		}
		err = errors.Join(os.CopyFS(filepath.Join(dir, load.PoliciesDir), policies.FS()), filepath.WalkDir(dir, readOnly))
		if err != nil {
			return "", errors.Join(err, os.RemoveAll(dir))
		}
		l.dir = dir
	}
	path := filepath.Join(l.dir, load.PoliciesDir, filepath.FromSlash(name))
	_, err := os.Stat(path)
	return path, err
}

// readOnly keeps a person from writing into a file that goes away.
func readOnly(path string, e fs.DirEntry, err error) error {
	if err != nil || e.IsDir() {
		return err
	}
	return os.Chmod(path, 0o444)
}

// remove takes the copy away.
func (l *libraryCopy) remove() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.dir != "" {
		_ = os.RemoveAll(l.dir) // what is left is a copy, in the system's directory for such things
	}
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
