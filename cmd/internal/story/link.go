// Package story finds in the decision log what calls did, and what followed from them.
//
// A [Link] leads from a call to a later one: what the first one left in a file or showed
// the agent decided about the second. [Find] finds the links of some decisions. The
// package prints nothing; package tell does.
package story

import (
	"errors"
	"iter"
	"slices"

	"gate/hook"
	"gate/internal/audit"
)

// A Link says where data of a call comes from.
type Link struct {
	From *audit.Record // the earlier call; nil: the log does not have it, or not any more
	To   *audit.Record

	Call   string // the earlier call, as input.flow names it; "" where files told
	Origin string // secret, untrusted or written
	What   string // the kind of secret, "" for none
	Path   string // the file by which it came; "" for none
	Host   string
	How    string // file, seen or sequence
}

// Origins of data.
const (
	secretOrigin  = "secret"
	writtenOrigin = "written"
)

// mostRecords is how many records of a log are looked through.
const mostRecords = 200_000

// Find returns the links to some decisions, and from these on to what came before, in
// the order of the log. newest yields the log from its newest record on. whole says
// whether it came to the end: to a point from which nothing leads further back, or to
// the beginning of the log.
func Find(decisions []*audit.Record, newest iter.Seq2[audit.Record, error]) (links []Link, whole bool, err error) {
	s := search{left: slices.Clone(decisions)}
	whole = true
	seen := 0
	for r, err := range newest {
		if torn := (*audit.TornError)(nil); errors.As(err, &torn) {
			continue
		}
		if err != nil {
			return nil, false, err
		}
		own := r
		s.meet(&own)
		if len(s.left) == 0 && len(s.wanted) == 0 {
			break
		}
		if seen++; seen >= mostRecords {
			whole = false
			break
		}
	}
	for _, w := range s.wanted {
		if w.Call != "" { // a file without a writer had its secret all along
			s.links = append(s.links, w)
		}
	}
	slices.Reverse(s.links)
	slices.SortStableFunc(s.links, func(a, b Link) int { return a.To.Time.Compare(b.To.Time) })
	return s.links, whole, nil
}

// A search goes back through a log.
type search struct {
	left   []*audit.Record // decisions that were not met yet
	wanted []Link          // without From
	links  []Link
}

// meet takes in the next older record.
func (s *search) meet(r *audit.Record) {
	at := slices.IndexFunc(s.left, func(o *audit.Record) bool { return same(o, r) })
	if at >= 0 {
		r = s.left[at]
		s.left = slices.Delete(s.left, at, at+1)
	}
	if s.resolve(r) || at >= 0 {
		s.wanted = append(s.wanted, wants(r)...)
	}
}

func same(a, b *audit.Record) bool { return a.ID == b.ID && a.Time.Equal(b.Time) }

// resolve finds what of the wanted a record is the call of, and reports whether anything
// is.
func (s *search) resolve(r *audit.Record) bool {
	if len(s.wanted) == 0 || !r.Begins() || r.Kept == nil {
		return false
	}
	before := len(s.wanted)
	id, _ := r.Kept.Input["tool_use_id"].(string)
	var f *hook.Facts
	s.wanted = slices.DeleteFunc(s.wanted, func(w Link) bool {
		if w.Call != "" {
			if w.Call != r.ID && (w.Call != id || r.Agent != w.To.Agent) {
				return false
			}
		} else {
			if f == nil {
				f = Facts(r)
			}
			if f == nil || r.Project != w.To.Project || r.Effect == hook.Deny || r.Result == hook.Reject || !leaves(f, &w) {
				return false
			}
		}
		w.From = r
		s.links = append(s.links, w)
		return true
	})
	return len(s.wanted) < before
}

// leaves reports whether a call with these facts leaves what is wanted in its file.
func leaves(f *hook.Facts, w *Link) bool {
	return slices.Contains(Of(f).Writes, w.Path) && (w.Origin != secretOrigin || len(Of(f).Secrets) > 0)
}

// wants are the links to a decision, still without the calls that they lead from: what
// input.flow says, in records that lack it what their facts show.
func wants(r *audit.Record) []Link {
	if r.Kept == nil {
		return nil
	}
	flows, said := r.Kept.Input["flow"].([]any)
	if !said {
		return shownBy(r)
	}
	var list []Link
	for _, v := range flows {
		m, _ := v.(map[string]any)
		text := func(key string) string {
			s, _ := m[key].(string)
			return s
		}
		w := Link{To: r, Call: text("call"), Origin: text("origin"), What: text("what"), Path: text("path"), Host: text("host"), How: text("how")}
		if via, _ := m["via"].([]any); len(via) > 0 { // the last file is the one that this call takes
			w.Path, _ = via[len(via)-1].(string)
		}
		known := slices.ContainsFunc(list, func(o Link) bool {
			return o.Call == w.Call && o.Path == w.Path && o.Host == w.Host && o.Origin == w.Origin
		})
		if !known && (w.Call != "" || w.Path != "") {
			list = append(list, w)
		}
	}
	return list
}

// shownBy are the files that the facts of a decision show as read for a secret, or run.
func shownBy(r *audit.Record) []Link {
	f := Facts(r)
	if f == nil {
		return nil
	}
	var list []Link
	add := func(origin, what string, path *string) {
		if path == nil || slices.ContainsFunc(list, func(o Link) bool { return o.Path == *path && o.Origin == origin }) {
			return
		}
		list = append(list, Link{To: r, Origin: origin, What: what, Path: *path, How: "file"})
	}
	for _, e := range f.Effects {
		switch e := e.Is.(type) {
		case *hook.SecretRead:
			add(secretOrigin, e.What, e.Path)
		case *hook.NetSend:
			if e.Secret != nil {
				add(secretOrigin, "", e.Path) // the log masks what kind it is
			}
		}
	}
	for i := range f.Paths {
		if f.Paths[i].Access == "execute" {
			add(writtenOrigin, "", target(&f.Paths[i]))
		}
	}
	return list
}

// Facts are those that a record has, nil if it has none that this program reads.
func Facts(r *audit.Record) *hook.Facts {
	if r.Kept == nil {
		return nil
	}
	doc, _ := r.Kept.Input["facts"].(map[string]any)
	if doc == nil {
		return nil
	}
	f, err := hook.FactsOf(doc, r.Kept.Input["flow"], line(r))
	if err != nil {
		return nil
	}
	return f
}

// line is the shell line of a record, "" if it is about none.
func line(r *audit.Record) string {
	input, _ := r.Kept.Input["tool_input"].(map[string]any)
	text, _ := input["command"].(string)
	return text
}

func target(p *hook.Path) *string {
	if p.Resolved != nil {
		return p.Resolved
	}
	return p.Path
}
