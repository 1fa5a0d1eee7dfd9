package draft

import (
	"strings"

	"gate/facts/internal/flow"
)

// WindowsPath is a path of Windows as gate has it: with slashes, and with its drive
// as the first name, in lower case, since Windows knows no case: C:\Users\dev is
// /c:/users/dev. So are the drives of PowerShell's other providers: HKCU:\Software,
// which the registry's own programs write HKCU\Software, and Env:. It reports false
// for a path that names no drive, of which only the slashes are changed.
func WindowsPath(p string) (string, bool) {
	p = strings.ReplaceAll(p, `\`, "/")
	for _, prefix := range []string{"//?/unc/", "//?/", "//./", "filesystem::", "registry::", "microsoft.powershell.core/filesystem::", "microsoft.powershell.core/registry::"} {
		if len(p) >= len(prefix) && strings.EqualFold(p[:len(prefix)], prefix) {
			if p = p[len(prefix):]; strings.HasSuffix(prefix, "unc/") {
				p = "//" + p
			}
		}
	}
	if strings.HasPrefix(p, "//") && len(p) > 2 && p[2] != '/' { // of another machine
		return "/unc:/" + strings.ToLower(p[2:]), true
	}
	if strings.HasPrefix(strings.ToLower(p), "physicaldrive") {
		return "/dev/" + strings.ToLower(p), true
	}
	drive, rest, found := strings.Cut(p, ":")
	switch drive = strings.ToLower(drive); {
	case found && len(drive) == 1 && 'a' <= drive[0] && drive[0] <= 'z', found && strings.Contains(providers, " "+drive+" "):
		return "/" + drive + ":/" + strings.ToLower(strings.TrimLeft(rest, "/")), true
	}
	hive, rest, _ := strings.Cut(p, "/")
	if short, ok := hives(strings.ToLower(hive)); ok {
		return "/" + short + ":/" + strings.ToLower(rest), true
	}
	return p, false
}

// providers are PowerShell's drives that are no disks.
const providers = " hkcu hklm hkcr hku hkcc env variable function alias cert wsman "

// hives are the roots of the registry.
func hives(name string) (string, bool) {
	name = strings.TrimSuffix(name, ":")
	switch name {
	case "hkey_current_user", "hkcu":
		return "hkcu", true
	case "hkey_local_machine", "hklm":
		return "hklm", true
	case "hkey_classes_root", "hkcr":
		return "hkcr", true
	case "hkey_users", "hku":
		return "hku", true
	}
	return "", false
}

// windows is a word as a path of gate's.
func windows(f flow.Word) flow.Word {
	out := flow.Word{Span: f.Span}
	for i, p := range f.Parts {
		if p.Hole == nil {
			if i == 0 {
				p.Text, _ = WindowsPath(p.Text)
			} else {
				p.Text = strings.ReplaceAll(p.Text, `\`, "/")
				if strings.HasPrefix(out.Parts[0].Text, "/") && strings.Contains(out.Parts[0].Text, ":/") {
					p.Text = strings.ToLower(p.Text)
				}
			}
		} else if len(p.Hole.Alts) > 0 || len(p.Hole.Guess) > 0 {
			h := *p.Hole
			h.Alts, h.Guess = nil, nil
			for _, a := range p.Hole.Alts {
				a, _ = WindowsPath(a)
				h.Alts = append(h.Alts, a)
			}
			for _, a := range p.Hole.Guess {
				a, _ = WindowsPath(a)
				h.Guess = append(h.Guess, a)
			}
			p.Hole = &h
		}
		out.Parts = append(out.Parts, p)
	}
	return out
}
