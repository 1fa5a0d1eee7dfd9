package archive_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"gate/internal/collect/archive"
)

const day = "2026-11-20"

// places are an archive of each kind, both empty.
func places(t *testing.T) map[string]*archive.Archive {
	t.Helper()
	backend := s3mem.New()
	if err := backend.CreateBucket("fleet"); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(gofakes3.New(backend, gofakes3.WithLogger(gofakes3.DiscardLog())).Server())
	t.Cleanup(server.Close)
	out := map[string]*archive.Archive{}
	for kind, place := range map[string]string{"directory": filepath.Join(t.TempDir(), "days"), "store": "s3://fleet/past/days"} {
		a, err := archive.Open(place, archive.Options{Endpoint: server.URL, Region: "us-east-1", KeyID: "id", Secret: "secret", Temp: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		out[kind] = a
	}
	return out
}

// row is a record that says something in each column.
func row(machine, account string, seq int64) *archive.Row {
	at := time.Date(2026, 11, 20, 8, 0, int(seq%60), 123000, time.UTC)
	return &archive.Row{
		Machine: machine, Log: "log-" + account, Seq: seq, Prev: strings.Repeat("a", 64), Digest: fmt.Sprintf("%064x", seq), Level: "text",
		At: at, Received: at.Add(time.Minute), Team: "web", Account: account, Agent: "claude", Session: "s-1", Event: "PreToolUse", Tool: "Bash",
		Effect: "ask", Result: "reject", Policies: "gate.a gate.b", Would: "gate.c", Effects: "fs.delete net.connect", CallNS: 1_500_000 + seq,
		Body: fmt.Appendf(nil, `{"seq":%d,"text":"<b>é</b>"}`, seq),
	}
}

func each(list ...*archive.Row) iter.Seq2[*archive.Row, error] {
	return func(yield func(*archive.Row, error) bool) {
		for _, r := range list {
			if !yield(r, nil) {
				return
			}
		}
	}
}

func read(t *testing.T, a *archive.Archive, day string) []*archive.Row {
	t.Helper()
	var out []*archive.Row
	for r, err := range a.Rows(t.Context(), day) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, r)
	}
	return out
}

