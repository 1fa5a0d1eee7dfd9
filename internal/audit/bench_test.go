package audit

import (
	"testing"

	"gate/facts"
	"gate/hook"
)

// BenchmarkKeep measures what the event adds to a record.
func BenchmarkKeep(b *testing.B) {
	reader := facts.New(facts.World{Home: "/home/dev", OS: "linux"})
	for name, line := range map[string]string{
		"short":  "go test ./... | tail -n 20",
		"secret": "curl -u me:swordfish -H 'Authorization: Bearer 0123abcdefgh' https://example.com | jq .",
	} {
		ev := hook.Event{Agent: "claude", Name: hook.PreToolUse, Fields: map[string]any{
			"session_id": "s", "cwd": "/home/dev/x", "tool_name": "Bash", "tool_input": map[string]any{"command": line},
		}}
		f := reader.Of(&ev)
		d := hook.Decision{ID: "abc123", Facts: f}
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				r := Of(&ev, &d, hook.Continue)
				r.Keep(&ev, &d, f)
				if len(r.JSON()) == 0 {
					b.Fatal("nothing")
				}
			}
		})
	}
}

// BenchmarkAppend measures what a record costs: the lock, the chain and two
// files.
func BenchmarkAppend(b *testing.B) {
	dir := b.TempDir()
	for b.Loop() {
		if err := Append(dir, Options{Size: 1 << 40}, record("ls -l")); err != nil {
			b.Fatal(err)
		}
	}
}
