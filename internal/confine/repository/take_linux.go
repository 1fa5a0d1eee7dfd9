package repository

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// TakeOver takes over what a program made in a layer, which is a directory that no program
// changes any more. It returns a sentence for everything of the layer that was not taken
// over. Objects come first, then refs, HEAD, and the index. Where a person's git has
// changed one of these since [Look], or is at work, objects alone are taken over, and a
// sentence says what the refs were to be. A second call goes on where the first one was
// killed.
func (b *Base) TakeOver(layer string) (said []string) { return b.takeOver(layer, ordinary) }

func (b *Base) takeOver(layer string, within bounds) (said []string) {
	t := &taking{Base: b, bounds: within}
	var err error
	if t.layer, err = openTree(layer); err != nil {
		return []string{fmt.Sprintf("%s: nothing was taken over: %v", b.Git, err)}
	}
	defer t.layer.close()
	if items, err := t.layer.list("", &t.names); err == nil && len(items) == 0 {
		return nil
	}
	if t.real, err = openTree(b.Git); err != nil {
		return []string{fmt.Sprintf("%s: nothing was taken over: %v", b.Git, err)}
	}
	defer t.real.close()
	for i := range b.parts {
		if p := &b.parts[i]; p.Common == p.Dir {
			t.together(p.Dir)
		}
	}
	if t.cleaned {
		t.say("objects that were packed or removed stay as they were")
	}
	if t.unsaid > 0 {
		t.said = append(t.said, fmt.Sprintf("%s: %d more were not taken over", b.Git, t.unsaid))
	}
	return t.said
}

// together takes over the parts that have their objects in one place: all of it, or objects
// alone.
func (t *taking) together(common string) {
	objects, err := openStore(t.real, common, t.Hexes)
	if err != nil {
		t.say("nothing was taken over: %v", err)
		return
	}
	defer objects.close()
	t.unfinished = ""
	err = t.takeObjects(path.Join(common, "objects"), objects)
	var changes []*change
	for i := range t.parts {
		p := &t.parts[i]
		if p.Common != common || p.Dir != "" && t.layer.kind(p.Dir) == gone {
			continue
		}
		c, wrong := t.scan(p)
		if wrong != nil {
			err = errors.Join(err, wrong)
		} else if !c.empty() {
			changes = append(changes, c)
		}
	}
	if err == nil && t.unfinished != "" {
		err = fmt.Errorf("%s is unfinished, and it is not taken over", t.unfinished)
	}
	if err == nil && len(changes) > 0 {
		err = t.apply(changes, objects)
	}
	if err != nil {
		t.say("nothing but objects was taken over: %s%s", strings.ReplaceAll(err.Error(), "\n", "; "), wanted(changes))
	}
}

// wanted says what refs were to be, for a person who wants to keep it.
func wanted(changes []*change) (text string) {
	n := 0
	for _, c := range changes {
		for _, ref := range slices.Sorted(maps.Keys(c.refs)) {
			if value := c.refs[ref]; value != "" && !strings.HasPrefix(value, symbolic) {
				if n++; n <= 4 {
					text += fmt.Sprintf("; %s was to be %s", path.Join(c.Dir, ref), value)
				}
			}
		}
		if c.head != "" && !strings.HasPrefix(c.head, symbolic) {
			text += fmt.Sprintf("; %s was to be %s", path.Join(c.Dir, "HEAD"), c.head)
		}
	}
	if n > 4 {
		text += fmt.Sprintf("; and %d more refs", n-4)
	}
	if text != "" {
		text += " (git branch NAME ID keeps one)"
	}
	return text
}

// locks are the lock files that keep a person's git away.
type locks struct {
	real tree
	held map[string]*os.File
}

// mostWait is how long another program's lock is waited for.
const mostWait = time.Second

// take locks a file of git's, as git does. The directory that it lies in is made.
func (l *locks) take(name string) error {
	if l.held[name] != nil {
		return nil
	}
	if err := l.real.makeDirs(path.Dir(name)); err != nil {
		return err
	}
	for start := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		file, err := l.real.open(name+".lock", unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW, 0o666)
		if err == nil {
			l.held[name] = file
			return nil
		}
		if !errors.Is(err, fs.ErrExist) {
			return err
		}
		if time.Since(start) > mostWait {
			return fmt.Errorf("%s.lock is there, so git is at work or was killed", name)
		}
	}
}

// put makes a locked file one with this content, and unlocks it.
func (l *locks) put(name string, data []byte) error {
	file := l.held[name]
	_, err := file.Write(data)
	if err == nil {
		err = file.Sync()
	}
	if err == nil {
		err = l.real.rename(name+".lock", name)
	}
	if err == nil {
		file.Close()
		delete(l.held, name)
	}
	return err
}

func (l *locks) release() {
	for name, file := range l.held {
		file.Close()
		l.real.remove(name+".lock", 0)
	}
}

