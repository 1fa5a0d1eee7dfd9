// Package otlp writes records of the decision log as logs, spans and metrics of
// OpenTelemetry, for collectors that speak OTLP over HTTP.
//
// OpenTelemetry's SDK makes the records and its exporters write the messages. They send
// nothing: the log is a queue, whose Shipper has to know of each message whether it
// arrived. A program that links the package pays for the SDK, and for gRPC with it;
// gate-server alone does. The SDK reads OTEL_… variables where a Form is made. Start with
// [New], and give the Form to a Shipper of internal/audit/ship.
package otlp

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlplog/otlploghttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"

	"gate/internal/audit"
	"gate/internal/audit/ship"
)

// Names of what is sent, as settings and flags have them.
const (
	Logs    = "logs"
	Traces  = "traces"
	Metrics = "metrics"
)

// Options say what is sent. The zero value sends all three signals, without the text of
// calls.
type Options struct {
	Version string            // gate's
	Labels  map[string]string // of the machine
	Signals []string          // any of Logs, Traces and Metrics; none: all three
	Text    bool              // what calls ask for goes along, redacted as in the log
}

// A Form writes batches as messages of OTLP. It is safe for concurrent use.
type Form struct {
	text    bool
	machine map[string]string // labels that the resource has

	mu      sync.Mutex // of all below, which is made for one batch at a time
	caught  *caught
	logs    *logWriter    // nil: not wanted
	traces  *traceWriter  // nil: not wanted
	metrics *metricWriter // nil: not wanted
}

// New returns a Form.
func New(o Options) (*Form, error) {
	wanted := func(signal string) bool { return len(o.Signals) == 0 || slices.Contains(o.Signals, signal) }
	f := &Form{text: o.Text, machine: o.Labels, caught: &caught{}}
	ctx, machine := context.Background(), machineOf(o)
	if wanted(Logs) {
		exporter, err := otlploghttp.New(ctx, otlploghttp.WithEndpointURL(nowhere), otlploghttp.WithHTTPClient(f.caught.client()),
			otlploghttp.WithCompression(otlploghttp.NoCompression), otlploghttp.WithRetry(otlploghttp.RetryConfig{}))
		if err != nil {
			return nil, fmt.Errorf("logs: %w", err)
		}
		f.logs = newLogWriter(exporter, machine, o.Version)
	}
	if wanted(Traces) {
		exporter, err := otlptrace.New(ctx, otlptracehttp.NewClient(otlptracehttp.WithEndpointURL(nowhere), otlptracehttp.WithHTTPClient(f.caught.client()),
			otlptracehttp.WithCompression(otlptracehttp.NoCompression), otlptracehttp.WithRetry(otlptracehttp.RetryConfig{})))
		if err != nil {
			return nil, fmt.Errorf("traces: %w", err)
		}
		f.traces = newTraceWriter(exporter, machine, o.Version)
	}
	if wanted(Metrics) {
		exporter, err := otlpmetrichttp.New(ctx, otlpmetrichttp.WithEndpointURL(nowhere), otlpmetrichttp.WithHTTPClient(f.caught.client()),
			otlpmetrichttp.WithCompression(otlpmetrichttp.NoCompression), otlpmetrichttp.WithRetry(otlpmetrichttp.RetryConfig{}))
		if err != nil {
			return nil, fmt.Errorf("metrics: %w", err)
		}
		if f.metrics, err = newMetricWriter(exporter, machine, o.Version); err != nil {
			return nil, fmt.Errorf("metrics: %w", err)
		}
	}
	return f, nil
}

// machineOf is what the records of a machine have in common.
func machineOf(o Options) *resource.Resource {
	list := []attribute.KeyValue{attribute.String("service.name", "gate"), attribute.String("service.version", o.Version)}
	for _, name := range slices.Sorted(maps.Keys(o.Labels)) {
		list = append(list, labelOf(name, o.Labels[name]))
	}
	return resource.NewSchemaless(list...)
}

// labelOf is a label of a machine or a record as an attribute.
func labelOf(name, value string) attribute.KeyValue {
	if name == "host" {
		return attribute.String("host.name", value)
	}
	return attribute.String("gate.label."+name, value)
}

// Requests returns the messages of a batch: logs first, and metrics last. Logs and spans
// have the same ids when they come again, but numbers count twice: so metrics are sent
// last, when nothing before them can fail.
func (f *Form) Requests(batch []audit.Sendable) ([]ship.Request, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	items := make([]item, 0, len(batch))
	for i := range batch {
		it, err := f.item(batch[i].Text)
		if err != nil {
			return nil, err
		}
		items = append(items, it)
	}
	var out []ship.Request
	ask := func(path string, refused func([]byte) (ship.Refusal, error), export func(context.Context, []item) error) error {
		body, err := f.caught.take(func(ctx context.Context) error { return export(ctx, items) })
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		if body != nil {
			out = append(out, ship.Request{Path: path, Type: protobuf, Body: body, Answer: answers(refused)})
		}
		return nil
	}
	if f.logs != nil {
		if err := ask("/v1/logs", refusedLogs, f.logs.export); err != nil {
			return nil, err
		}
	}
	if f.traces != nil {
		if err := ask("/v1/traces", refusedSpans, f.traces.export); err != nil {
			return nil, err
		}
	}
	if f.metrics != nil {
		if err := ask("/v1/metrics", refusedPoints, f.metrics.export); err != nil {
			return nil, err
		}
	}
	return out, nil
}
