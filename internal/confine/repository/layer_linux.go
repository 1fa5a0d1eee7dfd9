package repository

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"
)

// bounds are how much of a layer is looked at, all of which its program controls.
type bounds struct {
	names                  int
	memory, read, inflated budget
}

// ordinary are bounds that no work of git reaches but that on the largest repositories.
var ordinary = bounds{mostNames, mostMemory, mostRead, mostInflated}

const (
	mostNames    = 500_000
	mostRead     = 8 << 30 // bytes of files of objects
	mostInflated = 8 << 30 // bytes of objects
	mostMemory   = 1 << 30 // bytes of all other files, in memory
	mostSaid     = 12      // sentences
)

// A taking is one take-over.
type taking struct {
	*Base
	bounds      // what is left of them
	layer, real tree
	cleaned     bool // objects were packed or removed
	unfinished  string
	said        []string
	unsaid      int
}

// text reads a file of the layer.
func (t *taking) text(name string, most int64) ([]byte, error) {
	text, err := t.layer.text(name, min(most, int64(t.memory)))
	t.memory -= budget(len(text))
	return text, err
}

func (t *taking) say(format string, args ...any) {
	if len(t.said) >= mostSaid {
		t.unsaid++
		return
	}
	for i := range args {
		switch arg := args[i].(type) {
		case string:
			args[i] = cut(arg)
		case error:
			args[i] = cut(arg.Error())
		}
	}
	t.said = append(t.said, t.Git+": "+fmt.Sprintf(format, args...))
}

// cut leaves out the middle of a long text: names in a layer may have any length.
func cut(text string) string {
	const most = 600
	if len(text) <= most {
		return text
	}
	return text[:most/2] + "…" + text[len(text)-most/2:]
}

// reasons say why something is never taken over, by its name or the directory that it lies in.
const reasons = `
hooks: git starts what lies there
config: settings can start programs
config.worktree: settings can start programs
info/attributes: it has files go through programs
info/exclude: it hides files
info/grafts: it changes the history
info/sparse-checkout: it hides files
objects/info/alternates: it leads to objects elsewhere
commondir: it leads elsewhere
gitdir: it leads elsewhere
modules: it has settings and hooks of a submodule
worktrees: it is a worktree that was not there before
lfs: it belongs to another program
rebase-merge: its list can start programs
rebase-apply: its list can start programs
sequencer: its list can start programs
refs/replace: it puts other content in the place of objects
refs/bisect: the rest of a bisection is not taken over either
`

// derived are names that git makes anew when it needs them, or leaves behind.
const derived = " info/refs info/commit-graph info/packs gc.pid gc.log gitk.cache fsmonitor--daemon.ipc "

// never says that something of the layer is not taken over, unless the repository has the same.
func (t *taking) never(name string) {
	inside := name
	for _, p := range t.parts { // the deepest comes last
		if below, ok := strings.CutPrefix(name, p.Dir+"/"); ok && p.Dir != "" {
			inside = below
		}
	}
	if strings.HasSuffix(inside, ".lock") || strings.Contains(derived, " "+inside+" ") || t.same(name) {
		return
	}
	why := "its name is none that is known"
	for line := range strings.Lines(reasons) {
		if known, reason, ok := strings.Cut(strings.TrimSpace(line), ": "); ok && (inside == known || strings.HasPrefix(inside, known+"/")) {
			why = reason
		}
	}
	t.say("%s was not taken over: %s", name, why)
}

// same reports a file that is in the layer as it is in the repository.
func (t *taking) same(name string) bool {
	theirs, err := t.real.text(name, mostText) // first: a layer may have any number of long files
	if err != nil {
		return false
	}
	ours, err := t.layer.text(name, int64(len(theirs)))
	return err == nil && bytes.Equal(ours, theirs)
}

// A change is what a layer changes of a part of a repository.
type change struct {
	*part
	refs  map[string]string // what they are to be; "" for those that are to go
	were  map[string]string // what they were
	head  string            // "" where it stays
	index *index            // nil where it stays
	plain map[string][]byte // nil for a file that is to go
	logs  map[string][]byte
}

func (c *change) empty() bool {
	return len(c.refs) == 0 && c.head == "" && c.index == nil && len(c.plain) == 0 && len(c.logs) == 0
}

// scan reads what a layer changes of a part.
func (t *taking) scan(p *part) (*change, error) {
	c := &change{part: p, refs: map[string]string{}, were: map[string]string{}, plain: map[string][]byte{}, logs: map[string][]byte{}}
	items, err := t.layer.list(p.Dir, &t.names)
	if err != nil {
		return nil, err
	}
	for _, i := range items {
		if i.kind == folder {
			err = t.scanFolder(c, i.name)
		} else {
			err = t.scanFile(c, i)
		}
		if err != nil {
			return nil, err
		}
	}
	if err := t.scanRefs(c); err != nil {
		return nil, err
	}
	return c, t.scanLogs(c)
}

