package session

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"gate/internal/strictjson"
)

func registered(m *Memory) string {
	var out []string
	for _, r := range m.Registered {
		out = append(out, strings.TrimSuffix(fmt.Sprintf("%d %s %s %s", r.Number, r.Kind, r.Name, strings.Join(r.Agents, "+")), " "))
	}
	return strings.Join(out, ", ")
}

// What begins holds until its end comes, and no other's.
func TestRegistered(t *testing.T) {
	m := &Memory{}
	add := func(r Registration) func() {
		return func() {
			t.Helper()
			r.File, r.Text = "/p/"+r.Name, "hooks of "+r.Name
			if _, err := m.Register(r, noon); err != nil {
				t.Error(err)
			}
		}
	}
	for _, step := range []struct {
		name string
		do   func()
		want string
	}{
		{"a file", add(Registration{Kind: File, Name: "a"}), "1 file a"},
		{"the file once more", add(Registration{Kind: File, Name: "a"}), "1 file a, 2 file a"},
		{"a skill", add(Registration{Kind: Skill, Name: "s", Call: "u1"}), "1 file a, 2 file a, 3 skill s"},
		{"the skill once more", add(Registration{Kind: Skill, Name: "s", Call: "u2"}), "1 file a, 2 file a, 3 skill s"},
		{"the second call failed", func() { m.EndCall("u2") }, "1 file a, 2 file a, 3 skill s"},
		{"a call without a name", func() { m.EndCall("") }, "1 file a, 2 file a, 3 skill s"},
		{"a file is removed", func() { m.Unregister(1) }, "2 file a, 3 skill s"},
		{"an unknown one", func() { m.Unregister(9) }, "2 file a, 3 skill s"},
		{"two agents", func() {
			add(Registration{Kind: Agent, Name: "r", Agents: []string{"x"}})()
			add(Registration{Kind: Agent, Name: "r", Agents: []string{"y"}})()
		}, "2 file a, 3 skill s, 4 agent r x+y"},
		{"another stops", func() { m.EndAgent("z", "r") }, "2 file a, 3 skill s, 4 agent r x+y"},
		{"one without a name stops", func() { m.EndAgent("", "r") }, "2 file a, 3 skill s, 4 agent r x+y"},
		{"one stops", func() { m.EndAgent("x", "r") }, "2 file a, 3 skill s, 4 agent r y"},
		{"the other stops", func() { m.EndAgent("y", "r") }, "2 file a, 3 skill s"},
		{"the first call failed", func() { m.EndCall("u1") }, "2 file a"},
		{"an agent without an id", add(Registration{Kind: Agent, Name: "q"}), "2 file a, 5 agent q"},
		{"another type stops", func() { m.EndAgent("", "r") }, "2 file a, 5 agent q"},
		{"it stops", func() { m.EndAgent("", "q") }, "2 file a"},
		{"the session ends", m.EndSession, ""},
	} {
		if step.do(); registered(m) != step.want {
			t.Fatalf("%s: %s\nwant %s", step.name, registered(m), step.want)
		}
	}
}

// Hooks of a sub-agent are about what it does, and about all of its type where
// they cannot be told apart.
func TestConcerns(t *testing.T) {
	m := &Memory{}
	for i := range maxAgents {
		if _, err := m.Register(Registration{Kind: Agent, Name: "r", File: "/r", Text: "x", Agents: []string{fmt.Sprint(i)}}, noon); err != nil {
			t.Fatal(err)
		}
	}
	r := &m.Registered[0]
	if !r.Concerns("5", "r") || r.Concerns("new", "r") || r.Concerns("", "r") || r.Concerns("", "") {
		t.Errorf("%+v", r)
	}
	m.Register(Registration{Kind: Agent, Name: "r", File: "/r", Text: "x", Agents: []string{"one more"}}, noon)
	if !r.Concerns("5", "r") || !r.Concerns("new", "r") || r.Concerns("5", "q") || r.Concerns("", "") {
		t.Errorf("%+v", r)
	}
	if s := (&Registration{Kind: Skill}); !s.Concerns("5", "r") || !s.Concerns("", "") {
		t.Error("a skill is about every call")
	}
}

