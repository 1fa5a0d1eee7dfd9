package otlp

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/log"
	"go.opentelemetry.io/otel/metric"
	sdklog "go.opentelemetry.io/otel/sdk/log"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/exemplar"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"gate/hook"
)

// scope is the name of what made the records.
const scope = "gate"

// A logWriter writes a log record for each item.
type logWriter struct {
	exporter sdklog.Exporter
	logger   log.Logger
	made     []sdklog.Record
}

func newLogWriter(e sdklog.Exporter, machine *resource.Resource, version string) *logWriter {
	w := &logWriter{exporter: e}
	provider := sdklog.NewLoggerProvider(sdklog.WithProcessor(w), sdklog.WithResource(machine),
		sdklog.WithAttributeCountLimit(-1), sdklog.WithAttributeValueLengthLimit(-1))
	w.logger = provider.Logger(scope, log.WithInstrumentationVersion(version))
	return w
}

// OnEmit keeps a record that the SDK made.
func (w *logWriter) OnEmit(_ context.Context, r *sdklog.Record) error {
	w.made = append(w.made, r.Clone())
	return nil
}

// Enabled wants every record.
func (w *logWriter) Enabled(context.Context, sdklog.EnabledParameters) bool { return true }

// Shutdown and ForceFlush have nothing to do: export leaves nothing behind.
func (w *logWriter) Shutdown(context.Context) error   { return nil }
func (w *logWriter) ForceFlush(context.Context) error { return nil }

func (w *logWriter) export(ctx context.Context, items []item) error {
	w.made = w.made[:0]
	for i := range items {
		it := &items[i]
		var r log.Record
		r.SetEventName(it.name())
		r.SetTimestamp(it.Time)
		r.SetObservedTimestamp(it.Time) // the same whenever it is sent
		severity, text := severityOf(it)
		r.SetSeverity(severity)
		r.SetSeverityText(text)
		r.SetBody(attribute.StringValue(it.body))
		r.AddAttributes(attribute.String("gate.record.key", it.key))
		r.AddAttributes(it.about...)
		r.AddAttributes(it.label...)
		w.logger.Emit(trace.ContextWithSpanContext(ctx, it.span()), r)
	}
	return w.exporter.Export(ctx, w.made)
}

func severityOf(it *item) (log.Severity, string) {
	switch {
	case it.bad:
		return log.SeverityError, "ERROR"
	case it.Effect >= hook.Ask || it.Result == hook.Reject:
		return log.SeverityWarn, "WARN"
	}
	return log.SeverityInfo, "INFO"
}

// A traceWriter writes a span for each event of a call.
type traceWriter struct {
	exporter sdktrace.SpanExporter
	tracer   trace.Tracer
	made     []sdktrace.ReadOnlySpan
}

func newTraceWriter(e sdktrace.SpanExporter, machine *resource.Resource, version string) *traceWriter {
	w := &traceWriter{exporter: e}
	provider := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(w), sdktrace.WithResource(machine), sdktrace.WithIDGenerator(derived{}),
		sdktrace.WithSampler(sdktrace.AlwaysSample()), // what was decided is in the log, and so it is sent
		sdktrace.WithRawSpanLimits(sdktrace.SpanLimits{
			AttributeValueLengthLimit: -1, AttributeCountLimit: -1, EventCountLimit: -1, LinkCountLimit: -1, AttributePerEventCountLimit: -1, AttributePerLinkCountLimit: -1,
		}))
	w.tracer = provider.Tracer(scope, trace.WithInstrumentationVersion(version))
	return w
}

// itemKey is where the context of a span has its item.
type itemKey struct{}

// derived takes the ids of spans from their items.
type derived struct{}

func (derived) NewIDs(ctx context.Context) (trace.TraceID, trace.SpanID) {
	it := ctx.Value(itemKey{}).(*item)
	return it.traceID(), it.spanID()
}

func (derived) NewSpanID(ctx context.Context, _ trace.TraceID) trace.SpanID {
	return ctx.Value(itemKey{}).(*item).spanID()
}

// OnStart has nothing to do.
func (w *traceWriter) OnStart(context.Context, sdktrace.ReadWriteSpan) {}

// OnEnd keeps a span that the SDK made.
func (w *traceWriter) OnEnd(s sdktrace.ReadOnlySpan) { w.made = append(w.made, s) }

// Shutdown and ForceFlush have nothing to do: export leaves nothing behind.
func (w *traceWriter) Shutdown(context.Context) error   { return nil }
func (w *traceWriter) ForceFlush(context.Context) error { return nil }

func (w *traceWriter) export(ctx context.Context, items []item) error {
	w.made = w.made[:0]
	for i := range items {
		if it := &items[i]; it.isDecision() && it.Tool != "" {
			w.span(context.WithValue(ctx, itemKey{}, it), it)
		}
	}
	return w.exporter.ExportSpans(ctx, w.made)
}

// span makes the span of a decision about a call: from the event to the answer. Its name,
// and the event that has the decision, are those that the Agent Control Standard
// prescribes (trace/otel-mapping.json, 0.1.0).
func (w *traceWriter) span(ctx context.Context, it *item) {
	if up := it.parent(); up.IsValid() {
		ctx = trace.ContextWithRemoteSpanContext(ctx, up)
	}
	name := "gen_ai.tool.call"
	var own []attribute.KeyValue
	switch it.Event {
	case hook.PostToolUse:
		name, own = "gen_ai.tool.result", []attribute.KeyValue{attribute.String("acs.exit_status", "success")}
	case hook.PostToolUseFailure:
		name, own = "gen_ai.tool.result", []attribute.KeyValue{attribute.String("acs.exit_status", "failure")}
	}
	_, span := w.tracer.Start(ctx, name, trace.WithTimestamp(it.Time), trace.WithSpanKind(trace.SpanKindInternal),
		trace.WithAttributes(attribute.String("gate.record.key", it.key)), trace.WithAttributes(it.about...), trace.WithAttributes(it.label...), trace.WithAttributes(own...))
	end := it.Time.Add(it.Took)
	span.AddEvent("acs.decision", trace.WithTimestamp(end), trace.WithAttributes(verdict(it)...))
	span.End(trace.WithTimestamp(end))
}

