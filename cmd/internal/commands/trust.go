package commands

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"gate/cmd/internal/document"
	"gate/hook"
	"gate/internal/consent"
	"gate/internal/load"
	"gate/internal/places"
	"gate/internal/sources"
	"gate/internal/strictjson"
	"gate/scopes"
)

func newTrust(p process) *cobra.Command {
	var f placeFlags
	var list bool
	var injector string
	cmd := &cobra.Command{
		Use:   "trust [DIR]",
		Short: "let a project's, plugin's or skill's rewrites and handlers count",
		Long: "Shows the content of a project's .gate directory, or of the directory of a plugin, a\n" +
			"skill or agents, with a code. When you type the code, its rewrites, consults and\n" +
			"handlers count. Its denials and questions count without trust. Trust holds for\n" +
			"exactly this content; any change ends it. The command works at a terminal only, and\n" +
			"never within an agent's session.\n\n" +
			"With --injector, a program may tell the agents of the project DIR something from then\n" +
			"on, by files in another directory. docs/session.md has their form.",
		Example: "  gate trust\n  gate trust ~/.config/gate/plugins/fmt\n  gate trust --injector ~/.massgen/hooks\n  gate trust --list",
		Args:    upToOneArg,
		RunE: func(_ *cobra.Command, args []string) error {
			d, project, err := f.places()
			if err != nil {
				return err
			}
			if list {
				return f.listTrusts(p, d.Grants())
			}
			if project, err = directory(args, project); err != nil {
				return err
			}
			if injector != "" {
				return trustInjector(p, d, injector, project)
			}
			return trust(p, d, project)
		},
	}
	addDirFlags(cmd, &f.dirs)
	f.addJSON(cmd)
	cmd.Flags().StringVar(&injector, "injector", "", "take texts for the project's agents from this `DIRECTORY`, where a program leaves them")
	cmd.Flags().BoolVar(&list, "list", false, "list what is trusted")
	return cmd
}

func newDistrust(p process) *cobra.Command {
	var f placeFlags
	var injector string
	cmd := &cobra.Command{
		Use:   "distrust [DIR]",
		Short: "withdraw trust",
		Args:  upToOneArg,
		RunE: func(_ *cobra.Command, args []string) error {
			d, project, err := f.places()
			if err != nil {
				return err
			}
			if project, err = directory(args, project); err != nil {
				return err
			}
			if injector != "" {
				return distrustInjector(p, d.Grants(), injector)
			}
			return distrust(p, d.Grants(), project)
		},
	}
	addDirFlags(cmd, &f.dirs)
	cmd.ValidArgsFunction = first(f.trusted)
	cmd.Flags().StringVar(&injector, "injector", "", "take no more texts from this `DIRECTORY`")
	return cmd
}

// directory is the one that the arguments name, or else the project's.
func directory(args []string, project string) (string, error) {
	if len(args) == 0 {
		return project, nil
	}
	return filepath.Abs(args[0])
}

// A candidate is a place that could be trusted, as it is now.
type candidate struct {
	origin consent.Origin
	digest string
	files  fs.FS
	holds  []scopes.Source
}

// newCandidate reads a project or a plugin.
func newCandidate(dir string) (candidate, error) {
	a, below := hook.Project, places.ProjectDir
	if _, err := os.Lstat(filepath.Join(dir, places.ProjectDir)); errors.Is(err, fs.ErrNotExist) {
		switch {
		case isPlugin(dir):
			a, below = hook.PluginAuthor, "."
		case holdsSkills(dir):
			a, below = hook.SkillAuthor, "."
		}
	}
	place := places.Open(dir, below, nil)
	if place == nil {
		return candidate{}, fmt.Errorf(
			"there is nothing to trust in %s: neither %s of a project, nor plugin.json of a plugin, nor SKILL.md or other files with hooks of skills and agents", dir, places.ProjectDir)
	}
	defer place.Close()
	if place.Err != nil {
		return candidate{}, fmt.Errorf("%s: %w", place.Dir, place.Err)
	}
	c := candidate{}
	var err error
	if c.origin, err = consent.OriginOf(a, place.Dir); err != nil {
		return c, err
	}
	if c.files, c.digest, err = consent.Snapshot(place.Files); err != nil {
		return c, fmt.Errorf("%s: %w", place.Dir, err)
	}
	switch a {
	case hook.PluginAuthor:
		c.holds = append(skillsIn(c.files), load.Plugin(c.files, "", false, true))
		return c, nil
	case hook.SkillAuthor:
		c.holds = skillsIn(c.files)
		return c, nil
	}
	c.holds = []scopes.Source{load.Dir(c.files, scopes.Source{Name: "project", Scope: hook.Session, Authority: hook.Project})}
	for _, by := range []hook.Authority{hook.Project, hook.Local} {
		if said := load.Settings(c.files, ".", by); said.Source != nil {
			c.holds = append(c.holds, *said.Source)
		}
	}
	return c, nil
}

// holdsSkills reports a directory of one skill, or of agents or commands.
func holdsSkills(dir string) bool {
	entries, err := os.ReadDir(dir)
	return err == nil && slices.ContainsFunc(entries, func(e fs.DirEntry) bool {
		return e.Name() == "SKILL.md" || filepath.Ext(e.Name()) == ".md" && slices.Contains([]string{"agents", "commands"}, filepath.Base(dir))
	})
}

// skillsIn loads the hooks of the skills, agents and commands in a directory.
func skillsIn(files fs.FS) (holds []scopes.Source) {
	fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || path.Ext(name) != ".md" {
			return nil
		}
		data, err := load.ReadFile(files, name, sources.MaxSkill)
		if err != nil {
			return nil
		}
		if head, err := load.Frontmatter(name, data, true); err != nil || head.Hooks {
			holds = append(holds, load.Skill(name, data, scopes.Source{Name: "skill:" + name, Scope: hook.Skill, Authority: hook.SkillAuthor}, true))
		}
		return nil
	})
	return holds
}