// apply takes over all changes or, unless the machine fails meanwhile, none.
func (t *taking) apply(changes []*change, objects *store) error {
	l := &locks{t.real, map[string]*os.File{}}
	defer l.release()
	for _, c := range changes {
		if err := c.lock(l); err != nil {
			return err
		}
		if err := t.unchanged(c); err != nil {
			return err
		}
		for ref, value := range c.refs {
			if value != "" && !strings.HasPrefix(value, symbolic) && !objects.has(value) {
				return fmt.Errorf("%s names the object %s, which is not there", ref, value)
			}
		}
		if c.head != "" && !strings.HasPrefix(c.head, symbolic) && !objects.has(c.head) {
			return fmt.Errorf("HEAD names the object %s, which is not there", c.head)
		}
	}
	for _, step := range []func(*change, *locks) error{t.putRefs, t.putLogs, t.putHead, t.dropRefs, t.putPlain, t.putIndex} {
		for _, c := range changes {
			if err := step(c, l); err != nil {
				return err
			}
		}
	}
	return nil
}

// drops are the refs that are to go.
func (c *change) drops() map[string]bool {
	gone := map[string]bool{}
	for ref, value := range c.refs {
		if value == "" {
			gone[ref] = true
		}
	}
	return gone
}

// moves reports that what a person's files are compared with changes.
func (c *change) moves() bool {
	head, _ := strings.CutPrefix(strings.TrimSuffix(c.part.head, "\n"), symbolic)
	_, branch := c.refs[head]
	return c.head != "" || c.index != nil || branch
}

func (c *change) lock(l *locks) error {
	for _, ref := range slices.Sorted(maps.Keys(c.refs)) {
		if err := l.take(path.Join(c.Dir, ref)); err != nil {
			return err
		}
	}
	if len(c.drops()) > 0 {
		if err := l.take(path.Join(c.Dir, "packed-refs")); err != nil {
			return err
		}
	}
	if c.moves() {
		return errors.Join(l.take(path.Join(c.Dir, "HEAD")), l.take(path.Join(c.Dir, "index")))
	}
	return nil
}

// unchanged is an error where a person's git has changed what is to change, and not to the
// same.
func (t *taking) unchanged(c *change) error {
	var packed map[string]string
	for ref, value := range c.refs {
		now, err := t.real.text(path.Join(c.Dir, ref), mostText)
		is, _ := readRef(now, t.Hexes)
		switch {
		case isGone(err) || errors.Is(err, unix.EISDIR) || t.real.kind(path.Join(c.Dir, ref)) == folder:
			if packed == nil {
				text, err := t.real.text(path.Join(c.Dir, "packed-refs"), mostData)
				if err == nil {
					packed, err = readPacked(text, t.Hexes)
				}
				if err != nil && !isGone(err) {
					return err
				}
			}
			is = packed[ref]
		case err != nil:
			return err
		}
		if is != c.were[ref] && is != value {
			return fmt.Errorf("%s has changed meanwhile", path.Join(c.Dir, ref))
		}
	}
	if !c.moves() {
		return nil
	}
	text, err := t.real.text(path.Join(c.Dir, "HEAD"), mostText)
	if now, _ := readHead(text, t.Hexes); err != nil || string(text) != c.part.head && now != c.head {
		return fmt.Errorf("%s has changed meanwhile", path.Join(c.Dir, "HEAD"))
	}
	return t.indexUnchanged(c)
}

func (t *taking) indexUnchanged(c *change) error {
	name := path.Join(c.Dir, "index")
	now, err := t.real.hold(name)
	if err != nil {
		return err
	}
	defer now.close()
	if now.mark == c.part.index.mark {
		return nil
	}
	changed := fmt.Errorf("%s has changed meanwhile", name)
	if now.file == nil {
		return changed
	}
	data, err := content(now.file, mostData)
	if err != nil {
		return err
	}
	is, err := readIndex(data, t.Hexes)
	if err != nil {
		return changed
	}
	if c.index != nil && is.same(c.index) {
		return nil
	}
	old, err := t.oldIndex(c.part)
	if err != nil || !is.same(old) { // otherwise it was only refreshed
		return changed
	}
	return nil
}

func (t *taking) oldIndex(p *part) (*index, error) {
	data, err := t.before(p.index, path.Join(p.Dir, "index"))
	if err != nil || data == nil {
		return &index{}, err
	}
	return readIndex(data, t.Hexes)
}

func (t *taking) putRefs(c *change, l *locks) error {
	for _, ref := range slices.Sorted(maps.Keys(c.refs)) {
		if value := c.refs[ref]; value != "" {
			name := path.Join(c.Dir, ref)
			t.real.removeEmpty(name)
			if err := l.put(name, []byte(value+"\n")); err != nil {
				return err
			}
		}
	}
	return nil
}

func (t *taking) putLogs(c *change, _ *locks) error {
	for as, text := range c.logs {
		name := path.Join(c.Dir, as)
		old, err := t.real.text(name, mostData)
		if err != nil && !isGone(err) && t.real.kind(name) != folder {
			return err
		}
		t.real.removeEmpty(name)
		if err := t.real.makeDirs(path.Dir(name)); err != nil {
			return err
		}
		switch rest, more := bytes.CutPrefix(text, old); {
		case more:
			err = t.real.append(name, rest)
		case strings.HasSuffix(as, "refs/stash"): // whose log is the list of what is stashed
			err = t.real.replace(name, text)
		} // a log that somebody else went on with stays theirs
		if err != nil {
			return err
		}
	}
	return nil
}

