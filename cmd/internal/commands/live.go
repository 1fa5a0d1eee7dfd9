package commands

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"gate/internal/audit"
	"gate/internal/install"
)

// canaryLine is a line that the library denies, and probeLine one that nobody should:
// both are only judged, never run.
const (
	canaryLine = "rm -rf ~"
	probeLine  = "ls"
)

// liveSession is the session that probes say they are of.
const liveSession = "gate-doctor"

// A probe is how an agent tells of a shell call before it: the event's name on
// the command line, and the event with %s for the line as JSON.
type probe struct{ event, text string }

// probes are events as the agents send them, as short as they can be.
var probes = map[string]probe{
	"antigravity": {"PreToolUse", `{"conversationId":"gate-doctor","toolCall":{"name":"run_command","args":{"CommandLine":%s}}}`},
	"auggie":      {"PreToolUse", `{"hook_event_name":"PreToolUse","conversation_id":"gate-doctor","tool_name":"launch-process","tool_input":{"command":%s}}`},
	"claude":      {"PreToolUse", `{"hook_event_name":"PreToolUse","session_id":"gate-doctor","transcript_path":"","cwd":"/","tool_name":"Bash","tool_input":{"command":%s},"tool_use_id":"1"}`},
	"cline":       {"PreToolUse", `{"hookName":"PreToolUse","taskId":"gate-doctor","workspaceRoots":["/"],"preToolUse":{"toolName":"execute_command","parameters":{"command":%s}}}`},
	"codex":       {"PreToolUse", `{"hook_event_name":"PreToolUse","session_id":"gate-doctor","turn_id":"1","cwd":"/","tool_name":"Bash","tool_input":{"command":%s},"tool_use_id":"1"}`},
	"copilot":     {"preToolUse", `{"sessionId":"gate-doctor","timestamp":1,"cwd":"/","toolName":"bash","toolArgs":{"command":%s}}`},
	"cursor":      {"preToolUse", `{"hook_event_name":"preToolUse","conversation_id":"gate-doctor","cwd":"/","tool_name":"Shell","tool_input":{"command":%s}}`},
	"droid":       {"PreToolUse", `{"hook_event_name":"PreToolUse","session_id":"gate-doctor","cwd":"/","tool_name":"Execute","tool_input":{"command":%s}}`},
	"gemini":      {"BeforeTool", `{"hook_event_name":"BeforeTool","session_id":"gate-doctor","cwd":"/","tool_name":"run_shell_command","tool_input":{"command":%s}}`},
	"kimi":        {"PreToolUse", `{"hook_event_name":"PreToolUse","session_id":"gate-doctor","cwd":"/","tool_name":"Shell","tool_input":{"command":%s}}`},
	"kiro":        {"PreToolUse", `{"hook_event_name":"PreToolUse","session_id":"gate-doctor","cwd":"/","tool_name":"execute_bash","tool_input":{"command":%s}}`},
	"opencode":    {"", `{"hook_event_name":"PreToolUse","session_id":"gate-doctor","cwd":"/","worktree":"/","tool_name":"bash","tool_use_id":"1","tool_input":{"command":%s}}`},
	"qwen":        {"PreToolUse", `{"hook_event_name":"PreToolUse","session_id":"gate-doctor","cwd":"/","tool_name":"run_shell_command","tool_input":{"command":%s}}`},
	"windsurf":    {"pre_run_command", `{"agent_action_name":"pre_run_command","trajectory_id":"gate-doctor","tool_info":{"command_line":%s,"cwd":"/"}}`},
}

// live starts what is installed for an agent as the agent would, with a canary
// that has to be denied and a line that has to pass, and says when the agent was
// last heard of. What is asked is in the log, in the session gate-doctor.
func (f *installFlags) live(ctx context.Context, p process, m install.Machine, agent string) ([]install.Finding, string, error) {
	var b strings.Builder
	var list []install.Finding
	probe, known := probes[agent]
	if !known {
		return nil, "", fmt.Errorf("no self-test for %q; there is one for: %s", agent, strings.Join(slices.Sorted(maps.Keys(probes)), ", "))
	}
	tried := 0
	for _, a := range m.Status().Agents {
		for _, g := range a.Guards {
			if a.Agent != agent || !g.Installed {
				continue
			}
			tried++
			t := tryGuard(ctx, m, g, probe)
			if problem := cmp.Or(t.open, t.closed); problem != "" {
				list = append(list, liveFinding(agent, g, problem))
				continue
			}
			fmt.Fprintf(&b, "%s, %s: a canary was denied, a harmless call passed\n", agent, g.Scope)
		}
	}
	if tried == 0 {
		list = append(list, install.Finding{ID: "gate.live", Severity: install.Error, Agent: agent, Message: "gate is not installed for " + agent, Remedy: "gate install " + agent})
	}
	if agent == "codex" && tried > 0 {
		list = append(list, codexSays(ctx, p, m, &b)...)
	}
	f.lastSeen(&b, agent)
	return list, b.String(), nil
}

func liveFinding(agent string, g install.Guard, problem string) install.Finding {
	return install.Finding{ID: "gate.live", Severity: install.Error, Agent: agent, Scope: g.Scope, File: g.File, Message: problem, Remedy: repairOf(agent, g.Scope)}
}

// repairOf is what mends a guard that failed its self-test.
func repairOf(agent string, s install.Scope) string {
	if s == install.Plugin {
		return "update the plugin, and look with: gate doctor " + agent
	}
	return "gate doctor --fix, then gate install " + agent + " --scope " + string(s)
}

