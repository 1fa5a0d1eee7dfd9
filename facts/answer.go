package facts

import (
	"path"
	"strings"
)

// answer returns what programs print whose output people put into other
// commands: a directory, a part of a path, the names of files. Without it
// every rm "$tmp" after a mktemp would be a puzzle.
func (u *use) answer(out stream) stream {
	switch u.viaName() {
	case "pwd":
		if len(u.s.dirs) == 1 {
			return printed(out, u.s.dirs[0])
		}
	case "dirname", "basename", "realpath", "readlink", "grealpath", "greadlink":
		return u.pathAnswer(out)
	case "command":
		if words := u.given(); len(words) == 2 && words[0].text() == "-v" && words[1].value() != nil {
			return printed(out, "/usr/bin/"+*words[1].value())
		}
	case "which", "type", "whereis":
		if len(u.rest) == 1 && u.rest[0].value() != nil {
			return printed(out, "/usr/bin/"+*u.rest[0].value())
		}
	case "mktemp", "gmktemp":
		out.under = []field{u.tempDir()}
	case "git rev-parse":
		if u.has("show-toplevel") && u.world.Project != "" {
			return printed(out, u.world.Project)
		}
	case "git ls-files", "git diff", "git status", "git show", "git grep", "git diff-tree":
		out.under = []field{literalField(".")}
	case "find", "gfind", "fd", "fdfind", "ls", "gls", "rg", "grep", "egrep", "fgrep", "ag", "tree":
		out.under = u.listed()
		out.files = u.foundFiles(out.under)
	case "ssh-agent", "direnv hook", "direnv export", "rbenv init", "pyenv init", "nodenv init", "jenv init", "goenv init", "brew shellenv",
		"starship init", "zoxide init", "fnm env", "mise activate", "mise env", "rtx activate", "conda shell.bash", "opam env", "dircolors",
		"lesspipe", "thefuck", "atuin init", "fzf", "volta setup", "luarocks path", "minikube docker-env", "docker-machine env", "register-python-argcomplete":
		// Meant for eval: what they print sets variables of the shell.
		return printed(out, ":")
	case "whoami", "id", "logname":
		if u.world.User != "" && len(u.rest) == 0 && !u.has("u") {
			return printed(out, u.world.User)
		}
	}
	return out
}

func printed(out stream, text string) stream {
	text += "\n"
	out.text = &text
	return out
}

// pathAnswer is a part of the path that the first operand names.
func (u *use) pathAnswer(out stream) stream {
	if len(u.rest) == 0 {
		return out
	}
	v := u.rest[0].value()
	if v == nil || *v == "" {
		return out
	}
	switch {
	case u.name == "dirname":
		return printed(out, path.Dir(*v))
	case u.name == "basename":
		base := path.Base(*v)
		if len(u.rest) > 1 {
			base = strings.TrimSuffix(base, u.rest[1].text())
		}
		return printed(out, base)
	}
	if ts := u.absolute(u.s, u.rest[0]); len(ts) == 1 && ts[0].path != "" && !ts[0].glob {
		if ts[0].resolved != "" {
			return printed(out, ts[0].resolved)
		}
		return printed(out, ts[0].path)
	}
	return out
}

// tempDir is where mktemp makes its file.
func (u *use) tempDir() field {
	for _, name := range []string{"p", "tmpdir"} {
		if f, ok := u.opt(name); ok && !f.empty() {
			return f
		}
	}
	if len(u.rest) > 0 && strings.Contains(u.rest[0].prefix(), "/") {
		t := u.rest[0].prefix()
		return literalField(t[:strings.LastIndexByte(t, '/')+1])
	}
	if len(u.rest) > 0 && !u.has("t") {
		return literalField(".")
	}
	if t, ok := u.world.getenv("TMPDIR"); ok && t != "" {
		return literalField(t)
	}
	return literalField("/tmp")
}

// listed are the directories whose files a search or listing names.
func (u *use) listed() []field {
	words := u.given()
	switch u.name {
	case "find", "gfind":
		var out []field
		for _, w := range words {
			t := w.text()
			if strings.HasPrefix(t, "-") || t == "(" || t == "!" {
				if len(out) > 0 || t != "-L" && t != "-H" && t != "-P" {
					break
				}
				continue
			}
			out = append(out, w)
		}
		if len(out) > 0 {
			return out
		}
	case "ls", "gls": // names are relative to where the shell is, whatever was listed
	default:
		if len(u.rest) > 1 {
			return u.rest[1:]
		}
	}
	return []field{literalField(".")}
}

// foundFiles are the files that find -name lists, by the pattern of their names.
func (u *use) foundFiles(starts []field) []field {
	if u.name == "ls" || u.name == "gls" {
		return u.listedFiles()
	}
	if u.name != "find" && u.name != "gfind" {
		return nil
	}
	words := u.given()
	for i, w := range words {
		if t := w.text(); (t == "-name" || t == "-iname") && i+1 < len(words) && !broad(words[i+1].text()) {
			var out []field
			for _, s := range starts {
				out = append(out, found(s, words[i+1].text()))
			}
			return out
		}
	}
	return nil
}

// listedFiles are the files that ls names: everything here, or what its
// operands say where it does not look into them.
func (u *use) listedFiles() []field {
	if len(u.rest) == 0 {
		return []field{found(literalField("."), "*")}
	}
	if u.has("directory") {
		return u.rest
	}
	return nil
}

// names are the fields that words from a stream of file names stand for.
func (st stream) names() []field {
	if len(st.files) > 0 {
		return st.files
	}
	var out []field
	for _, dir := range st.under {
		f := field{parts: append([]part(nil), dir.parts...)}
		if !strings.HasSuffix(dir.text(), "/") {
			f.parts = append(f.parts, part{text: "/", quoted: true})
		}
		f.parts = append(f.parts, part{hole: &hole{why: "a file that was listed", taint: st.taint}})
		out = append(out, f)
	}
	return out
}
