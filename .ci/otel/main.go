// Command otel has the receiver of OpenTelemetry's collector take a gate's messages. It
// starts the receiver, then the given command with the receiver's address appended, and
// prints how many logs, spans and numbers came. It fails where one of the three did not
// come. It is a module of its own, for gate does not pay for a collector.
package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"sync/atomic"

	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/receiver/otlpreceiver"
	"go.opentelemetry.io/collector/receiver/receivertest"
)

func main() {
	if err := run(context.Background(), os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "otel:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, command []string) error {
	address, err := free()
	if err != nil {
		return err
	}
	factory := otlpreceiver.NewFactory()
	config := factory.CreateDefaultConfig()
	file := confmap.NewFromStringMap(map[string]any{"protocols": map[string]any{"http": map[string]any{"endpoint": address}}})
	if err := file.Unmarshal(config); err != nil {
		return err
	}
	var logs, spans, numbers atomic.Int64
	settings := receivertest.NewNopSettings(factory.Type())
	takeLogs, err := consumer.NewLogs(func(_ context.Context, d plog.Logs) error { logs.Add(int64(d.LogRecordCount())); return nil })
	if err != nil {
		return err
	}
	takeSpans, err := consumer.NewTraces(func(_ context.Context, d ptrace.Traces) error {
		spans.Add(int64(d.SpanCount()))
		show(d)
		return nil
	})
	if err != nil {
		return err
	}
	takeNumbers, err := consumer.NewMetrics(func(_ context.Context, d pmetric.Metrics) error { numbers.Add(int64(d.DataPointCount())); return nil })
	if err != nil {
		return err
	}
	receiver, err := factory.CreateLogs(ctx, settings, config, takeLogs)
	if err != nil {
		return err
	}
	// The receiver is one for all three signals, whose consumers are added to it.
	if _, err := factory.CreateTraces(ctx, settings, config, takeSpans); err != nil {
		return err
	}
	if _, err := factory.CreateMetrics(ctx, settings, config, takeNumbers); err != nil {
		return err
	}
	if err := receiver.Start(ctx, componenttest.NewNopHost()); err != nil {
		return err
	}
	defer receiver.Shutdown(ctx)
	cmd := exec.CommandContext(ctx, command[0], append(command[1:], "http://"+address)...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		return err
	}
	fmt.Printf("the collector's receiver took %d logs, %d spans, %d numbers\n", logs.Load(), spans.Load(), numbers.Load())
	if logs.Load() == 0 || spans.Load() == 0 || numbers.Load() == 0 {
		return fmt.Errorf("a signal is missing")
	}
	return nil
}

// show prints each span in a line: whose child it is, its name, and what was decided.
func show(d ptrace.Traces) {
	for _, r := range d.ResourceSpans().All() {
		for _, scope := range r.ScopeSpans().All() {
			for _, s := range scope.Spans().All() {
				for _, e := range s.Events().All() {
					decided, _ := e.Attributes().Get(e.Name())
					fmt.Printf("span of %s below %q: %s, %s %s\n", s.TraceID(), s.ParentSpanID(), s.Name(), e.Name(), decided.Str())
				}
			}
		}
	}
}

// free is an address that nobody listens at.
func free() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	return l.Addr().String(), nil
}
