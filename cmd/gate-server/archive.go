package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"gate/cmd/internal/commands"
	"gate/internal/collect/archive"
	"gate/internal/collect/store"
)

// moveDays archives days of a collector's store, or erases some of what is archived.
func moveDays(ctx context.Context, o commands.FleetArchive) (err error) {
	a, err := archive.Open(o.To, archiveOptions(o.LookupEnv))
	if err != nil {
		return err
	}
	s, err := store.Open(ctx, store.Options{Database: o.Database})
	if err != nil {
		return err
	}
	defer func() {
		if closed := s.Close(); err == nil {
			err = closed
		}
	}()
	say := func(doc any, text string) error {
		if o.JSON {
			line, err := json.Marshal(doc)
			if err != nil {
				return err
			}
			text = string(line) + "\n"
		}
		_, err := fmt.Fprint(o.Stdout, text)
		return err
	}
	if o.Erase {
		named := func(machine, account string) bool {
			return o.Machine != "" && machine == o.Machine || o.Account != "" && account == o.Account
		}
		for e, err := range a.EraseIn(ctx, s, named, time.Now) {
			if err != nil {
				return err
			}
			if err := say(e, fmt.Sprintf("%s: %d records erased, %d left\n", e.Day, e.Rows, e.Written.Rows)); err != nil {
				return err
			}
		}
		return nil
	}
	for m, err := range a.Move(ctx, s, o.Before, time.Now) {
		if err != nil {
			return err
		}
		if err := say(m, fmt.Sprintf("%s: %d records in %d bytes, read back; %d dropped from the store\n", m.Day, m.Rows, m.Bytes, m.Dropped)); err != nil {
			return err
		}
	}
	return nil
}
