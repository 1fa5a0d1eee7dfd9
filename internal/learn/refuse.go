package learn

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"gate/hook"
)

// The reasons of refusals that hold for a call as a whole.
const (
	reasonQuiet  = "is allowed by a policy of gate.quiet, without a proposal"
	reasonRuns   = "does more than its effects say: it may run code of the project, and only a sandbox holds that"
	reasonInside = "only looks at the project; most agents ask nobody about that"
	reasonTool   = "is a tool of which nobody can prove what it does"
	reasonText   = "writes a text, and nobody can prove a text harmless"
	reasonMany   = "there are more proposals already than a person reads"
	reasonPlaces = "looks at more places than a policy should name"
	reasonOrigin = "handles a secret, a text from outside, or what an agent wrote"
	reasonSend   = "reaches the network"
	reasonCode   = "runs code"

	// ReasonUnproven is that of calls which a proposal was made of and does not allow.
	ReasonUnproven = "is not proven: data.gate.proof does not vouch for each program, option and path of it"
)

// kindReasons are the reasons by how an effect's kind begins.
const kindReasons = `secret. | reads a secret
net. | reaches the network
exec. | runs code
git. | changes more of git than files
environment | sets a variable that makes programs run code
persistence | changes what starts by itself later
self | changes files of gate or of an agent
fs.permissions | changes who may do what with a file
`

// refuse says why nothing is made of a call, "" if something may be.
func refuse(q Question) string {
	f := q.Event.Facts
	switch {
	case f == nil:
		return "nothing is known of it"
	case q.Held != "":
		return fmt.Sprintf("%s objects to it, and an allow answers no question of gate's own", q.Held)
	case f.Opaque || len(f.Unknown) > 0:
		return "is not understood: " + unknownOf(f)
	case secret(f):
		return "reads a secret"
	case len(f.Flow) > 0:
		return reasonOrigin
	case len(f.Hosts) > 0:
		return reasonSend
	case len(f.Code) > 0:
		return reasonCode
	case q.Looks:
		return reasonQuiet
	}
	for _, dir := range lookedAt(f) {
		switch {
		case wide(dir):
			return "looks at a directory with all that is a person's or the system's"
		case !written(dir):
			return "names a place with characters that no policy should hold"
		}
	}
	return refuseTool(q)
}

// wide reports a directory that is nobody's own place, so that it does not swallow the
// narrow ones. data.gate.proof says which places a policy may name.
func wide(dir string) bool {
	parts := strings.Count(strings.Trim(dir, "/"), "/") + 1
	return parts < 2 || parts < 3 && (below(dir, "/home") || below(dir, "/Users"))
}

// written reports a path that may stand in the text of a policy as it is.
func written(name string) bool {
	return !strings.ContainsFunc(name, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("/_.+-", r)
	})
}

// refuseTool says why nothing is made of a call of a tool other than a shell.
func refuseTool(q Question) string {
	if q.Event.Facts.Shell != nil {
		return ""
	}
	switch q.Event.Tool() {
	case "Read", "LS":
		return ""
	case "Write", "Edit", "MultiEdit", "NotebookEdit":
		return reasonText
	}
	return reasonTool
}

func secret(f *hook.Facts) bool {
	return slices.ContainsFunc(f.Effects, func(e hook.FactEffect) bool { return strings.HasPrefix(e.Kind(), "secret.") })
}

// unknownOf names the kinds of what was not understood.
func unknownOf(f *hook.Facts) string {
	var kinds []string
	for _, u := range f.Unknown {
		kinds = append(kinds, u.Kind)
	}
	return strings.Join(slices.Compact(slices.Sorted(slices.Values(kinds))), ", ")
}

// program takes in the options of a command that has effects of its own.
func (g *Grant) program(c *hook.ShellCommand, effects []hook.FactEffect) {
	changes := slices.ContainsFunc(effects, func(e hook.FactEffect) bool { return e.Command == c.ID && e.Kind() != "fs.read" })
	if !changes || c.Program == nil {
		return
	}
	options := g.Programs[*c.Program]
	for name := range c.Options {
		options = append(options, name)
	}
	g.Programs[*c.Program] = union(options, nil)
}

// effect takes in an effect, or says why it cannot.
func (g *Grant) effect(e *hook.FactEffect) string {
	switch is := e.Is.(type) {
	case *hook.FSRead:
		return ""
	case *hook.FSWrite:
		switch {
		case is.Area != "project":
			return "writes outside of the project, or to all of it"
		case is.How != "create" && is.How != "edit":
			return "overwrites files, and what stood there is lost"
		}
		g.How = union(g.How, []string{is.How})
		return ""
	case *hook.FSDelete:
		switch {
		case is.Area != "project":
			return "deletes outside of the project, or all of it"
		case is.How != "remove" || is.Glob || is.Path == nil:
			return "deletes files that nobody has named"
		}
		g.Removes = union(g.Removes, []string{path.Base(*is.Path)})
		return ""
	}
	for line := range strings.Lines(kindReasons) {
		if begin, why, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " | "); strings.HasPrefix(e.Kind(), begin) {
			return why
		}
	}
	return "changes something that is no file: " + e.Kind()
}
