package draft

import (
	"maps"
	"path"
	"slices"
	"strings"

	"gate/facts/internal/flow"
	"gate/hook"
	"gate/internal/wordlist"
)

// noCode are the endings of files that no program reads to know what it runs: texts for
// people, data, pictures, archives, and what programs make.
const noCode = " .md .markdown .rst .adoc .txt .log .csv .tsv .html .htm .css .scss .sass .less .svg .png .jpg .jpeg .gif .ico .webp .pdf .ttf .woff .woff2 " +
	".lock .sum .out .err .map .diff .patch .rej .orig .bak .snap .golden .po .pot .mo .zip .gz .tar .tgz .xz .bz2 .zst .jar .o .a .so .dylib .dll .exe .class .pyc " +
	".db .sqlite .sqlite3 .parquet .bin .jsonl .ndjson .tex .bib .pem .crt .key "

// decides reports a file by whose name programs may read it to know what they run.
func decides(file string) bool {
	base := path.Base(file)
	if strings.HasPrefix(base, ".env") && base != ".envrc" { // names and values
		return false
	}
	lists := path.Ext(base) == ".txt" && (strings.Contains(base, "requirements") || strings.Contains(base, "constraints")) // of pip
	return lists || base == "CMakeLists.txt" || !wordlist.Has(noCode, strings.ToLower(path.Ext(base)))
}

// writes are the files whose text the event decides about: those that it writes, wholly
// or in part, and that programs may read to know what they run.
func (d *Draft) writes() map[string]bool {
	files := map[string]bool{}
	add := func(file string) {
		if strings.HasPrefix(file, "/") && decides(file) {
			files[file] = true
		}
	}
	for file := range d.Files {
		add(file)
	}
	for file := range d.Pieces {
		add(file)
	}
	for _, e := range d.Facts.Effects {
		if w, ok := e.Is.(*hook.FSWrite); ok && w.Path != nil && !w.Recursive && w.How != "link" && w.How != "create" {
			add(*w.Path)
		}
	}
	return files
}

// An authored text is one of a file that an earlier call wrote.
type authored struct {
	read bool
	text *string // nil where it cannot be read
}

// Limits of the files of earlier calls that are read for one event.
const (
	maxAuthored     = 64 << 10 // bytes of a file
	maxAuthoredRead = 8 << 20  // bytes of all
)

// OfAgent judges a text that an agent wrote in a call before: code in it that is not known
// is told apart from the line's, but for some reasons why.
func (d *Draft) OfAgent(judge func(), except ...string) {
	outer := d.ofAgent
	d.ofAgent = len(d.Facts.Unknown)
	d.WithinLimits(judge)
	n := min(d.ofAgent, len(d.Facts.Unknown))
	d.ofAgent = outer
	kept := d.Facts.Unknown[:n]
	for _, one := range d.Facts.Unknown[n:] {
		one.Written = one.Written || one.Kind == "code" && !slices.Contains(except, one.Why)
		if !one.Written || !slices.ContainsFunc(kept, func(o hook.Unknown) bool { return o.Written && o.Why == one.Why && o.Command == one.Command }) {
			kept = append(kept, one)
		}
	}
	d.Facts.Unknown = kept
}

// WithinLimits judges a text that an agent wrote: what [Draft.Limit] leaves out of it counts as
// code that is not known.
func (d *Draft) WithinLimits(judge func()) {
	d.agents++
	judge()
	d.agents--
}

// ByAgent reports that a text which an agent wrote is judged now.
func (d *Draft) ByAgent() bool { return d.agents > 0 }

// ofAgents records, once for each command, code that an agent wrote and that nobody knows.
func (d *Draft) ofAgents(why string, command int) {
	d.Facts.Opaque = true
	if !slices.ContainsFunc(d.Facts.Unknown, func(u hook.Unknown) bool { return u.Written && u.Why == why && u.Command == command }) {
		d.Facts.Unknown = append(d.Facts.Unknown, hook.Unknown{Kind: "code", Why: why, Command: command, Written: true})
	}
}

// ForgetUnknown takes back what was not known since the list had n entries, but for code
// in texts that agents wrote.
func (d *Draft) ForgetUnknown(n int) {
	n = min(n, len(d.Facts.Unknown))
	kept := slices.DeleteFunc(d.Facts.Unknown[n:], func(u hook.Unknown) bool { return !u.Written })
	d.Facts.Unknown = d.Facts.Unknown[:n+len(kept)]
}

// Authored are the files whose text agents decided about, in order: those that the line
// writes, and those that calls before it wrote. Nobody reads them yet.
func (d *Draft) Authored() []string {
	if d.earlierFiles(); d.earlierNames == nil {
		d.earlierNames = slices.Sorted(maps.Keys(d.earlier))
	}
	if len(d.Files) == 0 {
		return d.earlierNames
	}
	names := slices.Collect(maps.Keys(d.Files))
	for _, name := range d.earlierNames {
		if _, now := d.Files[name]; !now {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// earlierFiles are the files that calls before this one wrote.
func (d *Draft) earlierFiles() map[string]*authored {
	if d.earlier != nil || d.World.Ledger == nil || d.Event == nil {
		return d.earlier
	}
	d.earlier = map[string]*authored{}
	names, err := d.opened().Written()
	if err != nil {
		d.Unknown("origin", err.Error(), 0, nil)
	}
	for _, name := range names {
		d.earlier[name] = &authored{}
	}
	return d.earlier
}

// AuthoredText is the text of a file that an agent decided about: as the line has written
// it, or as it lies there after earlier calls. It reports false for any other file. The
// file may be reached through links.
func (d *Draft) AuthoredText(name string) (st flow.Stream, ok bool) {
	if st, ok = d.Files[name]; ok {
		return st, true
	}
	a, ok := d.earlierFiles()[name]
	if !ok && len(d.earlier) > 0 {
		if real, known := d.World.Resolve(name, d.Links, true); known && real != name {
			if st, ok = d.Files[real]; ok {
				return st, true
			}
			a, ok = d.earlier[real]
		}
	}
	if !ok {
		return flow.Stream{}, false
	}
	if !a.read {
		a.read = true
		if text, err := d.World.Read(name, maxAuthored); err == nil {
			if d.authoredRead += len(text); d.authoredRead > maxAuthoredRead {
				d.Limit("more text that agents wrote than gate reads for one call")
			} else {
				a.text = &text
			}
		}
	}
	return flow.Stream{Text: a.text, Some: true}, true
}
