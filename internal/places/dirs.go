// Package places says where gate's own directories are, and opens them so that
// nothing decides which may not: every file is checked when it is opened.
//
// It reads no settings and no hooks. Which directories count depends on who
// asks: [Flags.ForHook] for an agent's call, where the environment has no say,
// [Flags.ForPeople] for a command that a person types. Start there, then [Open].
package places

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"

	"gate/internal/consent"
	"gate/internal/hostfs"
	"gate/internal/seen"
	"gate/internal/session"
)

// An Account is an entry of the system's account database.
type Account struct {
	Name string
	Home string // its directory, which need not be absolute
}

// A Numbered is an account with the numbers that its processes have.
type Numbered struct {
	Account
	UID, GID uint32
}

// Self looks the account up that runs the process. HOME and USER have no say: a
// tool call could have set them.
func Self() (Account, error) { return lookup(strconv.Itoa(os.Getuid())) }

// Listed is Self as far as it can be had from the system's files: accounts of a
// directory service are an error.
func Listed() (Account, error) { return atHand(strconv.Itoa(os.Getuid())) }

// AccountName is the name of the account that runs the process, "" if it is not
// known.
func AccountName() string {
	who, _ := Self()
	return who.Name
}

// AccountHome is the home directory of that account, "" if it is not known.
func AccountHome() string {
	who, err := Self()
	if err != nil || !filepath.IsAbs(who.Home) {
		return ""
	}
	return who.Home
}

// Dirs are the directories that hold what is gate's own. All of them are
// absolute; only a program that embeds gate leaves some out.
type Dirs struct {
	Managed      string
	ManagedNamed bool // Managed is no place of the system but was given on the command line
	User         string
	State        string
}

// NamedManaged says that managed policies are not the system's, for every decision
// that they shape.
func NamedManaged(d Dirs) string {
	return "managed policies come from " + d.Managed + ", as the command line says"
}

// Administered are the files of the managed directory that say which signed
// bundles are in force, and more that comes with bundles.
func Administered() []string {
	return []string{"bundles", "channel.json", "keys.json", "recovery.json", "seen.json"}
}

// Grants is where a person's grants are kept: below the state directory, which
// agents' tools are denied.
func (d Dirs) Grants() consent.Store { return consent.Store{Dir: filepath.Join(d.State, "consent")} }

// Sessions is where the memories of sessions are kept.
func (d Dirs) Sessions() session.Store { return session.Store{Dir: filepath.Join(d.State, "sessions")} }

// Ledger keeps which files of a project hold a secret that a call put there.
func (d Dirs) Ledger(project string) session.Ledger {
	return session.Ledger{Dir: filepath.Join(d.State, "origins"), Project: project}
}

// Seen keeps what sessions were shown.
func (d Dirs) Seen() seen.Store { return seen.Store{Dir: filepath.Join(d.State, "seen")} }

// Accounts is where root keeps how far it sent the logs of the machine's accounts.
func (d Dirs) Accounts() string { return filepath.Join(d.State, "accounts") }

// Late is where handlers leave what they say after the call went on.
func (d Dirs) Late() string { return filepath.Join(d.State, "late") }

// Flags name directories on a command line; an empty one was not given.
type Flags struct {
	Managed, User, State string
}

// ForHook returns the directories that decide about an agent's call. Relative
// ones are refused, because the agent chooses the working directory.
func (f Flags) ForHook() (Dirs, error) { return f.ForAccount(Self) }

// ForAccount returns the directories that decide about a call of an agent which
// runs as an account; it is asked for if the flags do not name them all.
func (f Flags) ForAccount(self func() (Account, error)) (Dirs, error) {
	return f.resolve(func() (string, string, error) {
		who, err := self()
		if err != nil || !filepath.IsAbs(who.Home) {
			return "", "", errors.Join(errors.New("this account has no home directory in the account database; "+
				"give --user-dir and --state-dir"), err)
		}
		config, state := InHome(who.Home)
		return config, state, nil
	})
}

