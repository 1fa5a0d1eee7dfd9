package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"gate/internal/collect/store"
	"gate/internal/fleet"
)

// A crowd is what gate-bench -collect is told.
type crowd struct {
	machines int           // simulated
	records  int           // of all of them together
	database string        // postgres://…; "": SQLite in a directory of the lab
	level    fleet.Level   // of the records
	most     time.Duration // after this no machine begins to send
	kill     time.Duration // how long a collector lives, on the average; 0: it is never killed
	programs string        // a directory with gate-server; "": it is built
}

// quarters are the parts of the hour, at the end of each of which a machine sends.
const quarters = 4

// senders is how many machines send at once. The collector reads 16 requests at once.
const senders = 24

// A count is what was sent, and what became of it.
type count struct {
	requests, again, refused, broken atomic.Int64
	sent                             atomic.Int64 // bytes of bodies, compressed

	mu    sync.Mutex
	acks  []measure // of requests that were taken
	whole []measure // from the first attempt to the answer that says taken
}

// collect has a fleet send an hour of its day to a collector that is killed now and then,
// and holds that every record is there once and that the findings are those that the
// machines gave reason for.
func (l *lab) collect(ctx context.Context, out io.Writer, c crowd) error {
	server := filepath.Join(c.programs, "gate-server")
	if c.programs == "" {
		if err := l.compile(ctx, l.programs()[2]); err != nil {
			return err
		}
		server = l.tool("gate-server")
	}
	where := c.database
	if where == "" {
		where = filepath.Join(l.dir, "collected")
	}
	s, err := store.Open(ctx, store.Options{Database: where})
	if err != nil {
		return err
	}
	defer s.Close()
	if n, err := s.Counts(ctx); err != nil || n.Enrolled > 0 {
		return errors.Join(err, errors.New("the database is not empty: give one that may be filled"))
	}
	kinds, err := moulds(c.level)
	if err != nil {
		return err
	}
	p := &collector{server: server, database: where, address: freeAddress(), log: l.log}
	if err := p.start(ctx); err != nil {
		return err
	}
	defer p.stop(os.Kill)
	list, err := c.enrol(ctx, s, p)
	if err != nil {
		return err
	}
	began, n := time.Now(), &count{}
	silentSince, err := c.play(ctx, p, list, kinds, n)
	took := time.Since(began)
	if err != nil {
		return err
	}
	if err := p.stop(syscall.SIGTERM); err != nil {
		return err
	}
	o := outcome{kind: s.Kind(), list: list, count: n, took: took, used: p.used, silentSince: silentSince}
	wrong := verify(ctx, s, list, where, silentSince)
	if o.size, err = stored(ctx, where); err != nil {
		return err
	}
	c.report(out, &o, p)
	return wrong
}

// An outcome is what came of an hour.
type outcome struct {
	kind string // of the store
	list []*simulated
	*count
	took, used  time.Duration // by the clock, and of processors by the collector
	silentSince time.Time     // see [simulated.findings]
	size        int64         // bytes of the store
}

