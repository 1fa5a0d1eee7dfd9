package store

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"
	"strings"
)

// migrations are the steps from an empty database to that of now; the place in the list
// is the number. A step that was released is never changed. Words in braces are the
// dialect's.
//
// Times are microseconds since 1970, hours are hours since 1970, days are text. Lists of
// words have spaces between.
var migrations = [...]string{
	1: `
CREATE TABLE machines (
	machine TEXT PRIMARY KEY,
	key {blob} NOT NULL,
	host TEXT NOT NULL,
	labels TEXT NOT NULL,
	team TEXT NOT NULL,
	enrolled BIGINT NOT NULL,
	seen BIGINT NOT NULL DEFAULT 0,
	last_record BIGINT NOT NULL DEFAULT 0,
	status_seq BIGINT NOT NULL DEFAULT 0,
	status_at BIGINT NOT NULL DEFAULT 0,
	level TEXT NOT NULL DEFAULT '',
	version TEXT NOT NULL DEFAULT '',
	os TEXT NOT NULL DEFAULT '',
	arch TEXT NOT NULL DEFAULT '',
	agents TEXT NOT NULL DEFAULT ''
);
CREATE INDEX machines_host ON machines (host);

CREATE TABLE expected (
	name TEXT PRIMARY KEY,
	team TEXT NOT NULL,
	since BIGINT NOT NULL
);

CREATE TABLE tokens (
	id TEXT PRIMARY KEY,
	digest {blob} NOT NULL UNIQUE,
	machine TEXT NOT NULL,
	host TEXT NOT NULL,
	labels TEXT NOT NULL,
	team TEXT NOT NULL,
	made BIGINT NOT NULL,
	made_by TEXT NOT NULL,
	expires BIGINT NOT NULL,
	used BIGINT NOT NULL DEFAULT 0,
	used_by TEXT NOT NULL DEFAULT '',
	revoked BIGINT NOT NULL DEFAULT 0
);

CREATE TABLE statuses (
	machine TEXT NOT NULL,
	seq BIGINT NOT NULL,
	received BIGINT NOT NULL,
	body {blob} NOT NULL,
	PRIMARY KEY (machine, seq)
);

CREATE TABLE releases (
	machine TEXT NOT NULL,
	bundle TEXT NOT NULL,
	revision TEXT NOT NULL,
	trial {bool} NOT NULL,
	digest TEXT NOT NULL,
	activated BIGINT NOT NULL,
	asked BIGINT NOT NULL,
	code TEXT NOT NULL,
	message TEXT NOT NULL,
	PRIMARY KEY (machine, bundle, trial)
);
CREATE INDEX releases_bundle ON releases (bundle, revision);

CREATE TABLE chains (
	machine TEXT NOT NULL,
	log TEXT NOT NULL,
	account TEXT NOT NULL,
	seq BIGINT NOT NULL,
	digest TEXT NOT NULL,
	at BIGINT NOT NULL,
	received BIGINT NOT NULL,
	head BIGINT NOT NULL DEFAULT 0,
	listed {bool} NOT NULL DEFAULT FALSE,
	PRIMARY KEY (machine, log)
);

CREATE TABLE spans (
	machine TEXT NOT NULL,
	log TEXT NOT NULL,
	first BIGINT NOT NULL,
	last BIGINT NOT NULL,
	first_prev TEXT NOT NULL,
	last_digest TEXT NOT NULL,
	PRIMARY KEY (machine, log, first)
);

CREATE TABLE records (
	day TEXT NOT NULL,
	machine TEXT NOT NULL,
	log TEXT NOT NULL,
	seq BIGINT NOT NULL,
	prev {blob} NOT NULL,
	digest {blob} NOT NULL,
	level TEXT NOT NULL,
	at BIGINT NOT NULL,
	received BIGINT NOT NULL,
	team TEXT NOT NULL,
	account TEXT NOT NULL,
	agent TEXT NOT NULL,
	session TEXT NOT NULL,
	event TEXT NOT NULL,
	tool TEXT NOT NULL,
	effect TEXT NOT NULL,
	result TEXT NOT NULL,
	policies TEXT NOT NULL,
	would TEXT NOT NULL,
	effects TEXT NOT NULL,
	call_ns BIGINT NOT NULL,
	body {blob} NOT NULL,
	PRIMARY KEY (day, machine, log, seq)
) {partitioned};
CREATE INDEX records_would ON records (day, at) WHERE would <> '';

CREATE TABLE twice (
	day TEXT NOT NULL,
	machine TEXT NOT NULL,
	log TEXT NOT NULL,
	seq BIGINT NOT NULL,
	sum TEXT NOT NULL,
	received BIGINT NOT NULL,
	account TEXT NOT NULL,
	level TEXT NOT NULL,
	body {blob} NOT NULL,
	PRIMARY KEY (day, machine, log, seq, sum)
);

CREATE TABLE asks (
	machine TEXT NOT NULL,
	log TEXT NOT NULL,
	call TEXT NOT NULL,
	seq BIGINT NOT NULL,
	day TEXT NOT NULL,
	at BIGINT NOT NULL,
	ran {bool} NOT NULL,
	PRIMARY KEY (machine, log, call)
);
CREATE INDEX asks_at ON asks (at);

CREATE TABLE counted (
	machine TEXT NOT NULL,
	seq BIGINT NOT NULL,
	received BIGINT NOT NULL,
	team TEXT NOT NULL,
	body {blob} NOT NULL,
	PRIMARY KEY (machine, seq)
);

CREATE TABLE erased (
	account TEXT PRIMARY KEY,
	at BIGINT NOT NULL
);

CREATE TABLE calls_hour (
	hour BIGINT NOT NULL,
	policy TEXT NOT NULL,
	team TEXT NOT NULL,
	agent TEXT NOT NULL,
	tool TEXT NOT NULL,
	effect TEXT NOT NULL,
	would TEXT NOT NULL,
	spared TEXT NOT NULL,
	n BIGINT NOT NULL,
	approved BIGINT NOT NULL,
	PRIMARY KEY (policy, hour, team, agent, tool, effect, would, spared)
) {clustered};

CREATE TABLE calls_day (
	day TEXT NOT NULL,
	policy TEXT NOT NULL,
	team TEXT NOT NULL,
	agent TEXT NOT NULL,
	tool TEXT NOT NULL,
	effect TEXT NOT NULL,
	would TEXT NOT NULL,
	spared TEXT NOT NULL,
	n BIGINT NOT NULL,
	approved BIGINT NOT NULL,
	PRIMARY KEY (policy, day, team, agent, tool, effect, would, spared)
) {clustered};

CREATE TABLE machines_hour (
	machine TEXT NOT NULL,
	hour BIGINT NOT NULL,
	calls BIGINT NOT NULL,
	asked BIGINT NOT NULL,
	denied BIGINT NOT NULL,
	faults BIGINT NOT NULL,
	PRIMARY KEY (machine, hour)
) {clustered};
CREATE INDEX machines_hour_hour ON machines_hour (hour);

CREATE TABLE latency_hour (
	hour BIGINT NOT NULL,
	team TEXT NOT NULL,
	kind TEXT NOT NULL,
	bucket BIGINT NOT NULL,
	n BIGINT NOT NULL,
	PRIMARY KEY (kind, hour, team, bucket)
) {clustered};

CREATE TABLE asked_day (
	day TEXT NOT NULL,
	policy TEXT NOT NULL,
	tool TEXT NOT NULL,
	effects TEXT NOT NULL,
	asked BIGINT NOT NULL,
	approved BIGINT NOT NULL,
	PRIMARY KEY (day, policy, tool, effects)
) {clustered};

CREATE TABLE days (
	day TEXT NOT NULL,
	level TEXT NOT NULL,
	records BIGINT NOT NULL,
	PRIMARY KEY (day, level)
);

CREATE TABLE dropped (
	day TEXT NOT NULL,
	level TEXT NOT NULL,
	at BIGINT NOT NULL,
	records BIGINT NOT NULL,
	PRIMARY KEY (day, level)
);

CREATE TABLE archives (
	day TEXT PRIMARY KEY,
	place TEXT NOT NULL,
	records BIGINT NOT NULL,
	bytes BIGINT NOT NULL,
	digest TEXT NOT NULL,
	at BIGINT NOT NULL
);

CREATE TABLE findings (
	id {serial},
	kind TEXT NOT NULL,
	machine TEXT NOT NULL,
	log TEXT NOT NULL,
	first BIGINT NOT NULL,
	last BIGINT NOT NULL,
	detail TEXT NOT NULL,
	times BIGINT NOT NULL,
	opened BIGINT NOT NULL,
	seen BIGINT NOT NULL,
	closed BIGINT NOT NULL DEFAULT 0,
	closed_by TEXT NOT NULL DEFAULT ''
);
CREATE UNIQUE INDEX findings_open ON findings (machine, kind, log, first) WHERE closed = 0;
CREATE INDEX findings_kind ON findings (kind, opened);

CREATE TABLE looks (
	id {serial},
	at BIGINT NOT NULL,
	who TEXT NOT NULL,
	role TEXT NOT NULL,
	what TEXT NOT NULL,
	detail TEXT NOT NULL
);
CREATE INDEX looks_at ON looks (at);
`,
	2: `
CREATE TABLE sums_day (
	team TEXT NOT NULL,
	policy TEXT NOT NULL,
	day TEXT NOT NULL,
	effect TEXT NOT NULL,
	would TEXT NOT NULL,
	spared TEXT NOT NULL,
	n BIGINT NOT NULL,
	approved BIGINT NOT NULL,
	PRIMARY KEY (team, policy, day, effect, would, spared)
) {clustered};
CREATE INDEX sums_day_policy ON sums_day (policy, day);
INSERT INTO sums_day (team, policy, day, effect, would, spared, n, approved)
SELECT team, policy, day, effect, would, spared, SUM(n), SUM(approved) FROM calls_day WHERE team <> '*' AND policy <> '*' GROUP BY team, policy, day, effect, would, spared;
INSERT INTO sums_day (team, policy, day, effect, would, spared, n, approved)
SELECT '*', policy, day, effect, would, spared, SUM(n), SUM(approved) FROM sums_day GROUP BY policy, day, effect, would, spared;
INSERT INTO sums_day (team, policy, day, effect, would, spared, n, approved)
SELECT team, '*', day, effect, would, spared, SUM(n), SUM(approved) FROM sums_day WHERE policy <> '' GROUP BY team, day, effect, would, spared;

CREATE TABLE latency_day (
	kind TEXT NOT NULL,
	team TEXT NOT NULL,
	hour BIGINT NOT NULL,
	bucket BIGINT NOT NULL,
	n BIGINT NOT NULL,
	PRIMARY KEY (kind, team, hour, bucket)
) {clustered};
INSERT INTO latency_day (kind, team, hour, bucket, n)
SELECT kind, team, hour - hour % 24, bucket, SUM(n) FROM latency_hour WHERE team <> '*' GROUP BY kind, team, hour - hour % 24, bucket;
INSERT INTO latency_day (kind, team, hour, bucket, n)
SELECT kind, '*', hour, bucket, SUM(n) FROM latency_day GROUP BY kind, hour, bucket;

CREATE INDEX machines_hour_faults ON machines_hour (hour, machine, faults) WHERE faults > 0;
`,
}

