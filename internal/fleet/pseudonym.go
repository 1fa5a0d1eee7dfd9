package fleet

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
)

// Pseudonyms replaces names by what only the holder of a key can tell again. The
// collector never has the key. Machines that share one give a person one pseudonym.
type Pseudonyms struct {
	Key []byte // [MinPseudonymKey] bytes at least
}

// MinPseudonymKey is the shortest key, in bytes: with a shorter one names could be guessed.
const MinPseudonymKey = 16

// Account, Session and Project are the pseudonyms of a name of each kind: u-, s- or p- and 16
// hexadecimal digits. That of "" is "".
func (p Pseudonyms) Account(name string) string { return p.of("u", "account", name) }

func (p Pseudonyms) Session(name string) string { return p.of("s", "session", name) }

func (p Pseudonyms) Project(name string) string { return p.of("p", "project", name) }

// call is the pseudonym of a call of a session: c- and 16 digits. Records of what came of a
// call have the same one.
func (p Pseudonyms) call(session, id string) string {
	if id == "" {
		return ""
	}
	return p.of("c", "call", session+"\n"+id)
}

// Name keeps a name that is plain, as programs and settings give them, and replaces any
// other text by n- and 16 digits.
func (p Pseudonyms) Name(text string) string { return p.name(text, 2) }

// name is Name, of a text with at most so many blanks.
func (p Pseudonyms) name(text string, blanks int) string {
	if isPlain(text, blanks) {
		return text
	}
	return p.of("n", "name", text)
}

// of is the pseudonym of a name of a kind. One name has another pseudonym in each kind.
func (p Pseudonyms) of(letter, kind, name string) string {
	if name == "" {
		return ""
	}
	mac := hmac.New(sha256.New, p.Key)
	mac.Write([]byte("gate-fleet/1\n" + kind + "\n" + name))
	return letter + "-" + hex.EncodeToString(mac.Sum(nil)[:8])
}

// maxPlain is the longest name that is kept, in bytes.
const maxPlain = 128

// isPlain reports that a text is a name as programs give them: letters, digits and a few
// marks, with a number of single blanks at most. It holds no path, line or sentence.
func isPlain(text string, blanks int) bool {
	if len(text) > maxPlain {
		return false
	}
	for i := range len(text) {
		switch c := text[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9':
		case c == '_', c == '-', c == '.', c == ':', c == '@', c == '#', c == '+':
		case c == ' ' && blanks > 0 && i > 0 && text[i-1] != ' ':
			blanks--
		default:
			return false
		}
	}
	return true
}
