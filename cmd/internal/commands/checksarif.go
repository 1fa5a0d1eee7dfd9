package commands

import (
	"os"
	"path/filepath"

	"gate/cmd/internal/sarif"
	"gate/internal/hostfs"
	"gate/internal/setup"
)

// sarif is what gate check says as code-scanning pages read it. failed is why gate
// could not look at everything.
func (f *checkFlags) sarif(all checked, failed error) (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	r := sarif.Run{
		Version: setup.Version(), Policies: all.Policies, Findings: all.Findings, Failed: failed, Status: f.status(all, failed),
		Root: treeTop(dir), Dir: dir,
	}
	for _, h := range all.HookFiles {
		r.Notes = append(r.Notes, h.String())
	}
	return r.Text()
}

// treeTop is the top of the repository that a directory lies in, or the directory. A
// page about a repository names files from there, wherever gate was started.
func treeTop(dir string) string {
	for at := dir; ; at = filepath.Dir(at) {
		if hostfs.Exists(filepath.Join(at, ".git")) {
			return at
		}
		if at == filepath.Dir(at) {
			return dir
		}
	}
}
