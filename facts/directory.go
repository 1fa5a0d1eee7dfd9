package facts

import (
	"io/fs"
	"slices"
	"strings"

	"gate/facts/bash"
	"gate/facts/flow"
)

// changeDir runs cd.
func (c *call) changeDir() (flow.Stream, bool) {
	c.plainNamed()
	target, more, given := c.directory()
	if !given {
		target = flow.Word{Parts: []flow.Part{{Text: c.home(c.s, ""), Quoted: true}}}
		if target.Empty() {
			c.s.dirs = nil
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
func (c *call) directory() (target flow.Word, more, given bool) {
	for _, a := range c.given() {
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

// entered is where cd goes, through CDPATH if the line sets it.
func (c *call) entered(target flow.Word) []string {
	to := c.enter(c.s.where, target)
	v := target.Value()
	paths, set := c.s.lookup("CDPATH")
	if !set || paths.unset || v == nil || strings.HasPrefix(*v, "/") || strings.HasPrefix(*v, ".") {
		return to
	}
	list := paths.first().Value()
	if list == nil {
		return nil
	}
	for _, dir := range strings.Split(*list, ":") {
		if dir != "" {
			to = joinDirs(to, c.enter(c.s.where, flow.Literal(dir+"/"+*v)))
		}
	}
	return to
}

// goTo moves the shell to one of the directories, if it gets there.
func (c *call) goTo(to []string, target flow.Word, more bool) {
	from := c.s.clone()
	c.s.under = from.below(to, target)
	c.s.old, c.s.dirs = c.s.dirs, to
	c.s.own()
	delete(c.s.vars, "PWD")
	delete(c.s.vars, "OLDPWD")
	if len(to) == 0 {
		c.unknown("directory", "where cd goes is not known", c.id, target.Span)
	}
	switch {
	case more: // an error, or in another shell a substitution
		c.s.become(from, c.s.clone())
	case len(to) != 1:
	case c.world.IsDirectory(to[0]):
		c.s.status = succeeds
	case !c.mayExist(to[0]):
		c.s.failed = from
	}
}

// mayExist reports that a directory is there when the line comes to it, for
// all that is known: it is there now, or something before it may have made it.
func (c *call) mayExist(dir string) bool {
	if c.world.Files == nil {
		return true
	}
	if info, err := c.world.Files.Lstat(dir); err == nil {
		return info.Mode()&(fs.ModeDir|fs.ModeSymlink) != 0
	}
	return slices.ContainsFunc(c.commands()[:c.id-1], c.outside.MakesDirectories)
}

// pushDir runs pushd.
func (c *call) pushDir() (flow.Stream, bool) {
	c.plainNamed()
	target, more, given := c.directory()
	stay := slices.ContainsFunc(c.given(), func(f flow.Word) bool { return f.Text() == "-n" })
	top := len(c.s.stack) - 1
	switch text := target.Text(); {
	case !given && top >= 0 && !stay:
		to := c.s.stack[top]
		c.s.stack = append(slices.Clone(c.s.stack[:top]), c.s.dirs)
		c.goTo(to, target, false)
	case !given || len(text) > 1 && (text[0] == '+' || text[0] == '-') && bash.IsNumber(text[1:]):
		c.s.stack = nil
		c.goTo(nil, target, false)
	case stay:
		c.s.stack = append(slices.Clone(c.s.stack), c.enter(c.s.where, target))
	default:
		c.s.stack = append(slices.Clone(c.s.stack), c.s.dirs)
		c.goTo(c.entered(target), target, more)
	}
	return flow.Stream{}, true
}

func (c *call) popDir() (flow.Stream, bool) {
	c.plainNamed()
	top := len(c.s.stack) - 1
	if _, _, given := c.directory(); given || top < 0 {
		c.s.stack = nil
		c.s.old, c.s.dirs = c.s.dirs, nil
		return flow.Stream{}, true
	}
	to := c.s.stack[top]
	c.s.stack = slices.Clone(c.s.stack[:top])
	c.s.old, c.s.dirs = c.s.dirs, to
	return flow.Stream{}, true
}

// dirsWords runs dirs, of which -c forgets what was pushed.
func (c *call) dirsWords() (flow.Stream, bool) {
	if len(c.given()) > 0 && c.given()[0].Text() == "-c" {
		c.s.stack = nil
	}
	return flow.Stream{}, false
}
