package sign

import (
	"slices"
	"strings"
	"unicode/utf8"

	"gate/facts/internal/draft"
	"gate/internal/addressed"
	"gate/internal/strictjson"
	"gate/internal/wordlist"
)

// wide is how many blanks in a row, and tall how many ends of lines, put what comes after them
// out of sight.
const (
	wide = 80
	tall = 12
)

// hiding returns what a text hides: its first character that nobody sees, a code for
// terminals, a comment, or text far away. Blanks of other widths hide nothing.
func hiding(text string) string {
	for rest := text; ; {
		at, found := draft.Misleads(rest)
		if !found {
			break
		}
		r, size := utf8.DecodeRuneInString(rest[at:])
		if !blank(r) {
			return strings.Trim(strictjson.Quoted(string(r)), `"`)
		}
		rest = rest[at+size:]
	}
	blanks, lines := 0, 0
	for _, r := range text {
		switch {
		case r == '\n':
			lines++
			continue
		case r == ' ' || r == '\t' || r == '\r' || blank(r):
			blanks++
			continue
		case r < ' ' || r == 0x7F || 0x80 <= r && r < 0xA0:
			return strings.Trim(strictjson.Quoted(string(r)), `"`)
		case blanks >= wide || lines >= tall:
			return "blank space before " + clip(string(r))
		}
		blanks, lines = 0, 0
	}
	if _, comment, found := strings.Cut(text, "<!--"); found {
		if comment, _, _ = strings.Cut(comment, "-->"); len(strings.Fields(comment)) > 2 {
			return "comment: " + strings.TrimSpace(comment)
		}
	}
	return ""
}

// blank reports a blank that a person sees as one.
func blank(r rune) bool {
	return r == 0xA0 || r == 0x3000 || r == 0x1680 || 0x2000 <= r && r <= 0x200A || r == 0x202F || r == 0x205F
}

// A sentence is a part of a text whose words belong together.
type sentence struct {
	words []string // in lower case, without marks around them
	text  string
}

// sentences takes a text apart. Letters that only look Latin are Latin, and what nobody
// sees is not there.
func sentences(text string) (list []sentence) {
	from := 0
	end := func(to int) {
		if part := strings.TrimSpace(text[from:to]); part != "" {
			all := words(part)
			for ; len(all) > maxWords; all = all[maxWords:] { // for each word the others are looked at
				list = append(list, sentence{all[:maxWords], strings.Join(all[:maxWords], " ")})
				part = strings.Join(all[maxWords:], " ")
			}
			list = append(list, sentence{all, part})
		}
	}
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case strings.IndexByte(".!?;", c) >= 0 && (i+1 == len(text) || strings.IndexByte(" \t\n\r\"')", text[i+1]) >= 0),
			c == '\n' && i+1 < len(text) && strings.IndexByte("\n-*#0123456789", text[i+1]) >= 0:
			end(i)
			from = i + 1
		}
	}
	end(len(text))
	return list
}

// maxWords is how many words one sentence has at most; longer ones are parted.
const maxWords = 200

const marks = ".,;:!?()[]{}\"'`<>*#|“”‘’«»…=—–"

func words(text string) (list []string) {
	for _, w := range strings.Fields(text) {
		for w := range strings.FieldsFuncSeq(w, func(r rune) bool { return strings.ContainsRune("()[]{}\"`<>|“”«»…=—–,;", r) }) {
			w = strings.Trim(strictjson.Fold(w), marks)
			if w = strings.NewReplacer("'", "", "’", "").Replace(w); w != "" {
				list = append(list, w)
			}
		}
	}
	return list
}

// speech looks for what a text says.
func (l *look) speech(field, text string) {
	if len(text) < 4 {
		return
	}
	if tag := tagged(text); tag != "" {
		l.add(instruction, field, tag)
	}
	for _, s := range sentences(text) {
		found := len(l.Facts.Signs)
		for at := range s.words {
			for _, p := range l.patterns[s.words[at]] {
				if matches(p.parts, s.words[at:]) && !(s.words[at] == "without" && denied(s.words[:at])) {
					l.add(p.kind, field, s.text)
				}
			}
		}
		if found == len(l.Facts.Signs) && len(addressed.Parts(s.text)) > 0 && !s.twice() {
			l.add(instruction, field, s.text)
		}
		if l.wantsSecret(field, s) {
			l.add(secrets, field, s.text)
		}
		if l.callsOthers(s) {
			l.add(otherTool, field, s.text)
		}
	}
}

// twice reports a sentence that denies twice: never without asking the user.
func (s *sentence) twice() bool {
	at := slices.Index(s.words, "without")
	return at > 0 && denied(s.words[:at])
}

// A pattern is what a sentence may say, and the kind of sign that it is then. Each part is
// a list of words, as package wordlist has them; "" is a gap.
type pattern struct {
	kind  string
	parts []string
}

// compiled are patterns, by the words that they begin with.
func compiled(rows []wordlist.Named[string]) map[string][]pattern {
	all := map[string][]pattern{}
	for _, p := range rows {
		for row := range strings.Lines(p.Value) {
			parts := partsOf(row)
			for first := range strings.FieldsSeq(parts[0]) {
				all[first] = append(all[first], pattern{p.Name, parts})
			}
		}
	}
	return all
}

func partsOf(row string) (parts []string) {
	for p := range strings.FieldsSeq(row) {
		part := ""
		for w := range strings.SplitSeq(p, "|") {
			if list := listed(w); list != "" {
				part += list
			} else if w != ".." {
				part += " " + w + " "
			}
		}
		parts = append(parts, part)
	}
	return parts
}

// most is how many words a gap has.
const most = 4

// matches reports that words begin with the parts of a pattern.
func matches(parts, words []string) bool {
	for i, p := range parts {
		if p == "" {
			for n := 0; n <= most && n <= len(words); n++ {
				if matches(parts[i+1:], words[n:]) {
					return true
				}
			}
			return false
		}
		if len(words) == 0 || !wordlist.Has(p, words[0]) {
			return false
		}
		words = words[1:]
	}
	return true
}

// tagged is a tag of a text that marks what follows as an order, "" if there is none.
func tagged(text string) string {
	lower := strings.ToLower(text)
	for _, tag := range strings.Fields(tags) {
		if at := strings.Index(lower, tag); at >= 0 && len(lower) == len(text) {
			return text[at:]
		} else if at >= 0 {
			return tag
		}
	}
	return ""
}

// letters is a name without all but its letters and digits, in lower case.
func letters(name string) string {
	return strings.Map(func(r rune) rune {
		if r < utf8.RuneSelf && !(r >= '0' && r <= '9' || r >= 'a' && r <= 'z') {
			return -1
		}
		return r
	}, strictjson.Fold(name))
}

// parted writes the name of a field as words: apiKey and api_key are "api key".
func parted(name string) string {
	var b strings.Builder
	for i, r := range name {
		switch {
		case r == '_' || r == '-' || r == '.':
			b.WriteByte(' ')
		case r >= 'A' && r <= 'Z' && i > 0 && name[i-1] >= 'a' && name[i-1] <= 'z':
			b.WriteByte(' ')
			b.WriteRune(r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
