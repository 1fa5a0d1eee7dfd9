package facts

import "strings"

// Areas in the order of severity: of a path as written and as resolved, the
// graver one counts.
var areas = []string{"temp", "cache", "project", "outside", "project_root", "user", "git", "home", "system", "device", "unknown", "root"}

func graver(a, b string) string {
	if index(areas, b) > index(areas, a) {
		return b
	}
	return a
}

func index(list []string, s string) int {
	for i, e := range list {
		if e == s {
			return i
		}
	}
	return -1
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

// area says where a cleaned absolute path lies. contents means everything
// below it rather than the path itself, which makes no difference to the area.
func (w World) area(p string) string {
	home, project := w.Home, w.Project
	switch {
	case p == "":
		return "unknown" // a relative path, and nobody says from where
	case p == "/":
		return "root"
	case strings.HasPrefix(p, "/dev/"):
		return deviceArea(p)
	case home != "" && (p == home || below(home, p)):
		if p != "/" && p == project && p != home {
			return "project_root"
		}
		return "home"
	}
	if project != "" && project != home && !below(home, project) && project != "/" && !w.shallow(project) {
		switch {
		case p == project:
			return "project_root"
		case below(p, project+"/.git"):
			return "git"
		case below(p, project):
			return "project"
		case below(project, p) && !below(p, "/tmp") && below(p, home):
			return "user"
		}
	}
	if w.isTemp(p) {
		return "temp"
	}
	if below(p, home) {
		rel := strings.TrimPrefix(p, home+"/")
		for _, c := range cacheDirs {
			if below(rel, c) {
				return "cache"
			}
		}
		return "user"
	}
	first, _, _ := strings.Cut(p[1:], "/")
	if contains(systemDirs, first) || w.OS == "darwin" && containsFold(systemDirs, first) {
		return "system"
	}
	if len(p) > 2 && p[1] != '/' && strings.EqualFold(first, "c:") {
		return "system"
	}
	return "outside"
}

// shallow reports a project that is a system directory itself: there nothing
// is "inside the project" in any reassuring sense.
func (w World) shallow(project string) bool {
	return strings.Count(project, "/") == 1 && contains(systemDirs, project[1:])
}

func containsFold(list []string, s string) bool {
	for _, e := range list {
		if strings.EqualFold(e, s) {
			return true
		}
	}
	return false
}

// isTemp reports a path inside, not equal to, a temporary directory.
func (w World) isTemp(p string) bool {
	dirs := []string{"/tmp", "/var/tmp", "/private/tmp", "/private/var/tmp", "/var/folders", "/private/var/folders", "/dev/shm"}
	if t, ok := w.getenv("TMPDIR"); ok && strings.Count(t, "/") > 1 && !below(w.Home, t) {
		dirs = append(dirs, strings.TrimRight(t, "/"))
	}
	for _, d := range dirs {
		if below(p, d) {
			return true
		}
	}
	return false
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
