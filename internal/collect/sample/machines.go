package sample

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"gate/internal/collect/store"
)

// How many machines of a hundred stand where.
const (
	onNewest = 62 // have release 42; the others 41, and a few 39
	onOld    = 96
	onTrial  = 5 // have the trial of 43
)

func micros(at time.Time) int64 { return at.UnixMicro() }

// machines writes machines, releases, the list of those that are expected, chains and
// looks.
func (f *filler) machines(ctx context.Context) error {
	var machines, releases, expected, chains, looks [][]any
	all := teams(f.Teams)
	for n := range f.Machines {
		m, team := name(n), all[n*n%len(all)].name
		seen := f.Until.Add(-time.Duration(f.any.IntN(50)) * time.Minute)
		if silent(n) {
			seen = f.Until.Add(-time.Duration(26+f.any.IntN(600)) * time.Hour)
		}
		machines = append(machines, f.machine(m, host(n), team, n, seen))
		expected = append(expected, []any{host(n), team, micros(f.Until.AddDate(0, -3, 0))})
		revision, code, message := "42", "", ""
		switch place := n * 7 % 100; {
		case place >= onOld:
			revision = "39"
		case place >= onNewest:
			revision = "41"
		}
		if n%401 == 7 {
			revision, code, message = "41", "bundle_error", "the bundle's source does not answer"
		}
		activated := f.Until.Add(-time.Duration(f.any.IntN(72)) * time.Hour)
		releases = append(releases, []any{m, "company", revision, false, fmt.Sprintf("sha256:%064d", 42), micros(activated), micros(seen), code, message})
		if n*7%100 < onTrial {
			releases = append(releases, []any{m, "company", "43", true, fmt.Sprintf("sha256:%064d", 43), micros(activated), micros(seen), "", ""})
		}
		digest := fmt.Sprintf("%064x", n)
		chains = append(chains, []any{m, fmt.Sprintf("%016x", n), "u-0123456789abcdef", 1000 + n, digest, micros(seen), micros(seen), 1000 + n})
	}
	for n := range 20 {
		expected = append(expected, []any{fmt.Sprintf("new-%02d.example.com", n), "platform", micros(f.Until.AddDate(0, 0, -9))})
	}
	if f.Odd != "" {
		machines = append(machines, f.machine(f.Odd, f.Odd, f.Odd, 0, f.Until.Add(-time.Minute)))
		releases = append(releases, []any{f.Odd, f.Odd, f.Odd, true, f.Odd, micros(f.Until), micros(f.Until), "bundle_error", f.Odd})
	}
	for n, what := range []string{"/ui/overview", "/ui/machines", "/v1/records"} {
		looks = append(looks, []any{micros(f.Until.Add(-time.Duration(n) * time.Hour)), "alex", "reviewer", what, ""})
	}
	for _, t := range []struct {
		table, columns string
		rows           [][]any
	}{
		{"machines", "machine key host labels team enrolled seen last_record status_seq status_at level version os arch agents", machines},
		{"releases", "machine bundle revision trial digest activated asked code message", releases},
		{"expected", "name team since", expected},
		{"chains", "machine log account seq digest at received head", chains},
		{"looks", "at who role what detail", looks},
	} {
		if err := f.to.put(ctx, t.table, strings.Fields(t.columns), t.rows); err != nil {
			return err
		}
	}
	return nil
}

// silent machines have not been heard of.
func silent(n int) bool { return n%131 == 5 }

func (f *filler) machine(machine, host, team string, n int, seen time.Time) []any {
	labels, _ := json.Marshal(map[string]string{"team": team, "ring": []string{"canary", "early", "broad"}[n%3]})
	agents, _ := json.Marshal([]store.AgentState{
		{Name: "claude", Version: "2.1.0", Hook: "live", LastCall: seen},
		{Name: "codex", Version: "0.61.0", Hook: []string{"live", "live", "missing"}[n%3], LastCall: seen.Add(-time.Hour)},
	})
	version, system := "1.9.0", "linux"
	if n%9 == 0 {
		version = "1.8.2"
	}
	if n%4 == 0 {
		system = "darwin"
	}
	return []any{machine, []byte(fmt.Sprintf("%-32.32s", machine)), host, string(labels), team, micros(f.Until.AddDate(0, -2, 0)), micros(seen), micros(seen), int64(100 + n), micros(seen), "effects", version, system, "amd64", string(agents)}
}

// findings writes what is not as it should be on a few machines of a hundred.
func (f *filler) findings(ctx context.Context) error {
	var rows [][]any
	add := func(kind, machine, log, detail string, first, last int64, ago time.Duration) {
		rows = append(rows, []any{kind, machine, log, first, last, detail, int64(1 + f.any.IntN(9)), micros(f.Until.Add(-ago)), micros(f.Until.Add(-time.Minute)), int64(0), ""})
	}
	for n := range f.Machines {
		m, log, ago := name(n), fmt.Sprintf("%016x", n), time.Duration(1+n%200)*time.Hour
		if silent(n) {
			add(store.Silent, m, "", "nothing was heard of it for 24h0m0s", 0, 0, ago)
		}
		if n%401 == 7 {
			add(store.NotSynced, m, "company", "the bundle's source does not answer", 0, 0, ago)
		}
		if n%503 == 11 {
			add(store.Weaker, m, "policies.gate.exfiltration.send", "the level is record, and the bundle wants ask", 0, 0, ago)
		}
		if n%617 == 13 {
			add(store.NoRecords, m, "codex", "codex ran, and gate wrote no record of it", 0, 0, ago)
		}
		if n%709 == 17 {
			add(store.Hook, m, "claude", "the hook of claude is missing", 0, 0, ago)
		}
		if n%811 == 19 {
			add(store.Gap, m, log, "12 records are missing", 340, 351, ago)
		}
		if n%1201 == 23 {
			add(store.Changed, m, log, "the record is not the one that the next one was written behind", 77, 77, ago)
		}
		if n%353 == 29 {
			add(store.Skew, m, "", "its clock is 11 minutes ahead", 0, 0, ago)
		}
	}
	for n := range 20 {
		add(store.NotEnrolled, "", fmt.Sprintf("new-%02d.example.com", n), "it is expected, and never enrolled", 0, 0, 200*time.Hour)
	}
	if f.Odd != "" {
		add(store.Weaker, f.Odd, f.Odd, f.Odd, 0, 0, time.Hour)
	}
	return f.to.put(ctx, "findings", strings.Fields("kind machine log first last detail times opened seen closed closed_by"), rows)
}
