package sync_test

import (
	"bytes"
	"container/heap"
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"gate/internal/source"
	"gate/internal/source/fetch"
	"gate/internal/sync"
)

// A client is one machine of a fleet in virtual time.
type client struct {
	schedule sync.Schedule
	at       time.Time // of its next sync
	tag      string
}

type queue []*client

func (q queue) Len() int           { return len(q) }
func (q queue) Less(i, j int) bool { return q[i].at.Before(q[j].at) }
func (q queue) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(c any)        { *q = append(*q, c.(*client)) }
func (q *queue) Pop() any {
	c := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return c
}

// A fleet is what machines did in a day.
type fleet struct {
	requests, bytes int64
	spread          []time.Duration // from the release of the new version until each machine had it
	busiest         int             // syncs in one virtual minute
}

// simulate has machines that all start at one moment sync with a real file
// server over real connections for a day of virtual time. At noon the bundle is
// replaced.
func simulate(t testing.TB, machines int, every time.Duration, size int) fleet {
	random := rand.New(rand.NewPCG(7, 7))
	body := func(version byte) []byte { return bytes.Repeat([]byte{version}, size) }
	var f fleet
	var requests atomic.Int64
	var current atomic.Value // of []byte
	current.Store(body('1'))
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		data := current.Load().([]byte)
		if r.URL.Path != "/company.tar.gz" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("ETag", fmt.Sprintf("%q", string(data[:1])))
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(data))
	}))
	counted := &counter{Listener: s.Listener}
	s.Listener = counted
	s.Start()
	defer s.Close()

	start := now.Truncate(24 * time.Hour)
	release, end := start.Add(12*time.Hour), start.Add(24*time.Hour)
	q := make(queue, machines)
	for i := range q {
		c := &client{schedule: sync.Schedule{Every: every, Machine: fmt.Sprint("laptop-", i), Random: random.Float64}}
		c.at = start.Add(c.schedule.Slot(every))
		q[i] = c
	}
	heap.Init(&q)
	from, err := (fetch.Client{}).Open(source.Options{URL: s.URL + "/company.tar.gz", Agent: "gate/v1.0.0"})
	if err != nil {
		t.Fatal(err)
	}
	minutes := map[time.Time]int{}
	for q[0].at.Before(end) {
		c := q[0]
		if !c.at.Before(release) {
			current.Store(body('2'))
		}
		found, err := from.Fetch(context.Background(), c.tag)
		if err != nil {
			t.Fatal(err)
		}
		if !found.Unchanged && found.Archive[0] == '2' {
			f.spread = append(f.spread, c.at.Sub(release))
		}
		c.tag = found.Tag
		minutes[c.at.Truncate(time.Minute)]++
		c.at = c.at.Add(c.schedule.Next(c.at, 0, 0))
		heap.Fix(&q, 0)
	}
	for _, n := range minutes {
		f.busiest = max(f.busiest, n)
	}
	slices.Sort(f.spread)
	f.bytes, f.requests = counted.bytes.Load(), requests.Load()
	return f
}

// A counter counts what goes through the connections of a server, both ways.
type counter struct {
	net.Listener
	bytes atomic.Int64
}

func (c *counter) Accept() (net.Conn, error) {
	conn, err := c.Listener.Accept()
	return &counting{Conn: conn, all: &c.bytes}, err
}

type counting struct {
	net.Conn
	all *atomic.Int64
}

func (c *counting) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.all.Add(int64(n))
	return n, err
}

func (c *counting) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	c.all.Add(int64(n))
	return n, err
}

// TestFleet: a fleet costs a file server one small request a machine and
// interval, nobody stampedes, and a release reaches all within an interval and
// its chance.
func TestFleet(t *testing.T) {
	const machines, size = 60, 100_000
	f := simulate(t, machines, time.Hour, size)
	if len(f.spread) != machines {
		t.Fatalf("%d of %d machines have the new version", len(f.spread), machines)
	}
	if last := f.spread[machines-1]; last > time.Hour+3*time.Minute {
		t.Errorf("the last machine had it after %s", last)
	}
	if most := int64(machines * (25 + 2)); f.requests > most {
		t.Errorf("%d requests, at most %d are wanted", f.requests, most)
	}
	if most := int64(machines * (2*size + 27*1000)); f.bytes > most {
		t.Errorf("%d bytes, at most %d are wanted", f.bytes, most)
	}
	if f.busiest > machines/4 {
		t.Errorf("%d of %d machines synced in one minute", f.busiest, machines)
	}
}

// BenchmarkFleet has the figures of docs/fleet.md.
func BenchmarkFleet(b *testing.B) {
	const machines, size = 1000, 100_000
	for b.Loop() {
		f := simulate(b, machines, time.Hour, size)
		b.ReportMetric(float64(f.requests)/machines, "requests/client/day")
		b.ReportMetric(float64(f.bytes)/machines, "bytes/client/day")
		b.ReportMetric(f.spread[machines*99/100].Minutes(), "min-to-99%")
		b.ReportMetric(float64(f.busiest), "busiest-minute")
	}
}
