package facts

import "gate/secret"

// A stream is what flows through a pipe or a file.
type stream struct {
	text  *string // the text itself, where it is known
	form  *field  // a text that is known but for holes; nil where text is set
	taint taint
	from  int     // the command that writes it, 0 for none
	some  bool    // something flows at all
	files []field // the files that the names in it stand for, by pattern
	under []field // directories in which the file names in it lie
	whole []field // directories of which it names everything, down to themselves
	read  *position
	more  []origin // of other secrets in it than that of its taint

	spared bool // a secret went in, and of it only names or numbers come out
}

// secret is what kind of secret flows, by where it is from or by its shape; "" for
// none that is known.
func (st stream) secret() string {
	if st.taint.secret == "" && st.text != nil {
		return secret.Sent(*st.text, "")
	}
	return st.taint.secret
}

// An origin is a secret and the command that prints it.
type origin struct {
	secret string
	from   int
}

// A position is how far a text has been read, by all that share it.
type position struct {
	at    int // bytes; below 0 for nobody knows
	maybe int // branches around where the text comes in
}

// opened is a stream that commands read from here on.
func (w *walker) opened(st stream) stream {
	st.some, st.read = true, &position{maybe: w.maybe}
	return st
}

// left is the text that has not been read yet.
func (st stream) left() (string, bool) {
	at := st.at()
	if st.text == nil || at < 0 {
		return "", false
	}
	return (*st.text)[min(at, len(*st.text)):], true
}

// template is the text, as far as it is known. It reports false for a text of which
// nothing is, or a part has been read.
func (st stream) template() (field, bool) {
	switch {
	case st.text != nil:
		return literalField(*st.text), true
	case st.form == nil || st.at() != 0:
		return field{}, false
	}
	return *st.form, true
}

// at is how far the text has been read.
func (st stream) at() int {
	if st.read == nil {
		return 0
	}
	return st.read.at
}

// concat is what two commands write one after the other.
func concat(a, b stream) stream {
	switch {
	case !a.some:
		return b
	case !b.some:
		return a
	}
	out := stream{taint: a.taint.merge(b.taint), from: b.from, some: true}
	out.more = append(append(out.more, a.more...), b.more...)
	if s := b.taint.secret; s != "" && s != a.taint.secret && a.taint.secret != "" && len(out.more) < maxVariants {
		out.more = append(out.more, origin{s, b.from})
	}
	if a.under != nil && b.under != nil {
		out.under = append(append([]field(nil), a.under...), b.under...)
	}
	if a.text != nil && b.text != nil {
		t := *a.text + *b.text
		out.text = &t
	} else if fa, ok := a.template(); ok {
		if fb, ok := b.template(); ok {
			out.form = &field{parts: append(fa.parts[:len(fa.parts):len(fa.parts)], fb.parts...)}
		}
	}
	return out
}

// unsure is a stream that may or may not be written.
func unsure(st stream) stream {
	st.text = nil
	return st
}
