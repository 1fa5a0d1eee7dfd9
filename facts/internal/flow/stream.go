package flow

import (
	"strings"

	"gate/internal/secret"
)

// A Stream is what flows through a pipe or a file.
type Stream struct {
	Text  *string // the text itself, where it is known
	Form  *Word   // a text that is known but for holes; nil where text is set
	Taint Taint
	From  int    // the command that writes it, 0 for none
	Some  bool   // something flows at all
	File  string // the file that it is all of, whose text nobody has read; "" for others
	Files []Word // the files that the names in it stand for, by pattern
	Under []Word // directories in which the file names in it lie
	Whole []Word // directories of which it names everything, down to themselves
	Read  *Position
	More  []Origin // of other secrets in it than that of its taint

	Could []string // texts that it may be instead, where Text is nil: A || B
	All   bool     // Could are all that it can be

	Endless bool // more comes than a disk holds

	Spared bool // a secret went in, and of it only names or numbers come out
}

// Secret returns what kind of secret flows, by its origin or by its shape; "" for
// none that is known.
func (st Stream) Secret() string {
	if st.Taint.Secret == "" && st.Text != nil {
		return secret.Sent(*st.Text, "")
	}
	return st.Taint.Secret
}

// Origins is its taint, with the secret that its shape tells.
func (st Stream) Origins() Taint {
	st.Taint.Secret = st.Secret()
	return st.Taint
}

// An Origin is a secret and the command that prints it.
type Origin struct {
	Secret string
	From   int
}

// A Position says how far all commands that share a text have read it.
type Position struct {
	At    int // bytes; below 0 for nobody knows
	Maybe int // branches around where the text comes in
}

// Left returns the text that has not been read yet.
func (st Stream) Left() (string, bool) {
	at := st.At()
	if st.Text == nil || at < 0 {
		return "", false
	}
	return (*st.Text)[min(at, len(*st.Text)):], true
}

// Template returns the text, as far as it is known. It reports false for a text of which
// nothing is, or a part has been read.
func (st Stream) Template() (Word, bool) {
	switch {
	case st.Text != nil:
		return Literal(*st.Text), true
	case st.Form == nil || st.At() != 0:
		return Word{}, false
	}
	return *st.Form, true
}

// At returns how far the text has been read.
func (st Stream) At() int {
	if st.Read == nil {
		return 0
	}
	return st.Read.At
}

// Concat returns what two commands write one after the other.
func Concat(a, b Stream) Stream {
	switch {
	case !a.Some:
		return b
	case !b.Some:
		return a
	}
	out := Stream{Taint: a.Taint.Merge(b.Taint), From: b.From, Some: true, Endless: a.Endless || b.Endless}
	out.More = append(append(out.More, a.More...), b.More...)
	if s := b.Taint.Secret; s != "" && s != a.Taint.Secret && a.Taint.Secret != "" && len(out.More) < MaxVariants {
		out.More = append(out.More, Origin{s, b.From})
	}
	if a.Under != nil && b.Under != nil {
		out.Under = append(append([]Word(nil), a.Under...), b.Under...)
	}
	if a.Text != nil && b.Text != nil {
		t := *a.Text + *b.Text
		out.Text = &t
	} else if fa, ok := a.Template(); ok {
		if fb, ok := b.Template(); ok {
			out.Form = &Word{Parts: append(fa.Parts[:len(fa.Parts):len(fa.Parts)], fb.Parts...)}
		}
	}
	return out
}

// OneOf returns what A || B writes: what A did, or what B did because A failed.
func OneOf(a, b Stream) Stream {
	if !a.Some || !b.Some {
		return Concat(a, b)
	}
	out := Concat(a, b)
	out.Text, out.Form, out.All = nil, nil, true
	for _, st := range []Stream{a, b} {
		switch {
		case st.Text != nil:
			out.Could = append(out.Could, *st.Text)
		default:
			out.Could, out.All = append(out.Could, st.Could...), out.All && st.All
		}
	}
	if len(out.Could) > MaxVariants {
		out.Could, out.All = out.Could[:MaxVariants], false
	}
	return out
}

// Unsure returns a stream that may or may not be written.
func Unsure(st Stream) Stream {
	st.Text = nil
	return st
}

// Handed returns the words that a program makes of names which it gets one after
// another. The names of everything in a directory stand for the directory.
func (st Stream) Handed() []Word {
	if len(st.Whole) > 0 {
		return st.Whole
	}
	return st.Names()
}

// Names returns the words that the file names in the stream stand for.
func (st Stream) Names() []Word {
	if len(st.Files) > 0 {
		return st.Files
	}
	var out []Word
	for _, dir := range st.Under {
		f := Word{Parts: append([]Part(nil), dir.Parts...)}
		if !strings.HasSuffix(dir.Text(), "/") {
			f.Parts = append(f.Parts, Part{Text: "/", Quoted: true})
		}
		f.Parts = append(f.Parts, Part{Hole: &Hole{Why: "a file that was listed", Taint: st.Taint}})
		out = append(out, f)
	}
	return out
}
