package program

import (
	"path"
	"strings"

	"gate/facts/internal/flow"
	"gate/hook"
	"gate/internal/catalogue"
	"gate/internal/wordlist"
)

// row finds the row of a program by the name it is called by. A name that the
// catalogue lacks may be one that it has, with a version, a platform or capitals:
// kubectl1.29, terraform_1.5.7_linux_amd64, LaZagne.
func (p *Programs) row(called string) (*catalogue.Row, bool) {
	base := strings.TrimSuffix(path.Base(called), ".exe")
	if row, ok := p.rows.Lookup(base); ok {
		return row, true
	}
	name, counted := withoutVersion(base)
	if name == base || len(name) < 2 {
		return nil, false
	}
	if dir := path.Dir(called); counted && dir != "." && path.Base(dir) != "bin" || counted && strings.HasPrefix(called, "./") {
		return nil, false // ./test2 is somebody's own
	}
	return p.rows.Lookup(name)
}

// withoutVersion returns a program's name without version and platform, in small
// letters. It reports a version that is only digits behind the name: bash5.
func withoutVersion(base string) (name string, counted bool) {
	name = strings.ToLower(base)
	for {
		at := strings.LastIndexAny(name, "-_.")
		if at < 1 || !wordlist.Has(" linux darwin macos osx windows win amd64 arm64 x64 x86 64 i386 386 aarch64 musl gnu static stable bin ", name[at+1:]) {
			break
		}
		name = name[:at]
	}
	end := len(name)
	if at := end - 1; at > 1 && 'a' <= name[at] && name[at] <= 'z' && isDigit(name[at-1]) && strings.Contains(name, ".") {
		end-- // python3.13t
	}
	from := end
	for from > 0 && (isDigit(name[from-1]) || name[from-1] == '.' && from < end) {
		from--
	}
	if from == end {
		return name, false
	}
	version := name[from:end]
	name = name[:from]
	if v := strings.TrimSuffix(name, "v"); v != name && strings.TrimRight(v, "-_@") != v {
		name = v
	}
	plain := strings.TrimRight(name, "-_@.")
	return plain, plain == name && !strings.Contains(version, ".")
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// attacks judges a file that is named as a tool of attack is, whatever runs it:
// python3 lazagne.py all.
func (u *use) attacks(file string, args []flow.Word) {
	name, _, _ := strings.Cut(path.Base(file), ".")
	if row, ok := u.programs.row(name); ok && row.Special == "attack" {
		u.inside(func() {
			u.command(u.another(append([]flow.Word{flow.Literal(row.Name)}, args...)))
		})
	}
	u.mines(args)
}

// mines judges the addresses of mining pools, which name what a program does, whatever
// it is called.
func (u *use) mines(args []flow.Word) {
	for _, w := range args {
		if _, pool, ok := strings.Cut(w.Text(), "stratum"); ok && strings.Contains(pool, "://") {
			u.effect(&hook.Process{Verb: "mine", Target: new("coins")})
			return
		}
	}
}
