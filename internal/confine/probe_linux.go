package confine

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// missingLandlock says what a version of Landlock lacks.
func missingLandlock(version int) string {
	if version == 0 {
		return "this kernel has no Landlock, or it is not switched on"
	}
	return fmt.Sprintf("Landlock has version %d here, and below %d it lets any file be emptied", version, landlockTruncate)
}

// Probe finds out what can be held here, by doing it: it sets a confinement up around a
// program that is not there.
func Probe() Capability {
	c := Capability{Landlock: landlock()}
	if c.Landlock < landlockTruncate {
		c.Missing = missingLandlock(c.Landlock)
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
	s := newScript()
	if flags != 0 {
		l := &layout{tables: newTables(Place{})}
		l.system()
		l.arrange()
		s.enter(Limits{})
		s.newRoot(l, "/")
		s.abdicate(r.theirs)
	}
	setup := len(s.steps)
	s.landlock(version, []grant{{"/", true, unix.LANDLOCK_ACCESS_FS_READ_DIR}})
	s.seccomp(newFilter(filterFor{}))
	s.call("end", unix.SYS_EXIT_GROUP, 0)
	r.child.setup, r.child.program = s.steps[:setup], s.steps[setup:]
	out, err := r.run(s, flags, flags != 0)
	if err == nil && out.Status != 0 {
		err = fmt.Errorf("a process that only ends was ended with status %d", out.Status)
	}
	return err
}
