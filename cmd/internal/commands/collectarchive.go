package commands

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// FleetArchive is what gate collect archive and its commands are told to do.
type FleetArchive struct {
	Database string // "postgres://…", or a directory
	To       string // a directory, or s3://bucket/prefix
	Before   string // days before this one are archived
	Erase    bool   // rows of Machine or Account are erased instead
	Machine  string
	Account  string
	JSON     bool

	LookupEnv func(name string) (string, bool) // says how a store is reached
	Stdout    io.Writer
}

// archiveFlags are the flags of both commands.
type archiveFlags struct {
	FleetArchive
	dir, older string
}

func newCollectArchive(p process) *cobra.Command {
	var f archiveFlags
	cmd := &cobra.Command{
		Use:   "archive",
		Short: "move old days out of the store, into files of Parquet",
		Long: "Writes each day that is old enough into a file of Parquet, in a directory or in an S3-style\n" +
			"store, reads it back, and drops its records from the store. Figures stay in the store. A\n" +
			"day is there whole or not at all. gate replay --from reads the files, and so do engines\n" +
			"that read Parquet; docs/archive.md has the columns.\n\n" +
			"A store is reached as Amazon's programs do: AWS_ENDPOINT_URL, AWS_REGION,\n" +
			"AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN, or the machine's role.",
		Example: "  gate collect archive --dir /var/lib/gate-collect --older 30d --to /srv/gate/archive\n" +
			"  gate collect archive --database postgres://gate@db.example/gate --older 30d --to s3://fleet/gate",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd.Context(), p) },
	}
	f.add(cmd)
	cmd.Flags().StringVar(&f.older, "older", "", "archive days that ended so `LONG` ago, such as 30d (required)")
	var e archiveFlags
	erase := &cobra.Command{
		Use:   "erase",
		Short: "take a machine or an account out of the archive",
		Long: "Writes the days anew that have records of a machine or of an account, without these.\n" +
			"gate collect forget and gate collect erase do the same in the store.",
		Example: "  gate collect archive erase --dir /var/lib/gate-collect --to /srv/gate/archive --account u-0123456789abcdef",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			e.Erase = true
			return e.run(cmd.Context(), p)
		},
	}
	e.add(erase)
	erase.Flags().StringVar(&e.Machine, "machine", "", "the `MACHINE`")
	erase.Flags().StringVar(&e.Account, "account", "", "the `PSEUDONYM` of the account")
	cmd.AddCommand(byServer(erase))
	return byServer(cmd)
}

func (f *archiveFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.dir, "dir", "", "the `DIR` of the store, in SQLite")
	cmd.Flags().StringVar(&f.Database, "database", "", "the `URL` of the store in PostgreSQL, postgres://… (a password belongs into ~/.pgpass)")
	cmd.Flags().StringVar(&f.To, "to", "", "the `PLACE` of the archive: a directory, or s3://bucket/prefix (required)")
	cmd.Flags().BoolVar(&f.JSON, "json", false, "print JSON, a line a day")
}

func (f *archiveFlags) run(ctx context.Context, p process) error {
	a := f.FleetArchive
	switch {
	case a.To == "":
		return usageError("--to is missing: the place of the archive")
	case (f.dir == "") == (a.Database == ""):
		return usageError("one of --dir and --database is wanted")
	case a.Database != "" && !strings.HasPrefix(a.Database, "postgres://") && !strings.HasPrefix(a.Database, "postgresql://"):
		return usageError("--database takes postgres://…; a directory is --dir")
	case a.Erase && (a.Machine == "") == (a.Account == ""):
		return usageError("one of --machine and --account is wanted")
	case !a.Erase && f.older == "":
		return usageError("--older is missing: how old the days are that are moved")
	}
	if f.dir != "" {
		dir, err := filepath.Abs(f.dir)
		if err != nil {
			return err
		}
		a.Database = dir
	}
	if !a.Erase {
		older, err := parseLong(f.older)
		if err != nil {
			return usageError("--older: " + err.Error())
		}
		a.Before = time.Now().UTC().Add(-older).Format(time.DateOnly)
	}
	a.LookupEnv, a.Stdout = p.lookupEnv, p.stdout
	if p.clients == nil || p.clients.Archive == nil {
		return errors.New("this program has no archive")
	}
	return p.clients.Archive(ctx, a)
}