// report writes the figures as rows of a table.
func (c *crowd) report(out io.Writer, o *outcome, p *collector) {
	records, bytes, findings := int64(written(o.list)), int64(0), 0
	for _, m := range o.list {
		bytes, findings = bytes+m.bytes, findings+len(m.findings(o.silentSince))
	}
	load := "unknown"
	if text, err := os.ReadFile("/proc/loadavg"); err == nil {
		load = strings.Join(strings.Fields(string(text))[:3], ", ")
	}
	fmt.Fprintf(out, "\n**%d machines, level %s, %s** (load of this machine: %s)\n\n| figure | measured |\n|---|---|\n", len(o.list), c.level, o.kind, load)
	for _, row := range [][2]string{
		{"records", fmt.Sprintf("%d, %d bytes each before compression", records, bytes/max(records, 1))},
		{"requests", fmt.Sprintf("%d taken, %d of them once more; %d were told to come again, %d broke off", o.requests.Load(), o.again.Load(), o.refused.Load(), o.broken.Load())},
		{"bytes of bodies as sent", fmt.Sprintf("%d, %.0f a record", o.sent.Load(), float64(o.sent.Load())/float64(max(records, 1)))},
		{"kill -9 of the collector", fmt.Sprint(p.kills)},
		{"time", fmt.Sprintf("%s, %.0f records a second", o.took.Round(time.Second), float64(records)/o.took.Seconds())},
		{"CPU of the collector", fmt.Sprintf("%.1f s with the enrolments, %.0f µs a record", o.used.Seconds(), float64(o.used.Microseconds())/float64(max(records, 1)))},
		{"its peak memory", fmt.Sprintf("%d MB", p.peak>>20)},
		{"kept", fmt.Sprintf("%d bytes, %.0f a record, with statuses, figures and indexes", o.size, float64(o.size)/float64(max(records, 1)))},
		{"findings that there was a reason for", fmt.Sprint(findings)},
		{"an answer, p50 and p99", times(o.acks)},
		{"from the first attempt to it", times(o.whole)},
	} {
		fmt.Fprintf(out, "| %s | %s |\n", row[0], row[1])
	}
}

// times are the two of a row.
func times(list []measure) string {
	if len(list) == 0 {
		return "none"
	}
	return fmt.Sprintf("%.1f ms, %.0f ms", milliseconds(quantile(list, 0.5)), milliseconds(quantile(list, 0.99)))
}

// A collector is gate collect in a process, which is started again when it was killed.
type collector struct {
	server, database, address string
	log                       io.Writer

	cmd   *exec.Cmd
	used  time.Duration // of processors, by all processes so far
	peak  int64         // bytes, of the largest
	kills int
}

// worries passes on what a collector logs, without what went well.
type worries struct {
	to   io.Writer
	rest []byte
}

func (w *worries) Write(b []byte) (int, error) {
	w.rest = append(w.rest, b...)
	for {
		line, rest, whole := bytes.Cut(w.rest, []byte("\n"))
		if !whole {
			return len(b), nil
		}
		if !bytes.Contains(line, []byte(" level=INFO ")) {
			fmt.Fprintf(w.to, "%s\n", line)
		}
		w.rest = rest
	}
}

func freeAddress() string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "127.0.0.1:18443"
	}
	defer l.Close()
	return l.Addr().String()
}

func (p *collector) url() string { return "http://" + p.address }

// start starts it, and waits until it listens.
func (p *collector) start(ctx context.Context) error {
	args := []string{"collect", "--listen", p.address}
	if strings.HasPrefix(p.database, "postgres") {
		args = append(args, "--database", p.database)
	} else {
		args = append(args, "--dir", p.database)
	}
	p.cmd = exec.CommandContext(ctx, p.server, args...)
	p.cmd.Stderr = &worries{to: p.log}
	out, err := p.cmd.StdoutPipe()
	if err == nil {
		err = p.cmd.Start()
	}
	if err != nil {
		return err
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		p.stop(os.Kill)
		return fmt.Errorf("gate collect did not start: %q, %w", line, err)
	}
	go io.Copy(io.Discard, out) // until the process ends
	return nil
}

// stop ends it, and adds up what it used.
func (p *collector) stop(by os.Signal) error {
	if p.cmd == nil || p.cmd.Process == nil {
		return nil
	}
	err := p.cmd.Process.Signal(by)
	waited := p.cmd.Wait()
	if state := p.cmd.ProcessState; state != nil {
		p.used += state.UserTime() + state.SystemTime()
		p.peak = max(p.peak, peakMemory(state))
	}
	p.cmd = nil
	if by == os.Kill {
		return nil
	}
	return errors.Join(err, waited)
}

// haunt kills the collector at random moments until ctx ends, and starts it again.
func (p *collector) haunt(ctx, whole context.Context, every time.Duration) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(every/2 + rand.N(every)):
		}
		p.stop(os.Kill)
		p.kills++
		if err := p.start(whole); err != nil {
			return err
		}
	}
}

