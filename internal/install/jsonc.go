package install

import (
	"bytes"
)

const (
	maxDepth = 64
	maxFile  = 4 << 20 // bytes of one configuration file
)

// A document is a JSON text with comments and trailing commas, taken apart
// without changing a byte: nodes are ranges of the text, and edits are made to
// the text between them.
type document struct {
	text     []byte
	root     *node // nil for a text of nothing but blanks
	comment  int   // offset of the first comment, -1 for none
	trailing int   // offset of the first trailing comma, -1 for none
}

// A node is one value, text[start:end].
type node struct {
	kind       byte // { [ " 0 t f n
	start, end int
	str        string // a string's value
	items      []item // of an object or array
	tail       int    // end of the last token or comment before the closing bracket
	comments   int    // comments directly inside the brackets
	tailLine   bool   // what ends at tail is a // comment
}

// An item is a member of an object or an element of an array.
type item struct {
	key      *node // nil in arrays
	value    *node
	lead     int  // end of the token or comment before it
	leadLine bool // what ends at lead is a // comment
	comma    int  // offset of the comma behind it, -1 for none
}

func (it item) start() int {
	if it.key != nil {
		return it.key.start
	}
	return it.value.start
}

// A syntaxError says where a text stops being JSON.
type syntaxError struct {
	line, column int
	msg          string
	twice        bool // it is JSON, but a name stands twice in an object
}

func (e *syntaxError) Error() string { return e.msg }

// line returns the line of an offset, counted from 1.
func line(text []byte, at int) int { return 1 + bytes.Count(text[:min(at, len(text))], []byte("\n")) }
