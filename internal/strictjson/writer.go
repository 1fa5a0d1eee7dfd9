package strictjson

import "strconv"

// A Writer appends a document value by value, as [Append] appends a tree that
// says the same, and without that tree. Its caller sees to it that keys come in
// order and none twice, that each has one value, and that what begins ends. The
// zero Writer is ready; it is for documents that are written often.
type Writer struct {
	JSON []byte // what was written
}

// Object begins an object.
func (w *Writer) Object() {
	w.next()
	w.JSON = append(w.JSON, '{')
}

// EndObject ends an object.
func (w *Writer) EndObject() { w.JSON = append(w.JSON, '}') }

// List begins a list.
func (w *Writer) List() {
	w.next()
	w.JSON = append(w.JSON, '[')
}

// EndList ends a list.
func (w *Writer) EndList() { w.JSON = append(w.JSON, ']') }

// Key begins a member of an object: its value is to be written next.
func (w *Writer) Key(key string) *Writer {
	w.next()
	w.JSON = append(appendString(w.JSON, key), ':')
	return w
}

// Text writes a string.
func (w *Writer) Text(s string) {
	w.next()
	w.JSON = appendString(w.JSON, s)
}

// Int writes a whole number.
func (w *Writer) Int(n int64) {
	w.next()
	w.JSON = strconv.AppendInt(w.JSON, n, 10)
}

// Value writes a tree of what [Append] takes.
func (w *Writer) Value(v any) {
	w.next()
	w.JSON = Append(w.JSON, v)
}

// Written writes a value that a Writer or Append has written before.
func (w *Writer) Written(value []byte) {
	w.next()
	w.JSON = append(w.JSON, value...)
}

// next puts a comma behind a value, if that is what was written last: whatever
// follows on anything else needs none.
func (w *Writer) next() {
	if n := len(w.JSON); n > 0 {
		switch w.JSON[n-1] {
		case '{', '[', ':':
		default:
			w.JSON = append(w.JSON, ',')
		}
	}
}
