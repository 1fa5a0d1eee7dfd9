package archive

import (
	"context"
	"fmt"
	"iter"
)

// An Erased is what was taken out of one day.
type Erased struct {
	Day     string   `json:"day"`
	Rows    int64    `json:"erased"` // that went
	Written *Written `json:"left"`   // its Rows are 0 where the day went
}

// Erase takes the rows out of all days whose machine and account a function names, and
// writes the days anew that had some. Each day that it has done is yielded; the error is
// the last, and days before it stay done.
func (a *Archive) Erase(ctx context.Context, named func(machine, account string) bool) iter.Seq2[*Erased, error] {
	return func(yield func(*Erased, error) bool) {
		days, err := a.Days(ctx)
		if err != nil {
			yield(nil, err)
			return
		}
		for _, d := range days {
			e, err := a.eraseDay(ctx, d.Day, named)
			if err != nil {
				yield(nil, fmt.Errorf("%s: %w", a.Name(d.Day), err))
				return
			}
			if e != nil && !yield(e, nil) {
				return
			}
		}
	}
}

// eraseDay returns nil where the day has nothing to erase.
func (a *Archive) eraseDay(ctx context.Context, day string, named func(machine, account string) bool) (*Erased, error) {
	release, err := a.place.alone(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	old, err := a.place.open(ctx, day)
	if err != nil {
		return nil, err
	}
	defer old.Close()
	f, err := openFile(old, old.size)
	if err != nil {
		return nil, err
	}
	runs, err := f.runs()
	if err != nil {
		return nil, err
	}
	e := &Erased{Day: day}
	for _, r := range runs {
		if named(r.machine, r.account) {
			e.Rows += r.to - r.from
		}
	}
	if e.Rows == 0 {
		return nil, nil
	}
	e.Written, err = a.replace(ctx, day, old.tag, func(yield func(*Row, error) bool) {
		for r, err := range readRows(ctx, old) {
			if err == nil && named(r.Machine, r.Account) {
				continue
			}
			if !yield(r, err) {
				return
			}
		}
	})
	return e, err
}

// A run is a stretch of rows of a group that are of one account of a machine.
type run struct {
	machine, account string
	group            int
	from, to         int64
}

// runs finds out whose rows are where, by two columns.
func (f *file) runs() ([]run, error) {
	var out []run
	for i, g := range f.groups {
		at := int64(0)
		for r, err := range f.rows(i, 0, g.NumRows(), []string{"machine", "account"}) {
			if err != nil {
				return nil, err
			}
			if n := len(out); n > 0 && out[n-1].group == i && out[n-1].machine == r.Machine && out[n-1].account == r.Account {
				out[n-1].to++
			} else {
				out = append(out, run{r.Machine, r.Account, i, at, at + 1})
			}
			at++
		}
	}
	return out, nil
}
