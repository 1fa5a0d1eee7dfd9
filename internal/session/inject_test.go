package session

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"gate/hook"
)

func all(*Injection) bool { return true }

func numbers(list []Injection) string {
	var out []string
	for _, in := range list {
		out = append(out, fmt.Sprint(in.Sequence))
	}
	return strings.Join(out, " ")
}

func TestInjections(t *testing.T) {
	m := &Memory{}
	for i, in := range []Injection{
		{Text: "one"}, {Text: "two", Matcher: "Bash"}, {Text: "three", Expires: noon.Add(time.Minute)}, {Text: "four", Strategy: hook.UserMessage},
	} {
		if n, err := m.Inject(in, noon); n != i+1 || err != nil {
			t.Fatalf("the text has number %d, %v", n, err)
		}
	}
	bash := func(in *Injection) bool { return in.Matcher == "Bash" }
	if got := numbers(m.Take(noon, 100, bash)); got != "2" {
		t.Errorf("took %q", got)
	}
	if got := numbers(m.Take(noon.Add(time.Minute), 100, all)); got != "1 4" {
		t.Errorf("took %q: the order, or what has expired", got)
	}
	if got := m.Take(noon, 100, all); len(got) != 0 {
		t.Errorf("took %v a second time", got)
	}
	if n, err := m.Inject(Injection{Text: "five"}, noon); n != 5 || err != nil {
		t.Errorf("a number is given twice: %d, %v", n, err)
	}
}

// What does not fit beside the others stays for the next time, and nothing
// passes it.
func TestInjectionsFit(t *testing.T) {
	m := &Memory{}
	for _, size := range []int{300, 600, 200, 10} {
		if _, err := m.Inject(Injection{Text: strings.Repeat("x", size)}, noon); err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []string{"1", "2", "3 4", ""} {
		if got := numbers(m.Take(noon, 700, all)); got != want {
			t.Errorf("took %q, not %q", got, want)
		}
	}
}

func TestInjectRefuses(t *testing.T) {
	for name, in := range map[string]Injection{
		"empty": {Text: " \n"}, "large": {Text: strings.Repeat("x", MaxText+1)}, "not UTF-8": {Text: "\xff"},
		"strategy": {Text: "x", Strategy: "aside"}, "expired": {Text: "x", Expires: noon}, "matcher": {Text: "x", Matcher: strings.Repeat("x", 2000)},
	} {
		m := &Memory{}
		if _, err := m.Inject(in, noon); err == nil || m.Sequence != 0 || len(m.Injections) != 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	m := &Memory{}
	for range MaxWaiting {
		if _, err := m.Inject(Injection{Text: "x"}, noon); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := m.Inject(Injection{Text: "x"}, noon); err == nil {
		t.Error("more waits than may")
	}
}
