package archive_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
	"github.com/parquet-go/parquet-go/compress/gzip"
	"github.com/parquet-go/parquet-go/compress/zstd"
	"github.com/parquet-go/parquet-go/encoding"

	"gate/internal/collect/archive"
)

// mostMemory is what reading a file may take from the heap in all, in bytes, however the
// file was made: a page, its dictionary, and the rows of one page.
const mostMemory = 256 << 20

// readFile reads a file as the archive's day, all of it, and returns the first error.
func readFile(t testing.TB, data []byte) error {
	t.Helper()
	dir := t.TempDir()
	name := filepath.Join(dir, "day="+day, archive.Part)
	if err := os.Mkdir(filepath.Dir(name), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, data, 0o600); err != nil {
		t.Fatal(err)
	}
	a, err := archive.Open(dir, archive.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range a.Rows(t.Context(), day) {
		if err != nil {
			return err
		}
	}
	return nil
}

// small is a good file of two rows.
func small(t testing.TB) []byte {
	t.Helper()
	dir := t.TempDir()
	a, err := archive.Open(dir, archive.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.Write(t.Context(), day, each(row("m1", "u-1", 1), row("m2", "u-1", 1))); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(dir, "day="+day, archive.Part))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// names are the columns as docs/archive.md has them.
var names = strings.Fields("account agent at body call_ns digest effect effects event level log machine policies prev received result seq session team tool would")

// A forged file is one whose writer wants something of its reader.
type forged struct {
	version string
	codec   compress.Codec
	with    encoding.Encoding // of texts; nil: plain
	change  func(parquet.Group)
	rows    int
	text    func(column string) string
}

func (f forged) file(t testing.TB) []byte {
	t.Helper()
	g := parquet.Group{}
	for _, name := range names {
		var n parquet.Node = parquet.String()
		switch name {
		case "seq", "call_ns":
			n = parquet.Leaf(parquet.Int64Type)
		case "at", "received":
			n = parquet.Timestamp(parquet.Microsecond)
		default:
			if f.with != nil {
				n = parquet.Encoded(n, f.with)
			} else {
				n = parquet.Encoded(n, &parquet.Plain)
			}
		}
		g[name] = n
	}
	if f.change != nil {
		f.change(g)
	}
	schema := parquet.NewSchema("gate_records", g)
	codec := f.codec
	if codec == nil {
		codec = &zstd.Codec{}
	}
	var out bytes.Buffer
	options := []parquet.WriterOption{schema, parquet.Compression(codec), parquet.PageBufferSize(64 << 10), parquet.DataPageStatistics(false), parquet.SkipPageBounds("body"), parquet.SkipPageBounds("tool")}
	if f.version != "" {
		options = append(options, parquet.KeyValueMetadata("gate.archive", f.version))
	}
	w := parquet.NewWriter(&out, options...)
	fields := schema.Fields()
	for i := range max(f.rows, 1) {
		var line parquet.Row
		for at, field := range fields {
			var v parquet.Value
			switch {
			case field.Type().Kind() == parquet.ByteArray && f.text != nil:
				v = parquet.ByteArrayValue([]byte(f.text(field.Name())))
			case field.Type().Kind() == parquet.ByteArray:
				v = parquet.ByteArrayValue([]byte("x"))
			default:
				v = parquet.Int64Value(int64(i + 1))
			}
			level := 0
			if field.Optional() {
				level = 1
			}
			line = append(line, v.Level(0, level, at))
		}
		if _, err := w.WriteRows([]parquet.Row{line}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestHostile holds that a file from elsewhere is refused in one clear sentence, and takes
// no more memory than a good one may.
func TestHostile(t *testing.T) {
	good := small(t)
	footer := func(n uint32) []byte {
		data := append([]byte(nil), good...)
		binary.LittleEndian.PutUint32(data[len(data)-8:], n)
		return data
	}
	lists := func(footer ...byte) []byte { // a file with another footer
		data := append([]byte("PAR1"), footer...)
		return append(binary.LittleEndian.AppendUint32(data, uint32(len(footer))), "PAR1"...)
	}
	large := func(column string) string {
		if column == "body" {
			return strings.Repeat("x", 64<<20)
		}
		return "x"
	}
	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"empty":                           {nil, "it has 0 bytes"},
		"text":                            {[]byte("this is no file of Parquet, but a text"), "it is no file of Parquet"},
		"cut off":                         {good[:len(good)-9], "it is no file of Parquet"},
		"footer too long":                 {footer(1 << 31), "it is no file of Parquet"},
		"footer elsewhere":                {footer(17), "its footer"},
		"two thousand million row groups": {lists(0x15, 2, 0x29, 0xfc, 0xff, 0xff, 0xff, 0xff, 0x07), "it says that it holds more than it can"},
		"a text of 2 GiB":                 {lists(0x68, 0xff, 0xff, 0xff, 0xff, 0x07), "it says that it holds more than it can"},
		"nested":                          {lists(bytes.Repeat([]byte{0x1c}, 5000)...), "nested too deeply"},
		"no version":                      {forged{}.file(t), "its metadata has no gate.archive"},
		"another version":                 {forged{version: "7"}.file(t), "a newer gate wrote it"},
		"no number":                       {forged{version: "one"}.file(t), `its metadata has "one"`},
		"a column is missing":             {forged{version: "1", change: func(g parquet.Group) { delete(g, "tool") }}.file(t), "it has 20 columns, and 21 are wanted"},
		"another type": {forged{version: "1", change: func(g parquet.Group) { g["machine"] = parquet.Leaf(parquet.Int64Type) }}.file(t),
			"in the place of the column machine"},
		"may be missing": {forged{version: "1", change: func(g parquet.Group) { g["team"] = parquet.Optional(parquet.String()) }}.file(t),
			"in the place of the column team"},
		"another packing": {forged{version: "1", codec: &gzip.Codec{}}.file(t), "packed by GZIP"},
		"a bomb":          {forged{version: "1", text: large}.file(t), "a page of the column body has"},
		"prefixes":        {forged{version: "1", with: &parquet.DeltaByteArray}.file(t), "in the encoding DELTA_BYTE_ARRAY"},
		"out of order":    {forged{version: "1", rows: 2, text: func(string) string { return "x" }, change: nil}.fileBackwards(t), "its rows are not in order"},
		"a long word": {forged{version: "1", text: func(c string) string {
			if c == "tool" {
				return strings.Repeat("x", 1<<20)
			}
			return "x"
		}}.file(t), "a row's tool has 1048576 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			err := readFile(t, c.data)
			runtime.ReadMemStats(&after)
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%v", err)
			}
			if took := after.TotalAlloc - before.TotalAlloc; took > mostMemory {
				t.Errorf("it took %d bytes", took)
			}
		})
	}
	if err := readFile(t, good); err != nil {
		t.Error(err)
	}
	if err := readFile(t, forged{version: "1", rows: 1000}.file(t)); err != nil {
		t.Errorf("of another writer: %v", err)
	}
}

// fileBackwards is a file whose second row stands before the first.
func (f forged) fileBackwards(t testing.TB) []byte {
	t.Helper()
	type line struct {
		Account  string `parquet:"account,plain"`
		Agent    string `parquet:"agent,plain"`
		At       int64  `parquet:"at,timestamp(microsecond)"`
		Body     string `parquet:"body,plain"`
		CallNS   int64  `parquet:"call_ns"`
		Digest   string `parquet:"digest,plain"`
		Effect   string `parquet:"effect,plain"`
		Effects  string `parquet:"effects,plain"`
		Event    string `parquet:"event,plain"`
		Level    string `parquet:"level,plain"`
		Log      string `parquet:"log,plain"`
		Machine  string `parquet:"machine,plain"`
		Policies string `parquet:"policies,plain"`
		Prev     string `parquet:"prev,plain"`
		Received int64  `parquet:"received,timestamp(microsecond)"`
		Result   string `parquet:"result,plain"`
		Seq      int64  `parquet:"seq"`
		Session  string `parquet:"session,plain"`
		Team     string `parquet:"team,plain"`
		Tool     string `parquet:"tool,plain"`
		Would    string `parquet:"would,plain"`
	}
	var out bytes.Buffer
	w := parquet.NewGenericWriter[line](&out, parquet.Compression(&zstd.Codec{}), parquet.KeyValueMetadata("gate.archive", f.version))
	if _, err := w.Write([]line{{Machine: "m", Log: "l", Seq: 2}, {Machine: "m", Log: "l", Seq: 1}}); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestDamaged flips bytes of a good file, one at a time: a reader ends with an error
// or with rows, and with nothing that it cannot bear.
func TestDamaged(t *testing.T) {
	good := small(t)
	refused := 0
	tried := 0
	for i := 0; i < len(good); i += 5 {
		tried++
		data := append([]byte(nil), good...)
		data[i] ^= 0x5a
		if err := readFile(t, data); err != nil {
			refused++
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("byte %d: %v", i, err)
			}
		}
	}
	if refused < tried/4 {
		t.Errorf("of %d files only %d are refused", tried, refused)
	}
}

// FuzzRows reads whatever it is given.
func FuzzRows(f *testing.F) {
	f.Add(small(f))
	f.Add(forged{version: "1", rows: 3}.file(f))
	f.Add(forged{version: "1", with: &parquet.DeltaByteArray}.file(f))
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := readFile(t, data); err != nil && strings.Contains(err.Error(), "\n") {
			t.Error(fmt.Sprint(err))
		}
	})
}
