package audit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"gate/facts"
	"gate/hook"
	"gate/internal/mark"
	"gate/internal/secret"
	"gate/internal/strictjson"
)

// kept returns the record of a call, written and read again.
func kept(t testing.TB, ev hook.Event, d hook.Decision) Record {
	t.Helper()
	f := facts.New(facts.World{Home: "/home/dev", OS: "linux"}).Of(&ev)
	sameFacts(t, &ev, f)
	r := Of(&ev, &d, hook.Continue)
	r.Keep(&ev, &d, f)
	line := r.JSON()
	if len(line) > MaxRecord {
		t.Fatalf("a record of %d bytes", len(line))
	}
	canonical(t, line)
	back, err := Parse(line)
	if err != nil {
		t.Fatalf("%v\n%s", err, line)
	}
	return back
}

// canonical holds that a record, which is written value by value, is what
// strictjson.Append makes of the whole.
func canonical(t testing.TB, line []byte) {
	t.Helper()
	tree, err := strictjson.Decode(line, strictjson.Limits{Depth: 2 * maxNested})
	if err != nil {
		t.Fatalf("%v\n%s", err, line)
	}
	if want := strictjson.Append(nil, tree); !bytes.Equal(line, want) {
		t.Errorf("%s\nis not %s", line, want)
	}
}

func call(tool string, input map[string]any) hook.Event {
	return hook.Event{
		Agent: "claude", Name: hook.PreToolUse,
		Fields: map[string]any{"hook_event_name": "PreToolUse", "session_id": "s-1", "cwd": "/home/dev/x", "tool_name": tool, "tool_input": input},
		Gate:   hook.Gate{Now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), User: "dev", OS: "linux", Interactive: true, Labels: map[string]string{"ring": "canary"}},
		Memory: map[string]any{"calls": json.Number("3")},
		Marks: mark.Marks{All: []mark.Mark{
			{Name: "a", Value: `{"a":1,"b":"\n"}`, Source: "managed", Policy: true}, {Name: "b", Value: "1.50", Source: "trial:x", Policy: true, Trial: true, Round: true},
		}, Full: []string{"project"}},
	}
}

// TestKeepMarks keeps so many marks as there is room for, says so, and keeps no value
// where the event is not kept.
func TestKeepMarks(t *testing.T) {
	ev := call("Bash", map[string]any{"command": "ls"})
	for i := range 200 {
		ev.Marks.All = append(ev.Marks.All, mark.Mark{Name: fmt.Sprint(i), Value: `"` + strings.Repeat("x", 500) + `"`, Source: "user"})
	}
	d := hook.Decision{ID: "abc123", Remember: []mark.Mark{{Name: "n", Value: `"VALUE"`, Source: "user", By: "a.b"}}}
	r := kept(t, ev, d)
	if n := len(r.Marks.All); n < 10 || n > 40 || !slices.ContainsFunc(r.Kept.Cut, func(c Cut) bool { return c.At == marksPointer && c.Bytes > 100_000 }) {
		t.Errorf("%d marks are kept, cut: %v", n, r.Kept.Cut)
	}
	bare := Of(&ev, &d, hook.Continue)
	if line := string(bare.JSON()); strings.Contains(line, "VALUE") || strings.Contains(line, "xxx") || !strings.Contains(line, `"mark":"n"`) {
		t.Errorf("without the event it is %s", line)
	}
}

// TestKeep restores an event that holds no secret to what it was.
func TestKeep(t *testing.T) {
	ev := call("Bash", map[string]any{"command": "git push origin main", "timeout": json.Number("5")})
	r := kept(t, ev, hook.Decision{
		ID: "abc123", Rewrite: map[string]any{"command": "git push origin topic"}, Warnings: []hook.Reason{{ID: "w", Reason: "careful"}},
		Steps:    []hook.Step{{Hook: &hook.Hook{ID: "a.b", Source: "user"}}, {Hook: &hook.Hook{ID: "a.c", Source: "user"}, Effect: hook.Ask}},
		Remember: []mark.Mark{{Name: "c", Value: `{"a":1,"b":[2]}`, Source: "user", By: "a.b", Round: true}},
	})
	back, err := r.Restore()
	if err != nil || !reflect.DeepEqual(back, ev) {
		t.Errorf("restored, %v:\n%v\nwant:\n%v", err, back, ev)
	}
	if !reflect.DeepEqual(r.Remembered, []mark.Mark{{Name: "c", Value: `{"a":1,"b":[2]}`, Source: "user", By: "a.b", Round: true}}) {
		t.Errorf("remembered %+v", r.Remembered)
	}
	want, err := json.Marshal(facts.New(facts.World{Home: "/home/dev", OS: "linux"}).Of(&ev).Document())
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := json.Marshal(r.Kept.Input["facts"]); string(got) != string(want) {
		t.Errorf("facts %s\nwant  %s", got, want)
	}
	if got := fmt.Sprint(r.Kept.Rewrite, r.Warned, r.Policies, r.Version); got != "map[command:git push origin topic] [{w pass careful  }] [{a.c user ask    1 <nil> <nil> 0s} {a.b user pass    1 <nil> <nil> 0s}] 3" {
		t.Error(got)
	}
}

