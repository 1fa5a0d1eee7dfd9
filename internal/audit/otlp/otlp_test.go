package otlp_test

import (
	"compress/gzip"
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	logspb "go.opentelemetry.io/proto/otlp/collector/logs/v1"
	metricspb "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	tracepb "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	"google.golang.org/protobuf/proto"

	"gate/hook"
	"gate/internal/audit"
	"gate/internal/audit/otlp"
	"gate/internal/audit/ship"
)

// A collector takes OTLP over HTTP. Each request to a path is answered by the next of its
// answers; see answer.
type collector struct {
	mu      sync.Mutex
	answers map[string][]string
	paths   []string
	logs    []string // gate.record.key, the event and the ids of the span, of each that was taken
	spans   []string
	attrs   map[string]string // of the last span
	machine map[string]string // attributes of the last resource
	counts  map[string]int64  // sums of numbers, and of histograms how often
	header  http.Header
}

func (c *collector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.header = r.Header
	c.paths = append(c.paths, r.URL.Path)
	answer := "taken"
	if list := c.answers[r.URL.Path]; len(list) > 0 {
		answer, c.answers[r.URL.Path] = list[0], list[1:]
	}
	z, err := gzip.NewReader(r.Body)
	if err != nil || r.Header.Get("Content-Type") != "application/x-protobuf" {
		http.Error(w, fmt.Sprint(err), http.StatusBadRequest)
		return
	}
	body, _ := io.ReadAll(z)
	if answer == "taken" || answer == "lost" || strings.HasPrefix(answer, "partly") {
		if err := c.take(r.URL.Path, body); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
	}
	c.answer(w, r, answer)
}

func (c *collector) answer(w http.ResponseWriter, r *http.Request, answer string) {
	switch answer {
	case "taken":
		w.Header().Set("Content-Type", "application/x-protobuf")
	case "partly":
		w.Header().Set("Content-Type", "application/x-protobuf")
		data, _ := proto.Marshal(&logspb.ExportLogsServiceResponse{PartialSuccess: &logspb.ExportLogsPartialSuccess{RejectedLogRecords: 2, ErrorMessage: "too old"}})
		w.Write(data)
	case "html":
		w.Header().Set("Content-Type", "text/html")
		io.WriteString(w, "<html>log in to this network</html>")
	case "garbage":
		w.Header().Set("Content-Type", "application/x-protobuf")
		io.WriteString(w, "\xff\xff\xff\xff")
	case "redirect":
		http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
	case "lost":
		w.WriteHeader(http.StatusBadGateway)
	case "hangs":
		c.mu.Unlock()
		<-r.Context().Done()
		c.mu.Lock()
	case "429":
		w.Header().Set("Retry-After", "7")
		w.WriteHeader(http.StatusTooManyRequests)
	default:
		var code int
		fmt.Sscan(answer, &code)
		w.WriteHeader(code)
	}
}

func (c *collector) take(path string, body []byte) error {
	switch path {
	case "/v1/logs":
		var m logspb.ExportLogsServiceRequest
		if err := proto.Unmarshal(body, &m); err != nil {
			return err
		}
		c.machine = values(m.ResourceLogs[0].Resource.Attributes)
		for _, r := range m.ResourceLogs[0].ScopeLogs[0].LogRecords {
			a := values(r.Attributes)
			c.logs = append(c.logs, fmt.Sprintf("%s %s %s %s", a["gate.record.key"], r.EventName, r.SeverityText, hex.EncodeToString(r.SpanId)))
		}
	case "/v1/traces":
		var m tracepb.ExportTraceServiceRequest
		if err := proto.Unmarshal(body, &m); err != nil {
			return err
		}
		for _, s := range m.ResourceSpans[0].ScopeSpans[0].Spans {
			c.attrs = values(s.Attributes)
			for _, e := range s.Events {
				for k, v := range values(e.Attributes) {
					c.attrs[e.Name+"/"+k] = v
				}
			}
			took := time.Duration(s.EndTimeUnixNano - s.StartTimeUnixNano)
			c.spans = append(c.spans, fmt.Sprintf("%s %s %s %s<%s %s", c.attrs["gate.record.key"], s.Name, hex.EncodeToString(s.TraceId), hex.EncodeToString(s.SpanId), hex.EncodeToString(s.ParentSpanId), took))
		}
	case "/v1/metrics":
		var m metricspb.ExportMetricsServiceRequest
		if err := proto.Unmarshal(body, &m); err != nil {
			return err
		}
		for _, metric := range m.ResourceMetrics[0].ScopeMetrics[0].Metrics {
			for _, p := range metric.GetSum().GetDataPoints() {
				c.counts[fmt.Sprint(metric.Name, " ", values(p.Attributes))] += p.GetAsInt()
			}
			for _, p := range metric.GetHistogram().GetDataPoints() {
				c.counts[metric.Name] += int64(p.Count)
			}
		}
	}
	return nil
}

