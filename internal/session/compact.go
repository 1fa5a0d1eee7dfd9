package session

import (
	"bytes"
	"iter"
	"slices"
	"sort"
	"strings"
	"time"

	"gate/internal/origin"
)

// expected is how long a call may take until it has written its files.
const expected = time.Hour

// fit makes a ledger small enough that lines can be added to it, of fewer and fewer files by
// name where their names are long.
func (l Ledger) fit(text []byte, now time.Time) []byte {
	for most := maxEntries; ; most /= 2 {
		if out := l.compact(text, most, now); len(out) <= maxLedger/2 || most == 0 {
			return out
		}
	}
}

// compact leaves the lines that count, or may count once their calls have run, and the
// ends of those calls. Of more lines than most the oldest are given up: first those that an
// agent wrote and that hold nothing more, then others for their directories.
func (l Ledger) compact(text []byte, most int, now time.Time) []byte {
	b, _ := readBook(append([]byte(head()), text...)) // what is damaged, Open says
	b.old = true                                      // lines of any format may be among them
	kept := b.counting(l.files(), now)
	if over := len(kept) - most/2; len(kept) > most {
		kept = slices.DeleteFunc(kept, func(f found) bool {
			over--
			return over >= 0 && f.Secret == "" && f.Host == "" // no directory can stand for it
		})
	}
	lines := map[int]*line{} // by where they stand
	ends := map[string]bool{}
	dirs := map[string]bool{}
	for i, f := range kept {
		if len(kept)-i > most/2 && len(kept) > most {
			f.Path = around(f.Path)
			if f.Anew, f.was = false, ""; dirs[f.Path] {
				continue
			}
			dirs[f.Path] = true
		}
		lines[f.pos] = f.line
		ends[string(endOf(f.line))] = true
	}
	out := []byte("\n")
	for pos, row := range b.rows() {
		if f := lines[pos]; f != nil {
			out = append(f.append(out), '\n')
		} else if isEnd(row) && ends["\n"+string(row[:bytes.LastIndexByte(row, ',')+1])] {
			out = append(append(out, row...), '\n')
		}
	}
	return out
}

// around is the directory that stands for a path. For a part of a file, whose name has no
// directory that anybody asks about, it is the file, as a directory.
func around(path string) string {
	if whole, _, part := origin.CutPart(path); part {
		return whole + "/"
	}
	return path[:strings.LastIndexByte(strings.TrimSuffix(path, "/"), '/')+1]
}

// rows are the lines and ends of a book, each by the line break before it.
func (b *book) rows() iter.Seq2[int, []byte] {
	return func(yield func(int, []byte) bool) {
		for pos := 0; pos+1 < len(b.text); {
			end := pos + 1 + bytes.IndexByte(b.text[pos+1:], '\n')
			if end <= pos || !yield(pos, b.text[pos+1:end]) {
				return
			}
			pos = end
		}
	}
}

// counting are the lines of a book that say something of their files, in order.
func (b *book) counting(files Files, now time.Time) (kept []found) {
	paths := map[string][]found{}
	var order, dirs []string
	for pos, row := range b.rows() {
		if isEnd(row) {
			continue
		}
		f := b.line(pos)
		if f == nil {
			continue
		}
		if paths[f.Path] == nil {
			order = append(order, f.Path)
		}
		if strings.HasSuffix(f.Path, "/") {
			dirs = append(dirs, f.Path)
		}
		paths[f.Path] = append(paths[f.Path], found{f, pos})
	}
	for _, path := range order {
		covered := slices.ContainsFunc(dirs, func(dir string) bool { return strings.HasPrefix(path, dir) })
		kept = append(kept, b.lasting(files, paths[path], covered, now)...)
	}
	sort.SliceStable(kept, func(i, j int) bool { return kept[i].pos < kept[j].pos }) // slices has a body for each type
	return kept
}

// maxSame is how many calls are kept that say the same of a file and of which nobody knows
// yet whether they run.
const maxSame = 16

// lasting are the lines about one path that still count. covered says that a line about a
// directory may be about it, too.
func (b *book) lasting(files Files, list []found, covered bool, now time.Time) (kept []found) {
	live := map[int]bool{}
	for _, f := range b.liveOf(files, list) {
		live[f.pos] = true
	}
	have := map[string]int{}
	for _, f := range slices.Backward(list) {
		how, _ := b.endOf(f.line)
		fresh := how == "" && !f.at.Before(now.Add(-expected)) // it may still run, or be refused
		same := f.Secret + "\x00" + f.Host + "\x00" + f.From
		switch {
		case how == Refused, !live[f.pos] && !fresh:
			continue
		case f.Tells():
			if have[same] >= maxSame {
				continue
			}
			if have[same]++; live[f.pos] && !fresh {
				have[same] = maxSame
			}
		case fresh && f.Anew, covered:
		default:
			continue
		}
		kept = append(kept, f)
	}
	return kept
}