func (t *taking) scanFolder(c *change, name string) error {
	at := path.Join(c.Dir, name)
	switch name {
	case "refs", "logs":
		return nil
	case "objects":
		if c.Common == c.Dir {
			return nil
		}
	case "worktrees", "modules":
		return t.others(at)
	case "rebase-merge", "rebase-apply", "sequencer":
		if t.anything(at) {
			t.unfinished = at
		}
	}
	return t.layer.walk(at, at, &t.names, func(name, _ string, _ kind) error {
		t.never(name)
		return nil
	})
}

// anything reports that a directory of the layer has a file.
func (t *taking) anything(dir string) bool {
	found := errors.New("found")
	return t.layer.walk(dir, dir, &t.names, func(string, string, kind) error { return found }) == found
}

// others looks at worktrees and submodules: those that are parts are looked at as such.
func (t *taking) others(dir string) error {
	items, err := t.layer.list(dir, &t.names)
	if err != nil {
		return err
	}
	for _, i := range items {
		at := dir + "/" + i.name
		switch {
		case slices.ContainsFunc(t.parts, func(p part) bool { return p.Dir == at }) && i.kind == folder:
		case slices.ContainsFunc(t.parts, func(p part) bool { return strings.HasPrefix(p.Dir, at+"/") }) && i.kind == folder:
			err = t.others(at)
		case i.kind != folder || t.anything(at):
			t.never(at)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// scanFile reads a file at the top of a part.
func (t *taking) scanFile(c *change, i item) error {
	at := path.Join(c.Dir, i.name)
	form, known := plain(i.name)
	switch {
	case i.name == "packed-refs" && i.kind == regular || i.name == "packed-refs" && i.kind == removed:
		return nil
	case i.kind == removed && known:
		c.plain[i.name] = nil
		return nil
	case i.kind != regular:
		t.never(at)
		return nil
	case i.name == "index":
		data, err := t.text(at, mostData)
		if err == nil {
			c.index, err = readIndex(data, t.Hexes)
		}
		if err != nil {
			return fmt.Errorf("%s cannot be taken over: %w", at, err)
		}
		if old, err := t.oldIndex(c.part); err == nil && old.same(c.index) {
			c.index = nil // it was only refreshed
		}
		return nil
	case i.name == "shallow" && t.real.kind(at) == gone:
		return fmt.Errorf("%s would cut off history that is there", at)
	case i.name != "HEAD" && !known:
		t.never(at)
		return nil
	}
	text, err := t.text(at, mostText)
	if err != nil {
		return err
	}
	if known {
		if !form.holds(text, t.Hexes) {
			t.say("%s was not taken over: it holds what git would not write there", at)
		} else if !t.same(at) {
			c.plain[i.name] = text
		}
		return nil
	}
	head, err := readHead(text, t.Hexes)
	if err != nil {
		return fmt.Errorf("%s cannot be taken over: %w", at, err)
	}
	if was, _ := readHead([]byte(c.part.head), t.Hexes); was != head {
		c.head = head
	}
	return nil
}

// packedOf reads packed-refs as it was before.
func (t *taking) packedOf(p *part) (map[string]string, error) {
	data, err := t.before(p.packed, path.Join(p.Dir, "packed-refs"))
	if err != nil {
		return nil, err
	}
	return readPacked(data, t.Hexes)
}

// before is what a file held that git replaces as a whole; nil where there was none.
func (t *taking) before(h held, name string) ([]byte, error) {
	if h.mark == "" {
		return nil, nil
	}
	if h.file != nil {
		return content(h.file, mostData)
	}
	now, err := t.real.hold(name)
	if err != nil {
		return nil, err
	}
	defer now.close()
	if now.mark != h.mark {
		return nil, fmt.Errorf("%s has changed meanwhile", name)
	}
	return content(now.file, mostData)
}

// scanRefs finds the refs that a layer changes. How they are packed does not matter.
func (t *taking) scanRefs(c *change) error {
	dir := path.Join(c.Dir, "refs")
	packedKind := t.layer.kind(path.Join(c.Dir, "packed-refs"))
	if packedKind == gone && t.layer.kind(dir) == gone {
		return nil
	}
	packed, err := t.packedOf(c.part)
	if err != nil {
		return err
	}
	was, is := maps.Clone(packed), packed
	switch packedKind {
	case regular:
		text, err := t.text(path.Join(c.Dir, "packed-refs"), mostData)
		if err == nil {
			is, err = readPacked(text, t.Hexes)
		}
		if err != nil {
			return fmt.Errorf("packed-refs cannot be taken over: %w", err)
		}
	case removed:
		is = map[string]string{}
	}
	hides := t.hiding(c.Dir)
	for ref, text := range c.part.refs {
		value, err := readRef([]byte(text), t.Hexes)
		if err != nil {
			value = "?" // it was broken before
		}
		was[ref] = value
		if !hides(ref) {
			is[ref] = value
		}
	}
	err = t.layer.walk(dir, "refs", &t.names, func(name, ref string, kind kind) error {
		if kind == removed || strings.HasSuffix(ref, ".lock") {
			return nil
		}
		text, err := t.text(name, mostText)
		value := ""
		if err == nil {
			value, err = readRef(text, t.Hexes)
		}
		if err != nil || !isRef(ref) {
			t.say("%s was not taken over: it is no ref", name)
			if old, ok := was[ref]; ok {
				is[ref] = old
			}
			return nil
		}
		is[ref] = value
		return nil
	})
	if err != nil {
		return err
	}
	for ref, value := range is {
		if was[ref] != value {
			c.put(t, ref, value, was[ref])
		}
	}
	for ref, value := range was {
		if is[ref] == "" {
			c.put(t, ref, "", value)
		}
	}
	if len(c.refs) > mostRefs { // each one gets a file, and is locked
		return fmt.Errorf("more than %d refs change", mostRefs)
	}
	return t.clash(c, is)
}

// put notes a ref that changes, unless it is one that is never taken over.
func (c *change) put(t *taking, ref, value, was string) {
	to, link := strings.CutPrefix(value, symbolic)
	switch {
	case strings.HasPrefix(ref, "refs/replace/") || strings.HasPrefix(ref, "refs/bisect/"):
		t.never(path.Join(c.Dir, ref))
	case link && !(strings.HasPrefix(ref, "refs/remotes/") && path.Base(ref) == "HEAD" && strings.HasPrefix(to, path.Dir(ref)+"/")):
		t.say("%s was not taken over: it stands for %s", path.Join(c.Dir, ref), to)
	default:
		c.refs[ref], c.were[ref] = value, was
	}
}

// clash reports a changed ref whose name is a directory of another one.
func (t *taking) clash(c *change, is map[string]string) error {
	for ref := range is {
		for up := path.Dir(ref); up != "refs" && up != "."; up = path.Dir(up) {
			_, changed := c.refs[ref]
			_, above := c.refs[up]
			if (changed || above) && is[up] != "" {
				return fmt.Errorf("%s and %s cannot both be refs", up, ref)
			}
		}
	}
	return nil
}

// hiding tells of a ref's file whether a layer hides it.
func (t *taking) hiding(dir string) func(ref string) bool {
	const shows, hides, ends = 1, 2, 3
	known := map[string]int{}
	var look func(name string) int
	look = func(name string) int {
		if state := known[name]; state != 0 {
			return state
		}
		state := shows
		if up := path.Dir(name); up != "." {
			state = look(up)
		}
		if state == shows {
			at := path.Join(dir, name)
			switch t.layer.kind(at) {
			case gone:
				state = ends // nothing below is in the layer
			case folder:
				if t.layer.opaque(at) {
					state = hides
				}
			default:
				state = hides
			}
		}
		known[name] = state
		return state
	}
	return func(ref string) bool {
		if look(path.Dir(ref)) == shows {
			return t.layer.kind(path.Join(dir, ref)) != gone
		}
		return look(path.Dir(ref)) == hides
	}
}

// scanLogs reads the logs of refs that change, and of HEAD.
func (t *taking) scanLogs(c *change) error {
	dir := path.Join(c.Dir, "logs")
	return t.layer.walk(dir, "logs", &t.names, func(name, as string, kind kind) error {
		ref := strings.TrimPrefix(as, "logs/")
		_, changes := c.refs[ref]
		if kind == removed || strings.HasSuffix(as, ".lock") || changes && c.refs[ref] == "" || t.same(name) {
			return nil
		}
		if kind != regular || ref != "HEAD" && !changes {
			t.say("%s was not taken over: the ref did not change", name)
			return nil
		}
		text, err := t.text(name, mostData)
		if err != nil {
			return err
		}
		old, err := t.real.text(name, mostData)
		if err != nil && !isGone(err) {
			return err
		}
		switch {
		case !isLog(text, t.Hexes):
			t.say("%s was not taken over: it holds what git would not write there", name)
		case ref != "refs/stash" && !bytes.HasPrefix(text, old):
			t.say("%s was not taken over: more than its end changed", name)
		default:
			c.logs[as] = text
		}
		return nil
	})
}

// trusts tells whether a file is as an entry of the index says. A file that is not looked at
// is not.
func (t *taking) trusts(work string) (trusted func(e *entry) bool, done func()) {
	const mostFiles, mostBytes = 5000, 256 << 20
	files, left := mostFiles, budget(mostBytes)
	top, err := openTree(work)
	if work == "" || err != nil {
		return func(*entry) bool { return false }, func() {}
	}
	return func(e *entry) bool {
		if files--; files < 0 || left < 0 || e.mode()&0o170000 != 0o100000 {
			return false
		}
		file, err := top.file(e.path)
		if err != nil {
			return false
		}
		defer file.Close()
		info, err := file.Stat()
		if err != nil || info.Size() != int64(e.size()) || uint64(info.ModTime().Unix())<<32|uint64(info.ModTime().Nanosecond()) != e.changed() {
			return false
		}
		h := newHash(t.Hexes)
		fmt.Fprintf(h, "blob %d\x00", info.Size())
		_, err = io.Copy(h, left.limited(io.LimitReader(file, info.Size())))
		return err == nil && string(h.Sum(nil)) == e.object
	}, top.close
}
