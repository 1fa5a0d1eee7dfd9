package archive

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"iter"
	"os"
	"strconv"

	"github.com/parquet-go/parquet-go"

	"gate/internal/format"
)

// A Written is what became of a day.
type Written struct {
	Rows   int64  `json:"records"` // of the whole file; 0: the day is not there
	New    int64  `json:"new"`     // that were not there before
	Bytes  int64  `json:"bytes"`
	Digest string `json:"digest"` // SHA-256 of the file, in hex
}

// ErrTwice says that a day has another row under a key that was to be written. Nothing
// was changed.
var ErrTwice = errors.New("the archive holds another record under the same key")

// Write adds rows to a day. They come in the order of machine, log and number; one that
// the archive has already stays as it is, and one with other bytes is [ErrTwice]. The
// file is read back before it takes the place of the one before, and a day without any row
// is not made. Until Write returns without an error the archive is as it was.
func (a *Archive) Write(ctx context.Context, day string, rows iter.Seq2[*Row, error]) (*Written, error) {
	if err := checkDay(day); err != nil {
		return nil, err
	}
	release, err := a.place.alone(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	w, err := a.add(ctx, day, rows)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", a.Name(day), err)
	}
	return w, nil
}

func (a *Archive) add(ctx context.Context, day string, rows iter.Seq2[*Row, error]) (*Written, error) {
	old, err := a.place.open(ctx, day)
	if errors.Is(err, errNoDay) {
		w, err := a.replace(ctx, day, "", rows)
		if err == nil {
			w.New = w.Rows
		}
		return w, err
	}
	if err != nil {
		return nil, err
	}
	defer old.Close()
	added := int64(0)
	w, err := a.replace(ctx, day, old.tag, merged(readRows(ctx, old), rows, &added))
	if err == nil {
		w.New = added
	}
	return w, err
}

// merged yields the rows of both in order, and counts those that only the second has.
func merged(old, more iter.Seq2[*Row, error], added *int64) iter.Seq2[*Row, error] {
	return func(yield func(*Row, error) bool) {
		next, stop := iter.Pull2(more)
		defer stop()
		one, err, left := next()
		// before yields the new rows in front of r, all of them where that is nil.
		before := func(r *Row) bool {
			for left && err == nil && (r == nil || one.compare(r) < 0) {
				*added++
				if !yield(one, nil) {
					return false
				}
				one, err, left = next()
			}
			return err == nil || yield(nil, err) && false
		}
		for r, failed := range old {
			if failed != nil {
				yield(nil, failed)
				return
			}
			if !before(r) {
				return
			}
			if left && one.compare(r) == 0 {
				if string(one.Body) != string(r.Body) {
					yield(nil, fmt.Errorf("%w: number %d of the chain %s of %s", ErrTwice, r.Seq, r.Log, r.Machine))
					return
				}
				one, err, left = next()
			}
			if !yield(r, nil) {
				return
			}
		}
		before(nil)
	}
}

// replace writes a day's file anew, reads it back, and puts it in the place of the one
// with the tag. A day of which nothing is left goes.
func (a *Archive) replace(ctx context.Context, day, instead string, rows iter.Seq2[*Row, error]) (*Written, error) {
	f, err := a.place.temp()
	if err != nil {
		return nil, err
	}
	defer func() {
		f.Close()
		_ = os.Remove(f.Name()) // unless it has become the day's
	}()
	wrote, err := writeFile(ctx, f, rows)
	if err != nil {
		return nil, err
	}
	if wrote.rows == 0 {
		if instead != "" {
			err = a.place.remove(ctx, day)
		}
		return &Written{}, err
	}
	if err := f.Sync(); err != nil {
		return nil, err
	}
	w, err := readBack(ctx, f, wrote)
	if err != nil {
		return nil, fmt.Errorf("what was written does not read the same: %w", err)
	}
	return w, a.place.put(ctx, day, f, instead)
}

// A sum tells rows from others: their number, and a digest of all that they hold.
type sum struct {
	rows int64
	of   hash.Hash
	buf  []byte
}

func newSum() *sum { return &sum{of: sha256.New()} }

func (s *sum) add(r *Row) {
	s.rows++
	s.buf = s.buf[:0]
	for i := range columns {
		v := columns[i].value(r, i)
		if v.Kind() == parquet.Int64 {
			s.buf = binary.BigEndian.AppendUint64(s.buf, uint64(v.Int64()))
			continue
		}
		s.buf = binary.BigEndian.AppendUint64(s.buf, uint64(len(v.ByteArray())))
		s.buf = append(s.buf, v.ByteArray()...)
	}
	s.of.Write(s.buf)
}

func (s *sum) same(o *sum) bool {
	return s.rows == o.rows && string(s.of.Sum(nil)) == string(o.of.Sum(nil))
}

// writeFile writes rows as a file of Parquet, in order and each once.
func writeFile(ctx context.Context, out io.Writer, rows iter.Seq2[*Row, error]) (*sum, error) {
	w := parquet.NewWriter(out, schema(), parquet.Compression(compression), parquet.PageBufferSize(pageBytes), parquet.DictionaryMaxBytes(dictBytes),
		parquet.KeyValueMetadata(versionKey, strconv.Itoa(format.Archive.Number())), parquet.CreatedBy("gate", "1", ""), parquet.SkipPageBounds("body"), parquet.DataPageStatistics(false))
	wrote, inGroup, bytes := newSum(), 0, 0
	var last *Row
	line := make(parquet.Row, len(columns))
	for r, err := range rows {
		if err == nil {
			err = ctx.Err()
		}
		if err == nil {
			err = r.check()
		}
		if err == nil && last != nil && last.compare(r) >= 0 {
			err = fmt.Errorf("number %d of the chain %s of %s comes out of order", r.Seq, r.Log, r.Machine)
		}
		if err != nil {
			return nil, err
		}
		for i := range columns {
			line[i] = columns[i].value(r, i)
		}
		if _, err := w.WriteRows([]parquet.Row{line}); err != nil {
			return nil, err
		}
		wrote.add(r)
		last = r
		inGroup, bytes = inGroup+1, bytes+len(r.Body)
		if inGroup == groupRows || bytes >= groupBytes {
			if err := w.Flush(); err != nil {
				return nil, err
			}
			inGroup, bytes = 0, 0
		}
	}
	return wrote, w.Close()
}

// readBack reads what was written, and holds it against what was to be.
func readBack(ctx context.Context, f *os.File, wrote *sum) (*Written, error) {
	read := newSum()
	c := &copied{File: f}
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	c.size = info.Size()
	for r, err := range readRows(ctx, c) {
		if err != nil {
			return nil, err
		}
		read.add(r)
	}
	if !read.same(wrote) {
		return nil, fmt.Errorf("of %d rows written %d are read, or others", wrote.rows, read.rows)
	}
	digest, err := digestOf(f)
	return &Written{Rows: wrote.rows, Bytes: c.size, Digest: digest}, err
}

// digestOf is the SHA-256 of a whole file, in hex.
func digestOf(f *os.File) (string, error) {
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return "", err
	}
	of := sha256.New()
	if _, err := io.Copy(of, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(of.Sum(nil)), nil
}