// migrate brings the database to the number of now. Several collectors may start at
// once: one of them does it, and the others wait.
func (s *Store) migrate(ctx context.Context) error {
	return s.sql.alone(ctx, s.db, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, `CREATE TABLE IF NOT EXISTS gate_store (name TEXT PRIMARY KEY, value TEXT NOT NULL)`); err != nil {
			return err
		}
		var text string
		err := tx.QueryRowContext(ctx, `SELECT value FROM gate_store WHERE name = 'schema'`).Scan(&text)
		if err != nil && err != sql.ErrNoRows {
			return err
		}
		at, newest := 0, len(migrations)-1
		if text != "" {
			if at, err = strconv.Atoi(text); err != nil {
				return fmt.Errorf("its schema has the number %q", text)
			}
		}
		if at > newest {
			return fmt.Errorf("its schema has the number %d, and this collector knows %d: a newer one has written it", at, newest)
		}
		for n := at + 1; n <= newest; n++ {
			for statement := range strings.SplitSeq(s.sql.words(migrations[n]), ";\n") {
				if strings.TrimSpace(statement) == "" {
					continue
				}
				if _, err := tx.ExecContext(ctx, statement); err != nil {
					return fmt.Errorf("step %d of its schema: %w", n, err)
				}
			}
		}
		if at == newest {
			return nil
		}
		_, err = tx.ExecContext(ctx, s.q(`INSERT INTO gate_store (name, value) VALUES ('schema', ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value`), strconv.Itoa(newest))
		return err
	})
}

// q puts the dialect's placeholders into a statement.
func (s *Store) q(text string) string { return s.sql.bind(text) }
