// Package sample fills the store of a collector with what a fleet of machines would have
// sent: machines, releases, findings, figures by hour and day, and a few records. It serves
// measurements and looks at the page; nothing of it is of a real machine.
//
// Call [Fill] on a database that no collector uses.
package sample

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"gate/internal/collect/store"
)

// A Fleet says how large it is. The zero value of a field is its default.
type Fleet struct {
	Machines int       // default 5000
	Days     int       // that figures go back; default 30
	Calls    int64     // in these days; default 50 million
	Teams    int       // default 40
	Tools    int       // default 40, most of which are seldom used
	Until    time.Time // the end of the last hour; default now
	Odd      string    // the host, team, label and policy of one machine more; "" for none
}

func (f Fleet) filled() Fleet {
	for _, d := range []struct {
		into *int
		to   int
	}{{&f.Machines, 5000}, {&f.Days, 30}, {&f.Teams, 40}, {&f.Tools, 40}} {
		if *d.into <= 0 {
			*d.into = d.to
		}
	}
	if f.Calls <= 0 {
		f.Calls = 50_000_000
	}
	if f.Until.IsZero() {
		f.Until = time.Now()
	}
	f.Until = f.Until.UTC().Truncate(time.Hour)
	return f
}

// agents have the share of calls that they make.
var agents = [...]share{{"claude", 0.62}, {"codex", 0.2}, {"cursor", 0.12}, {"gemini", 0.06}}

type share struct {
	name string
	part float64
}

// A rule is a policy with how often in a thousand calls it speaks, how many of its
// questions are answered with yes, and the calls that it speaks about.
type rule struct {
	policy, effect string
	often, yes     float64
	tool, effects  string
}

var rules = [...]rule{
	{"gate.git.push", "ask", 3, 0.97, "Bash", "git.push net.send"},
	{"gate.git.push", "deny", 0.3, 0, "Bash", "git.push"},
	{"gate.filesystem.delete", "ask", 2, 0.8, "Bash", "fs.delete"},
	{"gate.exfiltration.send", "ask", 4, 0.9, "Bash", "net.send"},
	{"gate.exfiltration.send", "deny", 0.5, 0, "Bash", "net.send secret.read"},
	{"gate.secrets.read", "deny", 1.2, 0, "Read", "secret.read"},
	{"gate.secrets.read", "ask", 0.8, 0.3, "Bash", "secret.read fs.read"},
	{"gate.remote_code.run", "ask", 6, 1, "Bash", "net.fetch package.install"},
	{"gate.packages.publish", "deny", 0.05, 0, "Bash", "package.publish"},
	{"gate.infrastructure.change", "ask", 0.7, 0.55, "Bash", "infrastructure"},
	{"gate.kubernetes.change", "ask", 0.9, 0.7, "Bash", "kubernetes"},
	{"gate.kubernetes.change", "deny", 0.2, 0, "Bash", "kubernetes"},
	{"gate.database.destroy", "deny", 0.04, 0, "Bash", "database"},
	{"gate.opaque.unknown", "ask", 2.5, 0.85, "Bash", "exec.code"},
	{"gate.persistence.startup", "ask", 0.3, 0.4, "Write", "fs.write persistence"},
	{"gate.self_protection.change", "deny", 0.1, 0, "Write", "fs.write self"},
	{"acme.deploy.window", "ask", 0.6, 1, "Bash", "exec.remote"},
	{"acme.review.files", "ask", 1.5, 1, "Edit", "fs.write"},
	{"acme.review.files", "ask", 0.4, 1, "Write", "fs.write"},
	{"acme.tickets", "deny", 0.08, 0, "mcp__jira__close", "net.send"},
}

// trials are what policies on trial would have done.
var trials = [...]rule{
	{"acme.deploy.window", "deny", 0.4, 0, "Bash", "exec.remote"},
	{"gate.remote_code.run", "deny", 0.25, 0, "Bash", "net.fetch package.install"},
	{"acme.review.files", "ask", 0.2, 0, "Edit", "fs.write"},
}