// verdict are the attributes of a span that its event acs.decision has to have.
func verdict(it *item) []attribute.KeyValue {
	var out []attribute.KeyValue
	for _, a := range it.about {
		switch a.Key {
		case "acs.decision", "acs.evaluator", "acs.reasoning", "gate.decision.id", "gate.effect", "gate.policy.ids":
			out = append(out, a)
		}
	}
	return out
}

// A metricWriter counts the decisions of a batch.
type metricWriter struct {
	exporter sdkmetric.Exporter
	reader   *sdkmetric.ManualReader

	decisions, calls, objections metric.Int64Counter
	took, waited                 metric.Float64Histogram
}

// bounds of the histograms, in seconds: from a warm decision to what an agent waits for
// a model that judges.
var bounds = []float64{.0005, .001, .002, .005, .01, .02, .05, .1, .2, .5, 1, 2, 5, 10, 30}

func newMetricWriter(e sdkmetric.Exporter, machine *resource.Resource, version string) (*metricWriter, error) {
	w := &metricWriter{exporter: e}
	// Each batch is a number of its own: who sends ends with it and keeps no sum.
	w.reader = sdkmetric.NewManualReader(sdkmetric.WithTemporalitySelector(func(sdkmetric.InstrumentKind) metricdata.Temporality { return metricdata.DeltaTemporality }))
	provider := sdkmetric.NewMeterProvider(sdkmetric.WithReader(w.reader), sdkmetric.WithResource(machine), sdkmetric.WithExemplarFilter(exemplar.AlwaysOffFilter))
	m := provider.Meter(scope, metric.WithInstrumentationVersion(version))
	var err error
	counter := func(name, unit, says string) metric.Int64Counter {
		c, e := m.Int64Counter(name, metric.WithUnit(unit), metric.WithDescription(says))
		if e != nil {
			err = e
		}
		return c
	}
	histogram := func(name, says string) metric.Float64Histogram {
		h, e := m.Float64Histogram(name, metric.WithUnit("s"), metric.WithDescription(says), metric.WithExplicitBucketBoundaries(bounds...))
		if e != nil {
			err = e
		}
		return h
	}
	w.decisions = counter("gate.decisions", "{decision}", "answers to agents")
	w.calls = counter("gate.calls", "{call}", "decisions whether a call of a tool may run")
	w.objections = counter("gate.policy.decisions", "{decision}", "decisions that a policy asked or denied by")
	w.took = histogram("gate.decision.duration", "how long it took to decide")
	w.waited = histogram("gate.call.duration", "how long an agent waited for gate's program")
	return w, err
}

func (w *metricWriter) export(ctx context.Context, items []item) error {
	var from, to time.Time
	for i := range items {
		it := &items[i]
		if !it.isDecision() {
			continue
		}
		if from.IsZero() || it.Time.Before(from) {
			from = it.Time
		}
		if end := it.Time.Add(it.Took); end.After(to) {
			to = end
		}
		w.count(ctx, it)
	}
	var all metricdata.ResourceMetrics
	if err := w.reader.Collect(ctx, &all); err != nil {
		return err
	}
	if from.IsZero() {
		return nil
	}
	if !to.After(from) {
		to = from.Add(time.Microsecond)
	}
	for _, s := range all.ScopeMetrics {
		for i := range s.Metrics {
			between(&s.Metrics[i], from, to)
		}
	}
	return w.exporter.Export(ctx, &all)
}

func (w *metricWriter) count(ctx context.Context, it *item) {
	effect, agent := attribute.String("gate.effect", it.Effect.String()), attribute.String("gen_ai.agent.name", it.Agent)
	event := attribute.String("gate.event", string(it.Event))
	w.decisions.Add(ctx, 1, metric.WithAttributes(effect, agent, event))
	if it.Begins() {
		w.calls.Add(ctx, 1, metric.WithAttributes(effect, agent))
	}
	met := map[string]bool{}
	for _, why := range it.Reasons {
		if key := why.ID + " " + why.Effect.String(); why.Effect >= hook.Ask && !met[key] {
			met[key] = true
			w.objections.Add(ctx, 1, metric.WithAttributes(attribute.String("gate.policy.id", why.ID), attribute.String("gate.effect", why.Effect.String())))
		}
	}
	w.took.Record(ctx, it.Took.Seconds(), metric.WithAttributes(effect))
	if it.Whole > 0 {
		w.waited.Record(ctx, it.Whole.Seconds(), metric.WithAttributes(effect))
	}
}

// between gives the numbers of a metric the time that they are about. The SDK has that of
// the counting, which may be a day later.
func between(m *metricdata.Metrics, from, to time.Time) {
	switch data := m.Data.(type) {
	case metricdata.Sum[int64]:
		for i := range data.DataPoints {
			data.DataPoints[i].StartTime, data.DataPoints[i].Time = from, to
		}
	case metricdata.Histogram[float64]:
		for i := range data.DataPoints {
			data.DataPoints[i].StartTime, data.DataPoints[i].Time = from, to
		}
	}
}
