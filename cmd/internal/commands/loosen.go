package commands

import (
	"fmt"
	"maps"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"gate/cmd/internal/document"
	"gate/hook"
	"gate/internal/consent"
	"gate/internal/lastgood"
	"gate/internal/load"
	"gate/internal/setting"
	"gate/scopes"
)

// A loosening is a change of a settings file.
type loosening struct {
	file          string
	authority     hook.Authority
	before, after map[string]any // by the keys of scopes.Change
}

// write puts data in the place of the file's text, once a person agreed to the question
// where the change loosens anything. A change that only tightens needs nobody.
func (l loosening) write(p process, d dirs, data []byte, question string) error {
	var witness *consent.Witness
	if len(scopes.Loosening(l.before, l.after)) > 0 {
		var err error
		if witness, err = p.person(d, question); err != nil {
			return err
		}
	}
	if err := replaceFile(l.file, data, l.authority); err != nil {
		return err
	}
	if l.authority == hook.User {
		if err := l.settle(d.Grants(), witness); err != nil {
			return err
		}
	}
	if m := lastgood.In(d.State); lastgood.Endless(l.file) && m.Last(l.file) != nil {
		return m.Keep(l.file, data)
	}
	return nil
}

// question shows a person what of the change loosens.
func (l loosening) question() string {
	return fmt.Sprintf("Loosen these settings?\n  %s\n%s", shown(l.file), changeLines(scopes.Loosening(l.before, l.after)))
}

// changeLines shows changes to a person, a line each.
func changeLines(changes []scopes.Change) string {
	var b strings.Builder
	for _, c := range changes {
		unsure := ""
		if c.Direction == setting.Untold {
			unsure = " (it may loosen)"
		}
		fmt.Fprintf(&b, "  %s: %s → %s%s\n", shown(c.Key), saidValue(c.Was), saidValue(c.Is), unsure)
	}
	return b.String()
}

// saidValue shows a value of settings, or that there is none.
func saidValue(v any) string {
	if v == nil {
		return "not set"
	}
	return document.Line(v)
}

// settle keeps what a change made of settings that a person confirmed. Without a witness
// only what tightens is kept.
func (l loosening) settle(store consent.Store, w *consent.Witness) error {
	dir := filepath.Dir(l.file)
	is, err := store.Settled(dir)
	if err != nil && w == nil {
		return nil // a broken record confirms nothing
	}
	values := maps.Clone(is.Values)
	if values == nil {
		values = map[string]any{}
	}
	for _, c := range scopes.Changes(l.before, l.after) {
		if w == nil && c.Direction > setting.Tightens {
			continue
		}
		delete(values, c.Key)
		if c.Is != nil {
			values[c.Key] = c.Is
		}
	}
	if w == nil {
		return store.Tighten(dir, values)
	}
	return store.Settle(w, dir, values)
}

func newConfirm(p process) *cobra.Command {
	var f placeFlags
	cmd := &cobra.Command{
		Use:   "confirm",
		Short: "confirm the values that your settings loosen",
		Long: "Shows what your settings file loosens beyond what a person confirmed, and stops\n" +
			"telling of it when you type the code that it shows. gate set does so itself; this is\n" +
			"for a file that was edited. At a terminal only, and never within an agent's session.",
		Example: "  gate settings confirm",
		Args:    noArgs,
		RunE: func(*cobra.Command, []string) error {
			d, _, err := f.places()
			if err != nil {
				return err
			}
			return confirmSettings(p, d)
		},
	}
	addDirFlags(cmd, &f.dirs)
	return cmd
}

func confirmSettings(p process, d dirs) error {
	if err := p.attended(); err != nil {
		return err
	}
	file, data, err := readSettings(d.User, load.SettingsStem)
	if err != nil {
		return err
	}
	store, said := d.Grants(), load.Said(file, data, hook.User)
	delete(said, "hooks") // nobody is told of them: gate policies lists hooks
	is, err := store.Settled(d.User)
	if err != nil {
		fmt.Fprintf(p.stderr, "gate: note: %s\n", visible(err.Error()))
	}
	changes := scopes.Loosening(is.Values, said)
	if len(changes) == 0 {
		return printAll(p, "every value that your settings loosen is confirmed\n")
	}
	w, err := p.person(d, fmt.Sprintf("Confirm that your settings loosen this?\n  %s\n%s", shown(file), changeLines(changes)))
	if err != nil {
		return err
	}
	if err := store.Settle(w, d.User, said); err != nil {
		return err
	}
	return printAll(p, fmt.Sprintf("confirmed: %s\n", visible(p.tilde(file))))
}