func (t *taking) putHead(c *change, l *locks) error {
	if c.head == "" {
		return nil
	}
	return l.put(path.Join(c.Dir, "HEAD"), []byte(c.head+"\n"))
}

func (t *taking) dropRefs(c *change, l *locks) error {
	drops := c.drops()
	if len(drops) == 0 {
		return nil
	}
	name := path.Join(c.Dir, "packed-refs")
	text, err := t.real.text(name, mostData)
	if err != nil && !isGone(err) {
		return err
	}
	if rest, found := withoutRefs(text, drops); found {
		if err := l.put(name, rest); err != nil {
			return err
		}
	}
	for ref := range drops {
		for _, name := range []string{path.Join(c.Dir, ref), path.Join(c.Dir, "logs", ref)} {
			if err := t.real.remove(name, 0); err != nil && !isGone(err) && t.real.kind(name) != folder {
				return err
			}
		}
	}
	return nil
}

func (t *taking) putPlain(c *change, _ *locks) error {
	for name, text := range c.plain {
		at := path.Join(c.Dir, name)
		if text != nil {
			if err := t.real.replace(at, text); err != nil {
				return err
			}
		} else if err := t.real.remove(at, 0); err != nil && !isGone(err) {
			return err
		}
	}
	return nil
}

func (t *taking) putIndex(c *change, l *locks) error {
	if c.index == nil {
		return nil
	}
	old, since := &index{}, ^uint64(0)
	now, err := t.real.hold(path.Join(c.Dir, "index"))
	if err != nil {
		return err
	}
	defer now.close()
	if now.file != nil {
		data, err := content(now.file, mostData)
		if err == nil {
			old, err = readIndex(data, t.Hexes)
		}
		if err != nil {
			return err
		}
		info, err := now.file.Stat()
		if err != nil {
			return err
		}
		since = uint64(info.ModTime().Unix())<<32 | uint64(info.ModTime().Nanosecond())
	}
	trusted, done := t.trusts(c.Work)
	defer done()
	if n := c.index.settle(old, since, trusted); n > 0 {
		t.say("marks in %s that keep git from looking at %d files were not taken over", path.Join(c.Dir, "index"), n)
	}
	return l.put(path.Join(c.Dir, "index"), c.index.bytes(t.Hexes))
}

// parent opens the directory that a file lies in.
func (t tree) parent(name string) (dir *os.File, base string, err error) {
	dir, err = t.open(path.Dir(name), unix.O_PATH|unix.O_DIRECTORY, 0)
	return dir, path.Base(name), err
}

// rename gives a file the name of another one in the same directory.
func (t tree) rename(from, to string) error {
	dir, base, err := t.parent(to)
	if err != nil {
		return err
	}
	defer dir.Close()
	if err := unix.Renameat(int(dir.Fd()), path.Base(from), int(dir.Fd()), base); err != nil {
		return fmt.Errorf("%s: %w", to, err)
	}
	return nil
}

func (t tree) remove(name string, flags int) error {
	dir, base, err := t.parent(name)
	if err != nil {
		return err
	}
	defer dir.Close()
	if err := unix.Unlinkat(int(dir.Fd()), base, flags); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

func (t tree) makeDirs(name string) error {
	if name == "." || t.kind(name) == folder {
		return nil
	}
	if err := t.makeDirs(path.Dir(name)); err != nil {
		return err
	}
	dir, base, err := t.parent(name)
	if err != nil {
		return err
	}
	defer dir.Close()
	if err := unix.Mkdirat(int(dir.Fd()), base, 0o777); err != nil && err != unix.EEXIST {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// removeEmpty removes directories that hold nothing, and stand where a file is to be.
func (t tree) removeEmpty(name string) {
	left := mostRefs
	if t.kind(name) != folder {
		return
	}
	items, err := t.list(name, &left)
	if err != nil {
		return
	}
	for _, i := range items {
		if i.kind == folder {
			t.removeEmpty(name + "/" + i.name)
		}
	}
	t.remove(name, unix.AT_REMOVEDIR) // fails where something is in it
}

// replace writes a file as a whole.
func (t tree) replace(name string, data []byte) error {
	temp := fmt.Sprintf("%s.gate%d.lock", name, os.Getpid())
	file, err := t.open(temp, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW, 0o666)
	if err != nil {
		return err
	}
	defer file.Close()
	if _, err = file.Write(data); err == nil {
		err = t.rename(temp, name)
	}
	if err != nil {
		t.remove(temp, 0)
	}
	return err
}

// append adds to the end of a file.
func (t tree) append(name string, data []byte) error {
	if len(data) == 0 {
		return nil
	}
	file, err := t.open(name, unix.O_WRONLY|unix.O_CREAT|unix.O_APPEND|unix.O_NOFOLLOW, 0o666)
	if err != nil {
		return err
	}
	defer file.Close()
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		return fmt.Errorf("%s is no file", name)
	}
	_, err = file.Write(data)
	return err
}
