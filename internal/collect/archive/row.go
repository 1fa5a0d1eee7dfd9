package archive

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/zstd"
)

// A Row is a record of a fleet: what its columns say, and the record as the machine sent
// it. Rows of a day are in the order of machine, log and number. A further column takes a new
// number in the file's metadata; none ever changes its meaning.
type Row struct {
	Machine  string    // that signed the request which brought it
	Log      string    // the chain
	Seq      int64     // the place in it, from 1
	Prev     string    // digest of the line before, in hex; "" for a chain's first
	Digest   string    // of the line in the machine's log, in hex
	Level    string    // of privacy: "text" or "effects"
	At       time.Time // the record's, in microseconds
	Received time.Time // by the collector, in microseconds
	Team     string    // of the machine when it was received
	Account  string    // a pseudonym
	Agent    string
	Session  string
	Event    string
	Tool     string
	Effect   string // pass, allow, ask or deny
	Result   string // continue, reject or modify_input
	Policies string // ids of those that had an effect, sorted, spaces between
	Would    string // ids of those that would have had one, sorted, spaces between
	Effects  string // kinds, sorted, spaces between
	CallNS   int64  // what the agent waited; 0 where it is not known
	Body     []byte // JSON, as sent
}

// Limits of a row.
const (
	MaxBody = 1 << 20  // bytes of a body
	maxWord = 64 << 10 // bytes of any other text: lists of policies may be long
)

// compare orders rows as files have them; 0 says that two have the same key.
func (r *Row) compare(o *Row) int {
	return cmp.Or(strings.Compare(r.Machine, o.Machine), strings.Compare(r.Log, o.Log), cmp.Compare(r.Seq, o.Seq))
}

// check reports a row that no reader would take.
func (r *Row) check() error {
	if r.Machine == "" || r.Log == "" || r.Seq < 1 {
		return errors.New("a row without a machine, a log or a number")
	}
	if len(r.Body) > MaxBody {
		return fmt.Errorf("a row's body has %d bytes, and %d are taken", len(r.Body), MaxBody)
	}
	for i := range columns {
		if text := columns[i].text; text != nil && len(*text(r)) > maxWord {
			return fmt.Errorf("a row's %s has %d bytes, and %d are taken", columns[i].name, len(*text(r)), maxWord)
		}
	}
	return nil
}

// A column is one of the schema: exactly one of its functions says where its value is.
type column struct {
	name   string
	text   func(*Row) *string
	number func(*Row) *int64
	time   func(*Row) *time.Time
	body   bool
	plain  bool // no dictionary: nearly every value is its own
}

// columns are the schema, by name: that is the order in which parquet-go puts them.
var columns = [...]column{
	{name: "account", text: func(r *Row) *string { return &r.Account }},
	{name: "agent", text: func(r *Row) *string { return &r.Agent }},
	{name: "at", time: func(r *Row) *time.Time { return &r.At }},
	{name: "body", body: true, plain: true},
	{name: "call_ns", number: func(r *Row) *int64 { return &r.CallNS }},
	{name: "digest", text: func(r *Row) *string { return &r.Digest }, plain: true},
	{name: "effect", text: func(r *Row) *string { return &r.Effect }},
	{name: "effects", text: func(r *Row) *string { return &r.Effects }},
	{name: "event", text: func(r *Row) *string { return &r.Event }},
	{name: "level", text: func(r *Row) *string { return &r.Level }},
	{name: "log", text: func(r *Row) *string { return &r.Log }},
	{name: "machine", text: func(r *Row) *string { return &r.Machine }},
	{name: "policies", text: func(r *Row) *string { return &r.Policies }},
	{name: "prev", text: func(r *Row) *string { return &r.Prev }, plain: true},
	{name: "received", time: func(r *Row) *time.Time { return &r.Received }},
	{name: "result", text: func(r *Row) *string { return &r.Result }},
	{name: "seq", number: func(r *Row) *int64 { return &r.Seq }},
	{name: "session", text: func(r *Row) *string { return &r.Session }},
	{name: "team", text: func(r *Row) *string { return &r.Team }},
	{name: "tool", text: func(r *Row) *string { return &r.Tool }},
	{name: "would", text: func(r *Row) *string { return &r.Would }},
}

// node is what Parquet is told of a column. All are required: a text that is not known is
// empty.
func (c *column) node() parquet.Node {
	var n parquet.Node
	switch {
	case c.number != nil:
		n = parquet.Leaf(parquet.Int64Type)
	case c.time != nil:
		n = parquet.Timestamp(parquet.Microsecond)
	default:
		n = parquet.String()
	}
	n = parquet.Required(n)
	if c.text != nil && !c.plain {
		return parquet.Encoded(n, &parquet.RLEDictionary)
	}
	return parquet.Encoded(n, &parquet.Plain)
}

// schemaName is the name of the root in each file.
const schemaName = "gate_records"

func schema() *parquet.Schema {
	g := parquet.Group{}
	for i := range columns {
		g[columns[i].name] = columns[i].node()
	}
	return parquet.NewSchema(schemaName, g)
}

// value is what is written of a row in a column.
func (c *column) value(r *Row, at int) parquet.Value {
	var v parquet.Value
	switch {
	case c.body:
		v = parquet.ByteArrayValue(r.Body)
	case c.text != nil:
		v = parquet.ByteArrayValue([]byte(*c.text(r)))
	case c.number != nil:
		v = parquet.Int64Value(*c.number(r))
	default:
		v = parquet.Int64Value(micros(*c.time(r)))
	}
	return v.Level(0, 0, at)
}

func micros(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

func fromMicros(n int64) time.Time {
	if n == 0 {
		return time.Time{}
	}
	return time.UnixMicro(n).UTC()
}

// versionKey is where the file's metadata has the number of the schema.
const versionKey = "gate.archive"

// Sizes of what is written. Engines read a group at a time, and gate a page.
const (
	groupRows  = 1 << 16
	groupBytes = 96 << 20 // of bodies
	pageBytes  = 1 << 20
	dictBytes  = 1 << 20
)

var compression = &zstd.Codec{Level: zstd.SpeedDefault}