// values are attributes as texts.
func values(list []*commonpb.KeyValue) map[string]string {
	out := map[string]string{}
	for _, kv := range list {
		switch v := kv.Value.Value.(type) {
		case *commonpb.AnyValue_StringValue:
			out[kv.Key] = v.StringValue
		case *commonpb.AnyValue_ArrayValue:
			for _, one := range v.ArrayValue.Values {
				out[kv.Key] = strings.TrimSpace(out[kv.Key] + " " + one.GetStringValue())
			}
		default:
			out[kv.Key] = kv.Value.String()
		}
	}
	return out
}

// a log, a collector, and what ships.
type fixture struct {
	collector
	dir     string
	history *audit.History
	shipper ship.Shipper
	waits   []time.Duration
}

func newFixture(t *testing.T, o otlp.Options) *fixture {
	t.Helper()
	f := &fixture{dir: t.TempDir()}
	f.answers, f.counts = map[string][]string{}, map[string]int64{}
	server := httptest.NewServer(&f.collector)
	t.Cleanup(server.Close)
	client, err := ship.Client("", "", "")
	if err != nil {
		t.Fatal(err)
	}
	client.Timeout = 200 * time.Millisecond // for the one that hangs
	if f.history, err = audit.OpenHistory(f.dir); err != nil {
		t.Fatal(err)
	}
	o.Version, o.Labels = "v1", map[string]string{"host": "here", "ring": "canary"}
	form, err := otlp.New(o)
	if err != nil {
		t.Fatal(err)
	}
	f.shipper = ship.Shipper{
		URL: server.URL, Client: client, Token: "t0ken", Labels: o.Labels, Form: form, Tries: 2,
		Wait: func(_ context.Context, d time.Duration) error { f.waits = append(f.waits, d); return nil },
	}
	return f
}

const callersTrace, callersSpan = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"

// write puts a denied call, the result of another and the end of a session into the log.
func (f *fixture) write(t *testing.T) {
	t.Helper()
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, r := range []audit.Record{
		{
			Key: "k1", ID: "d1", Time: at, Agent: "claude", Session: "s", Trace: "00-" + callersTrace + "-" + callersSpan + "-00", Event: hook.PreToolUse, Tool: "Bash",
			Call: "rm -rf build", Dir: "/home/dev/project", Effect: hook.Deny, Result: hook.Reject, Took: 3 * time.Millisecond, Whole: 9 * time.Millisecond,
			Reasons: []audit.Reason{{ID: "a.b", Effect: hook.Deny, Reason: "no build"}, {ID: "a.c", Effect: hook.Ask}, {ID: "a.b", Effect: hook.Deny}},
			Labels:  map[string]string{"host": "here", "ring": "stable"},
		},
		{Key: "k2", ID: "d2", Time: at, Agent: "claude", Session: "s", Event: hook.PostToolUse, Tool: "Read", Result: hook.Continue, Took: time.Millisecond},
		{Key: "k3", ID: "d3", Time: at, Agent: "claude", Session: "s", Event: hook.SessionEnd, Result: hook.Continue},
	} {
		if err := audit.Append(f.dir, audit.Options{}, r); err != nil {
			t.Fatal(err)
		}
	}
}

