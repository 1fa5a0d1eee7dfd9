package program

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"gate/facts/internal/draft"
	"gate/facts/internal/flow"
	"gate/facts/internal/world"
)

// answer returns what programs print whose output people put into other
// commands: a directory, a part of a path, the names of files. Without it
// every rm "$tmp" after a mktemp would be a puzzle.
func (u *use) answer(out flow.Stream) flow.Stream {
	if name := u.Words[0].Text(); strings.Contains(name, "/") && world.Below(path.Join(u.World.Dir, name), u.World.Project) && name[0] != '/' {
		return out // a program of the project that has the name
	}
	switch u.viaName() {
	case "pwd":
		if len(u.at().Dirs) == 1 {
			return printed(out, u.at().Dirs[0])
		}
	case "dirname", "basename", "realpath", "readlink", "grealpath", "greadlink":
		return u.pathAnswer(out)
	case "command":
		if words := u.Given(); len(words) == 2 && words[0].Text() == "-v" && words[1].Value() != nil {
			return printed(out, "/usr/bin/"+*words[1].Value())
		}
	case "which", "type", "whereis":
		if len(u.rest) == 1 && u.rest[0].Value() != nil {
			return printed(out, "/usr/bin/"+*u.rest[0].Value())
		}
	case "mktemp", "gmktemp":
		return u.madeTemp(out)
	case "git rev-parse":
		if u.has("show-toplevel") && u.inProject() {
			return printed(out, u.World.Project)
		}
	case "git ls-files":
		out.Under = []flow.Word{flow.Literal(".")}
		if len(u.opts) == 0 && len(u.rest) == 0 || len(u.opts) == 1 && u.has("z") {
			out.Whole = out.Under
		}
	case "git diff", "git status", "git show", "git grep", "git diff-tree":
		out.Under = []flow.Word{flow.Literal(".")}
	case "find", "gfind":
		s := u.search()
		out.Under = s.starts
		if out.Files = s.printed(); out.Files == nil {
			out.Whole = s.starts
		}
	case "get-childitem", "dir":
		out.Files = u.children()
	case "ls", "gls":
		out.Under, out.Files = []flow.Word{flow.Literal(".")}, u.listedFiles() // its names are relative to where the shell is, whatever it lists
	case "fd", "fdfind", "rg", "grep", "egrep", "fgrep", "ag", "tree":
		if u.row.Output == "filter" && u.Stdin.Some && len(u.reads) == 0 {
			return out // it picks from the names that come in
		}
		out.Under = []flow.Word{flow.Literal(".")}
		if len(u.rest) > 1 {
			out.Under = u.rest[1:]
		}
	case "ssh-agent", "direnv hook", "direnv export", "rbenv init", "pyenv init", "nodenv init", "jenv init", "goenv init", "brew shellenv",
		"starship init", "zoxide init", "fnm env", "mise activate", "mise env", "rtx activate", "conda shell.bash", "opam env", "dircolors",
		"lesspipe", "thefuck", "atuin init", "volta setup", "luarocks path", "minikube docker-env", "docker-machine env", "register-python-argcomplete":
		// Meant for eval: what they print sets variables of the shell.
		return printed(out, ":")
	case "fzf":
		if u.has("bash") || u.has("zsh") || u.has("fish") { // else it prints what is chosen
			return printed(out, ":")
		}
	case "whoami", "id", "logname":
		if u.World.User != "" && len(u.rest) == 0 && !u.has("u") {
			return printed(out, u.World.User)
		}
	}
	return out
}

// inProject reports that git works on the project and on nothing else.
func (u *use) inProject() bool {
	if u.has("C") || u.has("git-dir") || u.has("work-tree") || len(u.at().Dirs) != 1 {
		return false
	}
	for _, name := range []string{"GIT_DIR", "GIT_WORK_TREE"} {
		if _, set := u.shell.Variable(name); set || slices.ContainsFunc(u.Env, func(e draft.Setting) bool { return e.Name == name }) {
			return false
		}
	}
	project := u.World.Project
	return project != "" && (u.at().Dirs[0] == project || strings.HasPrefix(u.at().Dirs[0], project+"/"))
}

func printed(out flow.Stream, text string) flow.Stream {
	text += "\n"
	out.Text = &text
	return out
}

// pathAnswer is a part of the path that the first operand names.
func (u *use) pathAnswer(out flow.Stream) flow.Stream {
	if len(u.rest) == 0 {
		return out
	}
	v := u.rest[0].Value()
	if v == nil || *v == "" {
		return out
	}
	switch {
	case u.name == "dirname":
		return printed(out, path.Dir(*v))
	case u.name == "basename":
		base := path.Base(*v)
		if len(u.rest) > 1 {
			base = strings.TrimSuffix(base, u.rest[1].Text())
		}
		return printed(out, base)
	}
	if u.has("relative-to") || u.has("relative-base") {
		return out
	}
	if ts := u.targets(u.rest[0]); len(ts) == 1 && ts[0].Path != "" && !ts[0].Glob {
		if ts[0].Resolved != "" {
			return printed(out, ts[0].Resolved)
		}
		return printed(out, ts[0].Path)
	}
	return out
}

// madeTemp is the name that mktemp prints. Which one nobody knows before, and
// so one that nobody has stands for it: what the line does with it is told.
func (u *use) madeTemp(out flow.Stream) flow.Stream {
	dir, named := u.tempDir(), "tmp.XXXX"
	if len(u.rest) > 0 {
		named = path.Base(flow.Text(u.rest[0].Value()))
	}
	suffix, _ := u.opt("suffix")
	if dir.Value() == nil || named == "." || suffix.Value() == nil {
		out.Under = []flow.Word{dir}
		return out
	}
	u.Temps++
	end := strings.LastIndexByte(named, 'X') + 1
	if end == 0 {
		named, end = named+".", len(named)+1
	}
	before := strings.TrimRight(named[:end], "X")
	return printed(out, path.Join(*dir.Value(), before+"gate"+strconv.Itoa(u.Temps)+named[end:]+*suffix.Value()))
}

// tempDir is where mktemp makes its file.
func (u *use) tempDir() flow.Word {
	for _, name := range []string{"p", "tmpdir"} {
		if f, ok := u.opt(name); ok && !f.Empty() {
			return f
		}
	}
	if len(u.rest) > 0 && strings.Contains(u.rest[0].Prefix(), "/") {
		t := u.rest[0].Prefix()
		return flow.Literal(t[:strings.LastIndexByte(t, '/')+1])
	}
	if len(u.rest) > 0 && u.rest[0].Value() == nil {
		return u.rest[0]
	}
	if len(u.rest) > 0 && !u.has("t") {
		return flow.Literal(".")
	}
	for _, e := range u.Env {
		if e.Name == "TMPDIR" {
			return e.Value
		}
	}
	dir := u.shell.Value("TMPDIR")
	if v := dir.Value(); v != nil && *v != "" {
		return flow.Literal(*v)
	}
	return dir
}

// listedFiles are the files that ls names: everything here, or what its
// operands say where it does not look into them.
func (u *use) listedFiles() []flow.Word {
	if len(u.rest) == 0 {
		return []flow.Word{found(flow.Literal("."), "*")}
	}
	if u.has("directory") {
		return u.rest
	}
	return nil
}
