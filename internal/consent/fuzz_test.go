package consent

import (
	"bytes"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"gate/hook"
	"gate/internal/format"
)

// FuzzRecord holds for every kind of record that whatever is accepted is
// written and read again as the same, and that refusals grant nothing. The
// sum is put right, so that the fuzzer gets past it.
func FuzzRecord(f *testing.F) {
	at := time.Date(2026, 11, 21, 12, 0, 0, 1, time.UTC)
	p := Pending{
		ID: "k3v9qx", Asked: at, Reasons: []Cause{{"acme.push", "acme.push", "user", "pushes to \"main\"\n"}},
		Call: Call{hook.PreToolUse, "claude", tie("s"), "Bash", "/home/ada", `{"command":"ls"}`, tie("f")},
	}
	a := approval{pending: p, at: at, until: at.Add(time.Minute), by: "ada", signature: make([]byte, 64)}
	for _, record := range [][]byte{
		Trust{Origin{hook.Project, "/home/ada"}, digestPrefix + tie("x"), "ada", at}.encode(), seal("pending", p.encode()), a.encode(), nil,
		[]byte("gate 2 trust x\n{}\n"), []byte("gate 1 trust\n"),
	} {
		f.Add(record)
		if _, text, ok := bytes.Cut(record, []byte("\n")); ok {
			f.Add(text)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, kind := range []string{"trust", "pending", "approval"} {
			for _, in := range [][]byte{data, append([]byte(format.Grant.Mark()+" "+kind+" "+sum(kind, data)+"\n"), data...)} {
				readAgain(t, kind, in)
			}
		}
	})
}

func readAgain(t *testing.T, kind string, data []byte) {
	var again []byte
	var err error
	var first, second any
	switch kind {
	case "trust":
		var v Trust
		if v, err = decodeTrust(data); err == nil {
			first, again = v, v.encode()
			second, err = decodeTrust(again)
			if !v.Origin.Authority.NeedsTrust() {
				t.Fatalf("trust in %v", v.Origin)
			}
		}
	case "pending":
		var v Pending
		if v, err = decodePending(data); err == nil {
			first, again = v, seal(kind, v.encode())
			second, err = decodePending(again)
			if strings.Count(v.String(), "\n") != 3+len(v.Reasons) {
				t.Fatalf("what is shown has other lines than gate's: %q", v.String())
			}
		}
	case "approval":
		var v approval
		if v, err = decodeApproval(data); err == nil {
			first, again = v, v.encode()
			second, err = decodeApproval(again)
		}
	}
	if first == nil {
		return
	}
	if err != nil || !reflect.DeepEqual(first, second) {
		t.Fatalf("%s: %#v and then %#v, %v", kind, first, second, err)
	}
}

// FuzzCall holds that two inputs have one digest only if they are one.
func FuzzCall(f *testing.F) {
	f.Add("Bash", "/a", "x", "Bash", "/a", "x")
	f.Add("Bash", "/a", "xy", "Bash", "/ax", "y")
	f.Add("B", "/", "\xff", "B", "/", "\ufffd")
	f.Fuzz(func(t *testing.T, tool1, dir1, in1, tool2, dir2, in2 string) {
		digest := func(tool, dir, in string) string {
			ev := hook.Event{Agent: "claude", Name: hook.PreToolUse, Fields: map[string]any{
				"tool_name": tool, "cwd": dir, "tool_input": map[string]any{"command": in},
			}}
			c, err := CallOf(&ev, &hook.Decision{})
			if err != nil {
				return ""
			}
			return c.Digest()
		}
		one, two := digest(tool1, dir1, in1), digest(tool2, dir2, in2)
		if same := tool1 == tool2 && dir1 == dir2 && in1 == in2; one != "" && (one == two) != same {
			t.Fatalf("%q %q", one, two)
		}
	})
}

// FuzzClockName holds that one time has one name.
func FuzzClockName(f *testing.F) {
	for _, s := range []string{"001763726400", "1763726400", "+01763726400", "00176372640٠", ""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		if at, ok := clockTime(name); ok && (at <= 0 || at > latest || clockName(at) != name) {
			t.Fatalf("%q is taken for %d", name, at)
		}
	})
}

// FuzzReadLine holds that a code is never found in more than one short line.
func FuzzReadLine(f *testing.F) {
	f.Add([]byte("k3v9qx\n"))
	f.Add(bytes.Repeat([]byte("y"), 300))
	f.Fuzz(func(t *testing.T, data []byte) {
		line, err := readLine(bytes.NewReader(data))
		switch {
		case err != nil && (line != "" || !errors.Is(err, WrongCode)):
			t.Fatalf("%q, %v", line, err)
		case err == nil && (len(line) > 255 || strings.Contains(line, "\n")):
			t.Fatalf("%q", line)
		}
	})
}