func (f *fixture) ship(t *testing.T, wantErr string) ship.Report {
	t.Helper()
	report, err := f.shipper.Ship(t.Context(), f.history)
	if (err != nil) != (wantErr != "") || err != nil && !strings.Contains(err.Error(), wantErr) {
		t.Fatalf("%v, want %q", err, wantErr)
	}
	return report
}

// TestSignals has all three signals arrive, of which the text of calls is no part.
func TestSignals(t *testing.T) {
	f := newFixture(t, otlp.Options{})
	f.write(t)
	if r := f.ship(t, ""); r.Records != 3 || r.Cursor.Seq != 3 {
		t.Errorf("%+v", r)
	}
	if got := strings.Join(f.paths, " "); got != "/v1/logs /v1/traces /v1/metrics" {
		t.Error(got)
	}
	if len(f.logs) != 3 || !strings.HasPrefix(f.logs[0], "k1 gate.decision WARN ") || !strings.HasPrefix(f.logs[2], "k3 gate.decision INFO ") {
		t.Errorf("logs %q", f.logs)
	}
	span := strings.Fields(f.logs[0])[3]
	want := "k1 gen_ai.tool.call " + callersTrace + " " + span + "<" + callersSpan + " 3ms"
	if len(f.spans) != 2 || f.spans[0] != want || !strings.HasPrefix(f.spans[1], "k2 gen_ai.tool.result ") || !strings.HasSuffix(f.spans[1], "< 1ms") {
		t.Errorf("spans %q, want %q", f.spans, want)
	}
	if f.attrs["acs.exit_status"] != "success" || f.attrs["acs.decision/acs.decision"] != "allow" || f.attrs["gen_ai.conversation.id"] != "s" {
		t.Errorf("span %v", f.attrs)
	}
	if fmt.Sprint(f.machine) != "map[gate.label.ring:canary host.name:here service.name:gate service.version:v1]" {
		t.Errorf("resource %v", f.machine)
	}
	wantCounts := []string{
		"gate.call.duration 1",
		"gate.calls map[gate.effect:deny gen_ai.agent.name:claude] 1",
		"gate.decision.duration 3",
		"gate.decisions map[gate.effect:deny gate.event:PreToolUse gen_ai.agent.name:claude] 1",
		"gate.decisions map[gate.effect:pass gate.event:PostToolUse gen_ai.agent.name:claude] 1",
		"gate.decisions map[gate.effect:pass gate.event:SessionEnd gen_ai.agent.name:claude] 1",
		"gate.policy.decisions map[gate.effect:ask gate.policy.id:a.c] 1",
		"gate.policy.decisions map[gate.effect:deny gate.policy.id:a.b] 1",
	}
	var counts []string
	for _, name := range slices.Sorted(maps.Keys(f.counts)) {
		counts = append(counts, fmt.Sprint(name, " ", f.counts[name]))
	}
	if !slices.Equal(counts, wantCounts) {
		t.Errorf("metrics\n%s", strings.Join(counts, "\n"))
	}
	if f.header.Get("Authorization") != "Bearer t0ken" {
		t.Errorf("headers %v", f.header)
	}
}

// TestText sends what a call asks for where that is switched on only.
func TestText(t *testing.T) {
	for _, on := range []bool{false, true} {
		f := newFixture(t, otlp.Options{Text: on, Signals: []string{otlp.Traces}})
		f.write(t)
		f.shipper.Form = onlyFirst{f.shipper.Form}
		f.ship(t, "")
		if got := strings.Join(f.paths, " "); got != "/v1/traces" {
			t.Error(got)
		}
		if a := f.attrs; (a["gate.call"] == "rm -rf build") != on || (a["gate.cwd"] != "") != on || (a["acs.decision/acs.reasoning"] == "no build") != on ||
			a["gate.policy.ids"] != "a.b a.c" || a["gate.label.ring"] != "stable" || a["acs.decision/acs.decision"] != "deny" {
			t.Errorf("text %v: %v", on, a)
		}
		for key, value := range f.attrs {
			if !on && (strings.Contains(value, "build") || strings.Contains(value, "project")) {
				t.Errorf("%s is %q", key, value)
			}
		}
	}
}

