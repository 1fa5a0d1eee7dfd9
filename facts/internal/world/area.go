package world

import (
	"path"
	"slices"
	"strings"
)

// Areas in the order of severity.
var areas = []string{"temp", "cache", "project", "outside", "project_root", "user", "git", "home", "system", "device", "unknown", "root"}

// Graver is the severer of two areas: of a path as written and as resolved, it
// counts.
func Graver(a, b string) string {
	if slices.Index(areas, b) > slices.Index(areas, a) {
		return b
	}
	return a
}

// systemDirs are directories at the root that belong to the machine or to
// other people.
var systemDirs = []string{
	"etc", "usr", "bin", "sbin", "lib", "lib32", "lib64", "libx32", "boot", "var", "opt", "root", "sys", "proc", "run", "srv",
	"mnt", "media", "snap", "home", "Users", "System", "Library", "Applications", "Volumes", "private", "nix", "cores", "lost+found", "dev",
}

// cacheDirs are directories below the home directory that tools fill again.
var cacheDirs = []string{
	".cache", ".npm", ".yarn/cache", ".pnpm-store", ".gradle/caches", ".m2/repository", ".cargo/registry", "go/pkg",
	".nuget/packages", ".bun/install/cache", "Library/Caches", "Library/Developer/Xcode/DerivedData", ".ccache", ".pub-cache",
	".local/share/pnpm/store", ".cargo/git", ".local/share/Trash",
}

// Area says where a cleaned absolute path lies, or what is below it: temp, cache,
// project, outside, project_root, user, git, home, system, device, unknown or root,
// in the order of severity.
func (w World) Area(p string) string {
	home, project := w.Home, w.Project
	switch {
	case p == "":
		return "unknown" // a relative path, and nobody says from where
	case p == "/", len(p) == 3 && p[2] == ':':
		return "root"
	case strings.HasPrefix(p, "/dev/"):
		return deviceArea(p)
	case home != "" && (p == home || Below(home, p)):
		if p != "/" && p == project && p != home {
			return "project_root"
		}
		return "home"
	}
	if project != "" && project != home && !Below(home, project) && project != "/" && !w.shallow(project) {
		switch {
		case p == project:
			return "project_root"
		case Below(p, project+"/.git"):
			return "git"
		case Below(p, project):
			return "project"
		case Below(project, p) && !Below(p, "/tmp") && Below(p, home):
			return "user"
		}
	}
	if w.isTemp(p) && !(Below(p, home) && w.isTemp(path.Dir(home))) { // a home there is a home all the same
		return "temp"
	}
	if Below(p, home) {
		rel := strings.TrimPrefix(p, home+"/")
		if strings.HasPrefix(rel, "tmp/") {
			return "temp"
		}
		for _, c := range cacheDirs {
			if Below(rel, c) {
				return "cache"
			}
		}
		return "user"
	}
	first, rest, _ := strings.Cut(p[1:], "/")
	if strings.HasSuffix(first, ":") {
		return driveArea(first, rest)
	}
	if slices.Contains(systemDirs, first) || w.OS == "darwin" && containsFold(systemDirs, first) {
		return "system"
	}
	return "outside"
}

// InProject reports a path of the project. Where the project is a home, or holds all
// homes, it is a person's own place: a file directly below it or below a directory with
// a dot is in no project then, nor is any of the system.
func (w World) InProject(p string) bool {
	if !Below(p, w.Project) && p != w.Project {
		return false
	}
	top := w.Project
	switch {
	case w.Home == "" || !Below(w.Home, top) && w.Home != top:
		if top != "/" {
			return true
		}
	case Below(p, w.Home):
		top = w.Home
	default:
		return false
	}
	rel := strings.Trim(strings.TrimPrefix(p, top), "/")
	return strings.Contains(rel, "/") && rel[0] != '.' && !strings.Contains(rel, "/.") && w.Area(p) != "system"
}

// driveArea says where a path on a drive of Windows, or of PowerShell, lies.
func driveArea(drive, rest string) string {
	top, below, _ := strings.Cut(rest, "/")
	switch {
	case drive == "env:", drive == "variable:", drive == "function:", drive == "alias:":
		return "temp" // of one shell
	case drive == "hkcu:" && strings.Contains(rest, "/"):
		return "user"
	case len(drive) > 2 && drive != "unc:":
		return "system"
	case rest == "":
		return "root"
	case drive != "c:":
		return "outside"
	case (top == "temp" || top == "tmp") && below != "":
		return "temp"
	case top == "users" && below != "" && !strings.Contains(below, "/"):
		return "home"
	case top == "users" && below != "":
		return "user"
	case strings.Contains(" windows users programdata recovery boot perflogs efi bootmgr $recycle.bin pagefile.sys ", " "+top+" "), strings.HasPrefix(top, "program files"), top == "system volume information":
		return "system"
	}
	return "outside"
}

