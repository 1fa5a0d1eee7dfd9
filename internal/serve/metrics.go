package serve

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"gate/hook"
)

// openMetrics is the content type of the metrics.
const openMetrics = "application/openmetrics-text; version=1.0.0; charset=utf-8"

// bounds are the upper ends of the latency histogram's buckets, in seconds.
var bounds = [...]float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60}

// metrics count what the server does. The values of labels are gate's own words
// and the names of signed bundles, never something that a request says.
type metrics struct {
	mu       sync.Mutex
	effects  [hook.Deny + 1]uint64
	faults   map[hook.FaultKind]uint64
	refusals map[string]uint64
	buckets  [len(bounds) + 1]uint64 // the last one has no upper end
	seconds  float64
}

func newMetrics() *metrics {
	m := &metrics{faults: map[hook.FaultKind]uint64{}, refusals: map[string]uint64{}}
	for _, kind := range []hook.FaultKind{
		hook.FaultEvent, hook.FaultLoad, hook.FaultTimeout, hook.FaultMemory, hook.FaultEval, hook.FaultOutput, hook.FaultInternal,
	} {
		m.faults[kind] = 0
	}
	for _, no := range []refusal{wrongHost, fromBrowser, noToken, busy} {
		m.refusals[no.word] = 0
	}
	return m
}

// decided counts a decision and the faults in it.
func (m *metrics) decided(d *hook.Decision, took time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	at, _ := slices.BinarySearch(bounds[:], took.Seconds())
	m.buckets[at]++
	m.seconds += took.Seconds()
	if d == nil {
		m.effects[hook.Deny]++
		m.faults[hook.FaultInternal]++
		return
	}
	m.effects[min(d.Effect, hook.Deny)]++
	if d.Fault != nil {
		m.faults[d.Fault.Kind]++
	}
	for i := range d.Steps {
		if f := d.Steps[i].Fault; f != nil {
			m.faults[f.Kind]++
		}
	}
}

// refused counts a request that was not decided about.
func (m *metrics) refused(word string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.refusals[word]++
}

// text is everything in OpenMetrics' text form.
func (m *metrics) text(s State, running, waiting int, now time.Time) []byte {
	m.mu.Lock()
	defer m.mu.Unlock()
	var w exposition
	w.family("gate_decisions", "counter", "", "decisions by effect")
	for effect, n := range m.effects {
		w.sample("gate_decisions_total", float64(n), "effect", hook.Effect(effect).String())
	}
	w.family("gate_faults", "counter", "", "hooks, or gate itself, that could not answer, by what went wrong")
	for _, kind := range sorted(m.faults) {
		w.sample("gate_faults_total", float64(m.faults[kind]), "kind", string(kind))
	}
	w.family("gate_refused_requests", "counter", "", "requests that nothing was decided about, by why")
	for _, word := range sorted(m.refusals) {
		w.sample("gate_refused_requests_total", float64(m.refusals[word]), "reason", word)
	}
	w.family("gate_decision_duration_seconds", "histogram", "seconds", "from the whole event to the decision")
	var sum uint64
	for i, n := range m.buckets {
		sum += n
		end := "+Inf"
		if i < len(bounds) {
			end = number(bounds[i])
			if !strings.Contains(end, ".") {
				end += ".0" // the one spelling that all exporters share
			}
		}
		w.sample("gate_decision_duration_seconds_bucket", float64(sum), "le", end)
	}
	w.sample("gate_decision_duration_seconds_count", float64(sum))
	w.sample("gate_decision_duration_seconds_sum", m.seconds)
	w.gauge("gate_questions_running", "questions that are decided about now", float64(running))
	w.gauge("gate_questions_waiting", "questions that wait for their turn", float64(waiting))
	w.state(s, now)
	return w.end()
}

// state is what the gate behind the server says of itself.
func (w *exposition) state(s State, now time.Time) {
	up := 1.0
	if s.Err != nil {
		up = 0
	}
	w.gauge("gate_up", "1 if calls can be judged", up)
	w.gauge("gate_policies", "policies loaded, those of the library included", float64(s.Policies))
	w.family("gate_reloads", "counter", "", "how often something else was loaded than before")
	w.sample("gate_reloads_total", float64(s.Reloads))
	w.family("gate_reload_failures", "counter", "", "how often loading failed")
	w.sample("gate_reload_failures_total", float64(s.Failures))
	w.family("gate_bundle_version", "gauge", "", "the version of a signed bundle in force")
	for _, b := range s.Bundles {
		w.sample("gate_bundle_version", float64(b.Version), "bundle", b.Name)
	}
	w.family("gate_bundle_age_seconds", "gauge", "seconds", "since a bundle in force was last found to be the newest")
	for _, b := range s.Bundles {
		if !b.Synced.IsZero() {
			w.sample("gate_bundle_age_seconds", max(0, now.Sub(b.Synced).Seconds()), "bundle", b.Name)
		}
	}
}

// An exposition is a document in OpenMetrics' text form.
type exposition struct{ strings.Builder }

func (w *exposition) family(name, kind, unit, help string) {
	fmt.Fprintf(w, "# TYPE %s %s\n", name, kind)
	if unit != "" {
		fmt.Fprintf(w, "# UNIT %s %s\n", name, unit)
	}
	fmt.Fprintf(w, "# HELP %s %s\n", name, help)
}

func (w *exposition) gauge(name, help string, v float64) {
	w.family(name, "gauge", "", help)
	w.sample(name, v)
}

// sample writes one value; labels are names and values in turn.
func (w *exposition) sample(name string, v float64, labels ...string) {
	w.WriteString(name)
	for i := 0; i+1 < len(labels); i += 2 {
		before := ","
		if i == 0 {
			before = "{"
		}
		fmt.Fprintf(w, `%s%s="%s"`, before, labels[i], strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(labels[i+1]))
	}
	if len(labels) > 0 {
		w.WriteByte('}')
	}
	w.WriteString(" " + number(v) + "\n")
}

func (w *exposition) end() []byte {
	w.WriteString("# EOF\n")
	return []byte(w.String())
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

func sorted[K ~string, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }
