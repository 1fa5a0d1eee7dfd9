package audit

import (
	"slices"
	"sort"
	"strings"
	"unicode/utf8"

	"gate/hook"
	"gate/internal/secret"
)

// secrets are what was taken out of a call's texts. A text that was taken apart
// holds them without the name that gave them away.
type secrets struct {
	long  []string // taken out wherever they stand
	short []string // taken out where they are a word
}

// Limits of what is looked for, so that the cost stays in proportion to the
// text.
const (
	maxSecrets = 32
	longSecret = 8 // bytes of one that stands for nothing else by chance
)

// ahead is as much of the beginning of s as is looked at.
func ahead(s string, most int) string { return s[:min(len(s), most)] }

// learn collects what redaction takes out of s.
func (x *secrets) learn(s string) {
	for _, p := range secret.Find(s) {
		x.add(s[p.From:p.To])
	}
}

// add takes in one secret.
func (x *secrets) add(value string) {
	list := &x.short
	if len(value) >= longSecret {
		list = &x.long
	}
	if len(x.long)+len(x.short) < maxSecrets && !slices.Contains(*list, value) {
		*list = append(*list, value)
	}
}

// ofCall learns from where secrets of a call can be told by what stands before
// them. The shifts are those of its shell line.
func (x *secrets) ofCall(ev *hook.Event, facts *hook.Facts) shifts {
	for _, v := range ev.ToolInput() {
		if text, ok := v.(string); ok {
			x.learn(ahead(text, 2*maxField))
		}
	}
	if facts == nil || facts.Shell == nil {
		return nil
	}
	var words []byte
	for i := range facts.Shell.Commands {
		c := &facts.Shell.Commands[i]
		x.given(c)
		words = words[:0]
		for _, w := range c.Words {
			if w.Value != nil && len(words) < 2*maxField {
				words = append(words, ahead(*w.Value, 2*maxField)...)
			}
			words = append(words, ' ')
		}
		x.learn(string(words))
	}
	line := ahead(facts.Shell.Text, maxField+secret.Reach)
	return shiftsOf(line, x.in(line))
}

// in returns where secrets stand in s: those that s itself gives away, and
// those that were learnt. The places are in order and do not overlap.
func (x *secrets) in(s string) []secret.Place {
	out := secret.Find(s)
	found := len(out)
	free := func(p secret.Place) bool {
		next, _ := slices.BinarySearchFunc(out[:found], p, func(o, p secret.Place) int { return o.To - p.From - 1 })
		near := out[next:min(next+1, found)]
		overlaps := func(o secret.Place) bool { return p.From < o.To && o.From < p.To }
		return !slices.ContainsFunc(near, overlaps) && !slices.ContainsFunc(out[found:], overlaps)
	}
	for i, known := range slices.Concat(x.long, x.short) {
		for at := 0; len(out) < found+maxSecrets; {
			n := strings.Index(s[at:], known)
			if n < 0 {
				break
			}
			p := secret.Place{From: at + n, To: at + n + len(known)}
			if at = p.To; free(p) && (i < len(x.long) || alone(s, p)) {
				out = append(out, p)
			}
		}
	}
	if len(out) > found {
		sort.SliceStable(out, func(i, j int) bool { return out[i].From < out[j].From }) // slices has a body for each type
	}
	return out
}

// alone reports that a place is a word of the text.
func alone(s string, p secret.Place) bool {
	const ends = " \t\r\n\"'`=:;,&|()<>"
	return (p.From == 0 || strings.IndexByte(ends, s[p.From-1]) >= 0) && (p.To == len(s) || strings.IndexByte(ends, s[p.To]) >= 0)
}

// A shift is one place where a text grew or shrank, in code points.
type shift struct{ from, to, grew int }

// shifts are those of one text, in order.
type shifts []shift

// shiftsOf tells what masking does to positions in s.
func shiftsOf(s string, places []secret.Place) shifts {
	var out shifts
	at, points := 0, 0
	for _, p := range places {
		points += utf8.RuneCountInString(s[at:p.From])
		n := utf8.RuneCountInString(s[p.From:p.To])
		out = append(out, shift{points, points + n, len(secret.Mark) - n})
		at, points = p.To, points+n
	}
	return out
}

// move returns where a position of the text is afterwards. What lies within a
// secret moves to the end of its mark.
func (x shifts) move(at int) int {
	grew := 0
	for _, s := range x {
		if at <= s.from {
			break
		}
		if at < s.to {
			return s.to + grew + s.grew
		}
		grew += s.grew
	}
	return at + grew
}

// mask takes what the call gave away out of what was said about it.
func (r *Record) mask(x *secrets) {
	texts := []*string{&r.Call}
	for _, list := range [][]Reason{r.Reasons, r.Warned} {
		for i := range list {
			texts = append(texts, &list[i].Reason)
		}
	}
	for i := range r.Faults {
		texts = append(texts, &r.Faults[i])
	}
	for _, text := range texts {
		*text = ahead(*text, 16*maxText)
		*text = secret.Mask(*text, x.in(*text))
	}
}
