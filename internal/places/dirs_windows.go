package places

import (
	"path/filepath"

	"golang.org/x/sys/windows"
)

// managedDir is where the administrator's policies are. The system is asked,
// not the environment, which a tool call could have set.
func managedDir() (string, error) {
	dir, err := windows.KnownFolderPath(windows.FOLDERID_ProgramData, 0)
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, "gate"), nil
}
