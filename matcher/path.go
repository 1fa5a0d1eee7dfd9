package matcher

import (
	"errors"
	"slices"
	"strings"

	"gate/hook"
	"gate/internal/paths"
)

// A pathRule is a path pattern with its anchor.
type pathRule struct {
	glob   paths.Pattern
	anchor anchor
}

type anchor uint8

const (
	anywhere anchor = iota // at any depth
	root                   // absolute
	home                   // below a home directory
	below                  // below the working directory
	either                 // absolute, or below the working directory
)

func parsePath(pattern string, access ...string) (func(*hook.Event) Truth, error) {
	rule, err := newPathRule(pattern)
	if err != nil {
		return nil, err
	}
	return func(ev *hook.Event) Truth {
		t := unlessOpaque(ev)
		if ev.Facts == nil {
			return t
		}
		dir := slashes(ev.Dir())
		for i := range ev.Facts.Paths {
			p := &ev.Facts.Paths[i]
			if !slices.Contains(access, p.Access) {
				continue
			}
			if t = max(t, rule.match(p, dir)); t == Yes {
				return Yes
			}
		}
		return t
	}, nil
}

func newPathRule(pattern string) (pathRule, error) {
	rule := pathRule{}
	text := pattern
	switch {
	case strings.HasPrefix(text, "//"):
		rule.anchor, text = root, text[1:]
	case strings.HasPrefix(text, "~/"):
		rule.anchor, text = home, text[2:]
	case strings.HasPrefix(text, "/"):
		rule.anchor = either
	case strings.HasPrefix(text, "./"):
		rule.anchor, text = below, text[2:]
	case strings.Contains(strings.TrimSuffix(text, "/"), "/") && !strings.HasPrefix(text, "**/"):
		rule.anchor = below
	}
	if slices.Contains(strings.Split(text, "/"), "..") {
		return rule, errors.New(`a path pattern with ".." never matches`)
	}
	if rest, ok := strings.CutSuffix(text, "/"); ok {
		text = rest + "/**" // a directory stands for what it holds
	}
	if text == "" {
		text = "**" // ~/ and ./ are directories too
	}
	var err error
	rule.glob, err = paths.New(text)
	return rule, err
}

// match looks at the path as the line says it and as links resolve it.
func (r pathRule) match(p *hook.Path, dir string) Truth {
	if p.Path == nil {
		return Unsure
	}
	for _, path := range []*string{p.Path, p.Resolved} {
		if path != nil && r.holds(slashes(*path), dir) {
			return Yes
		}
	}
	if p.Glob {
		return Unsure // what it stands for is known only when it runs
	}
	return No
}

func (r pathRule) holds(path, dir string) bool {
	inside, isBelow := strings.CutPrefix(path, strings.TrimSuffix(dir, "/")+"/")
	isBelow = isBelow && dir != ""
	switch r.anchor {
	case root:
		return r.glob.Matches(path)
	case home:
		rest, ok := belowHome(path)
		return ok && r.glob.Matches(rest)
	case below:
		return isBelow && r.glob.Matches(inside)
	case either:
		return r.glob.Matches(path) || isBelow && r.glob.Matches("/"+inside)
	}
	for rest := path; ; {
		if r.glob.Matches(rest) {
			return true
		}
		_, after, more := strings.Cut(rest, "/")
		if !more {
			return false
		}
		rest = after
	}
}

// belowHome cuts off the home directory of anybody. Whose it is cannot matter
// here: matching reads no account database, and a rule about ~/.ssh is meant
// for every .ssh.
func belowHome(path string) (string, bool) {
	if rest, ok := strings.CutPrefix(path, "/root/"); ok {
		return rest, true
	}
	if len(path) > 2 && path[1] == ':' {
		path = path[2:] // a drive letter
	}
	for _, base := range []string{"/home/", "/Users/", "/var/home/", "/usr/home/"} {
		if rest, ok := strings.CutPrefix(path, base); ok {
			_, rest, ok = strings.Cut(rest, "/")
			return rest, ok
		}
	}
	return "", false
}

// slashes writes a Windows path with slashes. Elsewhere a backslash is a
// character like any other.
func slashes(path string) string {
	windows := len(path) > 2 && path[1] == ':' && (path[2] == '\\' || path[2] == '/') || strings.HasPrefix(path, `\\`)
	if !windows {
		return path
	}
	return strings.ReplaceAll(path, `\`, "/")
}