// shallow reports a project that is a system directory itself: there nothing
// is "inside the project" in any reassuring sense.
func (w World) shallow(project string) bool {
	return strings.Count(project, "/") == 1 && slices.Contains(systemDirs, project[1:])
}

func containsFold(list []string, s string) bool {
	return slices.ContainsFunc(list, func(e string) bool { return strings.EqualFold(e, s) })
}

// isTemp reports a path inside, not equal to, a temporary directory.
func (w World) isTemp(p string) bool {
	dirs := []string{"/tmp", "/var/tmp", "/private/tmp", "/private/var/tmp", "/var/folders", "/private/var/folders", "/dev/shm", "/c:/windows/temp"}
	if w.Home != "" {
		dirs = append(dirs, w.Home+"/appdata/local/temp", w.Home+"/AppData/Local/Temp")
	}
	if t, ok := w.Env("TMPDIR"); ok && strings.Count(t, "/") > 1 && !Below(w.Home, t) {
		dirs = append(dirs, strings.TrimRight(t, "/"))
	}
	return slices.ContainsFunc(dirs, func(d string) bool { return Below(p, d) })
}

// deviceArea tells disks from the devices that scripts write to all day.
func deviceArea(p string) string {
	name := strings.TrimPrefix(p, "/dev/")
	first, _, _ := strings.Cut(name, "/")
	switch first {
	case "null", "zero", "full", "stdin", "stdout", "stderr", "tty", "fd", "random", "urandom", "ptmx", "pts", "tcp", "udp":
		return "temp"
	case "shm":
		return "temp"
	}
	return "device"
}

// HarmlessDevice reports a device that scripts write to all day, and what hangs
// on a serial line.
func HarmlessDevice(p string) bool {
	return strings.HasPrefix(p, "/dev/tty") || strings.HasPrefix(p, "/dev/") && deviceArea(p) == "temp" && !strings.HasPrefix(p, "/dev/shm/")
}

// Endless reports a device that one can read from for ever.
func Endless(p string) bool {
	return p == "/dev/zero" || p == "/dev/urandom" || p == "/dev/random" || p == "/dev/full"
}

// ProcSelf undoes /proc/self/cwd, /proc/self/root and /proc/self/fd in a path: they are
// those of the shell that runs the line, not of this process.
func (w World) ProcSelf(p string) string {
	for _, prefix := range []string{"/proc/self/", "/proc/$$/", "/proc/thread-self/"} {
		rest, ok := strings.CutPrefix(p, prefix)
		if !ok {
			continue
		}
		if r, ok := strings.CutPrefix(rest, "cwd"); ok && w.Dir != "" {
			return path.Clean(w.Dir + r)
		}
		if fd, ok := strings.CutPrefix(rest, "fd/"); ok && !strings.Contains(fd, "/") { // below a directory that is open: anywhere
			return "/dev/fd/" + fd
		}
		if r, ok := strings.CutPrefix(rest, "root"); ok {
			return path.Clean("/" + r)
		}
	}
	return p
}

// Landmarks are paths that a wildcard may hit without naming them.
func (w World) Landmarks() []string {
	out := make([]string, 0, len(systemDirs)+3)
	for _, d := range systemDirs {
		out = append(out, "/"+d)
	}
	if w.Home != "" {
		out = append(out, w.Home, Parent(w.Home))
	}
	if w.Project != "" {
		out = append(out, w.Project, w.Project+"/.git")
	}
	return out
}

// Terminal reports a terminal of somebody's: a console, or one that a program made.
// /dev/tty, the terminal of the line itself, and serial lines are none.
func Terminal(p string) bool {
	for _, prefix := range []string{"/dev/pts/", "/dev/tty"} {
		if n, ok := strings.CutPrefix(p, prefix); ok && n != "" && n != "ptmx" && strings.Trim(n, "0123456789*?[]-") == "" {
			return true
		}
	}
	return false
}