// ForPeople returns the directories for commands that a person types: there
// the environment decides, as it does for other programs.
func (f Flags) ForPeople(lookupEnv func(string) (string, bool)) (Dirs, error) {
	return f.Absolute().resolve(func() (string, string, error) {
		home := Home(lookupEnv)
		if home == "" {
			return "", "", errors.New("no home directory; give --user-dir and --state-dir, or set HOME")
		}
		config, state := InHome(home)
		if dir, _ := lookupEnv("XDG_CONFIG_HOME"); filepath.IsAbs(dir) {
			config = filepath.Join(dir, "gate")
		}
		if dir, _ := lookupEnv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
			state = filepath.Join(dir, "gate")
		}
		return config, state, nil
	})
}

// Absolute returns the flags with paths that hold in any working directory.
func (f Flags) Absolute() Flags {
	for _, dir := range []*string{&f.Managed, &f.User, &f.State} {
		if *dir == "" {
			continue
		}
		if abs, err := filepath.Abs(*dir); err == nil { // else it is refused as it is
			*dir = abs
		}
	}
	return f
}

// resolve fills in what no flag names.
func (f Flags) resolve(defaults func() (config, state string, err error)) (Dirs, error) {
	for _, given := range []struct{ flag, dir string }{
		{"--managed-dir", f.Managed}, {"--user-dir", f.User}, {"--state-dir", f.State},
	} {
		if given.dir != "" && !filepath.IsAbs(given.dir) {
			return Dirs{}, fmt.Errorf("%s %s: the path must be absolute", given.flag, given.dir)
		}
	}
	d := Dirs{Managed: f.Managed, ManagedNamed: f.Managed != "", User: f.User, State: f.State}
	if !d.ManagedNamed {
		dir, err := managedDir()
		if err != nil {
			return Dirs{}, fmt.Errorf("managed directory: %w", err)
		}
		d.Managed = dir
	}
	if d.User != "" && d.State != "" {
		return d, nil
	}
	config, state, err := defaults()
	if err != nil {
		return Dirs{}, err
	}
	if d.User == "" {
		d.User = config
	}
	if d.State == "" {
		d.State = state
	}
	return d, nil
}

// InHome are the user's and the state directory where no flag and no variable
// names others.
func InHome(home string) (config, state string) {
	if runtime.GOOS == "windows" {
		return filepath.Join(home, "AppData", "Roaming", "gate"), filepath.Join(home, "AppData", "Local", "gate")
	}
	return filepath.Join(home, ".config", "gate"), filepath.Join(home, ".local", "state", "gate")
}

// Programs is where copies of gate's programs lie that entries name, of the account with
// this home directory: no variable moves it, for the agent could have set one.
func Programs(home string) string {
	if runtime.GOOS == "windows" {
		return filepath.Join(home, "AppData", "Local", "gate", "programs")
	}
	return filepath.Join(home, ".local", "share", "gate", "programs")
}

// Home is what "~" means to the programs that the person or the agent runs, ""
// if that is not known.
func Home(lookupEnv func(string) (string, bool)) string { return HomeOf(lookupEnv, Self) }

// HomeOf is [Home] for an account that the caller knows how to find.
func HomeOf(lookupEnv func(string) (string, bool), self func() (Account, error)) string {
	key := "HOME"
	if runtime.GOOS == "windows" {
		key = "USERPROFILE"
	}
	if dir, _ := lookupEnv(key); filepath.IsAbs(dir) {
		return dir
	}
	who, err := self()
	if err != nil || !filepath.IsAbs(who.Home) {
		return ""
	}
	return who.Home
}

// ProjectDir lies in a project and holds its policies.
const ProjectDir = ".gate"

// ProjectRoot returns the directory that a project's own policies belong to:
// where the agent says that it was started, else dir or the first directory
// above it that holds .gate or .git, else dir. It returns "" when neither can
// be a directory. A project only tightens, so believing this is safe.
func ProjectRoot(started, dir string) string {
	if isDir(started) {
		return filepath.Clean(started)
	}
	if !filepath.IsAbs(dir) {
		return ""
	}
	dir = filepath.Clean(dir)
	for at := dir; ; at = filepath.Dir(at) {
		for _, mark := range []string{ProjectDir, ".git"} {
			if hostfs.Exists(filepath.Join(at, mark)) {
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
