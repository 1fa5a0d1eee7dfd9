package otlp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"

	logspb "go.opentelemetry.io/proto/otlp/collector/logs/v1"
	metricspb "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	tracepb "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/protobuf/proto"

	"gate/internal/audit/ship"
)

// protobuf is the type of messages and of their answers.
const protobuf = "application/x-protobuf"

// nowhere is the address that exporters write to, which nobody has.
const nowhere = "https://collector.invalid"

// caught is the transport of exporters: it keeps the message, and sends nothing.
type caught struct{ body []byte }

func (c *caught) client() *http.Client { return &http.Client{Transport: c} }

// RoundTrip keeps the message and answers as a collector that took it.
func (c *caught) RoundTrip(r *http.Request) (*http.Response, error) {
	defer r.Body.Close()
	if got := r.Header.Get("Content-Type"); got != protobuf {
		return nil, fmt.Errorf("the exporter wrote %s", got)
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	c.body = body
	return &http.Response{
		StatusCode: http.StatusOK, Status: "200 OK", Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{}, Body: io.NopCloser(bytes.NewReader(nil)), Request: r,
	}, nil
}

// take returns the message that export writes, nil if it wrote none.
func (c *caught) take(export func(context.Context) error) ([]byte, error) {
	c.body = nil
	err := export(context.Background())
	return c.body, err
}

// answers reads what a collector says to a message that it took: nothing, or a message of
// its own. Otherwise another program took the message, such as the login page of a
// network.
func answers(refused func([]byte) (ship.Refusal, error)) func(string, []byte) (ship.Refusal, error) {
	return func(contentType string, body []byte) (ship.Refusal, error) {
		if len(body) == 0 {
			return ship.Refusal{}, nil
		}
		if kind, _, err := mime.ParseMediaType(contentType); err != nil || kind != protobuf {
			return ship.Refusal{}, fmt.Errorf("what came with it is %q and no answer of OTLP (%s)", contentType, protobuf)
		}
		f, err := refused(body)
		if err != nil {
			return ship.Refusal{}, errors.New("what came with it is no answer of OTLP")
		}
		return f, nil
	}
}

func refusedLogs(body []byte) (ship.Refusal, error) {
	var m logspb.ExportLogsServiceResponse
	err := proto.Unmarshal(body, &m)
	return ship.Refusal{Items: m.GetPartialSuccess().GetRejectedLogRecords(), Said: m.GetPartialSuccess().GetErrorMessage()}, err
}

func refusedSpans(body []byte) (ship.Refusal, error) {
	var m tracepb.ExportTraceServiceResponse
	err := proto.Unmarshal(body, &m)
	return ship.Refusal{Items: m.GetPartialSuccess().GetRejectedSpans(), Said: m.GetPartialSuccess().GetErrorMessage()}, err
}

func refusedPoints(body []byte) (ship.Refusal, error) {
	var m metricspb.ExportMetricsServiceResponse
	err := proto.Unmarshal(body, &m)
	return ship.Refusal{Items: m.GetPartialSuccess().GetRejectedDataPoints(), Said: m.GetPartialSuccess().GetErrorMessage()}, err
}
