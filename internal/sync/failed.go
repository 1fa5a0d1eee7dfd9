package sync

import (
	"context"
	"errors"
	"slices"
	"time"

	"gate/internal/format"
	"gate/internal/hostfs"
	"gate/internal/strictjson"
)

// FailedFile has what went wrong in the last sync, for every account to read.
const FailedFile = Dir + "/failed.json"

// A Failure is a sync that failed, and fails since.
type Failure struct {
	Name    string // of the bundle; "": of the machine
	Since   time.Time
	At      time.Time // the last time
	Refused bool      // something came, and was not taken
	Err     string
}

// Failures are those of the last sync, in order; none where it went well. A file
// that cannot be read is as good as none: the next sync writes it.
func (s Store) Failures() []Failure {
	root, err := hostfs.OpenDir(s.Dir)
	if err != nil {
		return nil
	}
	defer root.Close()
	return (&disk{Store: s, root: root}).failures()
}

func (d *disk) failures() []Failure {
	var file struct {
		Schema   int64 `json:"schema"`
		Failures []struct {
			Name    string    `json:"name"`
			Since   time.Time `json:"since"`
			At      time.Time `json:"at"`
			Refused bool      `json:"refused"`
			Err     string    `json:"error"`
		} `json:"failures"`
	}
	data, err := d.read(FailedFile, maxState)
	if err != nil || decode(data, &file) != nil || format.Failed.Check(file.Schema) != nil {
		return nil
	}
	var list []Failure
	for _, f := range file.Failures {
		list = append(list, Failure(f))
	}
	return list
}

// NoteFailures writes down what fails now. One that failed before keeps its
// beginning. Without any the file is removed.
func (s Store) NoteFailures(ctx context.Context, list []Failure) error {
	d, err := s.open(ctx)
	if err != nil {
		return err
	}
	defer d.close()
	before := d.failures()
	if len(list) == 0 {
		if err := d.remove(FailedFile); err != nil {
			return err
		}
		return d.remove(stagingDir)
	}
	docs := []any{}
	for _, f := range list {
		f.Since = f.At
		if i := slices.IndexFunc(before, func(b Failure) bool { return b.Name == f.Name }); i >= 0 {
			f.Since = before[i].Since
		}
		docs = append(docs, map[string]any{
			"name": f.Name, "since": f.Since.UTC().Format(time.RFC3339), "at": f.At.UTC().Format(time.RFC3339), "refused": f.Refused, "error": f.Err,
		})
	}
	err = d.replace(FailedFile, []byte(strictjson.Indent(map[string]any{"schema": format.Failed.Number(), "failures": docs})))
	return errors.Join(err, d.remove(stagingDir))
}
