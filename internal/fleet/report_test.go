package fleet_test

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gate/hook"
	"gate/internal/audit"
	"gate/internal/audit/ship"
	"gate/internal/fleet"
	"gate/internal/format"
)

// A station is a machine, its log, and a collector that answers statuses.
type station struct {
	dir     string
	answers []string // to come: a status code with a body behind it, or "lost"; none: 200
	got     []*fleet.Status
	fleet.Reporter
}

func newStation(t *testing.T) *station {
	t.Helper()
	s := &station{dir: t.TempDir()}
	m, err := fleet.Make(s.dir, machine)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		z, err := gzip.NewReader(r.Body)
		var body []byte
		if err == nil {
			body, err = io.ReadAll(z)
		}
		status, parseErr := fleet.ParseStatus(body)
		if err := errors.Join(err, parseErr); err != nil || r.URL.Path != fleet.StatusPath {
			t.Errorf("%s: %v", r.URL.Path, err)
		}
		answer := "200 {}"
		if len(s.answers) > 0 {
			answer, s.answers = s.answers[0], s.answers[1:]
		}
		if answer == "lost" || strings.HasPrefix(answer, "200") {
			s.got = append(s.got, status)
		}
		var code int
		if _, err := fmt.Sscanf(answer, "%d", &code); err != nil {
			code = http.StatusBadGateway
		}
		w.WriteHeader(code)
		_, text, _ := strings.Cut(answer, " ")
		io.WriteString(w, text)
	}))
	t.Cleanup(server.Close)
	h, err := audit.OpenHistory(s.dir)
	if err != nil {
		t.Fatal(err)
	}
	s.Reporter = fleet.Reporter{
		Machine: m, Pseudonyms: secretKey, Level: fleet.Counts, Logs: []fleet.Source{{Log: h}},
		Shipper: &ship.Shipper{URL: server.URL, Tries: 1},
		Fill: func(s *fleet.Status, calls map[string]map[string]time.Time) {
			fleet.Calls(calls, func(account, agent string, last time.Time) {
				s.Gate.Agents = append(s.Gate.Agents, fleet.Agent{Name: agent, LastCall: &last, Hook: fleet.HookUnknown})
			})
		},
	}
	return s
}

func (s *station) write(t *testing.T, list ...audit.Record) {
	t.Helper()
	for _, r := range list {
		if err := audit.Append(s.dir, audit.Options{}, r); err != nil {
			t.Fatal(err)
		}
	}
}

func decided(at time.Time, effect hook.Effect) audit.Record {
	return audit.Record{ID: "a", Time: at, Agent: "claude", Event: hook.PreToolUse, Tool: "Bash", Effect: effect,
		Policies: []audit.Policy{{ID: "company.a", Effect: effect, Runs: 1}, {ID: "company.b", Runs: 1, Would: &audit.Would{Effect: hook.Deny, Spared: "trial"}}}}
}

// counted says in short what all statuses have counted.
func (s *station) counted() string {
	calls, denied := map[string]int64{}, int64(0)
	var text strings.Builder
	for _, status := range s.got {
		fmt.Fprintf(&text, "%d:", status.Gate.Seq)
		for _, h := range status.Gate.Counters {
			calls[h.Hour.Format("15")] += h.Calls
			denied += h.Denied
			fmt.Fprintf(&text, "%d", h.Calls)
		}
		text.WriteString(" ")
	}
	return fmt.Sprintf("%s %v, %d denied", text.String(), calls, denied)
}

// TestReport counts each decision once, whatever becomes of statuses.
func TestReport(t *testing.T) {
	at := time.Date(2026, 11, 28, 10, 59, 0, 0, time.UTC)
	for _, test := range []struct {
		name    string
		answers []string
		sends   int // statuses that are tried
		want    string
		err     string // of the last
		seq     int64
	}{
		{"all arrive", nil, 2, "1:21 2:  map[10:2 11:1], 1 denied", "", 2},
		{"the collector is away for a while", []string{"503", "503"}, 3, "1:21 2:  map[10:2 11:1], 1 denied", "", 2},
		{"an answer is lost", []string{"lost", `409 {"seq":1}`}, 2, "1:21 2:  map[10:2 11:1], 1 denied", "", 2},
		{"it is not known there", []string{"401", "401"}, 2, " map[], 0 denied", "401", 0},
		{"it is refused", []string{"400"}, 2, "1:21  map[10:2 11:1], 1 denied", "", 1},
		{"the collector has later ones", []string{`409 {"seq":41}`}, 2, "42:21 43:  map[10:2 11:1], 1 denied", "", 43},
		{"the collector has numbers without end", []string{`409 {"seq":4503599627370496}`, `409 {"seq":9223372036854775807}`}, 1, " map[], 0 denied", "", 4503599627370497},
		{"a page of a proxy", []string{"200 <html>"}, 1, "1:21  map[10:2 11:1], 1 denied", "no answer of gate collect", 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newStation(t)
			s.answers = test.answers
			s.write(t, decided(at, hook.Pass), decided(at, hook.Deny), decided(at.Add(time.Minute), hook.Ask))
			var err error
			for range test.sends {
				_, err = s.Send(t.Context())
			}
			if (err != nil) != (test.err != "") || err != nil && !strings.Contains(err.Error(), test.err) {
				t.Errorf("%v, want %q", err, test.err)
			}
			if got := s.counted(); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
			last, err := fleet.LastReport(s.dir)
			if err != nil || last.Seq != test.seq {
				t.Errorf("%+v, %v", last, err)
			}
		})
	}
}

