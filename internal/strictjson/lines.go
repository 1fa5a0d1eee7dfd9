package strictjson

import (
	"bufio"
	"bytes"
	"io"
	"iter"
)

// A Line is one line of a stream of documents.
type Line struct {
	Text   []byte // without its end; valid until the next line is asked for
	Number int    // from 1
	Offset int64  // of its first byte
	Long   bool   // it was longer than the limit, and Text is nil
}

// Lines yields the lines of in that hold more than blanks, none longer than most
// bytes: of those that are, nothing is kept. An error is the reader's and the
// last that is yielded.
func Lines(in io.Reader, most int) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		buf := bufio.NewReaderSize(in, 64<<10)
		var text []byte
		at := int64(0)
		for n := 1; ; n++ {
			line := Line{Number: n, Offset: at}
			text = text[:0]
			var err error
			for {
				var part []byte
				part, err = buf.ReadSlice('\n')
				at += int64(len(part))
				if line.Long = line.Long || len(text)+len(bytes.TrimRight(part, "\r\n")) > most; !line.Long {
					text = append(text, part...)
				}
				if err != bufio.ErrBufferFull {
					break
				}
			}
			if !line.Long {
				line.Text = bytes.TrimRight(text, "\r\n")
			}
			if (line.Long || len(bytes.TrimSpace(line.Text)) > 0) && !yield(line, nil) {
				return
			}
			if err != nil {
				if err != io.EOF {
					yield(Line{}, err)
				}
				return
			}
		}
	}
}