// TestForm writes records that have everything, and nothing.
func TestForm(t *testing.T) {
	decision := record("make")
	decision.Place, decision.Key, decision.User, decision.Project, decision.Halt = &Place{Log: "a", Seq: 2, Prev: "b"}, "k", "dev", "/p", true
	decision.Warned, decision.Changed, decision.Faults = decision.Reasons, []string{"x"}, []string{"y"}
	decision.Labels, decision.Bundles = map[string]string{"z": "1", "a": "2"}, []Bundle{{"b", "2", "sha256:1"}, {"a", "1", ""}}
	decision.Policies = []Policy{{ID: "p", Kind: "prompt", Outcome: hook.Blocking, Runs: 2, Usage: &hook.Usage{Model: "m"}, Took: time.Second}, {}}
	decision.Kept = &Kept{
		Input: map[string]any{"b": nil, "a": []any{1, "x"}}, Rewrite: "x", Cut: []Cut{{factsPointer, 0}, {"/input/a", 7}}, Redacted: []string{"/input/a"},
	}
	sync := decision
	sync.Sync = &Sync{Name: "company", Digest: "sha256:2", Version: 3, Before: 2, Signers: []string{"ana"}}
	for _, r := range []Record{{}, {Sync: &Sync{}}, decision, sync} {
		canonical(t, r.JSON())
	}
}

// TestKeepSecrets looks for secrets wherever a line that was taken apart has
// them: without the name that gives them away.
func TestKeepSecrets(t *testing.T) {
	for _, line := range []string{
		"curl -u me:SECRET https://example.com",
		"mysql --password SECRET -h db",
		"mysql --password=SECRET -h db",
		"export API_KEY=SECRET && deploy --key \"$API_KEY\"",
		"API_KEY='SECRET' make release",
		"curl -H 'Authorization: Bearer SECRET' https://example.com",
		"bash -c 'curl -u me:SECRET https://example.com'",
		"git push https://me:SECRET@example.com/x.git main",
		"cat <<EOF > x\npassword: SECRET\nEOF",
		"psql postgres://me:SECRET@db/x && echo SECRET",
		"mysql -uroot -pSECRET -h db",
		"docker login -u u -p SECRET reg.example",
		"sudo zip -P SECRET a.zip b",
		"sshpass -p SECRET ssh h.example ls",
		"sshpass -pSECRET ssh h.example ls",
		"redis-cli -a SECRET ping",
		"kubectl create secret generic x --from-literal=pw=SECRET",
		"echo SECRET | docker login -u u --password-stdin reg.example",
		"gh auth login --with-token <<< SECRET",
		"htpasswd -bc f u SECRET",
		"net user ana SECRET /add",
	} {
		for _, secret := range []string{"swordfish123", "pw7x1", "grüße-Ω-1234"} {
			text := strings.ReplaceAll(line, "SECRET", secret)
			r := kept(t, call("Bash", map[string]any{"command": text}), hook.Decision{
				Rewrite: map[string]any{"command": text + " -v"}, Reasons: []hook.Reason{{Reason: "not " + secret + ", please"}},
			})
			all, err := json.Marshal([]any{r.Kept.Input, r.Kept.Rewrite, r.Call, r.Reasons})
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(string(all), secret) {
				t.Errorf("%s\nkeeps the secret: %s", text, all)
			}
			if !slices.Contains(r.Kept.Redacted, "/input/tool_input/command") {
				t.Errorf("%s: redacted %v", text, r.Kept.Redacted)
			}
		}
	}
	r := kept(t, call("mcp__db__connect", map[string]any{"password": "hunter2", "opts": map[string]any{"apiKey": []any{"hunter3"}}, "host": "db"}), hook.Decision{})
	if got := fmt.Sprint(r.Kept.Input["tool_input"]); got != "map[host:db opts:map[apiKey:[[redacted]]] password:[redacted]]" {
		t.Error(got)
	}
}

