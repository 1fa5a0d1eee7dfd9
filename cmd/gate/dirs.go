package main

import (
	"errors"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
)

// An account is an entry of the system's account database.
type account struct {
	name, home string
}

// whoami looks the process's user up in the account database. HOME and USER
// have no say: a tool call could have set them.
func whoami() (account, error) {
	find := user.Current
	if runtime.GOOS != "windows" {
		// user.Current falls back to the environment, this does not.
		find = func() (*user.User, error) { return user.LookupId(strconv.Itoa(os.Getuid())) }
	}
	u, err := find()
	if err != nil {
		return account{}, err
	}
	return account{name: u.Username, home: u.HomeDir}, nil
}

// dirs are the directories that hold what is gate's own. All of them are
// absolute.
type dirs struct {
	managed      string
	managedNamed bool // managed is no place of the system but was given on the command line
	user         string
	state        string
}

// dirFlags are the flags that name directories; an empty one was not given.
type dirFlags struct {
	managed, user, state string
}

// forHook returns the directories that decide about an agent's call. Relative
// ones are refused, because the agent chooses the working directory.
func (f dirFlags) forHook() (dirs, error) {
	for _, given := range []struct{ flag, dir string }{
		{"--managed-dir", f.managed}, {"--user-dir", f.user}, {"--state-dir", f.state},
	} {
		if given.dir != "" && !filepath.IsAbs(given.dir) {
			return dirs{}, fmt.Errorf("%s %s: the path must be absolute", given.flag, given.dir)
		}
	}
	return f.resolve(func() (string, string, error) {
		who, err := whoami()
		if err != nil || !filepath.IsAbs(who.home) {
			return "", "", errors.Join(errors.New("this account has no home directory in the account database; "+
				"give --user-dir and --state-dir"), err)
		}
		config, state := homeDirs(who.home)
		return config, state, nil
	})
}

// forPeople returns the directories for commands that a person types: there
// the environment decides, as it does for other programs.
func (f dirFlags) forPeople(p process) (dirs, error) {
	for _, dir := range []*string{&f.managed, &f.user, &f.state} {
		if *dir == "" {
			continue
		}
		abs, err := filepath.Abs(*dir)
		if err != nil {
			return dirs{}, err
		}
		*dir = abs
	}
	return f.resolve(func() (string, string, error) {
		home := p.home()
		if home == "" {
			return "", "", errors.New("no home directory; give --user-dir and --state-dir, or set HOME")
		}
		config, state := homeDirs(home)
		if dir := p.getenv("XDG_CONFIG_HOME"); filepath.IsAbs(dir) {
			config = filepath.Join(dir, "gate")
		}
		if dir := p.getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
			state = filepath.Join(dir, "gate")
		}
		return config, state, nil
	})
}

// resolve fills in what no flag names.
func (f dirFlags) resolve(defaults func() (config, state string, err error)) (dirs, error) {
	d := dirs{managed: f.managed, managedNamed: f.managed != "", user: f.user, state: f.state}
	if !d.managedNamed {
		dir, err := managedDir()
		if err != nil {
			return dirs{}, fmt.Errorf("managed directory: %w", err)
		}
		d.managed = dir
	}
	if d.user != "" && d.state != "" {
		return d, nil
	}
	config, state, err := defaults()
	if err != nil {
		return dirs{}, err
	}
	if d.user == "" {
		d.user = config
	}
	if d.state == "" {
		d.state = state
	}
	return d, nil
}

// homeDirs are the places in a home directory.
func homeDirs(home string) (config, state string) {
	if runtime.GOOS == "windows" {
		return filepath.Join(home, "AppData", "Roaming", "gate"), filepath.Join(home, "AppData", "Local", "gate")
	}
	return filepath.Join(home, ".config", "gate"), filepath.Join(home, ".local", "state", "gate")
}

// home is what "~" means to the programs that the person or the agent runs.
func (p process) home() string {
	key := "HOME"
	if runtime.GOOS == "windows" {
		key = "USERPROFILE"
	}
	if dir := p.getenv(key); filepath.IsAbs(dir) {
		return dir
	}
	who, err := whoami()
	if err != nil || !filepath.IsAbs(who.home) {
		return ""
	}
	return who.home
}

// tilde shortens a path below the home directory for people.
func (p process) tilde(path string) string {
	if rest, ok := strings.CutPrefix(path, p.home()+string(filepath.Separator)); ok && p.home() != "" {
		return "~" + string(filepath.Separator) + rest
	}
	return path
}

// projectRoot returns the directory that a project's own policies belong to:
// where the agent says that it was started, else dir or the first directory
// above it that holds .gate or .git, else dir. It returns "" when neither can
// be a directory. A project only tightens, so believing this is safe.
func projectRoot(started, dir string) string {
	if isDir(started) {
		return filepath.Clean(started)
	}
	if !filepath.IsAbs(dir) {
		return ""
	}
	dir = filepath.Clean(dir)
	for at := dir; ; at = filepath.Dir(at) {
		for _, mark := range []string{".gate", ".git"} {
			if _, err := os.Lstat(filepath.Join(at, mark)); err == nil {
				return at
			}
		}
		if at == filepath.Dir(at) {
			return dir
		}
	}
}

func isDir(dir string) bool {
	if !filepath.IsAbs(dir) {
		return false
	}
	info, err := os.Stat(dir)
	return err == nil && info.IsDir()
}
