package shell

import (
	"io/fs"
	"slices"
	"strings"

	"gate/facts/internal/bash"
	"gate/facts/internal/flow"
)

// changeDir runs cd.
func (c *Call) changeDir() (flow.Stream, bool) {
	c.plainNamed()
	target, more, given := c.directory()
	if !given {
		target = flow.Word{Parts: []flow.Part{{Text: c.home(c.s, ""), Quoted: true}}}
		if target.Empty() {
			c.s.Dirs = nil
		}
	}
	to := c.s.old
	if v := target.Value(); v == nil || *v != "-" {
		to = c.entered(target)
	}
	c.goTo(to, target, more)
	return flow.Stream{}, true
}

// directory is the first operand, and whether more follow: then cd fails.
func (c *Call) directory() (target flow.Word, more, given bool) {
	for _, a := range c.Given() {
		if t := a.Text(); !given && a.Literal() && len(t) > 1 && strings.HasPrefix(t, "-") && !bash.IsNumber(t[1:]) {
			continue
		}
		if given {
			return target, true, true
		}
		target, given = a, true
	}
	return target, false, given
}

// entered is where cd goes, through CDPATH if the line or what started it sets it.
func (c *Call) entered(target flow.Word) []string {
	to := c.Directories(c.s.Where, target)
	v := target.Value()
	if v == nil || strings.HasPrefix(*v, "/") || *v == "." || *v == ".." || strings.HasPrefix(*v, "./") || strings.HasPrefix(*v, "../") {
		return to
	}
	paths, set := flow.Word{}, false
	if held, ok := c.s.lookup("CDPATH"); ok {
		paths, set = held.first(), !held.unset
	} else if text, ok := c.World.Env("CDPATH"); ok {
		paths, set = flow.Literal(text), true
	}
	for _, e := range c.Env {
		if e.Name == "CDPATH" {
			paths, set = e.Value, true
		}
	}
	if !set {
		return to
	}
	list := paths.Value()
	if list == nil {
		return nil
	}
	for _, dir := range strings.Split(*list, ":") {
		if dir != "" {
			to = joinDirs(to, c.Directories(c.s.Where, flow.Literal(dir+"/"+*v)))
		}
	}
	return to
}

// goTo moves the shell to one of the directories, if it gets there.
func (c *Call) goTo(to []string, target flow.Word, more bool) {
	from := c.s.clone()
	c.s.Under = from.Below(to, target)
	c.s.old, c.s.Dirs = c.s.Dirs, to
	c.s.own()
	delete(c.s.vars, "PWD")
	delete(c.s.vars, "OLDPWD")
	if len(to) == 0 {
		c.Unknown("directory", "where cd goes is not known", c.ID, target.Span)
	}
	switch {
	case more: // an error, or in another shell a substitution
		c.s.become(from, c.s.clone())
	case len(to) != 1:
	case c.World.IsDirectory(to[0]):
		c.s.status = succeeds
	case !c.mayExist(to[0]):
		c.s.failed = from
	}
}

// mayExist reports that a directory is there when the line comes to it, for
// all that is known: it is there now, or something before it may have made it.
func (c *Call) mayExist(dir string) bool {
	if c.World.Files == nil {
		return true
	}
	if info, err := c.World.Files.Lstat(dir); err == nil {
		return info.Mode()&(fs.ModeDir|fs.ModeSymlink) != 0
	}
	return slices.ContainsFunc(c.Commands()[:c.ID-1], c.outside.MakesDirectories)
}

// pushDir runs pushd.
func (c *Call) pushDir() (flow.Stream, bool) {
	c.plainNamed()
	target, more, given := c.directory()
	stay := slices.ContainsFunc(c.Given(), func(f flow.Word) bool { return f.Text() == "-n" })
	top := len(c.s.stack) - 1
	switch text := target.Text(); {
	case !given && top >= 0 && !stay:
		to := c.s.stack[top]
		c.s.stack = append(slices.Clone(c.s.stack[:top]), c.s.Dirs)
		c.goTo(to, target, false)
	case !given || len(text) > 1 && (text[0] == '+' || text[0] == '-') && bash.IsNumber(text[1:]):
		c.s.stack = nil
		c.goTo(nil, target, false)
	case stay:
		c.s.stack = append(slices.Clone(c.s.stack), c.Directories(c.s.Where, target))
	default:
		c.s.stack = append(slices.Clone(c.s.stack), c.s.Dirs)
		c.goTo(c.entered(target), target, more)
	}
	return flow.Stream{}, true
}

func (c *Call) popDir() (flow.Stream, bool) {
	c.plainNamed()
	top := len(c.s.stack) - 1
	if _, _, given := c.directory(); given || top < 0 {
		c.s.stack = nil
		c.s.old, c.s.Dirs = c.s.Dirs, nil
		return flow.Stream{}, true
	}
	to := c.s.stack[top]
	c.s.stack = slices.Clone(c.s.stack[:top])
	c.s.old, c.s.Dirs = c.s.Dirs, to
	return flow.Stream{}, true
}

// dirsWords runs dirs, of which -c forgets what was pushed.
func (c *Call) dirsWords() (flow.Stream, bool) {
	if len(c.Given()) > 0 && c.Given()[0].Text() == "-c" {
		c.s.stack = nil
	}
	return flow.Stream{}, false
}
