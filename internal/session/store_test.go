package session

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"gate/hook"
	"gate/internal/mark"
)

var key = Key{Agent: "claude", Session: "../../s"}

func store(t testing.TB) Store {
	return Store{Dir: filepath.Join(t.TempDir(), "state", "sessions")}
}

func count(m *Memory) error {
	m.Begin(event(hook.PreToolUse, "ls"), time.Now())
	return nil
}

func calls(t *testing.T, s Store) int {
	t.Helper()
	m, err := s.Read(key)
	if err != nil {
		t.Fatal(err)
	}
	return m.Calls
}

// full is a memory with something in every field.
func full(t testing.TB) *Memory {
	m := &Memory{}
	judge(m, noon, hook.UserPromptSubmit, "", &hook.Decision{})
	d := denial("acme.rm")
	d.Context = []hook.Context{{Text: "t", Hook: "acme.time"}}
	d.Steps = []hook.Step{{Hook: &hook.Hook{ID: "a", Once: true}, Outcome: hook.Success}}
	judge(m, noon.Add(time.Second), hook.PreToolUse, "rm", d)
	m.count(map[string]int{"net.send": 1})
	m.Remember([]mark.Mark{
		{Name: "a", Value: `{"b":"\\n","c":[1,2.50]}`, Source: "user"}, {Name: "a", Value: "1e3", Source: "managed", Policy: true, Round: true},
		{Name: strings.Repeat("x", maxMarkText), Value: "1", Source: "project"},
	})
	if _, err := m.Inject(Injection{Text: "hello", Matcher: "Bash", Expires: noon.AddDate(1, 0, 0)}, noon); err != nil {
		t.Fatal(err)
	}
	r := Registration{Kind: Agent, Name: "r", File: "/r.md", Text: "---\n", Foreign: true, Trusted: true, Call: "u", Agents: []string{"a1"}}
	r.Listen([]*hook.Hook{{Events: []hook.Name{hook.PreToolUse, hook.Stop}, Matcher: "Bash"}, {Events: []hook.Name{hook.PreToolUse, hook.Stop}, Matcher: "Bash"}})
	if _, err := m.Register(r, noon); err != nil {
		t.Fatal(err)
	}
	return m
}

func TestKept(t *testing.T) {
	s := store(t)
	if s.Exists(key) {
		t.Error("something is remembered of a session that never was")
	}
	want := full(t)
	if err := s.Update(t.Context(), key, func(m *Memory) error { *m = *want; return nil }); err != nil {
		t.Fatal(err)
	}
	got, err := s.Read(key)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("read %+v, %v\nnot  %+v", got, err, want)
	}
	if other, err := s.Read(Key{Agent: "other", Session: key.Session}); err != nil || other.Calls != 0 {
		t.Errorf("another agent's session has %+v, %v", other, err)
	}
	refused := errors.New("refused")
	if err := s.Update(t.Context(), key, func(m *Memory) error { m.Calls = 0; return refused }); err != refused {
		t.Error(err)
	}
	if calls(t, s) != 1 {
		t.Error("a refused change was kept")
	}
}

