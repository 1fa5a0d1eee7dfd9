package hookpath

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"gate/adapters"
	"gate/hook"
	"gate/internal/hostfs"
)

// tellShell gives the variables of a decision to the agent's shell, where the
// agent says that it takes some now, and tells the person what did not get
// there.
func tellShell(environment adapters.Environment, d *hook.Decision) {
	if len(d.Env) == 0 || environment.EnvAnswer {
		return
	}
	if environment.EnvFile == "" {
		d.Notices = append(d.Notices, fmt.Sprintf("variables for the shell are lost: the agent takes none on %s", d.Event))
		return
	}
	lines, refused := adapters.ShellLines(d.Env)
	if len(refused) > 0 {
		d.Notices = append(d.Notices, "these are no variables for the shell: "+strings.Join(refused, ", "))
	}
	if err := appendLines(environment.EnvFile, lines); err != nil {
		d.Notices = append(d.Notices, "variables for the shell are lost: "+err.Error())
	}
}

// checkEnvFile reports why what the agent names is no file for variables of its
// shell. One that is not there yet is.
func checkEnvFile(path string) error {
	if !filepath.IsAbs(path) {
		return errors.New("CLAUDE_ENV_FILE is no absolute path")
	}
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err == nil && !info.Mode().IsRegular():
		err = errors.New("it is not a regular file")
	case err == nil:
		err = hostfs.Own(info)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", path, hostfs.Reason(err))
	}
	return nil
}

// appendLines adds lines to a file of this account's; its name comes from the
// environment, so it may be anybody's.
func appendLines(path string, lines []byte) error {
	if len(lines) == 0 {
		return nil
	}
	if !filepath.IsAbs(path) {
		return errors.New("CLAUDE_ENV_FILE is no absolute path")
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE|hostfs.OpenFlags, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("it is not a regular file")
	}
	if err == nil {
		err = hostfs.Own(info)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if info.Size() > 0 {
		lines = append([]byte("\n"), lines...) // what stands there may not end its line
	}
	_, err = f.Write(lines)
	return err
}