func TestRegisterRefuses(t *testing.T) {
	text := strings.Repeat("x", MaxHooks)
	for name, r := range map[string]Registration{
		"no kind":           {Text: "x"},
		"no hooks":          {Kind: File},
		"long hooks":        {Kind: File, Text: text + "x"},
		"bytes":             {Kind: File, Text: "\xff"},
		"a long name":       {Kind: Skill, Text: "x", Name: strings.Repeat("n", 201)},
		"a nameless agent":  {Kind: Agent, Text: "x", Agents: []string{""}},
		"too many agents":   {Kind: Agent, Text: "x", Agents: make([]string, maxAgents+1)},
		"a long call":       {Kind: Skill, Text: "x", Call: strings.Repeat("n", 201)},
		"a long agent's id": {Kind: Agent, Text: "x", Agents: []string{strings.Repeat("n", 201)}},
	} {
		m := &Memory{}
		if _, err := m.Register(r, noon); err == nil || len(m.Registered) > 0 {
			t.Errorf("%s was registered", name)
		}
	}
	m := &Memory{}
	for range maxHooksTotal / MaxHooks {
		if _, err := m.Register(Registration{Kind: File, Text: text}, noon); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := m.Register(Registration{Kind: File, Text: "x"}, noon); err == nil {
		t.Error("more hooks than the memory may hold")
	}
	m = &Memory{}
	for range MaxRegistered {
		if _, err := m.Register(Registration{Kind: File, Text: "x"}, noon); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := m.Register(Registration{Kind: File, Text: "x"}, noon); err == nil {
		t.Error("more texts than the memory may hold")
	}
}

// What the gate before wrote is one line, without marks and effects, and goes on.
func TestEarlierVersion(t *testing.T) {
	s := store(t)
	if err := s.Update(t.Context(), key, func(m *Memory) error { *m = *full(t); return nil }); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(s.path(key))
	if err != nil {
		t.Fatal(err)
	}
	doc, err := strictjson.Object(data, strictjson.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	for _, field := range []string{"effects", "marks", "marks_full"} {
		delete(doc, field)
	}
	before := string(strictjson.Append(nil, doc))
	for version, read := range map[string]bool{"1": false, "2": true, "4": false} {
		old := strings.Replace(before, `"v":3`, `"v":`+version, 1)
		old = strings.Replace(old, `"listeners":[[["PreToolUse","Stop"],"Bash"]],`, "", 1)
		if err := os.WriteFile(s.path(key), []byte(old), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := s.Update(t.Context(), key, count); (err == nil) != read {
			t.Errorf("version %s: %v", version, err)
		}
		if read && calls(t, s) != 2 {
			t.Errorf("version %s: %d calls", version, calls(t, s))
		}
	}
	newer := strings.Replace(string(data), `"v":3`, `"v":2`, 1)
	if _, err := decode(&key, []byte(newer)); err == nil {
		t.Error("version 2 with the fields of version 3")
	}
}

func TestEndSession(t *testing.T) {
	m := full(t)
	m.EndSession()
	if len(m.Registered) > 0 || m.Finished() > 0 {
		t.Error("something still holds for the session")
	}
	if m.Calls == 0 || m.Denials == 0 || len(m.Injections) == 0 {
		t.Error("the end of a session renews its budget, or loses texts")
	}
	if _, err := m.Register(Registration{Kind: File, Text: "x"}, noon.Add(time.Hour)); err != nil || m.Registered[0].Number != 2 {
		t.Errorf("%+v, %v", m.Registered, err)
	}
}

func agentHooks(id string) Registration {
	return Registration{Kind: Agent, Name: "r", File: "/r.md", Text: "hooks", Agents: []string{id}}
}

// starter makes the test's program one of TestKilledWhileStarting.
const starter = "GATE_SESSION_STARTER"

// startAndStop starts and stops sub-agents until it is killed, and says so each
// time.
func startAndStop(dir string) {
	s := Store{Dir: dir}
	for i := 0; ; i++ {
		id := fmt.Sprint(os.Getpid(), ".", i)
		err := s.Update(context.Background(), key, func(m *Memory) error { _, err := m.Register(agentHooks(id), noon); return err })
		if err == nil {
			fmt.Println("started")
			err = s.Update(context.Background(), key, func(m *Memory) error { m.EndAgent(id, "r"); return nil })
		}
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
	}
}

// What holds for the session outlasts processes that are killed while they
// start and stop sub-agents, and each of them leaves one behind at most.
func TestKilledWhileStarting(t *testing.T) {
	s := store(t)
	skill := Registration{Kind: Skill, Name: "s", File: "/s/SKILL.md", Text: "hooks"}
	if err := s.Update(t.Context(), key, func(m *Memory) error { _, err := m.Register(skill, noon); return err }); err != nil {
		t.Fatal(err)
	}
	const processes = 12
	var wg sync.WaitGroup
	for i := range processes {
		wg.Go(func() {
			n := -1
			again(t, starter+"="+s.Dir, func(line string) (kill bool) {
				if n++; line != "started" {
					t.Errorf("a process failed: %s", line)
					return true
				}
				return n == 3+i
			})
		})
	}
	wg.Wait()
	m, err := s.Read(key)
	if err != nil {
		t.Fatal(err)
	}
	left := 0
	for _, r := range m.Registered {
		left += len(r.Agents)
	}
	if len(m.Registered) == 0 || m.Registered[0].Kind != Skill || left > processes {
		t.Errorf("%d sub-agents of %d processes are left in %s", left, processes, registered(m))
	}
	if err := s.Update(t.Context(), key, func(m *Memory) error { m.EndSession(); return nil }); err != nil {
		t.Error(err)
	}
}

// 200 at once: none of what they begin or end is lost.
func TestParallelStarts(t *testing.T) {
	s := store(t)
	var wg sync.WaitGroup
	for i := range 200 {
		wg.Go(func() {
			id := fmt.Sprint(i)
			change := func(f func(*Memory) error) {
				if err := s.Update(t.Context(), key, f); err != nil {
					t.Error(err)
				}
			}
			if i%10 == 0 {
				change(func(m *Memory) error {
					_, err := m.Register(Registration{Kind: Skill, Name: id, File: "/" + id, Text: "hooks", Call: id}, noon)
					return err
				})
			}
			change(func(m *Memory) error { _, err := m.Register(agentHooks(id), noon); return err })
			change(count)
			if i%10 == 0 {
				change(func(m *Memory) error { m.EndCall(id); return nil })
			}
		})
	}
	wg.Wait()
	m, err := s.Read(key)
	if err != nil || m.Calls != 200 {
		t.Fatalf("%d calls, %v", m.Calls, err)
	}
	if got := registered(m); !strings.HasSuffix(got, " agent r") || len(m.Registered) != 1 || len(m.Registered[0].Agents) != 0 {
		t.Errorf("registered are %s", got) // more of a type than are told apart: the hooks are about all of it
	}
}
