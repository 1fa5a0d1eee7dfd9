// Package archive keeps the records of a fleet's past days outside of the collector's
// database: a day is one Parquet file, in a directory or in an S3-style store, in a
// schema that engines of others can ask too.
//
// A day is there whole or not at all, and what was written has been read back. The
// package decides nothing about how long days are kept, knows no HTTP but that of the
// store, and believes nothing of a file: it may come from anybody. Start with [Open];
// [Archive.Write] adds a day, [Archive.Rows] reads one, and [Archive.Past] reads what
// replays want, a part of the fleet at a time.
package archive

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"gate/internal/strictjson"
)

// An Archive is one place with days. It is safe for concurrent use.
type Archive struct {
	place place
}

// Options say how an S3-style store is reached. Directories need none.
type Options struct {
	Endpoint string // "https://host:port"; "" is Amazon's
	Region   string // "" where the store has none, or says it itself
	KeyID    string // "": the role of this machine, as its cloud tells it
	Secret   string
	Token    string // of a session, with KeyID; "": none

	// Temp is the directory for copies of files of the store: none is read over the
	// network a page at a time. "" is the system's.
	Temp string
}

// A Day is what the archive has of one.
type Day struct {
	Day   string // "2026-11-28", in UTC
	Bytes int64
	Tag   string // changes whenever the file does
}

// Schemes of the places that [Open] knows beside directories.
const schemeS3 = "s3://"

// IsStore reports that a place is an S3-style store and no directory.
func IsStore(place string) bool { return strings.HasPrefix(place, schemeS3) }

// Open opens a place: a directory, which is made where a day is written, or
// "s3://bucket/prefix". It speaks to nobody yet.
func Open(name string, o Options) (*Archive, error) {
	if rest, ok := strings.CutPrefix(name, schemeS3); ok {
		at, err := newBucket(rest, o)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		return &Archive{place: at}, nil
	}
	if strings.Contains(name, "://") {
		return nil, fmt.Errorf("%s is no place for an archive: a directory or s3://bucket/prefix is wanted", strictjson.Quoted(name))
	}
	return &Archive{place: directory(name)}, nil
}

// A place keeps files by day.
type place interface {
	days(ctx context.Context) ([]Day, error)

	// open returns the file of a day, to be closed. [errNoDay] says that it is not there.
	open(ctx context.Context, day string) (*copied, error)

	// temp makes a file for what [place.put] will be given.
	temp() (*os.File, error)

	// put makes a file that temp made the day's, in the place of one with a tag; "" where
	// the day must not be there. It reads back what it wrote over a network.
	put(ctx context.Context, day string, f *os.File, instead string) error

	// remove takes a day away.
	remove(ctx context.Context, day string) error

	// alone keeps others from writing, where the place can do that, until release.
	alone(ctx context.Context) (release func(), err error)

	// name is how people call a day's file.
	name(day string) string
}

// A copied is the file of a day, or a copy of it that goes with closing.
type copied struct {
	*os.File
	size   int64
	tag    string
	remove bool
}

func (c *copied) Close() error {
	err := c.File.Close()
	if c.remove {
		err = errors.Join(err, os.Remove(c.Name()))
	}
	return err
}

var errNoDay = errors.New("the archive does not have this day")

// Part is the name of a day's file in its directory "day=2026-11-28". Readers of others
// should take all that fit "part-*.parquet".
const Part = "part-00000.parquet"

const dayPrefix = "day="

// checkDay reports a word that is no day.
func checkDay(day string) error {
	if t, err := time.Parse(time.DateOnly, day); err != nil || t.Format(time.DateOnly) != day {
		return fmt.Errorf("%s is no day: one such as 2026-11-28 is wanted", strictjson.Quoted(day))
	}
	return nil
}

// dayOf is the day of a path below the archive, "" where it is none of a day's file.
func dayOf(path string) string {
	dir, file, ok := strings.Cut(path, "/")
	day, named := strings.CutPrefix(dir, dayPrefix)
	if !ok || !named || file != Part || checkDay(day) != nil {
		return ""
	}
	return day
}

// Days lists the days that are there, the first one first.
func (a *Archive) Days(ctx context.Context) ([]Day, error) { return a.place.days(ctx) }

// Name is how people call the file of a day.
func (a *Archive) Name(day string) string { return a.place.name(day) }

// Has reports whether the archive has a day.
func (a *Archive) Has(ctx context.Context, day string) (bool, error) {
	f, err := a.place.open(ctx, day)
	if errors.Is(err, errNoDay) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return true, f.Close()
}

// spool copies what comes over a network into a temporary file, no more than most bytes.
func spool(dir string, in io.Reader, most int64) (*copied, error) {
	f, err := os.CreateTemp(dir, "gate-day-*.parquet")
	if err != nil {
		return nil, err
	}
	c := &copied{File: f, remove: true}
	if c.size, err = io.Copy(f, io.LimitReader(in, most+1)); err == nil && c.size > most {
		err = fmt.Errorf("the file has more than %d bytes", most)
	}
	if err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}
