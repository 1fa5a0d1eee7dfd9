package commands

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"gate/cmd/internal/targets"
	"gate/internal/places"
	"gate/internal/setup"
	"gate/internal/sources"
)

// placeFlags are the flags of commands about what an agent's hook would find
// here: its directories, not those of a shell's environment.
type placeFlags struct {
	dirs dirFlags
	dir  string
	json bool
}

func (f *placeFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.dir, "dir", "", "the project's `DIR` (default: the one that this directory belongs to)")
	addDirFlags(cmd, &f.dirs)
}

func (f *placeFlags) addJSON(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.json, "json", false, "print JSON for programs")
}

// places returns gate's directories and the project's root.
func (f *placeFlags) places() (d dirs, project string, err error) {
	if d, err = f.dirs.Absolute().ForHook(); err != nil {
		return d, "", err
	}
	if f.dir != "" {
		project, err = filepath.Abs(f.dir)
		return d, project, err
	}
	here, err := os.Getwd()
	return d, places.ProjectRoot("", here), err
}

// gate sets gate up as it would answer an agent here.
func (f *placeFlags) gate(p process) (*setup.Gate, error) {
	d, project, err := f.places()
	if err != nil {
		return nil, err
	}
	return setup.New(setup.Options{For: sources.For{Machine: p.machine(d, project)}})
}

// standings are whose policies --as can have them be.
func standings() []string { return []string{"managed", "user", "project"} }

// policyTargets returns the policies that a person means, by name or where there
// are any.
func policyTargets(p process, f dirFlags, paths []string) ([]targets.Policies, error) {
	if len(paths) == 0 {
		path, err := defaultPolicyPath(p, f)
		if err != nil {
			return nil, err
		}
		paths = []string{path}
	}
	return targets.Named(paths...)
}

// defaultPolicyPath is where the policies are that a person means who names none.
// Where that is another directory, or there are others, the person is told.
func defaultPolicyPath(p process, f dirFlags) (string, error) {
	found, err := targets.Default(func() (dirs, error) { return f.ForPeople(p.lookupEnv) })
	if err != nil {
		return "", err
	}
	shown := make([]string, len(found))
	for i, dir := range found {
		shown[i] = visible(p.tilde(dir))
	}
	others := ""
	if len(found) > 1 {
		others = "; name the others to look at them: " + strings.Join(shown[1:], " ")
	}
	if found[0] != "." || len(found) > 1 {
		fmt.Fprintf(p.stderr, "gate: policies in %s%s\n", shown[0], others)
	}
	return found[0], nil
}
