package confine

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// missing says why nothing can be held with a version of Landlock; "" where something can.
func missing(version int) string {
	switch {
	case raced:
		return "this program was built with the race detector"
	case version == 0:
		return "this kernel has no Landlock, or it is not switched on"
	case version >= landlockTruncate:
		return ""
	}
	return fmt.Sprintf("Landlock has version %d here, and below %d it lets any file be emptied", version, landlockTruncate)
}

// Probe finds out what can be held here, by doing it: it sets a confinement up around a
// program that is not there.
func Probe() Capability {
	c := Capability{Landlock: landlock()}
	if c.Missing = missing(c.Landlock); c.Missing != "" {
		return c
	}
	if err := attempt(namespaces, c.Landlock); err == nil {
		c.Level = Full
	} else {
		c.Missing = err.Error()
		if c.Landlock >= landlockScopes && attempt(0, c.Landlock) == nil {
			c.Level = Files
		}
	}
	return c
}

// attempt sets up an empty confinement, and has its process end.
func attempt(flags uintptr, version int) error {
	r, err := newRun()
	if err != nil {
		return err
	}
	defer r.close()
	if flags != 0 {
		r.start(flags, func(s *script) { s.enter(Limits{}) })
	}
	setup := newScript()
	if flags != 0 {
		l := &layout{tables: newTables(Place{})}
		l.system()
		l.arrange()
		setup.newRoot(l, "/")
		setup.abdicate()
	}
	s := newScript()
	s.landlock(version, []grant{{"/", true, unix.LANDLOCK_ACCESS_FS_READ_DIR}})
	s.seccomp(newFilter(filterFor{}))
	s.call("end", unix.SYS_EXIT_GROUP, 0)
	out, err := r.run(setup, func() (*script, error) { return s, nil })
	if err == nil && out.Status != 0 {
		err = fmt.Errorf("a process that only ends was ended with status %d", out.Status)
	}
	return err
}
