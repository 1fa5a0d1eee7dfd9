package artifact

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"

	"gate/internal/hostfs"
)

// A portion is stamps of names below one directory, which is opened for them.
const (
	maxPortion = 100 // compared in a row, while another processor compares others: it is not waited for long
	fewStamps  = 300 // compared by whoever asks: to take another processor into use, or to wait for it, takes as long
	ownPortion = 16  // names in a directory that it is opened for; those of others are found from above
)

// stamps writes the stamps in portions, in the order of their names.
func (e *encoder) stamps(list []Stamp) {
	list = slices.SortedFunc(slices.Values(list), func(a, b Stamp) int { return cmp.Compare(a.Name, b.Name) })
	in := map[string]int{}
	for i := range list {
		in[path.Dir(list[i].Name)]++
	}
	groups := map[string][]Stamp{}
	var dirs []string
	for _, s := range list {
		dir := path.Dir(s.Name)
		for dir != "." && dir != "/" && in[dir] < ownPortion {
			dir = path.Dir(dir)
		}
		if dir == "/" { // a name that no place has, which whoever reads it refuses
			dir = "."
		}
		if groups[dir] == nil {
			dirs = append(dirs, dir)
		}
		groups[dir] = append(groups[dir], s)
	}
	var portions []encoder
	for _, dir := range dirs {
		for some := range slices.Chunk(groups[dir], maxPortion) {
			var p encoder
			p.cstring(dir)
			for i := range some {
				p.cstring(strings.TrimPrefix(some[i].Name, dir+"/"))
				r := some[i].record()
				p.buf = append(p.buf, r[:]...)
			}
			portions = append(portions, p)
		}
	}
	listOf(e, portions, func(p encoder) { e.text(string(p.buf)) })
}

// cstring writes a text as the system takes it, with a zero byte behind it.
func (e *encoder) cstring(s string) { e.text(s + "\x00") }

// cstring reads a text that [encoder.cstring] wrote, with the zero byte. A name
// that would lead out of the place is none.
func (d *decoder) cstring() string {
	s := d.text()
	if !strings.HasSuffix(s, "\x00") || s[0] == '/' {
		d.damaged()
		return "\x00"
	}
	return s
}

// Fresh reports that everything in dir, which is the place, is as it was when
// the artifact was made. Any difference is [ErrStale].
func (a *Artifact) Fresh(dir string) error {
	c, err := a.comparison()
	if err != nil {
		return err
	}
	if c.root, err = openView(dir); err != nil {
		return gone(err)
	}
	return c.begin(Processors)()
}

// Compare begins what [Artifact.Fresh] does. Where there is much of it, processors
// says how many there are for it, as [Processors] does. It returns what waits for
// the outcome, and must be called: it closes the place, which belongs to the
// comparison from here on.
// Whatever is learned of the artifact before that holds only if it is nil.
func (a *Artifact) Compare(place hostfs.Handle, processors func() int) (fresh func() error) {
	c, err := a.comparison()
	if err != nil {
		place.Close()
		return func() error { return err }
	}
	c.root = viewOf(place)
	return c.begin(processors)
}

// Processors is how many processors there are.
func Processors() int { return runtime.GOMAXPROCS(0) }

// A comparison is a look at everything that an artifact was made of.
type comparison struct {
	portions []string
	read     int64 // when the place was read, in nanoseconds since 1970
	root     view
	next     atomic.Int32 // of portions
	errs     []error      // of each
	helpers  sync.WaitGroup
}

func (a *Artifact) comparison() (*comparison, error) {
	d, err := a.open(sectionStamps)
	if err != nil {
		return nil, err
	}
	c := comparison{portions: d.texts(), read: a.content.Made.UnixNano()}
	if err := d.end(); err != nil {
		return nil, err
	}
	if len(c.portions) == 0 {
		return nil, fmt.Errorf("%w: it does not say what it was made of", ErrStale)
	}
	c.errs = make([]error, len(c.portions))
	return &c, nil
}

// begin has others compare, and returns what waits for the outcome.
func (c *comparison) begin(processors func() int) func() error {
	for range c.others(processors) {
		c.helpers.Go(c.run)
	}
	return sync.OnceValue(c.end)
}

// others says how many others are to compare portions, too.
func (c *comparison) others(processors func() int) int {
	size := 0
	for _, p := range c.portions {
		size += len(p)
	}
	if size < fewStamps*len(record{}) {
		return 0
	}
	return min(processors(), len(c.portions)) - 1
}

// run compares the portions that nobody compares yet.
func (c *comparison) run() {
	for {
		i := int(c.next.Add(1)) - 1
		if i >= len(c.portions) {
			return
		}
		if c.errs[i] = c.portion(c.portions[i]); c.errs[i] != nil {
			c.next.Store(int32(len(c.portions))) // more does not matter
			return
		}
	}
}

// end helps, and waits.
func (c *comparison) end() error {
	c.run()
	c.helpers.Wait()
	c.root.close()
	for _, err := range c.errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// portion compares some stamps with what is there now.
func (c *comparison) portion(text string) error {
	d := &decoder{data: text}
	dir, from := d.cstring(), c.root
	if dir != ".\x00" && d.err == nil {
		below, err := c.root.below(dir)
		if err != nil {
			return gone(err)
		}
		defer below.close()
		from = below
	}
	for d.at < len(d.data) {
		name := d.cstring()
		var want record
		if copy(want[:], d.raw(len(want))); d.err != nil {
			return d.err
		}
		now, err := from.look(name)
		if err != nil {
			return err
		}
		if now != want || !want.settled(c.read) {
			return fmt.Errorf("%w: %s has changed", ErrStale, path.Join(plain(dir), plain(name)))
		}
	}
	return d.err
}

func plain(name string) string { return strings.TrimSuffix(name, "\x00") }

// gone is the error of a directory that cannot be opened: where it is none any
// more, it was another.
func gone(err error) error {
	for _, is := range []error{fs.ErrNotExist, syscall.ENOTDIR, syscall.ELOOP} {
		if errors.Is(err, is) {
			return fmt.Errorf("%w: %w", ErrStale, err)
		}
	}
	return err
}
