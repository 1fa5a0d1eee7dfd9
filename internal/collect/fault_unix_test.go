//go:build unix

package collect

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"gate/internal/collect/store"
	"gate/internal/fleet"
)

var (
	asCollector = flag.String("collector", "", "be a collector on this `DATABASE`, for the test that started this process")
	fileLimit   = flag.Int64("collector-file-limit", 0, "have no file grow beyond this many `BYTES`")
	crash       = flag.String("postgres-crash", "", "a shell `COMMAND` that kills the server of -postgres at once and starts it again")
	faultFor    = flag.Duration("fault-for", 3*time.Second, "for how `LONG` each test of faults has load")
)

// TestMain is a collector, where a test wants a process of its own for it.
func TestMain(m *testing.M) {
	flag.Parse()
	if *asCollector == "" {
		os.Exit(m.Run())
	}
	if *fileLimit > 0 {
		signal.Ignore(syscall.SIGXFSZ)
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: uint64(*fileLimit), Max: uint64(*fileLimit)}); err != nil {
			panic(err)
		}
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	s, err := store.Open(ctx, store.Options{Database: *asCollector})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	err = Serve(ctx, New(Options{Store: s}), Listen{Addresses: []string{"127.0.0.1:0"}}, func(addresses []string) { fmt.Println(addresses[0]) })
	s.Close()
	if err != nil {
		os.Exit(1)
	}
	os.Exit(0)
}

// A process is a collector in one of its own.
type process struct {
	cmd *exec.Cmd
	url string
}

func start(t *testing.T, database string, limit int64) *process {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, "-collector", database, "-collector-file-limit", fmt.Sprint(limit))
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, _ := bufio.NewReader(out).ReadString('\n')
	p := &process{cmd, "http://" + strings.TrimSpace(line)}
	t.Cleanup(p.kill)
	if line == "" {
		p.kill()
		t.Fatal("the collector did not start")
	}
	go io.Copy(io.Discard, out)
	return p
}

// kill is kill -9, of this process alone.
func (p *process) kill() {
	p.cmd.Process.Kill()
	p.cmd.Wait()
}

// A load is machines that send as long as they may, each batch until it was taken.
type load struct {
	*testing.T
	machines []*machine
	urls     atomic.Pointer[[]string] // of the collectors of now
	stop     chan struct{}
	refused  atomic.Int64 // answers that said to come again, and connections that broke
	group    sync.WaitGroup
}

func newLoad(t *testing.T, database string, n int) *load {
	t.Helper()
	l := &load{T: t, stop: make(chan struct{})}
	s, err := store.Open(t.Context(), store.Options{Database: database})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	g := &rig{T: t, store: s}
	for i := range n {
		m := newMachine(i)
		e := g.enrolment(m)
		if err := s.Enrol(t.Context(), fleet.Enrollment{Token: e["token"].(string), Machine: m.name, Key: e["key"].(string)}); err != nil {
			t.Fatal(err)
		}
		l.machines = append(l.machines, m)
	}
	return l
}

func (l *load) to(urls ...string) { l.urls.Store(&urls) }

// begin has all machines send. A machine never goes on before its batch was taken; then
// its last batch is all that may come twice.
func (l *load) begin() {
	for i, m := range l.machines {
		l.group.Go(func() {
			client := &http.Client{Timeout: 10 * time.Second}
			for n := i; ; n++ {
				var batch []doc
				for k := range 20 {
					batch = append(batch, m.record(func(record, gate doc) {
						gate["tool"] = []string{"Bash", "Write", "Read"}[k%3]
						if k == 7 {
							record["result"] = doc{"effect": "ask", "result": "continue"}
							gate["call_id"], gate["policies"] = "c-"+fmt.Sprint(m.seq), []doc{{"id": "acme.push", "effect": "ask", "outcome": "ok"}}
						}
						if k == 8 {
							gate["event"], gate["call_id"] = "PostToolUse", "c-"+fmt.Sprint(m.seq-1)
						}
					}))
				}
				for body := pack(batch); !l.send(client, m, body, n); n++ {
					time.Sleep(20 * time.Millisecond)
				}
				select {
				case <-l.stop:
					return
				default:
				}
			}
		})
	}
}

func (l *load) send(client *http.Client, m *machine, body []byte, n int) bool {
	urls := *l.urls.Load()
	res, err := client.Do(m.request(urls[n%len(urls)], fleet.LogsPath, body))
	if err != nil {
		l.refused.Add(1)
		return false
	}
	defer res.Body.Close()
	text, _ := io.ReadAll(res.Body)
	switch res.StatusCode {
	case 200:
		var answer struct{ Taken, Again int }
		return json.Unmarshal(text, &answer) == nil && answer.Taken+answer.Again == 20
	case 429, 503:
		l.refused.Add(1)
	default:
		l.Errorf("%d %s", res.StatusCode, text)
		return true
	}
	return false
}

