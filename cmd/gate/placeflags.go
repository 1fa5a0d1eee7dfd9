package main

import (
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"gate/cmd/internal/places"
)

// placeFlags are the flags of commands about what an agent's hook would find
// here: its directories, not those of a shell's environment.
type placeFlags struct {
	dirs dirFlags
	dir  string
	json bool
}

func (f *placeFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.dir, "dir", "", "the project (default: the one that this directory belongs to)")
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

// guard sets gate up as it would answer an agent here.
func (f *placeFlags) guard(p process) (*guard, error) {
	d, project, err := f.places()
	if err != nil {
		return nil, err
	}
	return newGuard(setting{dirs: d, home: p.home(), project: project, env: p.lookupEnv})
}
