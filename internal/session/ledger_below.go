package session

import (
	"bytes"
	"slices"
	"strings"

	"gate/internal/origin"
	"gate/internal/strictjson"
)

// maxBelow is how many files below one directory are told of. It stands for those that are
// more.
const maxBelow = 256

// Below implements [origin.Ledger]. Each path holds what [Entries.Of] says of it.
func (e *Entries) Below(dir string) (list []origin.Move, err error) {
	if strings.HasPrefix(dir, "/") {
		e.around(strings.TrimSuffix(dir, "/"))
	}
	if len(e.books) == 0 {
		return nil, e.err
	}
	list = e.below(nil, dir, dir)
	if to := e.ledger.real(dir); to != dir {
		list = e.below(list, to, dir)
	}
	return list, e.err
}

// below adds what lies below one spelling of a directory, as below another one: the lines
// of all these paths begin with it.
func (e *Entries) below(list []origin.Move, dir, as string) []origin.Move {
	dir, as = strings.TrimSuffix(dir, "/"), strings.TrimSuffix(as, "/")
	begin := bytes.TrimSuffix(strictjson.Append([]byte("\n["), spelt(dir+"/")), []byte(`"`))
	var names []string
	for _, b := range e.books {
		names = b.telling(names, begin)
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		var all []found
		for _, b := range e.books {
			all = append(all, b.live(e.ledger.files(), name)...)
		}
		m := merged(all)
		if m.Secret == "" && m.Host == "" {
			continue
		}
		if len(list) == maxBelow {
			return append(list, origin.Move{Path: as + "/", Secret: m.Secret, Host: m.Host})
		}
		m.Path = as + strings.TrimPrefix(name, dir)
		list = append(list, m)
	}
	return list
}

// telling adds the paths of lines that begin so and tell of a secret or a host.
func (b *book) telling(names []string, begin []byte) []string {
	for from := 0; ; {
		i := bytes.Index(b.text[from:], begin)
		if i < 0 {
			return names
		}
		if f := b.line(from + i); f != nil && (f.Secret != "" || f.Host != "") {
			names = append(names, f.Path)
		}
		from += i + len(begin)
	}
}
