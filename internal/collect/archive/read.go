package archive

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"

	"github.com/parquet-go/parquet-go"
)

// Rows yields the rows of a day in their order. The error is the last.
func (a *Archive) Rows(ctx context.Context, day string) iter.Seq2[*Row, error] {
	return func(yield func(*Row, error) bool) {
		f, err := a.place.open(ctx, day)
		if err != nil {
			yield(nil, fmt.Errorf("%s: %w", a.Name(day), err))
			return
		}
		defer f.Close()
		for r, err := range readRows(ctx, f) {
			if err != nil {
				err = fmt.Errorf("%s: %w", a.Name(day), err)
			}
			if !yield(r, err) {
				return
			}
		}
	}
}

// A file is one that was checked. Several may read it at once, each with a reader of its
// own.
type file struct {
	parquet *parquet.File
	groups  []parquet.RowGroup
}

// openFile checks a file and opens it. What parquet-go cannot bear is an error, too.
func openFile(in io.ReaderAt, size int64) (f *file, err error) {
	defer bear(&err)
	if err := check(in, size); err != nil {
		return nil, err
	}
	p, err := parquet.OpenFile(in, size, parquet.SkipBloomFilters(true), parquet.ReadBufferSize(64<<10))
	if err != nil {
		return nil, foreign("%v", err)
	}
	return &file{p, p.RowGroups()}, nil
}

// bear makes an error of a panic: a library that reads what anybody may have written is
// not believed to foresee all of it.
func bear(err *error) {
	if p := recover(); p != nil {
		*err = foreign("it cannot be read: %v", p)
	}
}

// readRows yields all rows of a file.
func readRows(ctx context.Context, c *copied) iter.Seq2[*Row, error] {
	return func(yield func(*Row, error) bool) {
		f, err := openFile(c, c.size)
		if err != nil {
			yield(nil, err)
			return
		}
		var last *Row
		for i, g := range f.groups {
			for r, err := range f.rows(i, 0, g.NumRows(), nil) {
				switch {
				case err != nil:
				case ctx.Err() != nil:
					err = ctx.Err()
				case last != nil && last.compare(r) >= 0:
					err = foreign("its rows are not in order")
				default:
					err = r.check()
				}
				if last = r; err != nil {
					r = nil
				}
				if !yield(r, err) || err != nil {
					return
				}
			}
		}
	}
}

// rows yields rows of a group, from one on to before another. Only the columns that are
// named are filled in; nil: all of them.
func (f *file) rows(group int, from, to int64, names []string) iter.Seq2[*Row, error] {
	return func(yield func(*Row, error) bool) {
		r, err := f.reader(group, names)
		if err != nil {
			yield(nil, err)
			return
		}
		defer r.close()
		if err := r.seek(from); err != nil {
			yield(nil, err)
			return
		}
		for range to - from {
			row, err := r.next()
			if !yield(row, err) || err != nil {
				return
			}
		}
	}
}

// A reader reads columns of a group side by side.
type reader struct{ cursors []*cursor }

func (f *file) reader(group int, names []string) (r *reader, err error) {
	defer bear(&err)
	chunks := f.groups[group].ColumnChunks()
	r = &reader{}
	for i := range columns {
		if names != nil && !slices.Contains(names, columns[i].name) {
			continue
		}
		r.cursors = append(r.cursors, &cursor{column: &columns[i], pages: chunks[i].Pages()})
	}
	return r, nil
}

func (r *reader) seek(row int64) error {
	for _, c := range r.cursors {
		if err := c.seek(row); err != nil {
			return err
		}
	}
	return nil
}

func (r *reader) next() (*Row, error) {
	row := &Row{}
	for _, c := range r.cursors {
		if err := c.read(row); err != nil {
			return nil, err
		}
	}
	return row, nil
}

func (r *reader) close() {
	for _, c := range r.cursors {
		c.close()
	}
}

// A cursor reads the values of one column, one after the other.
type cursor struct {
	column *column
	pages  parquet.Pages
	page   parquet.Page
	values parquet.ValueReader
	buf    [64]parquet.Value
	ready  []parquet.Value // of buf
	at     int64           // the row that is read next
	words  map[string]string
}

func (c *cursor) seek(row int64) (err error) {
	defer bear(&err)
	if row == c.at {
		return nil
	}
	if ahead := row - c.at; ahead > 0 && ahead < int64(len(c.ready)) {
		c.ready, c.at = c.ready[ahead:], row
		return nil
	}
	c.drop()
	c.at = row
	return c.pages.SeekToRow(row)
}

func (c *cursor) read(into *Row) (err error) {
	defer bear(&err)
	for len(c.ready) == 0 {
		if c.values == nil {
			if c.page, err = c.pages.ReadPage(); err != nil {
				if errors.Is(err, io.EOF) {
					err = foreign("the column %s ends early", c.column.name)
				}
				return err
			}
			c.values = c.page.Values()
		}
		n, err := c.values.ReadValues(c.buf[:])
		c.ready = c.buf[:n]
		if n == 0 {
			c.drop()
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return foreign("the column %s: %v", c.column.name, err)
		}
	}
	v := c.ready[0]
	c.ready, c.at = c.ready[1:], c.at+1
	switch col := c.column; {
	case col.body:
		into.Body = append([]byte(nil), v.ByteArray()...)
	case col.text != nil:
		*col.text(into) = c.word(v.ByteArray())
	case col.number != nil:
		*col.number(into) = v.Int64()
	default:
		*col.time(into) = fromMicros(v.Int64())
	}
	return nil
}

// maxWords is how many texts of a column are remembered, so that equal ones are held once.
const maxWords = 1 << 10

// word is a text that outlives the page.
func (c *cursor) word(text []byte) string {
	if c.column.plain || len(text) > 256 {
		return string(text)
	}
	known, ok := c.words[string(text)]
	if !ok {
		if known = string(text); c.words == nil || len(c.words) >= maxWords {
			c.words = map[string]string{}
		}
		c.words[known] = known
	}
	return known
}

func (c *cursor) drop() {
	if c.page != nil {
		parquet.Release(c.page)
	}
	c.page, c.values, c.ready = nil, nil, nil
}

func (c *cursor) close() {
	c.drop()
	_ = c.pages.Close()
}
