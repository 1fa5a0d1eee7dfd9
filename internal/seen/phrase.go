package seen

import (
	"cmp"
	"strings"
)

// The phrase of a wallet (BIP 39) is 12, 15, 18, 21 or 24 small words of a list of 2048, of
// which the first letters tell one word from the others. gate looks for six of them in a
// row, which have 66 bits. Fewer could be guessed by whoever has the key.
const (
	phraseWords = 6
	beginning   = 3  // letters of a word that count
	leastPhrase = 12 // words
	maxPhrase   = 24
	maxAhead    = 160 // bytes before a phrase that may announce it
)

// phrases adds the phrases of wallets in a text that the file, or words before them,
// announce. Their words may stand on one line or on several, and have numbers.
func (x *extraction) phrases(text string) {
	var words []string
	var places []int // where each begins
	end := func() {
		for n := len(words); n > leastPhrase && (n%3 != 0 || phrased(words[0])); n-- { // "seed phrase gravity machine"
			words, places = words[1:], places[1:]
		}
		if n := len(words); n >= leastPhrase && n <= maxPhrase && n%3 == 0 && (x.file != "" && !x.named || phrased(text[max(0, places[0]-maxAhead):places[0]])) {
			x.phrase(words)
		}
		words, places = nil, nil
	}
	between := func(c byte) bool { return parts[c] == gap || strings.IndexByte("-_=:", c) >= 0 }
	for at := 0; at < len(text); {
		if between(text[at]) {
			at++
			continue
		}
		from := at
		for at < len(text) && !between(text[at]) {
			at++
		}
		switch word := text[from:at]; {
		case brief(word):
			words, places = append(words, word), append(places, from)
		case strings.Trim(word, "0123456789.):→") == "": // its number
		default:
			end()
		}
	}
	end()
}

// phrase adds the words of one phrase, six at a time from its end: joined, and by their
// beginnings. Before the first word there may be one that is none.
func (x *extraction) phrase(words []string) {
	what := cmp.Or(x.file, unnamed)
	for end := len(words); end > 0; end -= phraseWords {
		six := words[max(0, end-phraseWords):][:phraseWords]
		begun := ""
		for _, w := range six {
			begun += w[:beginning]
		}
		x.put(value{what, strings.Join(six, ""), kindWindow})
		x.put(value{what, begun, kindPhrase})
	}
}

// brief reports a word as phrases have it.
func brief(w string) bool {
	return len(w) >= beginning && len(w) <= 8 && strings.Trim(w, "abcdefghijklmnopqrstuvwxyz") == ""
}

// phrased reports a word or text that announces the phrase of a wallet.
func phrased(text string) bool {
	text = strings.ToLower(text)
	for _, known := range []string{"mnemonic", "seed", "recover", "phrase", "wallet", "bip39"} {
		if strings.Contains(text, known) {
			return true
		}
	}
	return false
}

// beginnings are the first letters of the words of a text, in their order and the other
// way round. A long run of letters without a gap is taken for words that are cut to four
// or three letters. It is nil for a text with too few words.
func beginnings(text string) (lists [][]byte) {
	var out []byte
	add := func(word string) {
		for _, c := range []byte(word[:beginning]) {
			out = append(out, c|0x20)
		}
	}
	joined := false
	for at := 0; at < len(text); {
		from := at
		for at < len(text) && text[at]|0x20 >= 'a' && text[at]|0x20 <= 'z' && (at == from || text[at] >= 'a' || text[at-1] < 'a') {
			at++
		}
		switch n := at - from; {
		case n >= beginning:
			add(text[from:at])
			joined = joined || n >= phraseWords*beginning
		case n == 0:
			at++
		}
	}
	if len(out) >= phraseWords*beginning {
		lists = append(lists, out, turnedWords(out))
	}
	if !joined {
		return lists
	}
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return r|0x20 < 'a' || r|0x20 > 'z' }) {
		for size := beginning; size <= beginning+1; size++ {
			if len(word) < phraseWords*size || len(word) > maxPhrase*(beginning+1) {
				continue
			}
			out = nil
			for from := 0; from+beginning <= len(word); from += size {
				add(word[from:])
			}
			lists = append(lists, out, turnedWords(out))
		}
	}
	return lists
}

// turnedWords has beginnings the other way round, each as it is.
func turnedWords(list []byte) []byte {
	out := make([]byte, 0, len(list))
	for at := len(list) - beginning; at >= 0; at -= beginning {
		out = append(out, list[at:at+beginning]...)
	}
	return out
}
