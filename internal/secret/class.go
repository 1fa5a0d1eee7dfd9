package secret

// A class is a set of bytes. Texts are long and gate looks at each byte, so a table tells
// the classes of one.
type class uint16

const (
	wordly    class = 1 << iota // letters, digits and _
	keyed                       // of names: those, - and .
	tokened                     // of tokens: those, + / = ~ and :
	digit                       // 0 to 9
	upper                       // A to Z
	lower                       // a to z
	blank                       // a blank or a tab
	ending                      // ends a value without quotes
	quoting                     // quotes, and the backslash before them in a string
	assigning                   // of ==, => and the like
	joining                     // between -u and its value
	telling                     // the finder looks at it, though no word begins with it
)

const (
	digits   = wordly | keyed | tokened | digit
	capitals = wordly | keyed | tokened | upper
	smalls   = wordly | keyed | tokened | lower
)

var classes = [256]class{
	'0': digits, '1': digits, '2': digits, '3': digits, '4': digits, '5': digits, '6': digits, '7': digits,
	'8': digits, '9': digits,
	'A': capitals, 'B': capitals, 'C': capitals, 'D': capitals, 'E': capitals, 'F': capitals, 'G': capitals,
	'H': capitals, 'I': capitals, 'J': capitals, 'K': capitals, 'L': capitals, 'M': capitals, 'N': capitals,
	'O': capitals, 'P': capitals, 'Q': capitals, 'R': capitals, 'S': capitals, 'T': capitals, 'U': capitals,
	'V': capitals, 'W': capitals, 'X': capitals, 'Y': capitals, 'Z': capitals,
	'a': smalls, 'b': smalls, 'c': smalls, 'd': smalls, 'e': smalls, 'f': smalls, 'g': smalls, 'h': smalls,
	'i': smalls, 'j': smalls, 'k': smalls, 'l': smalls, 'm': smalls, 'n': smalls, 'o': smalls, 'p': smalls,
	'q': smalls, 'r': smalls, 's': smalls, 't': smalls, 'u': smalls, 'v': smalls, 'w': smalls, 'x': smalls,
	'y': smalls, 'z': smalls,
	'_':  wordly | keyed | tokened,
	' ':  ending | blank | joining,
	'\t': ending | blank,
	'\r': ending,
	'\n': ending,
	'"':  ending | quoting,
	'\'': ending | quoting,
	'`':  ending,
	';':  ending,
	',':  ending,
	'&':  ending,
	'|':  ending,
	'<':  ending,
	'>':  ending | assigning,
	'(':  ending,
	')':  ending,
	'{':  ending,
	'}':  ending,
	'\\': ending | quoting | telling,
	'=':  assigning | joining | tokened,
	'-':  telling | keyed | tokened,
	':':  telling | tokened,
	'[':  telling,
	'%':  telling,
	'.':  keyed | tokened,
	'+':  tokened,
	'/':  tokened,
	'~':  tokened,
}

// span returns how many bytes at the beginning of s belong to one of some classes.
func span(s string, of class) int {
	for i := range len(s) {
		if classes[s[i]]&of == 0 {
			return i
		}
	}
	return len(s)
}

// before returns how many bytes at the beginning of s belong to none of some classes.
func before(s string, of class) int {
	for i := range len(s) {
		if classes[s[i]]&of != 0 {
			return i
		}
	}
	return len(s)
}

func isWord(c byte) bool { return classes[c]&wordly != 0 }