// tools returns names, the most frequent first, with their share of calls.
func tools(n int) []share {
	names := []string{"Bash", "Read", "Edit", "Grep", "Write", "Glob", "WebFetch", "Task", "WebSearch", "NotebookEdit"}
	for i := len(names); i < n; i++ {
		names = append(names, fmt.Sprintf("mcp__server%d__tool%d", i%9, i))
	}
	return harmonic(names[:n], 1.1)
}

func teams(n int) []share {
	names := []string{"platform", "payments", "search", "mobile", "data", "web", "infra", "security", "billing", "growth"}
	for i := len(names); i < n; i++ {
		names = append(names, fmt.Sprintf("team-%02d", i))
	}
	return harmonic(names[:n], 0.5)
}

// harmonic gives the n-th of some names a share that falls with n.
func harmonic(names []string, power float64) []share {
	sum := 0.0
	out := make([]share, len(names))
	for i, name := range names {
		out[i] = share{name, 1 / math.Pow(float64(i+1), power)}
		sum += out[i].part
	}
	for i := range out {
		out[i].part /= sum
	}
	return out
}

// Fill makes the store where there is none, and fills it.
func Fill(ctx context.Context, database string, fleet Fleet) error {
	s, err := store.Open(ctx, store.Options{Database: database}) // makes its tables
	if err != nil {
		return err
	}
	if err := s.Close(); err != nil {
		return err
	}
	to, err := openSink(ctx, database)
	if err != nil {
		return err
	}
	defer to.close()
	f := &filler{fleet.filled(), to, rand.New(rand.NewPCG(1, 2))}
	for _, step := range []func(context.Context) error{f.machines, f.findings, f.calls, f.latencies, f.asked} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	if err := to.finish(ctx); err != nil {
		return err
	}
	s, err = store.Open(ctx, store.Options{Database: database, Now: func() time.Time { return f.Until }})
	if err != nil {
		return err
	}
	return errors.Join(f.records(ctx, s), s.Close())
}

// A filler writes a fleet into a database.
type filler struct {
	Fleet
	to  sink
	any *rand.Rand
}

// about is a whole number near n: small parts are there by chance.
func (f *filler) about(n float64) int64 {
	n *= 0.7 + 0.6*f.any.Float64()
	whole := math.Floor(n)
	if f.any.Float64() < n-whole {
		whole++
	}
	return int64(whole)
}

// part is about a part of n: of few each by chance.
func (f *filler) part(n int64, part float64) int64 {
	of := float64(n) * part
	whole := math.Floor(of)
	if f.any.Float64() < of-whole {
		whole++
	}
	return int64(whole)
}

// hours calls yield for every hour, with its share of all calls: people work by day, and
// less at weekends.
func (f *filler) hours(yield func(at time.Time, part float64) error) error {
	begin := f.Until.Add(-time.Duration(f.Days) * 24 * time.Hour)
	weight := func(at time.Time) float64 {
		w := 0.15 + math.Max(0, math.Sin(float64(at.Hour()-6)*math.Pi/14))
		if d := at.Weekday(); d == time.Saturday || d == time.Sunday {
			w *= 0.2
		}
		return w
	}
	sum := 0.0
	for at := begin; at.Before(f.Until); at = at.Add(time.Hour) {
		sum += weight(at)
	}
	for at := begin; at.Before(f.Until); at = at.Add(time.Hour) {
		if err := yield(at, weight(at)/sum); err != nil {
			return err
		}
	}
	return nil
}

// name is the n-th machine's, as sealed.MachineName makes them: a digest.
func name(n int) string { return fmt.Sprintf("m-%08x%04x", uint32(n)*2654435761, n) }

func host(n int) string { return fmt.Sprintf("laptop-%04d.example.com", n) }