// printLive prints what a self-test found.
func (f *installFlags) printLive(ctx context.Context, p process, m install.Machine, agent string) error {
	list, text, err := f.live(ctx, p, m, agent)
	if err != nil {
		return err
	}
	var b strings.Builder
	printFindings(&b, p, list)
	if err := printAll(p, b.String()+text); err != nil {
		return err
	}
	if len(list) > 0 {
		return exitWith(exitFailed)
	}
	return nil
}

// A liveTrial is what came of trying an installed command line.
type liveTrial struct {
	open   string // why it may not stop a call; "" if it denied the canary
	closed string // that it denied the harmless call, too; "" if it did not
	reason string // of the canary's denial
}

// tryGuard tries an installed command line. Only programs of this gate are started: a
// settings file may name any.
func tryGuard(ctx context.Context, m install.Machine, g install.Guard, probe probe) (t liveTrial) {
	if len(g.Command) == 0 || g.Command[0] != m.Command[0] && g.Command[0] != m.Program && !g.Launcher {
		return liveTrial{open: "the entry starts another program; gate did not try it"}
	}
	args := slices.Clone(g.Command[1:])
	for i := range args {
		if args[i] == "--event" && i+1 < len(args) {
			args[i+1] = probe.event
		}
	}
	a := ask(ctx, g.Command[0], args, probe, canaryLine)
	switch {
	case a.failed != "":
		return liveTrial{open: a.failed}
	case !a.denied:
		return liveTrial{open: fmt.Sprintf("%q was not denied: it answers %s", canaryLine, answerText(a.out))}
	}
	t.reason = a.reason()
	if a = ask(ctx, g.Command[0], args, probe, probeLine); a.failed != "" {
		t.open = a.failed
	} else if a.denied {
		t.closed = fmt.Sprintf("%q was denied: it answers %s", probeLine, answerText(a.out+a.errs))
	}
	return t
}

// A hookAnswer is how a hook ended that was asked about a line.
type hookAnswer struct {
	failed    string // why it is no answer
	denied    bool
	out, errs string
}

// ask starts a hook with an event about a line of a shell.
func ask(ctx context.Context, program string, args []string, probe probe, line string) hookAnswer {
	text, err := json.Marshal(line)
	if err != nil {
		return hookAnswer{failed: err.Error()}
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	var out, errs bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(fmt.Sprintf(probe.text, text)), &out, &errs
	err = cmd.Run()
	var exit *exec.ExitError
	switch {
	case err != nil && !errors.As(err, &exit):
		return hookAnswer{failed: "it does not start: " + oneLine(err.Error())}
	case exit != nil && exit.ExitCode() != 2:
		return hookAnswer{failed: fmt.Sprintf("it ends with status %d; agents read that as a yes", exit.ExitCode())}
	}
	return hookAnswer{denied: exit != nil || answersNo(out.Bytes()), out: out.String(), errs: errs.String()}
}

// reason is what an agent's model would read of a denial, in one line.
func (a hookAnswer) reason() string {
	var doc any
	if json.Unmarshal([]byte(a.out), &doc) == nil {
		if text := reasonIn(doc); text != "" {
			return oneLine(text)
		}
	}
	return answerText(a.errs)
}

// reasonIn is the reason in an answer, in the word of whichever agent.
func reasonIn(v any) string {
	m, _ := v.(map[string]any)
	for _, key := range []string{"permissionDecisionReason", "reason", "errorMessage", "user_message", "agent_message", "message"} {
		if text, _ := m[key].(string); text != "" {
			return text
		}
	}
	for _, key := range slices.Sorted(maps.Keys(m)) {
		if text := reasonIn(m[key]); text != "" {
			return text
		}
	}
	return ""
}

func answerText(s string) string {
	if s = strings.TrimSpace(s); s == "" {
		return "nothing"
	}
	return oneLine(s)
}

// answersNo reports whether an answer has an agent's word for no somewhere.
func answersNo(answer []byte) bool {
	var doc any
	return json.Unmarshal(answer, &doc) == nil && saysNo(doc)
}

func saysNo(v any) bool {
	m, _ := v.(map[string]any)
	for k, v := range m {
		switch {
		case k == "cancel" && v == true, (k == "decision" || k == "permissionDecision" || k == "permission" || k == "behavior") && (v == "deny" || v == "block"):
			return true
		case saysNo(v):
			return true
		}
	}
	return false
}

// lastSeen says when the log last heard of the agent and of its sub-agents.
func (f *installFlags) lastSeen(b *strings.Builder, agent string) {
	d, err := f.dirs.Absolute().ForHook()
	if err != nil {
		return
	}
	h, err := audit.OpenHistory(d.State)
	if errors.Is(err, os.ErrNotExist) {
		fmt.Fprintf(b, "there is no decision about %s in the log\n", agent)
		return
	}
	if err != nil {
		fmt.Fprintf(b, "the log cannot be read: %s\n", oneLine(err.Error()))
		return
	}
	seen, read := map[string]bool{}, 0
	for r, err := range h.Newest() {
		if read++; read > mostRecords {
			break
		}
		who := "the agent itself"
		if r.Kept != nil {
			if id, _ := r.Kept.Input["agent_type"].(string); id != "" {
				who = "sub-agent " + visible(id)
			}
		}
		if err != nil || r.Agent != agent || r.Session == liveSession || seen[who] {
			continue
		}
		seen[who] = true
		what := strings.TrimSpace(visible(string(r.Event)) + " " + visible(r.Tool))
		fmt.Fprintf(b, "last decision about %s: %s, %s, %s (gate log show %s)\n", who, r.Time.Local().Format(time.DateTime), what, r.Effect, r.ID)
	}
	if len(seen) == 0 {
		fmt.Fprintf(b, "no decision about %s in the log: it never asked gate\n", agent)
	}
}
