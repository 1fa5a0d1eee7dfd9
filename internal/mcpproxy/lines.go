package mcpproxy

import (
	"bufio"
	"bytes"
	"io"
)

// A line is one line of a stream. Of one that is too long only its ends are
// kept, for the id in them.
type line struct {
	text       []byte // without its end; nil if it was too long
	head, tail []byte
}

// edge is how much is kept of each end of a line that is too long.
const edge = 1 << 10

// lines calls each for every line of in that holds something, none longer than
// most bytes, until in ends. A last line without an end counts. The texts are
// each's to keep.
func lines(in io.Reader, most int, each func(line)) error {
	buf := bufio.NewReaderSize(in, 64<<10)
	for {
		l, err := readLine(buf, most)
		if l.text != nil || l.head != nil {
			each(l)
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func readLine(buf *bufio.Reader, most int) (l line, err error) {
	var text []byte
	for {
		var part []byte
		part, err = buf.ReadSlice('\n')
		switch {
		case l.head != nil:
			l.tail = keepTail(l.tail, part)
		case len(text)+len(part) > most+1:
			text = append(text, part...)
			l.head, l.tail = bytes.Clone(text[:edge]), keepTail(nil, text)
			text = nil
		default:
			text = append(text, part...)
		}
		if err != bufio.ErrBufferFull {
			break
		}
	}
	if text = bytes.TrimSpace(text); len(text) > 0 {
		// A carriage return is a blank in JSON and the end of a line to some
		// readers, who would find another message behind it.
		for i, c := range text {
			if c == '\r' {
				text[i] = ' '
			}
		}
		l.text = text
	}
	return l, err
}

func keepTail(tail, part []byte) []byte {
	part = bytes.TrimSpace(part)
	if len(part) >= edge {
		return bytes.Clone(part[len(part)-edge:])
	}
	tail = append(tail, part...)
	return tail[max(0, len(tail)-edge):]
}

// guessID looks for the id of a message that was too long to be read: before
// what made it long, or behind. It serves to say so, never to hand something on.
func (l line) guessID() []byte {
	dec := decoder(l.head)
	if tok, err := dec.ReadToken(); err != nil || tok.Kind() != '{' {
		return nil
	}
	for {
		key, err := dec.ReadToken()
		if err != nil || key.Kind() != '"' {
			break
		}
		name := key.String()
		v, err := dec.ReadValue()
		if err != nil {
			break
		}
		if name == "id" {
			return bytes.Clone(v)
		}
	}
	if at := bytes.LastIndex(l.tail, []byte(`"id"`)); at >= 0 {
		list, err := members(append([]byte("{"), l.tail[at:]...))
		if err == nil && list[0].key == "id" {
			return list[0].value.of(append([]byte("{"), l.tail[at:]...))
		}
	}
	return nil
}
