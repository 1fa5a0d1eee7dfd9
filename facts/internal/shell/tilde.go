package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"gate/facts/internal/flow"
	"gate/facts/internal/world"
)

// tildes resolves the tildes of a text: at the start of a word, after the
// name of an assignment, after the colons of one.
func (x *expander) tildes(text string, first, last bool) string {
	if first {
		if name, value, ok := strings.Cut(text, "="); ok && x.names && strings.HasPrefix(value, "~") && syntax.ValidName(name) {
			x.literal(name+"=", false)
			text = x.tilde(value, last)
		} else {
			text = x.tilde(text, last)
		}
	}
	for x.colons {
		i := strings.Index(text, ":~")
		if i < 0 {
			break
		}
		x.literal(text[:i+1], false)
		text = x.tilde(text[i+1:], last)
		if strings.HasPrefix(text, "~") {
			x.literal("~", false)
			text = text[1:]
		}
	}
	return text
}

// tilde resolves a leading ~ and adds the directory; it returns the rest.
func (x *expander) tilde(text string, last bool) string {
	if !strings.HasPrefix(text, "~") {
		return text
	}
	user, rest := text[1:], ""
	if i := strings.IndexAny(text, "/:"); i >= 0 && (text[i] == '/' || x.colons) {
		user, rest = text[1:i], text[i:]
	} else if !last {
		return text // ~"user" and ~$user mean themselves
	}
	switch dir := x.home(x.state, user); {
	case dir != "":
		x.add(flow.Part{Text: dir, Quoted: true})
	case strings.ContainsAny(user, `\'"`):
		return text
	default:
		x.add(flow.Part{Hole: &flow.Hole{Why: "the home of another user"}})
	}
	return rest
}

// home returns what ~user stands for, "" when that is not known.
func (w *Shell) home(s *state, user string) string {
	if dir := s.directory(user); dir != "" {
		return dir
	}
	switch {
	case user == "":
		if v, ok := s.lookup("HOME"); ok {
			if text := v.first().Value(); text != nil {
				return *text
			}
			return ""
		}
		return w.World.Home
	case user == "+" && len(s.Dirs) == 1:
		return s.Dirs[0]
	case user == "-" && len(s.old) == 1:
		return s.old[0]
	case user == w.World.User && user != "":
		return w.World.Home
	case user == "root":
		return "/root"
	case user == "+" || user == "-" || !plainName(user):
		return ""
	}
	return world.Parent(w.World.Home) + "/" + user
}

// directory is what zsh takes ~name for: a name that hash -d gave to a directory, or a
// variable with an absolute path.
func (s *state) directory(name string) string {
	f, ok := s.named("nameddirs", name)
	if !ok {
		v, _ := s.lookup(name)
		f = v.value
	}
	if text := f.Text(); f.Literal() && strings.HasPrefix(text, "/") {
		return text
	}
	return ""
}

func plainName(s string) bool {
	for _, r := range s {
		if (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '_' && r != '-' && r != '.' {
			return false
		}
	}
	return s != ""
}
