package adapters_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gate/adapters"
)

// TestOpenCodePlugin holds the plugin against testdata/opencode_plugin.golden,
// with a command line that only looks like code.
func TestOpenCodePlugin(t *testing.T) {
	got := adapters.OpenCodePlugin([]string{"/opt/gate", "hook", "--agent", "opencode", "--user-dir", "/home/o'neil/\"x\"\u2028</script>"}, 0)
	compareText(t, "testdata/opencode_plugin.golden", string(got))
	if again := adapters.OpenCodePlugin([]string{"gate"}, 1500*time.Millisecond); !bytes.Contains(again, []byte("const WAIT = 1500\n")) ||
		bytes.Contains(again, []byte(`"WAIT"`)) || bytes.Contains(again, []byte("COMMAND\"]")) {
		t.Errorf("%s", again)
	}
}

// driver loads the plugin as OpenCode does, and says what each of its functions
// makes of a gate that is a shell script.
const driver = `
import { GatePlugin } from "./plugin.mjs"
const hooks = await GatePlugin({ directory: "/p", worktree: "/" })
const [event] = process.argv.slice(2)
const args = { command: "ls", description: "d" }, output = { title: "t", output: "SECRET", metadata: { output: "SECRET" } }
const parts = [{ type: "text", text: "hi" }], given = args
const io = { "tool.execute.before": { args }, "tool.execute.after": output, "chat.message": { message: {}, parts } }[event]
try {
  await hooks[event]({ tool: "bash", sessionID: "s", callID: "c", args }, io)
  console.log("goes on", JSON.stringify(io), io.args === undefined || io.args === given)
} catch (e) {
  console.log("throws", e.message)
}
`

// TestOpenCodePluginCloses runs the plugin with a JavaScript engine, where there
// is one: it is closed before a call whatever gate does, and open where closing
// would stop nothing.
func TestOpenCodePluginCloses(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("there is no node")
	}
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("there is no shell")
	}
	const before, after, prompt = "tool.execute.before", "tool.execute.after", "chat.message"
	for _, c := range []struct {
		name, event, gate, want string
	}{
		{"no opinion", before, `cat >/dev/null; echo '{"decision":"continue"}'`, `goes on {"args":{"command":"ls","description":"d"}} true`},
		{"a denial", before, `echo '{"decision":"deny","reason":"no"}'`, `throws no`},
		{"a rewrite in place", before, `echo '{"decision":"continue","input":{"command":"ls -l"}}'`, `goes on {"args":{"command":"ls -l"}} true`},
		{"a rewrite of nothing", before, `echo '{"decision":"continue","input":null}'`, `throws gate changed this call, and the change cannot be made`},
		{"status 2", before, `echo why >&2; exit 2`, `throws why`},
		{"status 2 in silence", before, `exit 2`, `throws gate could not answer: it ended with status 2`},
		{"status 1 with a word", before, `echo '{"decision":"continue"}'; exit 1`, `throws gate could not answer: it ended with status 1`},
		{"silence", before, `:`, `throws gate could not answer: what it said is not JSON`},
		{"a log line first", before, `echo hello; echo '{"decision":"continue"}'`, `throws gate could not answer: what it said is not JSON`},
		{"no decision", before, `echo '{"decision":"allow"}'`, `throws gate could not answer: what it said holds no decision`},
		{"null", before, `echo null`, `throws gate could not answer: what it said holds no decision`},
		{"killed", before, `kill -9 $$`, `throws gate could not answer: it ended by SIGKILL`},
		{"late", before, `exec sleep 60`, `throws gate could not answer: no answer in 3000 ms`},
		{"missing", before, "", `throws gate could not answer: spawn`},
		{"an output", after, `echo '{"decision":"continue","output":"***"}'`, `goes on {"title":"t","output":"***","metadata":{}} true`},
		{"context after", after, `echo '{"decision":"continue","context":"red"}'`, `goes on {"title":"t","output":"SECRET\n\nred","metadata":{"output":"SECRET"}} true`},
		{"a denial after", after, `echo '{"decision":"deny","reason":"no"}'`, `throws no`},
		{"broken after", after, `exit 3`, `goes on {"title":"t","output":"SECRET","metadata":{"output":"SECRET"}} true`},
		{"a prompt denied", prompt, `echo '{"decision":"deny","reason":"no"}'`, `throws no`},
		{"context of a prompt", prompt, `echo '{"decision":"continue","context":"red"}'`, `goes on {"message":{},"parts":[{"type":"text","text":"hi\n\nred"}]} true`},
		{"broken at a prompt", prompt, `echo nonsense`, `goes on {"message":{},"parts":[{"type":"text","text":"hi"}]} true`},
		{"what gate is sent", before, `grep -q '"hook_event_name":"PreToolUse","session_id":"s","cwd":"/p","worktree":"/p","tool_name":"bash","tool_use_id":"c"' && echo '{"decision":"deny","reason":"right"}'`, `throws right`},
		{"the project's directory", before, `printf '{"decision":"deny","reason":"%s"}' "$OPENCODE_PROJECT_DIR"`, `throws /p`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			wait := time.Minute
			if c.name == "late" {
				wait = 3 * time.Second
			}
			command := []string{shell, "-c", c.gate}
			if c.gate == "" {
				command = []string{filepath.Join(dir, "nowhere", "gate")}
			}
			for name, text := range map[string][]byte{"plugin.mjs": adapters.OpenCodePlugin(command, wait), "driver.mjs": []byte(driver)} {
				if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			cmd := exec.Command(node, filepath.Join(dir, "driver.mjs"), c.event)
			cmd.Dir = dir
			out, err := cmd.CombinedOutput()
			if err != nil || !strings.HasPrefix(string(out), c.want) {
				t.Errorf("%v: %swant: %s", err, out, c.want)
			}
		})
	}
}
