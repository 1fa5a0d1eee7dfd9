package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// The calls of sessions are measured as agents make them: both hooks of a call, with
// outputs of several sizes, with counters, and many agents at once.

// helloName is the least that a process does: it starts and ends.
const helloName = "Go hello"

// plainName is what the other calls of a session are compared with.
const plainName = "PreToolUse"

// sideBySide are how many agents make calls at once.
var sideBySide = []int{1, 8, 32}

// outputs are sizes of what a tool put out, in KiB.
var outputs = []int{0, 2, 30, 1000}

// A work is what one agent has done again and again: calls of programs, one after
// another. Each agent has a session of its own, unless it is shared.
type work struct {
	name  string
	calls []candidate // stdin is without the agent's number, and without ".json"
	alone bool        // the calls have no session, and read one file
	least int         // agents at once that it is of use for
}

// of is the same for one agent.
func (w *work) of(agent int) []candidate {
	calls := slices.Clone(w.calls)
	for i := range calls {
		if !w.alone {
			calls[i].stdin += "-" + strconv.Itoa(agent)
		}
		calls[i].stdin += ".json"
	}
	return calls
}

// sessions measures calls of sessions. before has gate-hook of another tree, "" for none.
func (l *lab) sessions(ctx context.Context, out io.Writer, before string) error {
	if err := errors.Join(l.compile(ctx, l.programs()...), l.events()); err != nil {
		return err
	}
	list, err := l.works(ctx, before)
	if err != nil {
		return err
	}
	for _, w := range list {
		for _, c := range w.of(0) { // what is measured comes to the right answer
			if _, err := c.once(ctx); err != nil {
				return err
			}
		}
	}
	for _, n := range sideBySide {
		if err := l.load(ctx, out, n, list); err != nil {
			return err
		}
	}
	return l.corpus(ctx, out, "policies/testdata/cases.jsonl", "policies/testdata/tools.jsonl")
}

// events writes what each agent's hooks read.
func (l *lab) events() error {
	list := map[string]string{"harmless.json": l.here(harmless)}
	for agent := range sideBySide[len(sideBySide)-1] {
		session := func(event string) string {
			return l.here(strings.ReplaceAll(event, "SESSION", fmt.Sprintf("session-%d", agent)))
		}
		list[fmt.Sprintf("pre-%d.json", agent)] = session(before)
		for _, kib := range outputs {
			list[fmt.Sprintf("post%d-%d.json", kib, agent)] = session(strings.ReplaceAll(after, "OUTPUT", output(kib)))
		}
	}
	list["shared.json"] = l.here(strings.ReplaceAll(before, "SESSION", "shared"))
	return files(l.dir, list)
}

const (
	before = `{"session_id": "SESSION", "transcript_path": "/home/dev/project/t.jsonl", "cwd": "/home/dev/project", "permission_mode": "default", ` +
		`"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "go test ./... | tail -n 20"}, "tool_use_id": "toolu_1"}`
	after = `{"session_id": "SESSION", "transcript_path": "/home/dev/project/t.jsonl", "cwd": "/home/dev/project", "permission_mode": "default", ` +
		`"hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_input": {"command": "go test ./... | tail -n 20"}, ` +
		`"tool_response": {"stdout": "OUTPUT", "stderr": "", "interrupted": false, "isImage": false}, "tool_use_id": "toolu_1"}`
)

// output is what tests of a program say, as text within JSON.
func output(kib int) string {
	var b strings.Builder
	for i := 0; b.Len() < kib<<10; i++ {
		fmt.Fprintf(&b, `ok  \tshop.example/orders/internal/part%d\t0.0%ds\tcoverage: %d.%d%% of statements\n`, i, i%90+10, i%60+40, i%10)
	}
	return b.String()
}

// ruled is a policy beside the library, and counted the same with a look at the memory of
// the session, so that calls are counted.
const (
	ruled   = "# METADATA\n# title: Busy\n# custom:\n#   gate:\n#     events: [PreToolUse]\npackage bench.busy\n\ndeny contains \"busy\" if input.tool_name == \"nothing\"\n"
	counted = "# METADATA\n# title: Busy\n# custom:\n#   gate:\n#     events: [PreToolUse]\npackage bench.busy\n\ndeny contains \"busy\" if input.session.calls > 100000000\n"
)

// works are what is measured, with the programs of another tree beside it.
func (l *lab) works(ctx context.Context, before string) ([]work, error) {
	list := []work{
		{name: helloName, calls: []candidate{{args: []string{l.tool("hello")}, stdin: l.file("harmless")}}, alone: true},
		{name: floorName, calls: []candidate{{args: []string{l.tool("floor")}, stdin: l.file("harmless")}}, alone: true},
	}
	programs := []struct{ dir, suffix string }{{filepath.Dir(l.tool("gate")), ""}}
	if before != "" {
		copies := l.file("before")
		if err := copied(before, copies); err != nil {
			return nil, err
		}
		programs = append(programs, struct{ dir, suffix string }{copies, " (before)"})
	}
	for i, p := range programs {
		machine := l.file(fmt.Sprintf("sessions%d", i))
		if err := files(machine, map[string]string{"ruled/user/policies/busy.rego": ruled, "counted/user/policies/busy.rego": counted}); err != nil {
			return nil, err
		}
		for _, of := range []string{"ruled", "counted"} {
			build := append([]string{"build"}, directories(filepath.Join(machine, of))...)
			if text, err := exec.CommandContext(ctx, filepath.Join(p.dir, "gate"), build...).CombinedOutput(); err != nil {
				return nil, fmt.Errorf("gate build: %w\n%s", err, text)
			}
		}
		call := func(event, stdin, of string) candidate {
			args := append([]string{filepath.Join(p.dir, "gate-hook"), "--agent", "claude", "--event", event}, directories(filepath.Join(machine, of))...)
			return candidate{name: event, args: args, stdin: l.file(stdin)}
		}
		list = append(list,
			work{name: plainName + p.suffix, calls: []candidate{call("PreToolUse", "pre", "ruled")}},
			work{name: "PreToolUse, counted" + p.suffix, calls: []candidate{call("PreToolUse", "pre", "counted")}},
			work{name: "PreToolUse, counted, one session" + p.suffix, calls: []candidate{call("PreToolUse", "shared", "counted")}, alone: true, least: 2})
		for _, kib := range outputs {
			post := fmt.Sprintf("post%d", kib)
			list = append(list, work{name: fmt.Sprintf("both hooks, output of %d KiB%s", kib, p.suffix), calls: []candidate{call("PreToolUse", "pre", "ruled"), call("PostToolUse", post, "ruled")}})
		}
		list = append(list, work{name: "both hooks, counted, output of 2 KiB" + p.suffix, calls: []candidate{call("PreToolUse", "pre", "counted"), call("PostToolUse", "post2", "counted")}})
	}
	return list, nil
}

