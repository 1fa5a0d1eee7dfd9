package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"
	"modernc.org/sqlite"
	codes "modernc.org/sqlite/lib"
)

// A dialect is where the two databases differ.
type dialect interface {
	kind() string
	words(schema string) string // puts in those in braces
	bind(statement string) string

	// alone runs what no other collector runs at the same time, in one transaction.
	alone(ctx context.Context, db *sql.DB, run func(*sql.Tx) error) error

	health(ctx context.Context, db *sql.DB) error
	again(err error) bool // the transaction may succeed when it is tried again
	locked() string       // behind a SELECT whose rows are locked
	dayOfHour() string    // the day of the column hour

	// still keeps all others from writing records and figures until the transaction ends.
	still(ctx context.Context, tx *sql.Tx) error

	// ready makes room for the records of a day, and drop takes the room with the records
	// of a day and a level away.
	ready(ctx context.Context, db *sql.DB, day string) error
	drop(ctx context.Context, tx *sql.Tx, day, level string) (records int64, err error)
}

// sqliteDialect keeps everything in one file of a directory. Its readers never wait for
// the writer (WAL), and writers of several processes wait for each other.
type sqliteDialect struct{}

// sqliteFile is the database within the directory.
const sqliteFile = "collect.db"

func openSQLite(ctx context.Context, dir string) (*sql.DB, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	path, err := filepath.Abs(filepath.Join(dir, sqliteFile))
	if err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600) // SQLite would make it for all to read
	if err != nil {
		return nil, err
	}
	f.Close()
	name := (&url.URL{Scheme: "file", Path: path, RawQuery: strings.Join([]string{
		"_txlock=immediate", // a transaction that reads first cannot become a writer's
		"_pragma=busy_timeout(20000)", "_pragma=journal_mode(WAL)", "_pragma=synchronous(FULL)",
		"_pragma=cache_size(-65536)", "_pragma=temp_store(MEMORY)", "_pragma=journal_size_limit(67108864)",
	}, "&")}).String()
	db, err := sql.Open("sqlite", name)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(8)
	err = db.PingContext(ctx)
	for try := 0; try < 100 && (sqliteDialect{}).again(err); try++ { // no time-out counts where several turn a new file over to WAL
		time.Sleep(50 * time.Millisecond)
		err = db.PingContext(ctx)
	}
	if err != nil {
		db.Close()
		return nil, err
	}
	return db, nil
}

func (sqliteDialect) kind() string { return "sqlite" }

func (sqliteDialect) words(schema string) string {
	return strings.NewReplacer("{blob}", "BLOB", "{bool}", "BOOLEAN", "{serial}", "INTEGER PRIMARY KEY AUTOINCREMENT",
		"{partitioned}", "", "{clustered}", "WITHOUT ROWID").Replace(schema)
}

func (sqliteDialect) bind(statement string) string { return statement }

func (sqliteDialect) alone(ctx context.Context, db *sql.DB, run func(*sql.Tx) error) error {
	return inTx(ctx, db, run) // whoever writes is alone
}

