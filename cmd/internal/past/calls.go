package past

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gate/adapters"
	"gate/cmd/internal/screen"
	"gate/internal/audit"
	"gate/internal/hostfs"
	"gate/internal/places"
	"gate/internal/replay"
)

// Files lists the files that arguments mean: "-" is standard input, and
// a directory means the decision log in it, else all transcripts below it.
func Files(d places.Dirs, args []string) ([]string, error) {
	if len(args) == 0 {
		args = []string{d.State}
		if _, err := os.Stat(filepath.Join(d.State, audit.FileName)); err != nil {
			return nil, fmt.Errorf("there is no decision log of yours yet (%s); name a log, a transcript or a directory", filepath.Join(d.State, audit.FileName))
		}
	}
	var out []string
	for _, arg := range args {
		if arg == "-" {
			out = append(out, arg)
			continue
		}
		info, err := os.Stat(arg)
		if err != nil {
			return nil, hostfs.At(arg, err)
		}
		files := []string{arg}
		if info.IsDir() {
			if files, err = filesBelow(arg); err != nil {
				return nil, err
			}
		}
		out = append(out, files...)
	}
	return out, nil
}

// filesBelow lists a log's files, the oldest first, or the transcripts below a
// directory.
func filesBelow(dir string) ([]string, error) {
	var log []string
	for i := 0; ; i++ {
		name := filepath.Join(dir, audit.FileName)
		if i > 0 {
			name = fmt.Sprintf("%s.%d", name, i)
		}
		if _, err := os.Stat(name); err != nil {
			break
		}
		log = append(log, name)
	}
	if slices.Reverse(log); len(log) > 0 {
		return log, nil
	}
	var out []string
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && strings.HasSuffix(name, ".jsonl") {
			out = append(out, name)
		}
		return err
	})
	if err == nil && len(out) == 0 {
		err = fmt.Errorf("%s: there is no %s in it and no transcript (*.jsonl) below it", dir, audit.FileName)
	}
	return out, err
}

// Calls reads the calls of all inputs, one input after the other; "-" is stdin. A file that
// holds none is a mistake where it is one of the names that were given; one that was
// found below a directory counts as a call that is lost. took is told how many bytes of
// files were read.
func Calls(stdin io.Reader, p screen.Page, given, inputs []string, adapter adapters.Adapter, took func(int)) iter.Seq2[*replay.Call, error] {
	return func(yield func(*replay.Call, error) bool) {
		for _, name := range inputs {
			if !callsOfOne(stdin, p, name, slices.Contains(given, name), adapter, took, yield) {
				return
			}
		}
	}
}

func callsOfOne(stdin io.Reader, p screen.Page, name string, given bool, adapter adapters.Adapter, took func(int), yield func(*replay.Call, error) bool) bool {
	in, shown := stdin, "standard input"
	if name != "-" {
		f, err := hostfs.Regular(name)
		if err != nil {
			yield(nil, hostfs.At(name, err))
			return false
		}
		defer f.Close()
		in, shown = counted{f, took}, p.Tilde(name)
	}
	for c, err := range replay.Read(in, shown, adapter) {
		if !given && errors.Is(err, replay.ErrForeign) {
			c, err = &replay.Call{At: shown, Lost: replay.ErrForeign.Error()}, nil
		}
		if !yield(c, err) || err != nil {
			return false
		}
	}
	return true
}

// counted tells how many bytes are read.
type counted struct {
	io.Reader
	took func(int)
}

func (c counted) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.took(n)
	return n, err
}

// Size is how many bytes there are to be read in files, without standard input.
func Size(inputs []string) (sum int64) {
	for _, name := range inputs {
		if info, err := os.Stat(name); err == nil && name != "-" {
			sum += info.Size()
		}
	}
	return sum
}
