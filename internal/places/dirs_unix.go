//go:build unix

package places

import "runtime"

// managedDir is where the administrator's policies are. It is fixed: nothing
// in the environment may move it.
func managedDir() (string, error) {
	if runtime.GOOS == "darwin" || runtime.GOOS == "ios" {
		return "/Library/Application Support/gate", nil
	}
	return "/etc/gate", nil
}