// onlyFirst writes the first document of a batch.
type onlyFirst struct{ ship.Form }

func (o onlyFirst) Requests(batch []audit.Sendable) ([]ship.Request, error) {
	return o.Form.Requests(batch[:1])
}

// TestHostile loses nothing, whatever the collector does, and what comes again is the same.
func TestHostile(t *testing.T) {
	for _, test := range []struct {
		name, path, answers string
		wantErr             string
		logs                int // that arrived, of three
		waits               int
		refused             int64
	}{
		{"busy", "/v1/logs", "429", "", 3, 1, 0},
		{"broken", "/v1/traces", "500 503", "/v1/traces: the server answered 503", 3, 1, 0},
		{"answers nothing", "/v1/logs", "hangs hangs", "Client.Timeout", 0, 1, 0},
		{"took it and failed", "/v1/logs", "lost", "", 6, 1, 0},
		{"sends elsewhere", "/v1/logs", "redirect", "no other address", 0, 0, 0},
		{"a login page", "/v1/logs", "html", "no answer of OTLP", 0, 0, 0},
		{"garbage", "/v1/metrics", "garbage", "no answer of OTLP", 3, 0, 0},
		{"does not take spans", "/v1/traces", "404", "/v1/traces: the server answered 404", 3, 0, 0},
		{"takes a part", "/v1/logs", "partly", "", 3, 0, 2},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := newFixture(t, otlp.Options{})
			f.write(t)
			f.answers[test.path] = strings.Fields(test.answers)
			r := f.ship(t, test.wantErr)
			if len(f.logs) != test.logs || len(f.waits) != test.waits || r.Refused != test.refused || (r.Said == "too old") != (test.refused > 0) {
				t.Errorf("%d logs, waited %v, %+v", len(f.logs), f.waits, r)
			}
			if test.answers == "429" && f.waits[0] != 7*time.Second {
				t.Errorf("waited %v", f.waits)
			}
			if (r.Cursor.Seq == 3) != (test.wantErr == "") {
				t.Errorf("%+v", r)
			}
			f.ship(t, "") // the next start
			if len(f.logs) < 3 || len(f.spans) < 2 || f.counts["gate.decision.duration"] != 3 {
				t.Errorf("later %q %q %v", f.logs, f.spans, f.counts)
			}
			for i := range f.logs {
				if f.logs[i] != f.logs[i%3] {
					t.Errorf("again %s, before %s", f.logs[i], f.logs[i%3])
				}
			}
			for i := range f.spans {
				if f.spans[i] != f.spans[i%2] {
					t.Errorf("again %s, before %s", f.spans[i], f.spans[i%2])
				}
			}
			f.mu.Lock()
			defer f.mu.Unlock()
			if slices.Contains(f.paths, "/elsewhere") {
				t.Errorf("it followed: %v", f.paths)
			}
		})
	}
}

// TestGap tells of records that are missing.
func TestGap(t *testing.T) {
	f := newFixture(t, otlp.Options{})
	form, at := f.shipper.Form, time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	gap := audit.Gap{Log: "abc", From: 3, To: 7, Before: at, User: "dev"}.JSON(map[string]string{"host": "here"})
	found := audit.Finding{Kind: audit.Anew, Before: audit.Cursor{Log: "abc", Seq: 7}, Log: "def", At: at}.JSON(nil)
	requests, err := form.Requests([]audit.Sendable{{Text: gap, Gap: true}, {Text: found, Finding: true}})
	if err != nil || len(requests) != 1 {
		t.Fatalf("%d requests, %v", len(requests), err)
	}
	var m logspb.ExportLogsServiceRequest
	if err := proto.Unmarshal(requests[0].Body, &m); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range m.ResourceLogs[0].ScopeLogs[0].LogRecords {
		a := values(r.Attributes)
		got = append(got, r.EventName+" "+r.SeverityText+" "+a["gate.gap.log"]+a["gate.log.problem"]+" "+a["gate.gap.from"]+" "+a["user.name"])
	}
	if text := strings.Join(got, ", "); text != "gate.gap ERROR abc int_value:3 dev, gate.log ERROR anew  " {
		t.Error(text)
	}
}