// check holds that every record is there once, that nothing is wrong with any chain, and
// that the figures are those of the records.
func (l *load) check(database string) {
	l.Helper()
	s, err := store.Open(l.Context(), store.Options{Database: database})
	if err != nil {
		l.Fatal(err)
	}
	defer s.Close()
	days, err := s.Days(l.Context())
	if err != nil {
		l.Fatal(err)
	}
	held := map[string]map[int64]bool{}
	n := 0
	for _, day := range days {
		for r, err := range s.Records(l.Context(), store.RecordQuery{Day: day.Day}) {
			if err != nil {
				l.Fatal(err)
			}
			if held[r.Machine] == nil {
				held[r.Machine] = map[int64]bool{}
			}
			held[r.Machine][r.Seq] = true
			n++
		}
	}
	sent := 0
	for _, m := range l.machines {
		sent += int(m.seq)
		for seq := int64(1); seq <= m.seq; seq++ {
			if !held[m.name][seq] {
				l.Fatalf("record %d of %s was taken, and is not there", seq, m.log)
			}
		}
	}
	if n != sent {
		l.Errorf("%d records are there, and %d were sent", n, sent)
	}
	found, err := s.Findings(l.Context(), store.FindingQuery{Closed: true})
	if err != nil || len(found) > 0 {
		l.Errorf("%d findings: %+v, %v", len(found), found[:min(len(found), 2)], err)
	}
	span := store.Span{From: time.Now().Add(-48 * time.Hour), Until: time.Now().Add(48 * time.Hour)}
	figures := func() string {
		var all []any
		for _, policy := range []string{"", "*"} {
			for _, day := range []bool{false, true} {
				f, err := s.Figures(l.Context(), store.Figures{Span: span, Day: day, By: store.FigureColumns(), Policy: policy})
				if err != nil {
					l.Fatal(err)
				}
				all = append(all, f)
			}
		}
		asked, err := s.Asked(l.Context(), span, "", 1, 100)
		if err != nil {
			l.Fatal(err)
		}
		latency, err := s.Latencies(l.Context(), span, "hour", true)
		if err != nil {
			l.Fatal(err)
		}
		data, _ := json.Marshal(append(all, asked, latency))
		return string(data)
	}
	before := figures()
	if _, err := s.Rebuild(l.Context()); err != nil {
		l.Fatal(err)
	}
	if after := figures(); after != before {
		l.Errorf("figures were\n%s\nand are, made anew,\n%s", before, after)
	}
	l.Logf("%d records of %d machines; %d answers said to come again or did not come", sent, len(l.machines), l.refused.Load())
}

// TestKilled kills the collector again and again, in the middle of what it does.
func TestKilled(t *testing.T) {
	each(t, func(t *testing.T, database string) {
		l := newLoad(t, database, 8)
		p := start(t, database, 0)
		l.to(p.url)
		l.begin()
		kills := 0
		for end := time.Now().Add(*faultFor); time.Now().Before(end); kills++ {
			time.Sleep(time.Duration(150+kills*37%200) * time.Millisecond)
			p.kill()
			p = start(t, database, 0)
			l.to(p.url)
		}
		close(l.stop)
		l.group.Wait()
		if l.refused.Load() == 0 {
			t.Error("no machine noticed")
		}
		p.kill()
		l.check(database)
		t.Logf("killed %d times", kills+1)
	})
}

// TestSideBySide has two collectors on one database, whom the machines ask in turns, and
// kills one of them.
func TestSideBySide(t *testing.T) {
	each(t, func(t *testing.T, database string) {
		l := newLoad(t, database, 8)
		one, two := start(t, database, 0), start(t, database, 0)
		l.to(one.url, two.url)
		l.begin()
		time.Sleep(*faultFor / 2)
		two.kill()
		l.to(one.url)
		time.Sleep(*faultFor / 4)
		two = start(t, database, 0)
		l.to(one.url, two.url)
		time.Sleep(*faultFor / 4)
		close(l.stop)
		l.group.Wait()
		l.check(database)
	})
}

// TestFull has no file of the database grow any more, as a full disk does, and then
// there is room again.
func TestFull(t *testing.T) {
	database := t.TempDir()
	l := newLoad(t, database, 4)
	p := start(t, database, 2<<20)
	l.to(p.url)
	l.begin()
	for end := time.Now().Add(30 * time.Second); l.refused.Load() < 20; time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it was never full")
		}
	}
	res, err := http.Get(p.url + "/health")
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if res.StatusCode != 503 {
		t.Errorf("health of a full collector: %d", res.StatusCode)
	}
	info, err := os.Stat(filepath.Join(database, "collect.db"))
	if err != nil || info.Size() > 2<<20 {
		t.Errorf("%v, %v", info, err)
	}
	p.kill()
	p = start(t, database, 0)
	l.to(p.url)
	time.Sleep(500 * time.Millisecond)
	close(l.stop)
	l.group.Wait()
	l.check(database)
}

// TestDatabaseKilled kills PostgreSQL in the middle of what it does.
func TestDatabaseKilled(t *testing.T) {
	if *crash == "" {
		t.Skip("NOT RUN: no command is given that kills the server (-postgres-crash); .ci/with postgres has one")
	}
	database := schema(t, *postgresURL)
	l := newLoad(t, database, 8)
	p := start(t, database, 0)
	l.to(p.url)
	l.begin()
	for range 3 {
		time.Sleep(*faultFor / 3)
		if out, err := exec.Command("sh", "-c", *crash).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	time.Sleep(*faultFor / 3)
	close(l.stop)
	l.group.Wait()
	if l.refused.Load() == 0 {
		t.Error("no machine noticed")
	}
	l.check(database)
}

// TestGracefulEnd takes what was begun, and then nothing.
func TestGracefulEnd(t *testing.T) {
	database := t.TempDir()
	l := newLoad(t, database, 4)
	p := start(t, database, 0)
	l.to(p.url)
	l.begin()
	time.Sleep(500 * time.Millisecond)
	p.cmd.Process.Signal(syscall.SIGTERM)
	if err := p.cmd.Wait(); err != nil {
		t.Errorf("it ended with %v", err)
	}
	p = start(t, database, 0)
	l.to(p.url)
	close(l.stop)
	l.group.Wait()
	l.check(database)
}