// TestReportSays holds what a status says of logs, agents and policies.
func TestReportSays(t *testing.T) {
	s := newStation(t)
	at := time.Date(2026, 11, 28, 10, 59, 0, 0, time.UTC)
	approved := decided(at, hook.Pass)
	approved.Approved, approved.Changed, approved.Faults = true, []string{"a"}, []string{"b: no"}
	after := audit.Record{ID: "b", Time: at, Agent: "codex", Event: hook.PostToolUse, Tool: "Bash", Faults: []string{"c: no"}}
	odd := decided(at, hook.Deny)
	odd.Agent, odd.Policies[0].ID = "/home/ana/agent", "a policy's / path"
	s.write(t, decided(at, hook.Ask), approved, after, odd, audit.Record{ID: "c", Time: at, Sync: &audit.Sync{Name: "company"}})
	if _, err := s.Send(t.Context()); err != nil {
		t.Fatal(err)
	}
	g := s.got[0].Gate
	want := fleet.Hour{Hour: at.Truncate(time.Hour), Calls: 3, Asked: 1, Approved: 1, Denied: 1, Changed: 1, Faults: 2, Policies: []fleet.Said{
		{Policy: "company.a", Effect: "ask", N: 1}, {Policy: "company.b", Effect: "pass", Would: "deny", Spared: "trial", N: 3, Approved: 1},
		{Policy: secretKey.Name("a policy's / path"), Effect: "deny", N: 1},
	}}
	if len(g.Counters) != 1 || fmt.Sprint(g.Counters[0]) != fmt.Sprint(want) {
		t.Errorf("%+v\nwant %+v", g.Counters, want)
	}
	if len(g.Heads) != 1 || g.Heads[0].Seq != 5 || g.Ship.Waiting != 5 || g.Ship.Last != nil {
		t.Errorf("%+v, %+v", g.Heads, g.Ship)
	}
	if len(g.Agents) != 2 || g.Agents[0].Name != "claude" || g.Agents[1].Name != "codex" || !g.Agents[0].LastCall.Equal(at) {
		t.Errorf("%+v", g.Agents)
	}
}

// TestReportBounds has a log of more hours than one status holds: the next ones go on, and
// none is counted twice.
func TestReportBounds(t *testing.T) {
	s := newStation(t)
	at := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := range 3000 {
		s.write(t, audit.Record{ID: "a", Time: at.Add(time.Duration(i) * time.Hour), Event: hook.PreToolUse, Tool: "Bash"})
	}
	report, err := s.Send(t.Context())
	if err != nil || report.More || report.Seq != 2 {
		t.Errorf("%+v, %v", report, err)
	}
	calls := 0
	for _, status := range s.got {
		for _, h := range status.Gate.Counters {
			calls += int(h.Calls)
		}
	}
	if calls != 3000 {
		t.Errorf("%d calls in %d statuses", calls, len(s.got))
	}
}

// TestMachine makes keys once, and takes none of another machine or of a newer gate.
func TestMachine(t *testing.T) {
	dir := t.TempDir()
	if _, err := fleet.Open(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	lock, err := fleet.Lock(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := fleet.Lock(ctx, dir); err == nil {
		t.Error("two have the lock")
	}
	m, err := fleet.Make(dir, machine)
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Taken("https://fleet.example", noon); err != nil {
		t.Fatal(err)
	}
	lock.Close()
	again, err := fleet.Make(dir, machine)
	if err != nil || again.Public() != m.Public() || again.URL != "https://fleet.example" || !again.Enrolled.Equal(noon.Truncate(time.Second)) {
		t.Errorf("%+v, %v", again, err)
	}
	first, err := m.Pseudonyms()
	second, againErr := again.Pseudonyms()
	if err != nil || againErr != nil || first.Account("ana") != second.Account("ana") || first.Account("ana") == first.Session("ana") || first.Account("") != "" {
		t.Errorf("%v, %v", err, againErr)
	}
	if _, err := fleet.Make(dir, strings.Repeat("f", 32)); err == nil || !strings.Contains(err.Error(), "where the disk was copied, remove the file and enrol") {
		t.Error(err)
	}
	for name, text := range map[string]string{"machine.key": `{"type":"gate.machine/2"}`, "pseudonyms.key": "gate.pseudonyms/2 00", "status.json": `{"type":"gate.status/2"}`} {
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); err == nil && info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %s", name, info.Mode())
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	_, keyErr := fleet.Make(dir, machine)
	_, nameErr := m.Pseudonyms()
	_, statusErr := fleet.LastReport(dir)
	for _, err := range []error{keyErr, nameErr, statusErr} {
		if !errors.Is(err, format.ErrNewer) {
			t.Error(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "pseudonyms.key"), []byte("gate.pseudonyms/1 00ff\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Pseudonyms(); err == nil || !strings.Contains(err.Error(), "32 hexadecimal digits or more") {
		t.Error(err)
	}
}