// enrol makes the machines, and has each enrol with a token of its own.
func (c *crowd) enrol(ctx context.Context, s *store.Store, p *collector) ([]*simulated, error) {
	list := make([]*simulated, c.machines)
	begin := time.Now().Add(-time.Hour)
	return list, inParallel(len(list), func(n int) error {
		m := newSimulated(n, begin)
		list[n] = m
		token, _, err := s.NewToken(ctx, store.Token{Expires: time.Now().Add(time.Hour), Team: fmt.Sprintf("team-%d", n%20)})
		if err != nil {
			return err
		}
		body, err := json.Marshal(fleet.Enrollment{Token: token, Machine: m.name, Key: m.public(), Host: fmt.Sprintf("host-%05d", n), Labels: map[string]string{"ring": "office"}})
		if err != nil {
			return err
		}
		return persist(ctx, func() (time.Duration, error) {
			return post(ctx, p.url()+fleet.EnrollPath, body, nil, &count{})
		})
	})
}

// inParallel does n things, several at once, and returns the first error.
func inParallel(n int, do func(n int) error) error {
	var next atomic.Int64
	var group sync.WaitGroup
	errs := make([]error, senders)
	for worker := range senders {
		group.Go(func() {
			for i := int(next.Add(1)) - 1; i < n && errs[worker] == nil; i = int(next.Add(1)) - 1 {
				errs[worker] = do(i)
			}
		})
	}
	group.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// play has the machines send, quarter by quarter. It returns when the last quarter began
// that any machine sent in: who said nothing after that is silent.
func (c *crowd) play(ctx context.Context, p *collector, list []*simulated, kinds []*mould, n *count) (silentSince time.Time, err error) {
	sending, enough := context.WithTimeout(ctx, c.most)
	defer enough()
	haunted := make(chan error, 1)
	if c.kill > 0 {
		go func() { haunted <- p.haunt(sending, ctx, c.kill) }()
	} else {
		haunted <- nil
	}
	each := max(c.records/c.machines/quarters, 1)
	for quarter := range quarters {
		if sending.Err() != nil {
			break
		}
		if quarter > 0 {
			silentSince = time.Now()
		}
		order := rand.Perm(len(list))
		err = inParallel(len(list), func(i int) error {
			m := list[order[i]]
			if m.silentIn(quarter) || sending.Err() != nil {
				return nil
			}
			return m.send(ctx, p.url(), quarter, each, kinds, n)
		})
		if err != nil {
			break
		}
	}
	enough()
	return silentSince, errors.Join(err, <-haunted)
}

// errLater says that a request is to be sent again.
var errLater = errors.New("later")

// persist does something until it succeeds or fails for good.
func persist(ctx context.Context, do func() (time.Duration, error)) error {
	for {
		wait, err := do()
		if !errors.Is(err, errLater) {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the time was over before all was sent: %w", ctx.Err())
		case <-time.After(wait/2 + rand.N(wait)):
		}
	}
}

// post posts a body once. What the collector is not there for, or has no time for, is
// [errLater], with how long to wait on the average: shorter than it says, since the hour of
// this fleet is over in minutes.
func post(ctx context.Context, url string, body []byte, sign func(http.Header), n *count) (time.Duration, error) {
	r, err := http.NewRequestWithContext(ctx, "POST", url, bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	if sign != nil {
		sign(r.Header)
	}
	began := time.Now()
	n.sent.Add(int64(len(body)))
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		n.broken.Add(1)
		return 200 * time.Millisecond, errLater
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	switch {
	case err != nil:
		n.broken.Add(1)
		return 200 * time.Millisecond, errLater
	case res.StatusCode == http.StatusTooManyRequests || res.StatusCode == http.StatusServiceUnavailable:
		n.refused.Add(1)
		return 300 * time.Millisecond, errLater
	case res.StatusCode != http.StatusOK:
		return 0, fmt.Errorf("%s: %s: %s", url, res.Status, text)
	}
	n.requests.Add(1)
	var answer struct{ Again int64 }
	if json.Unmarshal(text, &answer) == nil && answer.Again > 0 {
		n.again.Add(1)
	}
	n.mu.Lock()
	n.acks = append(n.acks, measure{wall: time.Since(began)})
	n.mu.Unlock()
	return 0, nil
}

// verify holds what the store has against what the machines wrote.
func verify(ctx context.Context, s *store.Store, list []*simulated, where string, silentSince time.Time) error {
	want := map[string]int{}
	for _, m := range list {
		for _, kind := range m.findings(silentSince) {
			want[kind]++
		}
	}
	if err := lookForSilent(ctx, where, silentSince); err != nil {
		return err
	}
	var errs []error
	if got, err := found(ctx, s); err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
		errs = append(errs, err, fmt.Errorf("findings are %v, and %v are wanted", got, want))
	}
	lost, twice, kept, err := held(ctx, s, list)
	if n := written(list); err != nil || kept != n || lost > 0 || twice > 0 {
		errs = append(errs, err, fmt.Errorf("%d records were written and %d are there: %d are lost, %d are there twice", n, kept, lost, twice))
	}
	return errors.Join(errs...)
}

// lookForSilent opens the findings about machines that said nothing since a moment, as a
// collector does a day after it.
func lookForSilent(ctx context.Context, where string, since time.Time) error {
	const day = 24 * time.Hour
	later, err := store.Open(ctx, store.Options{Database: where, Silent: day, Now: func() time.Time { return since.Add(day) }})
	if err != nil {
		return err
	}
	defer later.Close()
	return later.Check(ctx)
}

// written is how many records the machines sent.
func written(list []*simulated) (n int) {
	for _, m := range list {
		n += m.written
	}
	return n
}

// held looks for every record of the machines in the store.
func held(ctx context.Context, s *store.Store, list []*simulated) (lost, twice, kept int, err error) {
	byName := map[string]*simulated{}
	for _, m := range list {
		byName[m.name] = m
	}
	days, err := s.Days(ctx)
	if err != nil {
		return 0, 0, 0, err
	}
	there := map[*simulated]map[int64]bool{}
	for _, day := range days {
		for r, err := range s.Records(ctx, store.RecordQuery{Day: day.Day}) {
			if err != nil {
				return 0, 0, 0, err
			}
			m := byName[r.Machine]
			if m == nil || r.Log != m.log {
				return 0, 0, 0, fmt.Errorf("a record of nobody: %+v", r.Key)
			}
			if there[m] == nil {
				there[m] = map[int64]bool{}
			}
			if there[m][r.Seq] {
				twice++
			}
			there[m][r.Seq] = true
			kept++
		}
	}
	for _, m := range list {
		for seq := int64(firstSeq); seq <= m.seq; seq++ {
			if seq != m.missing && !there[m][seq] {
				lost++
			}
		}
	}
	return lost, twice, kept, nil
}

// found counts the findings that are open, by kind.
func found(ctx context.Context, s *store.Store) (map[string]int, error) {
	got := map[string]int{}
	for before := int64(0); ; {
		list, err := s.Findings(ctx, store.FindingQuery{Before: before, Limit: 1000})
		if err != nil {
			return nil, err
		}
		for _, f := range list {
			got[f.Kind]++
			before = f.ID
		}
		if len(list) == 0 {
			return got, nil
		}
	}
}

// stored is how many bytes a store has on the disk.
func stored(ctx context.Context, where string) (size int64, err error) {
	if strings.HasPrefix(where, "postgres") {
		db, err := sql.Open("pgx", where)
		if err != nil {
			return 0, err
		}
		defer db.Close()
		err = db.QueryRowContext(ctx, `SELECT SUM(pg_total_relation_size(c.oid)) FROM pg_class c WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'm')`).Scan(&size)
		return size, err
	}
	list, err := os.ReadDir(where)
	for _, e := range list {
		if info, err := e.Info(); err == nil {
			size += info.Size()
		}
	}
	return size, err
}

// digestOf is one that nobody else makes.
func digestOf(words ...any) string {
	sum := sha256.Sum256([]byte(fmt.Sprintln(words...)))
	return hex.EncodeToString(sum[:])
}