// TestKeepSpans keeps each span of the facts on its word, also behind a secret
// that became longer or shorter.
func TestKeepSpans(t *testing.T) {
	for _, secret := range []string{"swordfish-and-a-long-tail", "pw7x1"} {
		r := kept(t, call("Bash", map[string]any{"command": "mysql --password=" + secret + " -h grüße; git push"}), hook.Decision{})
		line := []rune(r.Kept.Input["tool_input"].(map[string]any)["command"].(string))
		commands := r.Kept.Input["facts"].(map[string]any)["shell"].(map[string]any)["commands"].([]any)
		words := 0
		for _, c := range commands {
			for _, w := range c.(map[string]any)["words"].([]any) {
				word := w.(map[string]any)
				span := word["span"].([]any)
				from, _ := span[0].(json.Number).Int64()
				to, _ := span[1].(json.Number).Int64()
				if got := string(line[from:to]); got != word["value"] {
					t.Errorf("span of %q is %q", word["value"], got)
				}
				words++
			}
		}
		if words != 6 {
			t.Errorf("%d words", words)
		}
	}
}

// TestKeepBounds cuts what is too long, says so, and keeps facts whole or not
// at all.
func TestKeepBounds(t *testing.T) {
	long := strings.Repeat("x ", 1<<20)
	many := map[string]any{}
	for i := range 5000 {
		many[fmt.Sprintf("key%05d", i)] = "\x1b" + strings.Repeat("\u202e", 50)
	}
	deep := any("end")
	for range 63 {
		deep = []any{deep}
	}
	for name, test := range map[string]struct {
		input map[string]any
		cut   string
	}{
		"content": {map[string]any{"file_path": "/a", "content": long}, "[{/input/tool_input/content 2097152}]"},
		"line":    {map[string]any{"command": "echo " + long}, "[{/input/tool_input/command 2097157}"},
		"keys":    {map[string]any{"many": many}, "{/input/tool_input/many 0}"},
		"deep":    {map[string]any{"deep": deep}, "[]"},
	} {
		t.Run(name, func(t *testing.T) {
			ev := call("Bash", test.input)
			ev.Fields["tool_response"] = strings.Repeat("y", 10_000)
			r := kept(t, ev, hook.Decision{})
			if got := fmt.Sprint(r.Kept.Cut); !strings.Contains(got, strings.Trim(test.cut, "[]")) {
				t.Errorf("cut %s, want %s", got, test.cut)
			}
			if out, _ := r.Kept.Input["tool_response"].(string); len(out) > 2*maxOutput {
				t.Errorf("%d bytes of output", len(out))
			}
			cut, _ := r.Kept.Lost("/input/tool_input")
			if want := name != "deep"; want != (len(cut) > 0) {
				t.Errorf("cut in the call: %v", cut)
			}
		})
	}
}

// FuzzKeep puts anything into a call: its record can be read, and none of what
// Redact finds in the line is anywhere in it.
func FuzzKeep(f *testing.F) {
	f.Add("curl -u me:swordfish123 x && echo swordfish123", "k", "password: hunter2hunter2")
	f.Add("mysql --password='s3cretséc' -h db; s3cretséc", "apiKey", strings.Repeat("\x00", 70_000))
	f.Add("echo https://me:pw0pw0pw0@x.org \\\n pw0pw0pw0", "a/~b", "x")
	f.Fuzz(func(t *testing.T, line, key, value string) {
		if !utf8.ValidString(line + key + value) {
			t.Skip()
		}
		r := kept(t, call("Bash", map[string]any{"command": line, "x": map[string]any{key: []any{value}}}), hook.Decision{Rewrite: map[string]any{"command": line}})
		places := secret.Find(ahead(line, maxField))
		if len(places) > 10 {
			return
		}
		for _, p := range places {
			found := line[p.From:p.To]
			if len(found) >= longSecret && !strings.Contains(secret.Mark, found) && holds([]any{r.Kept.Input["tool_input"].(map[string]any)["command"], r.Kept.Input["facts"], r.Kept.Rewrite}, found) {
				t.Errorf("%q keeps %q: %v", line, found, r.Kept)
			}
		}
	})
}

// holds reports that a text is part of one in a tree.
func holds(v any, text string) bool {
	switch v := v.(type) {
	case string:
		return strings.Contains(v, text)
	case map[string]any:
		for _, e := range v {
			if holds(e, text) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(v, func(e any) bool { return holds(e, text) })
	}
	return false
}
