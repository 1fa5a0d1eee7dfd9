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

// sums fill the tables that have sums of what was put, as store does.
var sums = [...]string{
	`INSERT INTO sums_day (team, policy, day, effect, would, spared, n, approved)
SELECT team, policy, day, effect, would, spared, SUM(n), SUM(approved) FROM calls_day GROUP BY team, policy, day, effect, would, spared`,
	`INSERT INTO sums_day (team, policy, day, effect, would, spared, n, approved)
SELECT '*', policy, day, effect, would, spared, SUM(n), SUM(approved) FROM sums_day GROUP BY policy, day, effect, would, spared`,
	`INSERT INTO sums_day (team, policy, day, effect, would, spared, n, approved)
SELECT team, '*', day, effect, would, spared, SUM(n), SUM(approved) FROM sums_day WHERE policy <> '' GROUP BY team, day, effect, would, spared`,
	`INSERT INTO latency_day (kind, team, hour, bucket, n) SELECT kind, team, hour - hour % 24, bucket, SUM(n) FROM latency_hour GROUP BY kind, team, hour - hour % 24, bucket`,
	`INSERT INTO latency_day (kind, team, hour, bucket, n) SELECT kind, '*', hour, bucket, SUM(n) FROM latency_day GROUP BY kind, hour, bucket`,
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
	for _, statement := range sums {
		if _, err := c.conn.Exec(ctx, statement); err != nil {
			return err
		}
	}
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
	for _, statement := range sums {
		if _, err := i.tx.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
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
