package session

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"gate/hook"
	"gate/internal/mark"
)

// sends is a call with n effects of one kind, and one of another.
func sends(n int) *hook.Event {
	ev := event(hook.PreToolUse, "curl")
	ev.Facts = &hook.Facts{Effects: []hook.FactEffect{{Is: &hook.FSRead{}}}}
	for range n {
		ev.Facts.Effects = append(ev.Facts.Effects, hook.FactEffect{Is: &hook.NetSend{}})
	}
	return ev
}

// counted is what policies see of a kind before a call: session, round, minute.
func counted(m *Memory, kind string) [3]int {
	effects := m.Document(event(hook.PreToolUse, "ls"))["effects"].(map[string]any)
	doc, _ := effects[kind].(map[string]any)
	if doc == nil {
		return [3]int{}
	}
	return [3]int{doc["session"].(int), doc["round"].(int), doc["minute"].(int)}
}

func TestEffects(t *testing.T) {
	m := &Memory{}
	call := func(at time.Duration, ev *hook.Event, d hook.Decision) {
		t.Helper()
		before := counted(m, "net.send")
		m.Begin(ev, noon.Add(at))
		seen := m.Document(ev)["effects"].(map[string]any)
		if doc, _ := seen["net.send"].(map[string]any); doc != nil && doc["session"] != before[0] {
			t.Errorf("at %s the call sees %v effects, with its own", at, doc)
		}
		m.End(ev, &d, d.Effect == hook.Deny)
	}
	check := func(at string, want [3]int) {
		t.Helper()
		if got := counted(m, "net.send"); got != want {
			t.Errorf("%s: %v, not %v", at, got, want)
		}
	}
	call(0, event(hook.UserPromptSubmit, ""), hook.Decision{})
	ev := sends(2)
	call(0, ev, hook.Decision{Facts: ev.Facts})
	check("two were sent", [3]int{2, 2, 2})
	ev = sends(5)
	call(time.Second, ev, hook.Decision{Facts: ev.Facts, Effect: hook.Deny})
	check("rejected", [3]int{2, 2, 2})
	call(2*time.Second, sends(5), hook.Decision{Facts: sends(1).Facts})
	check("rewritten", [3]int{3, 3, 3})
	post := sends(4)
	post.Name = hook.PostToolUse
	call(3*time.Second, post, hook.Decision{Facts: post.Facts})
	check("what is no call", [3]int{3, 3, 3})
	call(30*time.Second, event(hook.UserPromptSubmit, ""), hook.Decision{})
	check("another round", [3]int{3, 0, 3})
	ev = sends(1)
	call(-time.Hour, ev, hook.Decision{Facts: ev.Facts})
	check("the clock is set back", [3]int{4, 1, 4})
	call(61*time.Second, event(hook.PreToolUse, "ls"), hook.Decision{})
	check("a minute later", [3]int{4, 1, 2})
	call(2*time.Hour, event(hook.PreToolUse, "ls"), hook.Decision{})
	check("two hours later", [3]int{4, 1, 0})
	if got := counted(m, "fs.read"); got != [3]int{3, 1, 0} {
		t.Errorf("another kind: %v", got)
	}
}

// TestEffectsSideBySide has a call see what others do that are not decided yet.
func TestEffectsSideBySide(t *testing.T) {
	m := &Memory{}
	one, two := sends(1), sends(2)
	m.Begin(one, noon)
	m.Begin(two, noon)
	if got := m.Document(two)["effects"].(map[string]any)["net.send"].(map[string]any)["session"]; got != 1 {
		t.Errorf("it sees %v, not that of the other", got)
	}
	m.End(one, &hook.Decision{Effect: hook.Deny}, true)
	m.End(two, &hook.Decision{Facts: two.Facts}, false)
	if got := counted(m, "net.send"); got != [3]int{2, 2, 2} {
		t.Errorf("%v", got)
	}
}

// TestRefusals holds that what a confined call was refused counts after the call.
func TestRefusals(t *testing.T) {
	m := &Memory{}
	after := &hook.Event{Name: hook.PostToolUse}
	m.Begin(after, noon)
	ran := &hook.Decision{Confined: &hook.Confined{Profile: "project"}}
	if m.Ends(after, ran, false) {
		t.Error("a call that was refused nothing is written")
	}
	ran.Confined.Refused = []string{"a", "b"}
	if !m.Ends(after, ran, false) {
		t.Error("what was refused is not written")
	}
	m.End(after, ran, false)
	if got := counted(m, "confined.refused"); got != [3]int{2, 2, 2} {
		t.Errorf("%v", got)
	}
}