// TestKeptChanges: whoever has read a file sees what others make of it since, be it
// longer or another file of the same size.
func TestKeptChanges(t *testing.T) {
	s := store(t)
	mine := s.Of(key)
	for n := 1; n <= 100; n++ { // past the size at which the file is replaced
		if m, err := mine.Read(); err != nil || m.Calls != 2*n-2 {
			t.Fatalf("%d: %+v, %v", n, m, err)
		}
		if err := errors.Join(s.Update(t.Context(), key, count), mine.Update(t.Context(), count)); err != nil {
			t.Fatal(err)
		}
	}
	if m, err := mine.Read(); err != nil || m.Calls != 200 {
		t.Fatalf("%+v, %v", m, err)
	}
	m, err := s.Read(key)
	if err != nil {
		t.Fatal(err)
	}
	m.Calls = 201
	line, err := encode(key, m)
	if err == nil {
		err = s.replace(s.path(key), line)
	}
	if err != nil {
		t.Fatal(err)
	}
	if m, err := mine.Read(); err != nil || m.Calls != 201 {
		t.Fatalf("another file: %+v, %v", m, err)
	}
	if err := os.Remove(s.path(key)); err != nil {
		t.Fatal(err)
	}
	if m, err := mine.Read(); err != nil || m.Calls != 0 {
		t.Fatalf("no file: %+v, %v", m, err)
	}
	var group sync.WaitGroup
	for range 50 {
		group.Go(func() {
			if err := mine.Update(t.Context(), count); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if n := calls(t, s); n != 50 {
		t.Errorf("%d calls of 50 at once", n)
	}
}

// A file that was cut or changed is never the memory of a session that has
// done nothing yet.
func TestCorrupt(t *testing.T) {
	s := store(t)
	if err := s.Update(t.Context(), key, func(m *Memory) error { *m = *full(t); return nil }); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(s.path(key))
	if err != nil {
		t.Fatal(err)
	}
	for n := range len(whole) - 1 { // without the last newline it is whole
		if err := os.WriteFile(s.path(key), whole[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Read(key); err == nil {
			t.Fatalf("cut after %d bytes it can be read", n)
		}
	}
	if err := s.Update(t.Context(), key, count); err == nil {
		t.Error("a corrupt file was written over")
	}
	if err := s.Update(t.Context(), Key{Session: "whole"}, count); err != nil {
		t.Fatal(err)
	}
	if broken := s.Broken(); len(broken) != 1 || broken[s.path(key)] == nil {
		t.Errorf("broken are %v", broken)
	}
	for _, zeros := range []int{1, 40} { // lines that a loss of power took, behind one that it left
		if err := os.WriteFile(s.path(key), append(slices.Clone(whole), make([]byte, zeros)...), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Read(key); err == nil {
			t.Errorf("with %d zeros at its end it can be read", zeros)
		}
	}
	if err := os.WriteFile(s.path(key), make([]byte, len(whole)), 0o600); err != nil { // as after a loss of power
		t.Fatal(err)
	}
	if _, err := s.Read(key); err == nil {
		t.Error("zeros can be read")
	}
	moved := Key{Agent: "claude", Session: "t"}
	if err := os.WriteFile(s.path(moved), whole, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Read(moved); err == nil {
		t.Error("another session's file can be read")
	}
}

// tear leaves what a process leaves that is killed in the middle of a write.
func tear(t *testing.T, path, half string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err == nil {
		_, err = f.WriteString(half)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestLines: a change adds a line, and only what is too long is written anew. Half a line
// at the end counts for nothing, and one that is whole but damaged is no memory.
func TestLines(t *testing.T) {
	s := store(t)
	was, replaced := int64(0), 0
	for n := 1; n <= 200; n++ {
		if err := s.Update(t.Context(), key, count); err != nil || calls(t, s) != n {
			t.Fatalf("call %d: %v", n, err)
		}
		info, err := os.Stat(s.path(key))
		if err != nil || info.Size() > maxGrown {
			t.Fatalf("call %d: %d bytes, %v", n, info.Size(), err)
		}
		if info.Size() < was {
			replaced++
		}
		was = info.Size()
	}
	if replaced == 0 || replaced > 20 {
		t.Errorf("the file was replaced %d times", replaced)
	}
	whole, err := os.ReadFile(s.path(key))
	if err != nil {
		t.Fatal(err)
	}
	last := latest(whole)
	for n := range last {
		tear(t, s.path(key), string(last[:n]))
		if calls(t, s) != 200 {
			t.Fatalf("%d bytes of another line: %d calls", n, calls(t, s))
		}
		if err := os.WriteFile(s.path(key), whole, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	tear(t, s.path(key), string(last[:len(last)-1]))
	if err := s.Update(t.Context(), key, count); err != nil || calls(t, s) != 201 {
		t.Errorf("behind half a line: %d calls, %v", calls(t, s), err)
	}
	tear(t, s.path(key), string(last[:len(last)-1])+"\n")
	if _, err := s.Read(key); err == nil {
		t.Error("a damaged line is passed over")
	}
}

// A memory that is as long as a file with several lines may be still changes, and still
// has one that can be read.
func TestLongLine(t *testing.T) {
	s := store(t)
	for n := 1; n <= 3; n++ {
		err := s.Update(t.Context(), key, func(m *Memory) error {
			if n == 1 {
				*m = *full(t)
				m.Registered[0].Text = strings.Repeat("x", MaxHooks)
			}
			return count(m)
		})
		if err != nil || calls(t, s) != n+1 {
			t.Fatalf("change %d: %d calls, %v", n, calls(t, s), err)
		}
	}
}

// Whoever dies at whatever step leaves what was there, or what was to come.
func TestDies(t *testing.T) {
	for _, at := range []string{"write", "rename"} {
		s := store(t)
		if err := s.Update(t.Context(), key, count); err != nil {
			t.Fatal(err)
		}
		tear(t, s.path(key), "{") // so that the file is replaced
		dying := s
		dying.at = func(step string) error {
			if step == at {
				return errors.New("killed")
			}
			return nil
		}
		if err := dying.Update(t.Context(), key, count); err == nil {
			t.Fatalf("%s: nothing happened", at)
		}
		if n := calls(t, s); n != 1 {
			t.Errorf("%s: %d calls", at, n)
		}
		if err := s.Update(t.Context(), key, count); err != nil || calls(t, s) != 2 {
			t.Errorf("%s: afterwards: %v", at, err)
		}
		if files, _ := filepath.Glob(filepath.Join(s.Dir, "*"+draft)); len(files) != 0 {
			t.Errorf("%s: %v is left", at, files)
		}
	}
}

func TestParallel(t *testing.T) {
	s := store(t)
	var taken atomic.Int64
	for range 3 {
		if err := s.Update(t.Context(), key, func(m *Memory) error { _, err := m.Inject(Injection{Text: "x"}, noon); return err }); err != nil {
			t.Fatal(err)
		}
	}
	var wg sync.WaitGroup
	for range 200 {
		wg.Go(func() {
			err := s.Update(t.Context(), key, func(m *Memory) error {
				taken.Add(int64(len(m.Take(noon, 1, all))))
				return count(m)
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if n := calls(t, s); n != 200 {
		t.Errorf("%d calls were counted", n)
	}
	if n := taken.Load(); n != 3 {
		t.Errorf("%d texts were taken, not 3", n)
	}
}

// The process of TestKilled: it counts until it is killed, and says so each
// time that it has.
const counter = "GATE_SESSION_COUNTER"

func TestMain(m *testing.M) {
	if dir := os.Getenv(starter); dir != "" {
		startAndStop(dir)
	}
	dir := os.Getenv(counter)
	if dir == "" {
		os.Exit(m.Run())
	}
	for i := 1; ; i++ {
		if err := (Store{Dir: dir}).Update(context.Background(), key, count); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Println(i)
	}
}

// again runs this program again with a variable set, until it ends or said wants
// it killed for a whole line that it said. What it said before that is still told.
func again(t *testing.T, variable string, said func(line string) (kill bool)) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), variable)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Error(err)
		return
	}
	for lines := bufio.NewReader(out); ; {
		line, err := lines.ReadString('\n')
		if err != nil {
			break
		}
		if said(strings.TrimSuffix(line, "\n")) {
			cmd.Process.Kill()
		}
	}
	cmd.Wait()
}

// TestKilled kills processes in the middle of their work, again and again: what
// they said they had counted is there, and the others go on.
func TestKilled(t *testing.T) {
	s := store(t)
	const processes = 24
	total := 0
	for range processes / 4 {
		var wg sync.WaitGroup
		var sum atomic.Int64
		for i := range 4 {
			wg.Go(func() {
				last := 0
				again(t, counter+"="+s.Dir, func(line string) (kill bool) {
					n, err := strconv.Atoi(line)
					if err != nil {
						t.Errorf("a process failed: %s", line)
						return true
					}
					last = n
					return n == 5+3*i
				})
				sum.Add(int64(last))
			})
		}
		wg.Wait()
		total += int(sum.Load())
	}
	// A process may be killed after it has counted and before it says so.
	if n := calls(t, s); n < total || n > total+processes {
		t.Errorf("%d calls are remembered; %d processes counted %d", n, processes, total)
	}
	if err := s.Update(t.Context(), key, count); err != nil {
		t.Error(err)
	}
	if files, _ := filepath.Glob(filepath.Join(s.Dir, "*"+draft)); len(files) != 0 {
		t.Errorf("%v is left", files)
	}
}

func TestWaits(t *testing.T) {
	s := store(t)
	if err := s.Update(t.Context(), key, count); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	err := s.Update(t.Context(), key, func(*Memory) error {
		cancel()
		return s.Update(ctx, key, count) // the lock is held
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("it did not give up: %v", err)
	}
	if err := s.Update(t.Context(), key, count); err != nil || calls(t, s) != 2 {
		t.Errorf("who gave up holds the lock: %v", err)
	}
}

func TestSweep(t *testing.T) {
	s := store(t)
	old, young := Key{Session: "old"}, Key{Session: "young"}
	for _, k := range []Key{old, young} {
		if err := s.Update(t.Context(), k, count); err != nil {
			t.Fatal(err)
		}
	}
	past := time.Now().Add(-Life - time.Hour)
	stray := filepath.Join(s.Dir, "notes.txt")
	if err := errors.Join(os.Chtimes(s.path(old), past, past), os.WriteFile(stray, nil, 0o600), os.Chtimes(stray, past, past)); err != nil {
		t.Fatal(err)
	}
	if err := s.Update(t.Context(), Key{Session: "new"}, count); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(stray); s.Exists(old) || !s.Exists(young) || err != nil {
		t.Errorf("old is there: %v; young is there: %v; what is not gate's: %v", s.Exists(old), s.Exists(young), err)
	}
}

func FuzzDecode(f *testing.F) {
	data, err := encode(key, full(f))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add([]byte(`{"v":1}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := decode(&key, data)
		if err != nil {
			return
		}
		m.Document(event(hook.PreToolUse, "ls"))
		again, err := encode(key, m)
		if err != nil {
			return // escapes make it too long
		}
		if same, err := decode(&key, again); err != nil || !reflect.DeepEqual(same, m) {
			t.Errorf("written anew it is %+v, %v\nnot %+v", same, err, m)
		}
	})
}

func BenchmarkUpdate(b *testing.B) {
	s := store(b)
	for b.Loop() {
		if err := s.Update(b.Context(), key, count); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkExists(b *testing.B) {
	s := store(b)
	for b.Loop() {
		if s.Exists(key) {
			b.Fatal("it exists")
		}
	}
}
