package archive

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"

	"gate/internal/replay"
)

// Past opens days for replays, from the first to the last of a span, both included and ""
// for no bound. The files stay open until it is closed, so that a day which is written
// anew in the meantime is read as it was.
func (a *Archive) Past(ctx context.Context, from, to string) (replay.Past, error) {
	for _, day := range []string{from, to} {
		if day != "" && checkDay(day) != nil {
			return nil, checkDay(day)
		}
	}
	days, err := a.Days(ctx)
	if err != nil {
		return nil, err
	}
	p := &past{}
	name := sha256.New()
	for _, d := range days {
		if d.Day < from || to != "" && d.Day > to {
			continue
		}
		if err := p.add(ctx, a, d.Day); err != nil {
			return nil, errors.Join(fmt.Errorf("%s: %w", a.Name(d.Day), err), p.Close())
		}
		last := p.days[len(p.days)-1]
		fmt.Fprintf(name, "%s %d %x\n", d.Day, last.copy.size, last.footer)
	}
	if len(p.days) == 0 {
		return nil, errors.New("the archive has none of these days")
	}
	p.name = hex.EncodeToString(name.Sum(nil))
	return p, nil
}

// A past is days, and whose rows are where in them.
type past struct {
	name    string
	records int64
	days    []pastDay
}

type pastDay struct {
	day    string
	copy   *copied
	file   *file
	runs   []run
	footer [sha256.Size]byte // which has where each page is, and how long
}

func (p *past) add(ctx context.Context, a *Archive, day string) error {
	c, err := a.place.open(ctx, day)
	if err != nil {
		return err
	}
	d := pastDay{day: day, copy: c}
	if d.file, err = openFile(c, c.size); err == nil {
		d.runs, err = d.file.runs()
	}
	var footer []byte
	if err == nil {
		footer, err = readFooter(c, c.size)
	}
	if err != nil {
		return errors.Join(err, c.Close())
	}
	d.footer = sha256.Sum256(footer)
	for _, r := range d.runs {
		p.records += r.to - r.from
	}
	p.days = append(p.days, d)
	return nil
}

// Name implements [replay.Past]: it is a digest of the days, their sizes and their
// footers, wherever the files lie.
func (p *past) Name() string { return p.name }

// Records implements [replay.Past].
func (p *past) Records() int64 { return p.records }

// wanted are the columns that a replay reads, beside whose the rows are.
var wanted = [...]string{"log", "seq", "level", "body"}

// Part implements [replay.Past]. Pages without a row of the part are not unpacked.
func (p *past) Part(ctx context.Context, in func(machine, account string) bool) iter.Seq2[*replay.Held, error] {
	return func(yield func(*replay.Held, error) bool) {
		for i := range p.days {
			if !p.days[i].part(ctx, in, yield) {
				return
			}
		}
	}
}

func (d *pastDay) part(ctx context.Context, in func(machine, account string) bool, yield func(*replay.Held, error) bool) bool {
	var r *reader
	group := -1
	defer func() {
		if r != nil {
			r.close()
		}
	}()
	fail := func(err error) bool {
		yield(nil, fmt.Errorf("%s: %w", d.day, err))
		return false
	}
	for _, run := range d.runs {
		if !in(run.machine, run.account) {
			continue
		}
		if run.group != group {
			if r != nil {
				r.close()
			}
			var err error
			if r, err = d.file.reader(run.group, wanted[:]); err != nil {
				r = nil
				return fail(err)
			}
			group = run.group
		}
		if err := r.seek(run.from); err != nil {
			return fail(err)
		}
		for range run.to - run.from {
			row, err := r.next()
			if err == nil {
				err = ctx.Err()
			}
			if err == nil && len(row.Body) > MaxBody {
				err = foreign("a body has %d bytes", len(row.Body))
			}
			if err != nil {
				return fail(err)
			}
			if !yield(&replay.Held{Day: d.day, Machine: run.machine, Account: run.account, Log: row.Log, Seq: row.Seq, Level: row.Level, Body: row.Body}, nil) {
				return false
			}
		}
	}
	return true
}

// Close implements [replay.Past].
func (p *past) Close() error {
	var err error
	for i := range p.days {
		err = errors.Join(err, p.days[i].copy.Close())
	}
	p.days = nil
	return err
}
