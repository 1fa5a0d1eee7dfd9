package seen

import (
	"slices"
	"sort"
	"strings"

	"gate/hook"
)

// maxParts is how many bytes of a text [Seen.Parts] looks at: more of it is not kept.
const maxParts = 16 << 10

// Parts are what an event's texts have of secrets that the session was shown, as it stands
// there: the value, the word that is a code for it, or the whole text where it takes that.
// They are for whoever must not write them down. A file that cannot be read has none.
func (s *Seen) Parts(ev *hook.Event) (parts []string) {
	if !s.journal().Exists() {
		return nil
	}
	kept, err := s.read()
	if err != nil {
		return nil
	}
	f := kept.finder()
	if f == nil {
		return nil
	}
	f.again = true
	calls(ev, ev.Facts, func(text string) { parts = append(parts, f.parts(ahead(text, maxParts), true)...) })
	for _, field := range []string{"tool_response", "error", "prompt"} {
		texts("", ev.Fields[field], func(_, text string) { parts = append(parts, f.parts(ahead(text, maxParts), false)...) })
	}
	slices.Sort(parts)
	return slices.Compact(parts)
}

// parts are those of one text. Codes are looked for in a deep look.
func (f *finder) parts(text string, deep bool) (list []string) {
	plain := f.values(func() { f.text(text) })
	for _, p := range plain {
		list = append(list, p.whole(text)...)
	}
	if !deep {
		return list
	}
	decoded := func(text string) []match {
		d := decoder{view: f.text, quick: f.letters, passes: f.views(), left: maxWork}
		return f.values(func() { d.decode(text, maxDepth); d.ciphered(text); f.text(joined(text)) })
	}
	all := decoded(text)
	if len(all) == 0 {
		return list
	}
	for word := range strings.FieldsFuncSeq(text, parting) {
		if len(word) < leastLength {
			continue
		}
		in := decoded(word)
		if len(in) == 0 {
			continue
		}
		all = slices.DeleteFunc(all, func(p match) bool { return slices.Contains(in, p) })
		if !slices.ContainsFunc(plain, func(p match) bool { return p.in(word) }) {
			list = append(list, word)
		}
	}
	if all = slices.DeleteFunc(all, func(p match) bool { return slices.Contains(plain, p) }); len(all) > 0 {
		list = append(list, strings.TrimSpace(text))
	}
	return list
}

// parting reports a character between words.
func parting(c rune) bool { return c < 0x80 && parts[byte(c)] == gap }

// A match is what a look found: a value, a window of one, or words of a phrase.
type match struct {
	text string
	kind kind
}

func (p match) in(text string) bool {
	switch p.kind {
	case kindPhrase:
		return false // it takes many words
	case kindWindow:
		text = string(fold(nil, text))
	}
	return strings.Contains(text, p.text)
}

// values are those that a look finds, each once.
func (f *finder) values(look func()) []match {
	f.verified = nil
	look()
	sort.SliceStable(f.verified, func(i, j int) bool { return f.verified[i].text < f.verified[j].text }) // slices has a body for each type
	return slices.Compact(f.verified)
}

// whole are the words of a text that a match stands in: of a value gate keeps pieces.
func (p match) whole(text string) (list []string) {
	if p.kind == kindPhrase {
		return []string{strings.TrimSpace(text)}
	}
	window := p.kind == kindWindow
	plain, at := text, func(i int) int { return i }
	if window {
		var places []int // in the text, of each byte of what it is in windows
		for i := range len(text) {
			if inWindow(text[i]) != 0 {
				places = append(places, i)
			}
		}
		plain, at = string(fold(nil, text)), func(i int) int { return places[i] }
	}
	for from := 0; ; from += len(p.text) {
		i := strings.Index(plain[from:], p.text)
		if i < 0 {
			return list
		}
		from += i
		begin, end := at(from), at(from+len(p.text)-1)+1
		if !window && len(p.text) < length(1<<10) {
			list = append(list, text[begin:end])
			continue
		}
		for begin > 0 && parts[text[begin-1]] != gap {
			begin--
		}
		for end < len(text) && parts[text[end]] != gap {
			end++
		}
		list = append(list, text[begin:end])
	}
}