func write(t *testing.T, a *archive.Archive, list ...*archive.Row) *archive.Written {
	t.Helper()
	w, err := a.Write(t.Context(), day, each(list...))
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func days(t *testing.T, a *archive.Archive) []string {
	t.Helper()
	list, err := a.Days(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, d := range list {
		out = append(out, d.Day)
	}
	return out
}

// TestWrite holds that a day is read as it was written, that more of it joins what is
// there, and that the same again changes nothing.
func TestWrite(t *testing.T) {
	for kind, a := range places(t) {
		t.Run(kind, func(t *testing.T) {
			first := []*archive.Row{row("m1", "u-1", 1), row("m1", "u-1", 3), row("m2", "u-1", 1)}
			w := write(t, a, first...)
			if got := read(t, a, day); !reflect.DeepEqual(got, first) || w.Rows != 3 || w.New != 3 || len(w.Digest) != 64 {
				t.Fatalf("%+v\n%+v", w, got)
			}
			if w = write(t, a, first...); w.New != 0 || w.Rows != 3 {
				t.Errorf("the same again: %+v", w)
			}
			w = write(t, a, row("m0", "u-9", 1), row("m1", "u-1", 2), row("m1", "u-1", 3), row("m3", "u-1", 1))
			if w.Rows != 6 || w.New != 3 {
				t.Errorf("more: %+v", w)
			}
			var keys []string
			for _, r := range read(t, a, day) {
				keys = append(keys, fmt.Sprint(r.Machine, r.Seq))
			}
			if want := strings.Fields("m01 m11 m12 m13 m21 m31"); !slices.Equal(keys, want) {
				t.Errorf("%v", keys)
			}
			if got := days(t, a); !slices.Equal(got, []string{day}) {
				t.Errorf("%v", got)
			}
		})
	}
}

// TestRefused holds that what goes wrong leaves the archive as it was.
func TestRefused(t *testing.T) {
	for kind, a := range places(t) {
		t.Run(kind, func(t *testing.T) {
			write(t, a, row("m1", "u-1", 1))
			other, long := row("m1", "u-1", 1), row("m1", "u-1", 9)
			other.Body, long.Body = []byte(`{}`), make([]byte, archive.MaxBody+1)
			for name, rows := range map[string]iter.Seq2[*archive.Row, error]{
				"holds another record under the same key": each(other),
				"comes out of order":                      each(row("m2", "u-1", 2), row("m2", "u-1", 1)),
				"without a machine":                       each(&archive.Row{Log: "l", Seq: 1}),
				"a row's body has":                        each(long),
				"disk on fire": func(yield func(*archive.Row, error) bool) {
					_ = yield(row("m0", "u-1", 1), nil) && yield(nil, errors.New("disk on fire"))
				},
			} {
				if _, err := a.Write(t.Context(), day, rows); err == nil || !strings.Contains(err.Error(), name) {
					t.Errorf("%s: %v", name, err)
				}
			}
			if got := read(t, a, day); len(got) != 1 || string(got[0].Body) != `{"seq":1,"text":"<b>é</b>"}` {
				t.Errorf("%+v", got)
			}
			for _, bad := range []string{"", "2026-11-31", "../x", "2026-1-1", "odd"} {
				if _, err := a.Write(t.Context(), bad, each(row("m1", "u-1", 1))); err == nil || !strings.Contains(err.Error(), "is no day") {
					t.Errorf("%q: %v", bad, err)
				}
			}
			if w, err := a.Write(t.Context(), "2026-11-21", each()); err != nil || w.Rows != 0 || len(days(t, a)) != 1 {
				t.Errorf("a day without rows: %+v, %v, %v", w, err, days(t, a))
			}
			ctx, stop := context.WithCancel(t.Context())
			stop()
			if _, err := a.Write(ctx, "2026-11-22", each(row("m1", "u-1", 1))); !errors.Is(err, context.Canceled) {
				t.Errorf("cancelled: %v", err)
			}
		})
	}
}

// TestErase holds that nothing of a machine or of a person is left, and all else is.
func TestErase(t *testing.T) {
	for kind, a := range places(t) {
		t.Run(kind, func(t *testing.T) {
			write(t, a, row("m1", "u-1", 1), row("m1", "u-2", 1), row("m2", "u-1", 1))
			if _, err := a.Write(t.Context(), "2026-11-21", each(row("m1", "u-1", 2))); err != nil {
				t.Fatal(err)
			}
			erase := func(named func(machine, account string) bool) (out []string) {
				for e, err := range a.Erase(t.Context(), named) {
					if err != nil {
						t.Fatal(err)
					}
					out = append(out, fmt.Sprint(e.Day, " ", e.Rows, " ", e.Written.Rows))
				}
				return out
			}
			if got := erase(func(_, account string) bool { return account == "u-1" }); !slices.Equal(got, []string{day + " 2 1", "2026-11-21 1 0"}) {
				t.Errorf("%v", got)
			}
			if got := read(t, a, day); len(got) != 1 || got[0].Account != "u-2" {
				t.Errorf("%+v", got)
			}
			if got := erase(func(machine, _ string) bool { return machine == "m2" }); len(got) != 0 {
				t.Errorf("nothing is left of m2: %v", got)
			}
			if got := erase(func(machine, _ string) bool { return machine == "m1" }); len(got) != 1 || len(days(t, a)) != 0 {
				t.Errorf("%v, %v", got, days(t, a))
			}
		})
	}
}

// TestManyRows holds a day of several groups of rows, with words in and out of the
// dictionaries, and bodies that do not fit one page.
func TestManyRows(t *testing.T) {
	a := places(t)["directory"]
	const n = 150_000
	made := func(i int) *archive.Row {
		r := row(fmt.Sprintf("m%05d", i/100), "u-1", int64(i%100+1))
		r.Session = fmt.Sprint("session ", i)
		if i%30_000 == 7 {
			r.Body = []byte(strings.Repeat("x", archive.MaxBody))
		}
		return r
	}
	w, err := a.Write(t.Context(), day, func(yield func(*archive.Row, error) bool) {
		for i := range n {
			if !yield(made(i), nil) {
				return
			}
		}
	})
	if err != nil || w.Rows != n {
		t.Fatal(w, err)
	}
	i := 0
	for r, err := range a.Rows(t.Context(), day) {
		if err != nil || !reflect.DeepEqual(r, made(i)) {
			t.Fatal(i, err)
		}
		i++
	}
	if i != n {
		t.Error(i)
	}
}

// TestHalfWritten holds that what a process left that died is no day, and goes.
func TestHalfWritten(t *testing.T) {
	dir := t.TempDir()
	a, err := archive.Open(dir, archive.Options{})
	if err != nil {
		t.Fatal(err)
	}
	left := filepath.Join(dir, ".gate-123.draft")
	for name, text := range map[string]string{left: "PAR1", filepath.Join(dir, "other"): "", filepath.Join(dir, "day=2026-11-19", "part-1.parquet.tmp"): "PAR1"} {
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got := days(t, a); len(got) != 0 {
		t.Error(got)
	}
	long := time.Now().Add(-48 * time.Hour)
	if err := os.Chtimes(left, long, long); err != nil {
		t.Fatal(err)
	}
	write(t, a, row("m1", "u-1", 1))
	if _, err := os.Stat(left); !errors.Is(err, os.ErrNotExist) {
		t.Error("what was left is still there")
	}
	if drafts, _ := filepath.Glob(filepath.Join(dir, ".gate-*")); len(drafts) != 0 && !slices.Equal(drafts, []string{filepath.Join(dir, ".gate.lock")}) {
		t.Error(drafts)
	}
}

func TestOpen(t *testing.T) {
	for place, want := range map[string]string{
		"s3://": "names no bucket", "gs://b/p": "is no place for an archive", "https://x": "is no place for an archive",
	} {
		if _, err := archive.Open(place, archive.Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", place, err)
		}
	}
	if _, err := archive.Open("s3://b/p", archive.Options{Endpoint: "ftp://x"}); err == nil {
		t.Error("an address of another kind")
	}
	a, err := archive.Open(filepath.Join(t.TempDir(), "none"), archive.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.Days(t.Context()); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

// TestStoreIsWrong holds that a store which does not give back what it got is noticed.
func TestStoreIsWrong(t *testing.T) {
	backend := s3mem.New()
	if err := backend.CreateBucket("fleet"); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(gofakes3.New(forgetful{backend}, gofakes3.WithLogger(gofakes3.DiscardLog())).Server())
	defer server.Close()
	a, err := archive.Open("s3://fleet", archive.Options{Endpoint: server.URL, Region: "us-east-1", KeyID: "id", Secret: "secret"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.Write(t.Context(), day, each(row("m1", "u-1", 1))); err == nil || !strings.Contains(err.Error(), "does not give back what it was given") {
		t.Error(err)
	}
}

// forgetful is a store that keeps other bytes than it gets.
type forgetful struct{ gofakes3.Backend }

func (f forgetful) PutObject(bucket, key string, meta map[string]string, in io.Reader, size int64, c *gofakes3.PutConditions) (gofakes3.PutObjectResult, error) {
	data, err := io.ReadAll(in)
	if err != nil {
		return gofakes3.PutObjectResult{}, err
	}
	data[len(data)/2] ^= 1
	return f.Backend.PutObject(bucket, key, meta, strings.NewReader(string(data)), size, c)
}