// copied puts another tree's programs into a directory as [lab.settle] does with this one's.
func copied(from, to string) error {
	err := os.MkdirAll(to, 0o755)
	for _, name := range []string{"gate", "gate-hook"} {
		data, reading := os.ReadFile(filepath.Join(from, name))
		file := filepath.Join(to, name)
		err = errors.Join(err, reading, os.WriteFile(file, data, 0o755))
		if err == nil {
			err = rewrite(file, 256<<10)
		}
	}
	return err
}

// load measures n agents at once and writes what came of it.
func (l *lab) load(ctx context.Context, out io.Writer, n int, list []work) error {
	list = slices.DeleteFunc(slices.Clone(list), func(w work) bool { return n < w.least || w.name != helloName && !l.wanted(candidate{name: w.name}) })
	took, middles := map[string][]measure{}, map[string][]measure{}
	for round := range l.rounds + 1 {
		for _, w := range list {
			ms, err := w.block(ctx, n)
			if err != nil {
				return fmt.Errorf("%s: %w", w.name, err)
			}
			if round > 0 { // the first fills caches
				took[w.name] = append(took[w.name], ms...)
				middles[w.name] = append(middles[w.name], middleOf(ms))
			}
		}
	}
	fmt.Fprintf(out, "\n**%d side by side** (%d rounds)\n\n| calls | p50 ms | p99 ms | CPU ms | p50 x hello | p99 x hello | x PreToolUse | x before |\n|---|---|---|---|---|---|---|---|\n", n, l.rounds)
	for _, w := range list {
		before := "" // of the other tree, in the same rounds
		if ms := middles[w.name+" (before)"]; len(ms) > 0 {
			before = fmt.Sprintf("%.2f", paired(middles[w.name], ms))
		}
		plain := ""
		if ms := middles[plainName]; len(ms) > 0 {
			plain = fmt.Sprintf("%.2f", paired(middles[w.name], ms))
		}
		ms, hello := took[w.name], took[helloName]
		fmt.Fprintf(out, "| %s | %.2f | %.2f | %.2f | %.2f | %.2f | %s | %s |\n", w.name,
			milliseconds(quantile(ms, 0.5)), milliseconds(quantile(ms, 0.99)), milliseconds(middle(ms, func(m measure) float64 { return float64(m.cpu) })),
			paired(middles[w.name], middles[helloName]), quantile(ms, 0.99)/quantile(hello, 0.99), plain, before)
	}
	return nil
}

// middleOf is the middle of what the runs of one round took.
func middleOf(ms []measure) measure {
	return measure{
		wall: time.Duration(middle(ms, func(m measure) float64 { return float64(m.wall) })),
		cpu:  time.Duration(middle(ms, func(m measure) float64 { return float64(m.cpu) })),
	}
}

// quantile is the wall time that so great a part of the runs stay within.
func quantile(ms []measure, part float64) float64 {
	walls := make([]float64, len(ms))
	for i, m := range ms {
		walls[i] = float64(m.wall)
	}
	slices.Sort(walls)
	return walls[min(len(walls)-1, int(part*float64(len(walls))))]
}

// block has n agents do the work at once, each several times, and returns what each
// time took.
func (w *work) block(ctx context.Context, n int) ([]measure, error) {
	times := max(2, 8/n)
	var mu sync.Mutex
	var all []measure
	var wrong error
	var group sync.WaitGroup
	for agent := range n {
		calls := w.of(agent)
		group.Go(func() {
			for range times {
				m, err := inTurn(ctx, calls)
				mu.Lock()
				all, wrong = append(all, m), errors.Join(wrong, err)
				mu.Unlock()
			}
		})
	}
	group.Wait()
	return all, wrong
}

// inTurn runs programs one after another, and reads none of their answers, for that
// would take a good part of the time.
func inTurn(ctx context.Context, calls []candidate) (sum measure, err error) {
	for i := range calls {
		c := &calls[i]
		in, err := os.Open(c.stdin)
		if err != nil {
			return sum, err
		}
		cmd := exec.CommandContext(ctx, c.args[0], c.args[1:]...)
		cmd.Stdin = in
		start := time.Now()
		err = cmd.Run()
		sum.wall += time.Since(start)
		in.Close()
		if err != nil {
			return sum, fmt.Errorf("%s: %w", c.name, err)
		}
		sum.cpu += cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	}
	return sum, nil
}