func isPlugin(dir string) bool {
	for _, name := range []string{"plugin.json", ".claude-plugin/plugin.json"} {
		if _, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(name))); err == nil {
			return true
		}
	}
	return false
}

func trust(p process, d dirs, dir string) error {
	store := d.Grants()
	if err := p.attended(); err != nil {
		return err
	}
	c, err := newCandidate(dir)
	if err != nil {
		return err
	}
	if store.CheckTrust(c.origin, c.digest) == nil {
		return printAll(p, fmt.Sprintf("%s is trusted already with this content\n", visible(p.tilde(c.origin.Dir))))
	}
	witness, err := p.person(d, c.String())
	if err != nil {
		return err
	}
	if err := store.Trust(witness, c.origin, c.digest); err != nil {
		return err
	}
	return printAll(p, fmt.Sprintf("%s is trusted with this content\n", visible(p.tilde(c.origin.Dir))))
}

// maxShown is how many lines of a kind a person is shown.
const maxShown = 60

// String is what a person is shown before they trust the place. What came from
// there is quoted, a line each.
func (c candidate) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Trust this %s directory?\n  %s\n  %s\n", c.origin.Authority, shown(c.origin.Dir), c.digest)
	var files, active, broken []string
	fs.WalkDir(c.files, ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			files = append(files, shown(name))
		}
		return nil
	})
	for i := range c.holds {
		for _, line := range sources.NeedsTrust(&c.holds[i]) {
			active = append(active, shown(line))
		}
		for _, h := range c.holds[i].Hooks {
			if len(h.Config) > 0 {
				active = append(active, "  "+shown(h.ID)+" "+document.Line(h.Config))
			}
		}
		for _, f := range c.holds[i].Faults {
			broken = append(broken, shown(f.Error()))
		}
	}
	section := func(title string, lines []string) {
		if len(lines) == 0 {
			return
		}
		fmt.Fprintf(&b, "%s:\n", title)
		for i, line := range lines {
			if i == maxShown {
				fmt.Fprintf(&b, "  and %d more\n", len(lines)-i)
				break
			}
			fmt.Fprintf(&b, "  %s\n", line)
		}
	}
	section("Its files", files)
	section("Mistakes that keep it from being loaded", broken)
	section("From now on these count", active)
	if len(active) == 0 {
		b.WriteString("It holds nothing that needs trust.\n")
	}
	return b.String()
}

// shown quotes a text of somebody else's.
func shown(s string) string { return string(strictjson.Append(nil, strings.ToValidUTF8(s, "?"))) }

// distrust needs no person: it only tightens.
func distrust(p process, store consent.Store, dir string) error {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	trusts, broken := store.Trusts()
	var b strings.Builder
	for _, t := range trusts {
		if t.Origin.Dir != dir && t.Origin.Dir != filepath.Join(dir, places.ProjectDir) {
			continue
		}
		if err := store.Distrust(t.Origin); err != nil {
			return err
		}
		fmt.Fprintf(&b, "%s is no longer trusted\n", visible(p.tilde(t.Origin.Dir)))
	}
	if b.Len() == 0 {
		fmt.Fprintf(&b, "nothing in %s was trusted\n", visible(p.tilde(dir)))
	}
	return errors.Join(printAll(p, b.String()), broken)
}

func (f *placeFlags) listTrusts(p process, store consent.Store) error {
	trusts, broken := store.Trusts()
	rows := []any{}
	var b strings.Builder
	for _, t := range trusts {
		state := trustState(store, t)
		rows = append(rows, map[string]any{
			"dir": t.Origin.Dir, "authority": t.Origin.Authority.String(), "digest": t.Digest,
			"by": t.By, "at": t.At.UTC().Format(time.RFC3339), "state": state,
		})
		fmt.Fprintf(&b, "%s (%s), by %s on %s: %s\n", visible(p.tilde(t.Origin.Dir)), t.Origin.Authority, visible(t.By),
			t.At.Local().Format(time.DateOnly), state)
	}
	injectors, unread := store.Injectors()
	broken = errors.Join(broken, unread)
	given := []any{}
	for _, in := range injectors {
		state := "holds"
		if err := in.Holds(); err != nil {
			state = oneLine(err.Error())
		}
		given = append(given, map[string]any{
			"dir": in.Dir, "project": in.Project, "by": in.By, "at": in.At.UTC().Format(time.RFC3339), "state": state,
		})
		fmt.Fprintf(&b, "%s (texts for %s), by %s on %s: %s\n", visible(p.tilde(in.Dir)), visible(p.tilde(in.Project)), visible(in.By),
			in.At.Local().Format(time.DateOnly), state)
	}
	if f.json {
		return errors.Join(printJSON(p, map[string]any{"trusts": rows, "injectors": given}), broken)
	}
	if len(trusts)+len(injectors) == 0 {
		b.WriteString("nothing is trusted\n")
	}
	return errors.Join(printAll(p, b.String()), broken)
}

// trustState says whether trust still holds for what is there now.
func trustState(store consent.Store, t consent.Trust) string {
	place := places.Open(t.Origin.Dir, ".", nil)
	if place == nil || place.Err != nil {
		place.Close()
		return "it cannot be read now"
	}
	defer place.Close()
	_, digest, err := consent.Snapshot(place.Files)
	if err == nil {
		err = store.CheckTrust(t.Origin, digest)
	}
	if err != nil {
		return oneLine(err.Error())
	}
	return "holds"
}