func TestEndsWrites(t *testing.T) {
	m := &Memory{}
	ev := sends(1)
	pass := &hook.Decision{Facts: ev.Facts}
	m.Begin(ev, noon)
	if m.Ends(ev, pass, false) {
		t.Error("a call that passes without a word is written twice")
	}
	a := mark.Mark{Name: "a", Value: "1", Source: "user"}
	marked := &hook.Decision{Facts: ev.Facts, Remember: []mark.Mark{a}}
	if !m.Ends(ev, marked, false) {
		t.Error("a new mark is not written")
	}
	m.Remember(marked.Remember)
	if m.Ends(ev, marked, false) {
		t.Error("a mark that stays as it is is written")
	}
	for _, other := range []mark.Mark{{Name: "a", Value: "2", Source: "user"}, {Name: "a", Value: "1", Source: "user", Round: true}, {Name: "a", Value: "null", Source: "user"}, {Name: "a", Value: "1", Source: "project"}} {
		if !m.Ends(ev, &hook.Decision{Facts: ev.Facts, Remember: []mark.Mark{other}}, false) {
			t.Errorf("%+v is not written", other)
		}
	}
	if m.Ends(ev, &hook.Decision{Facts: ev.Facts, Remember: []mark.Mark{{Name: "b", Value: "null", Source: "user"}}}, false) {
		t.Error("a mark that nobody has set is taken back, and that is written")
	}
}

// show is what a source sees, one mark a word.
func show(m *Memory, source string, policyScope bool) string {
	marks, full := m.Marks.Seen(source, policyScope)
	return fmt.Sprint(marks, full)
}

func TestRemember(t *testing.T) {
	m := &Memory{}
	user := func(name, value string) mark.Mark {
		return mark.Mark{Name: name, Value: value, Source: "user", By: "acme.x"}
	}
	managed := mark.Mark{Name: "a", Value: `"managed"`, Source: "managed", Policy: true}
	trial := mark.Mark{Name: "a", Value: `"trial"`, Source: "trial:b", Policy: true, Trial: true}
	m.Remember([]mark.Mark{user("a", "1"), user("b", "2"), managed, trial})
	kept, notices := m.Remember([]mark.Mark{user("a", "3"), user("b", "null"), user("c", "4")})
	want := []string{`mark "a" of policy acme.x is not remembered: a policy above has a mark of that name, which none below may set`}
	if len(kept) != 2 || !reflect.DeepEqual(notices, want) {
		t.Errorf("kept %v, said %q", kept, notices)
	}
	if _, notices := m.Remember([]mark.Mark{user("a", "5")}); len(notices) > 0 {
		t.Errorf("it is said again: %q", notices)
	}
	for source, want := range map[string]string{
		"user": `map[a:"managed" c:4] false`, "project": `map[a:"managed"] false`, "managed": `map[a:"managed"] false`, "trial:b": `map[a:"trial"] false`,
	} {
		if got := show(m, source, strings.Contains("managed trial:b", source)); got != want {
			t.Errorf("%s sees %s, not %s", source, got, want)
		}
	}
	m.Remember([]mark.Mark{{Name: "r", Value: "1", Source: "project", Round: true}})
	m.EndSession()
	if got := show(m, "project", false); got != `map[a:"managed" r:1] false` {
		t.Errorf("after the end of the session: %s", got)
	}
	m.Begin(event(hook.UserPromptSubmit, ""), noon)
	if got := show(m, "project", false); got != `map[a:"managed"] false` {
		t.Errorf("in the next round: %s", got)
	}
}

// TestRememberBounds has many sources ask for more than there is room for. What is kept
// stays within the limits and can be read again, and whoever gets less hears of it.
func TestRememberBounds(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	m := full(t)
	said := map[string]bool{}
	for range 10_000 {
		n := r.IntN(12)
		k := mark.Mark{
			Name: fmt.Sprint(r.IntN(200)), Value: `"` + strings.Repeat(`\"`, r.IntN(mark.MaxValue/2-1)) + `"`, By: "acme.x",
			Source: fmt.Sprint("source ", n), Policy: n < 4, Round: r.IntN(2) == 0,
		}
		if r.IntN(10) == 0 {
			k.Value = mark.None
		}
		kept, notices := m.Remember([]mark.Mark{k})
		if len(notices) > 0 {
			said[k.Source] = true
		}
		if len(kept) == 0 && !said[k.Source] {
			t.Fatalf("%s lost a mark in silence", k.Source)
		}
	}
	if len(said) < 12 {
		t.Errorf("only %d sources had too much", len(said))
	}
	var count, text [2]int
	for i := range m.Marks.All {
		class := 0
		if m.Marks.All[i].Policy {
			class = 1
		}
		count[class]++
		text[class] += size(&m.Marks.All[i])
	}
	for class := range count {
		if count[class] > maxAllMarks || text[class] > maxAllText || text[class] < maxAllText/2 {
			t.Errorf("class %d has %d marks of %d bytes", class, count[class], text[class])
		}
	}
	data, err := encode(key, m)
	if err != nil {
		t.Fatal(err)
	}
	again, err := decode(&key, data)
	if err != nil || !reflect.DeepEqual(again.Marks, m.Marks) {
		t.Errorf("it is not read as it was written: %v", err)
	}
	if _, notices := m.Remember([]mark.Mark{{Name: "new", Value: "1", Source: "managed", Policy: true}}); text[1] < maxAllText-400 && len(notices) > 0 {
		t.Errorf("sources below took the administrator's room: %q", notices)
	}
}
