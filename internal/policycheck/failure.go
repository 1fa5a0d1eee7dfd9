package policycheck

import (
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"gate/internal/rego"
	"gate/internal/spelling"
	"gate/scopes"
)

// compiling has the engine compile the policies, beside what else is looked at: that
// takes as long as all of the rest. It returns what reports the engine's errors.
func (c *checker) compiling(lib []scopes.Module) (report func()) {
	type outcome struct {
		err   error
		panic any
	}
	done, src := make(chan outcome, 1), c.src
	go func() {
		var o outcome
		defer func() {
			o.panic = recover() // whoever waits has it
			done <- o
		}()
		o.err = rego.CheckParsed(lib, src, &c.kept.trees)
	}()
	return func() {
		o := <-done
		if o.panic != nil {
			panic(o.panic)
		}
		if joined, ok := o.err.(interface{ Unwrap() []error }); ok {
			for _, e := range joined.Unwrap() {
				c.failure(e)
			}
		} else if o.err != nil {
			c.failure(o.err)
		}
	}
}

// positions find the file, line and column that a message begins with.
var positions = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^([^:\n]+):(?:(\d+):)?(?:(\d+):)? ?`)
})

// isFile reports whether a message begins with a name in the tree, and not
// with some other word and a colon.
func (c *checker) isFile(name string) bool {
	if strings.Contains(path.Base(name), ".") {
		return true
	}
	if !fs.ValidPath(name) {
		return false
	}
	_, err := fs.Lstat(c.files, name)
	return err == nil
}

// failure reports an error that begins with its position.
func (c *checker) failure(err error) {
	f := Finding{Severity: Error, Rule: LoadRule, Message: wildcards().ReplaceAllString(err.Error(), "_")}
	if m := positions().FindStringSubmatch(f.Message); m != nil && c.isFile(m[1]) {
		f.File = m[1]
		f.Line, _ = strconv.Atoi(m[2])
		f.Column, _ = strconv.Atoi(m[3])
		f.Message = f.Message[len(m[0]):]
	}
	if i := strings.Index(f.Message, "; "); i > 0 && !strings.Contains(f.Message, "\n") {
		f.Message, f.Hint = f.Message[:i], f.Message[i+2:]
	}
	if _, known, ok := strings.Cut(f.Hint, "want (one of): ["); ok { // OPA draws the reference again before it
		f.Hint = ""
		if known = strings.TrimSuffix(known, "]"); known != "" {
			f.Hint = "it is one of " + known
		}
	}
	if f.Hint == "" {
		f.Hint = c.meant(f.Message)
	}
	c.add(f)
}

// meant names the function that a message about an unknown one is about.
func (c *checker) meant(message string) string {
	if name, ok := strings.CutPrefix(message, "the library has no "); ok {
		return didYouMean(spelling.Nearest(name, c.library()))
	}
	name, ok := strings.CutPrefix(message, "undefined function ")
	switch {
	case !ok:
		return ""
	case strings.HasPrefix(name, "lib."):
		return "add import data.gate.lib"
	case name == eventName:
		return "it is there in tests only"
	}
	var known []string
	for _, b := range rego.Builtins() {
		if b.Others {
			known = append(known, b.Name)
		}
	}
	if last := name[strings.LastIndexByte(name, '.')+1:]; slices.Contains(known, last) {
		return didYouMean(last)
	}
	return didYouMean(spelling.Nearest(name, known))
}

// library lists the library's rules.
func (c *checker) library() []string {
	var names []string
	for _, u := range c.byName {
		for name := range u.rules {
			if u.lib {
				names = append(names, "data."+u.pkg+"."+name)
			}
		}
	}
	slices.Sort(names)
	return names
}
