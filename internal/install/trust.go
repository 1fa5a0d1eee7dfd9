package install

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
)

// suspect says why somebody else than the person, or the administrator where
// admin is set, could change a file; "" if nobody can.
func (m Machine) suspect(info fs.FileInfo, admin bool) string {
	uid, gid, ok := owner(info)
	if !ok {
		return ""
	}
	group := gid == 0 || m.OS == "darwin" && gid == 80 // wheel, admin
	perm := info.Mode().Perm()
	sticky := info.IsDir() && info.Mode()&fs.ModeSticky != 0
	switch {
	case !m.trusts(uid, admin):
		return fmt.Sprintf("it belongs to user %d", uid)
	case perm&0o002 != 0 && !sticky:
		return fmt.Sprintf("everybody may write it (mode %#o)", perm)
	case perm&0o020 != 0 && !sticky && !group:
		return fmt.Sprintf("its group may write it (mode %#o)", perm)
	}
	return ""
}

// trusts reports whether files may belong to an account.
func (m Machine) trusts(uid int, admin bool) bool {
	return uid == 0 || !admin && uid == m.UID || admin && m.Root != "" && uid == m.UID
}

// tighten is the command that makes a suspect file one that nobody else could
// change. info is the file's, nil where it is not known.
func (m Machine) tighten(path string, info fs.FileInfo, admin bool) string {
	mode := "chmod go-w " + shellQuote(path)
	if info == nil {
		return mode + ", and make sure that it belongs to the right account"
	}
	uid, _, ok := owner(info)
	switch {
	case !ok || m.trusts(uid, admin):
		return mode
	case admin:
		return "look at its content, then: chown root " + shellQuote(path) + " && " + mode
	}
	return fmt.Sprintf("look at its content, then: chown %d %s && %s", m.UID, shellQuote(path), mode)
}

// weakPlace says why somebody else could put another file in path's place: who
// may write it, or one of the directories above it, or above a link that leads to it.
// at is where.
func (m Machine) weakPlace(path string, admin bool) (at string, info fs.FileInfo, why string) {
	real, dirs, err := m.follow(path)
	if err != nil {
		return path, nil, err.Error()
	}
	for _, way := range append(dirs, real) {
		if at, info, why = m.weakWay(way, admin); why != "" {
			return at, info, why
		}
	}
	return "", nil, ""
}

// weakWay looks at a real path and the directories above it.
func (m Machine) weakWay(real string, admin bool) (at string, info fs.FileInfo, why string) {
	for at = real; ; at = filepath.Dir(at) {
		info, err := m.system().Lstat(at)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return at, nil, err.Error()
		default:
			if why := m.suspect(info, admin); why != "" {
				return at, info, why
			}
		}
		if at == filepath.Dir(at) || m.Root != "" && !inside(filepath.Dir(at), m.Root) {
			return "", nil, ""
		}
	}
}

// place is the finding about a file or directory that others can replace, nil
// if there is nothing to say.
func (m Machine) place(id, what, path string, admin bool) *Finding {
	if real, err := m.real(path); err == nil && m.Project != "" {
		project, err := m.real(m.Project)
		if home, herr := m.real(m.Home); err == nil && herr == nil && inside(real, project) && !inside(home, project) {
			return &Finding{
				ID: id, Severity: Error, File: path, Message: what + " lies inside the project, where the agent writes",
				Remedy: "move it out of " + m.Project + " and install again",
			}
		}
	}
	at, info, why := m.weakPlace(path, admin)
	if why == "" {
		return nil
	}
	f := &Finding{
		ID: id, Severity: Error, File: at, Message: fmt.Sprintf("%s can be changed by others: %s", what, why),
		Remedy: m.tighten(at, info, admin),
	}
	m.fixMode(f, at, info)
	return f
}

// fixMode makes a finding about a mode fixable where the mode is all that is
// wrong and the file is the person's own.
func (m Machine) fixMode(f *Finding, path string, info fs.FileInfo) {
	if info == nil || info.Mode()&fs.ModeSymlink != 0 {
		return
	}
	uid, _, ok := owner(info)
	if perm := info.Mode().Perm(); ok && uid == m.UID && perm&0o022 != 0 {
		f.mode = &Change{Action: Chmod, Path: path, Mode: perm &^ 0o022, old: info}
		f.Fixable = true
	}
}

// shellQuote writes a path so that it can be pasted into a POSIX shell.
func shellQuote(path string) string {
	for _, r := range path {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', r == '/', r == '.', r == '-', r == '_', r == '+', r == ',', r == '@':
		default:
			return "'" + replaceQuotes(path) + "'"
		}
	}
	return path
}

func replaceQuotes(s string) string {
	out := ""
	for _, r := range s {
		if r == '\'' {
			out += `'\''`
			continue
		}
		out += string(r)
	}
	return out
}

// checkManaged refuses a place that others than the administrator write to.
func (m Machine) checkManaged(path string) error {
	for at := path; inside(at, m.systemDir(path)); at = filepath.Dir(at) {
		info, err := m.system().Lstat(at)
		if err != nil {
			continue // to be made
		}
		if why := m.suspect(info, true); why != "" {
			return fmt.Errorf("%s: %s; managed settings must be the administrator's alone", at, why)
		}
	}
	return nil
}
