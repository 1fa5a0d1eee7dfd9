package sample

import (
	"context"
	"database/sql"
	"path/filepath"
	"strings"

	"github.com/jackc/pgx/v5"
	_ "modernc.org/sqlite" // the driver "sqlite"
)

// A sink takes rows of tables. What it was given is there after finish.
type sink interface {
	put(ctx context.Context, table string, columns []string, rows [][]any) error
	finish(ctx context.Context) error
	close()
}

func openSink(ctx context.Context, database string) (sink, error) {
	if strings.HasPrefix(database, "postgres") {
		conn, err := pgx.Connect(ctx, database)
		if err != nil {
			return nil, err
		}
		return &copied{conn}, nil
	}
	db, err := sql.Open("sqlite", "file:"+filepath.Join(database, "collect.db")+"?_pragma=journal_mode(WAL)&_pragma=synchronous(OFF)&_pragma=cache_size(-262144)")
	if err != nil {
		return nil, err
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		db.Close()
		return nil, err
	}
	return &inserted{db, tx}, nil
}

// copied writes by COPY.
type copied struct{ conn *pgx.Conn }

func (c *copied) put(ctx context.Context, table string, columns []string, rows [][]any) error {
	_, err := c.conn.CopyFrom(ctx, pgx.Identifier{table}, columns, pgx.CopyFromRows(rows))
	return err
}

func (c *copied) finish(ctx context.Context) error {
	_, err := c.conn.Exec(ctx, "VACUUM ANALYZE")
	return err
}

func (c *copied) close() { c.conn.Close(context.Background()) }

// inserted writes many rows a statement, in one transaction.
type inserted struct {
	db *sql.DB
	tx *sql.Tx
}

func (i *inserted) put(ctx context.Context, table string, columns []string, rows [][]any) error {
	const most = 200 // rows of a statement
	row := "(" + strings.TrimSuffix(strings.Repeat("?,", len(columns)), ",") + "),"
	statement := func(n int) string {
		return "INSERT INTO " + table + " (" + strings.Join(columns, ",") + ") VALUES " + strings.TrimSuffix(strings.Repeat(row, n), ",")
	}
	whole, err := i.tx.PrepareContext(ctx, statement(most))
	if err != nil {
		return err
	}
	defer whole.Close()
	for len(rows) > 0 {
		n := min(len(rows), most)
		var args []any
		for _, r := range rows[:n] {
			args = append(args, r...)
		}
		rows = rows[n:]
		if n == most {
			_, err = whole.ExecContext(ctx, args...)
		} else {
			_, err = i.tx.ExecContext(ctx, statement(n), args...)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (i *inserted) finish(ctx context.Context) error {
	if err := i.tx.Commit(); err != nil {
		return err
	}
	_, err := i.db.ExecContext(ctx, "PRAGMA optimize=0x10002")
	return err
}

func (i *inserted) close() {
	i.tx.Rollback() // after finish it does nothing
	i.db.Close()
}