func (sqliteDialect) health(ctx context.Context, db *sql.DB) error {
	return inTx(ctx, db, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO gate_store (name, value) VALUES ('health', ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value`, time.Now().UTC().Format(time.RFC3339))
		return err
	})
}

func (sqliteDialect) again(err error) bool {
	var e *sqlite.Error
	return errors.As(err, &e) && (e.Code()&0xff == codes.SQLITE_BUSY || e.Code()&0xff == codes.SQLITE_LOCKED)
}

func (sqliteDialect) locked() string { return "" }

func (sqliteDialect) dayOfHour() string { return "date(hour * 3600, 'unixepoch')" }

func (sqliteDialect) still(context.Context, *sql.Tx) error { return nil } // whoever writes is alone

func (sqliteDialect) ready(context.Context, *sql.DB, string) error { return nil }

func (sqliteDialect) drop(ctx context.Context, tx *sql.Tx, day, level string) (int64, error) {
	return affected(tx.ExecContext(ctx, `DELETE FROM records WHERE day = ? AND level = ?`, day, level))
}

// postgresDialect keeps records in a partition a day.
type postgresDialect struct{}

// Advisory locks are numbers that all programs of a database share.
const lockAlone = 0x67617465 // "gate"

func openPostgres(ctx context.Context, address string) (*sql.DB, error) {
	db, err := sql.Open("pgx", address)
	if err != nil {
		return nil, errors.New("the address of the database is none that PostgreSQL's driver reads") // without it: it may hold a password
	}
	db.SetMaxOpenConns(16)
	db.SetConnMaxIdleTime(5 * time.Minute)
	var number string
	if err := db.QueryRowContext(ctx, `SHOW server_version_num`).Scan(&number); err != nil {
		db.Close()
		return nil, err
	}
	if n, err := strconv.Atoi(number); err != nil || n < 15_00_00 {
		db.Close()
		return nil, fmt.Errorf("PostgreSQL 15 or later is wanted, and this is %s", number)
	}
	return db, nil
}

func (postgresDialect) kind() string { return "postgres" }

func (postgresDialect) words(schema string) string {
	return strings.NewReplacer("{blob}", "BYTEA", "{bool}", "BOOLEAN", "{serial}", "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY",
		"{partitioned}", "PARTITION BY LIST (day)", "{clustered}", "WITH (fillfactor = 80)", " TEXT", ` TEXT COLLATE "C"`).Replace(schema)
}

// bind numbers the placeholders. No statement of ours has a question mark in a text.
func (postgresDialect) bind(statement string) string {
	var b strings.Builder
	n := 0
	for {
		before, after, found := strings.Cut(statement, "?")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		n++
		b.WriteByte('$')
		b.WriteString(strconv.Itoa(n))
		statement = after
	}
}

func (postgresDialect) alone(ctx context.Context, db *sql.DB, run func(*sql.Tx) error) error {
	return inTx(ctx, db, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, `SELECT pg_advisory_xact_lock($1)`, lockAlone); err != nil {
			return err
		}
		return run(tx)
	})
}

func (postgresDialect) health(ctx context.Context, db *sql.DB) error {
	var standby bool
	if err := db.QueryRowContext(ctx, `SELECT pg_is_in_recovery()`).Scan(&standby); err != nil {
		return err
	}
	if standby {
		return errors.New("the database is a standby and takes nothing")
	}
	return nil
}

// again reports deadlocks and serialization failures, and partitions that came or went
// meanwhile.
func (postgresDialect) again(err error) bool {
	var e *pgconn.PgError
	return errors.As(err, &e) && (e.Code == "40P01" || e.Code == "40001" || e.Code == "23514")
}

func (postgresDialect) locked() string { return " FOR UPDATE" }

func (postgresDialect) dayOfHour() string {
	return "to_char(to_timestamp(hour * 3600) AT TIME ZONE 'UTC', 'YYYY-MM-DD')"
}

func (postgresDialect) still(ctx context.Context, tx *sql.Tx) error {
	_, err := tx.ExecContext(ctx, `LOCK TABLE machines, records, calls_hour IN SHARE ROW EXCLUSIVE MODE`)
	return err
}

// partition is the table of a day.
func partition(day string) string { return "records_" + strings.ReplaceAll(day, "-", "") }

// ready makes the partition of a day. A table that is attached blocks no writer of other
// days, as one that is created as a partition would.
func (p postgresDialect) ready(ctx context.Context, db *sql.DB, day string) error {
	name := partition(day)
	return p.alone(ctx, db, func(tx *sql.Tx) error {
		var there bool
		if err := tx.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = 'records'::regclass AND c.relname = $1)`, name).Scan(&there); err != nil || there {
			return err
		}
		for _, statement := range []string{
			fmt.Sprintf(`CREATE TABLE %s (LIKE records INCLUDING ALL)`, name),
			fmt.Sprintf(`ALTER TABLE %s ALTER COLUMN body SET STORAGE EXTERNAL`, name), // it is compressed
			fmt.Sprintf(`ALTER TABLE records ATTACH PARTITION %s FOR VALUES IN ('%s')`, name, day),
		} {
			if _, err := tx.ExecContext(ctx, statement); err != nil {
				return err
			}
		}
		return nil
	})
}

// drop drops the whole partition where it has nothing else.
func (postgresDialect) drop(ctx context.Context, tx *sql.Tx, day, level string) (int64, error) {
	var here, others int64
	var there bool
	if err := tx.QueryRowContext(ctx, `SELECT to_regclass($1) IS NOT NULL`, partition(day)).Scan(&there); err != nil || !there {
		return 0, err
	}
	// Whoever is writing ends first, and nobody adds a record between the count and the end.
	if _, err := tx.ExecContext(ctx, `LOCK TABLE `+partition(day)+` IN ACCESS EXCLUSIVE MODE`); err != nil {
		return 0, err
	}
	if err := tx.QueryRowContext(ctx, `SELECT count(*) FILTER (WHERE level = $2), count(*) FILTER (WHERE level <> $2) FROM records WHERE day = $1`, day, level).Scan(&here, &others); err != nil || here == 0 {
		return 0, err
	}
	if others > 0 {
		return affected(tx.ExecContext(ctx, `DELETE FROM records WHERE day = $1 AND level = $2`, day, level))
	}
	_, err := tx.ExecContext(ctx, `DROP TABLE IF EXISTS `+partition(day))
	return here, err
}

// inTx runs a transaction.
func inTx(ctx context.Context, db *sql.DB, run func(*sql.Tx) error) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := run(tx); err != nil {
		tx.Rollback()
		return err
	}
	return tx.Commit()
}

func affected(r sql.Result, err error) (int64, error) {
	if err != nil {
		return 0, err
	}
	return r.RowsAffected()
}
