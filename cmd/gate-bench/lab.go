package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// wholeLife is the context of everything that the program does.
func wholeLife() context.Context { return context.Background() }

// A lab builds and measures.
type lab struct {
	dir    string // everything is written below it
	rounds int
	only   []string // words, one of which is in a name; empty: all
	npm    bool
	log    io.Writer
}

// A candidate is one program with one call, and the status that says it came to
// the right answer.
type candidate struct {
	name   string
	args   []string // the program first
	stdin  string
	status int
	stdout string   // must be in the answer
	env    []string // nil: as this process
	root   string   // what is the root directory to it, "" for the machine's
}

// floorName is what everything is compared with.
const floorName = "Go floor (reads JSON, opens a socket)"

// run measures with each number of policies and writes one table for each.
func (l *lab) run(ctx context.Context, out io.Writer, sizes []int) error {
	err := files(l.dir, map[string]string{
		"harmful.json": l.here(harmful), "harmless.json": l.here(harmless), "unrelated.json": l.here(unrelated),
		"request.json": `{"input": ` + l.here(harmful) + `}`, "hook.py": python, "hook.sh": bash,
	})
	if err != nil {
		return err
	}
	if err := l.build(ctx); err != nil {
		return err
	}
	if err := l.table(ctx, out, "The library alone", l.rounds, append(l.floors(), l.library()...)); err != nil {
		return err
	}
	for _, n := range sizes {
		set, err := l.prepare(ctx, n)
		if err != nil {
			return err
		}
		list := append(l.floors(), set.candidates()...)
		if n == sizes[0] {
			list = append(list, l.peers(ctx)...)
		}
		rounds := l.rounds
		if n > 100 {
			rounds = max(3, l.rounds*100/n)
		}
		err = l.table(ctx, out, fmt.Sprintf("%d policies", n), rounds, list)
		set.close()
		if err != nil {
			return err
		}
	}
	return nil
}

// wanted reports whether a candidate is asked for.
func (l *lab) wanted(c candidate) bool {
	return c.name == floorName || len(l.only) == 0 ||
		slices.ContainsFunc(l.only, func(word string) bool { return strings.Contains(c.name, word) })
}

// tool returns the path of a program that this lab built.
func (l *lab) tool(name string) string { return filepath.Join(l.dir, "bin", name) }

// build builds gate's programs, the floors and the OPA that go.mod names, all in
// the same way.
func (l *lab) build(ctx context.Context) error {
	version, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Version}}", opaModule).Output()
	if err != nil {
		return fmt.Errorf("go list -m %s: %w", opaModule, err)
	}
	return l.compile(ctx, append(l.programs(), []string{"install", opaModule + "@" + strings.TrimSpace(string(version))})...) // its command needs more than this module's go.sum has
}

// programs are the builds of gate's programs and the floors.
func (l *lab) programs() [][]string {
	return [][]string{
		{"build", "-o", l.tool("gate"), "gate/cmd/gate"},
		{"build", "-o", l.tool("gate-hook"), "gate/cmd/gate-hook"},
		{"build", "-o", l.tool("gate-server"), "gate/cmd/gate-server"},
		{"build", "-o", l.tool("hello"), "gate/cmd/internal/commands/testdata/bench/hello"},
		{"build", "-o", l.tool("floor"), "gate/cmd/internal/commands/testdata/bench/floor"},
		{"build", "-o", l.tool("peak"), "gate/cmd/internal/commands/testdata/bench/peak"},
	}
}

func (l *lab) compile(ctx context.Context, builds ...[]string) error {
	for _, args := range builds {
		args = slices.Insert(args, 1, "-trimpath", "-ldflags=-s -w")
		cmd := exec.CommandContext(ctx, "go", args...)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOBIN="+filepath.Dir(l.tool("opa")))
		if text, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, text)
		}
	}
	return l.settle()
}

// settle writes every program anew, in pieces of 256 KiB, as what installs and
// copies does. The pieces stay what the system keeps of a file in memory and maps
// into a process: from a file as the linker leaves it, page by page, a process
// starts a third slower.
func (l *lab) settle() error {
	dir := filepath.Dir(l.tool("gate"))
	programs, err := os.ReadDir(dir)
	for _, p := range programs {
		err = errors.Join(err, rewrite(filepath.Join(dir, p.Name()), 256<<10))
	}
	return err
}

func rewrite(file string, piece int) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if err := os.Remove(file); err != nil {
		return err
	}
	f, err := os.OpenFile(file, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o755)
	if err != nil {
		return err
	}
	defer f.Close()
	for data := range slices.Chunk(data, piece) {
		if _, err := f.Write(data); err != nil {
			return err
		}
	}
	return f.Close()
}

const opaModule = "github.com/open-policy-agent/opa"

// A measure is what one run took.
type measure struct {
	wall, cpu time.Duration
}

// once runs a candidate and holds its answer against what is right: a wrong
// answer is fast for nothing.
func (c *candidate) once(ctx context.Context) (measure, error) {
	cmd := exec.CommandContext(ctx, c.args[0], c.args[1:]...)
	in, err := os.Open(c.stdin)
	if err != nil {
		return measure{}, err
	}
	defer in.Close()
	cmd.Stdin, cmd.Env = in, c.env
	within(cmd, c.root)
	var text strings.Builder
	cmd.Stdout = &text
	start := time.Now()
	err = cmd.Run()
	took := time.Since(start)
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return measure{}, fmt.Errorf("%s: %w", c.name, err)
	}
	if got := cmd.ProcessState.ExitCode(); got != c.status || !strings.Contains(text.String(), c.stdout) {
		return measure{}, fmt.Errorf("%s: status %d, want %d, with %q in: %.300s", c.name, got, c.status, c.stdout, text.String())
	}
	return measure{wall: took, cpu: cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()}, nil
}

// peak is the most memory that a candidate has, in MiB. A process counts what
// its parent had until it became another program, so a small one starts it.
func (c *candidate) peak(ctx context.Context, l *lab) (float64, error) {
	launched := *c
	peak, written := l.tool("peak"), l.file("peak.txt")
	if c.root != "" {
		peak = inRoot("peak")
	}
	launched.args = append([]string{peak, written}, c.args...)
	if _, err := launched.once(ctx); err != nil {
		return 0, err
	}
	data, err := os.ReadFile(filepath.Join(c.root, written))
	if err != nil {
		return 0, err
	}
	kib, err := strconv.ParseFloat(strings.TrimSpace(string(data)), 64)
	return kib / 1024, err
}

// table runs all candidates in turns and writes what came of it.
func (l *lab) table(ctx context.Context, out io.Writer, title string, rounds int, list []candidate) error {
	list = slices.DeleteFunc(list, func(c candidate) bool { return !l.wanted(c) })
	all := map[string][]measure{}
	for round := range rounds + 1 {
		for _, c := range list {
			m, err := c.once(ctx)
			if err != nil {
				return err
			}
			if round > 0 { // the first fills caches
				all[c.name] = append(all[c.name], m)
			}
		}
	}
	fmt.Fprintf(out, "\n**%s** (%d rounds)\n\n| program | wall ms | CPU ms | peak MiB | x Go floor |\n|---|---|---|---|---|\n", title, rounds)
	for _, c := range list {
		ms := all[c.name]
		peak, err := c.peak(ctx, l)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "| %s | %.2f | %.2f | %.1f | %.2f |\n", c.name,
			milliseconds(middle(ms, func(m measure) float64 { return float64(m.wall) })),
			milliseconds(middle(ms, func(m measure) float64 { return float64(m.cpu) })),
			peak, paired(ms, all[floorName]))
	}
	return nil
}

func milliseconds(ns float64) float64 { return ns / float64(time.Millisecond) }

func middle(ms []measure, of func(measure) float64) float64 {
	values := make([]float64, len(ms))
	for i, m := range ms {
		values[i] = of(m)
	}
	slices.Sort(values)
	return values[len(values)/2]
}

// paired is the median of the ratios within each round: what else the machine
// did in that moment slowed both.
func paired(ms, floor []measure) float64 {
	ratios := make([]float64, len(ms))
	for i := range ms {
		ratios[i] = float64(ms[i].wall) / float64(floor[i].wall)
	}
	slices.Sort(ratios)
	return ratios[len(ratios)/2]
}

// here is an event in a working directory that there is.
func (l *lab) here(event string) string { return strings.ReplaceAll(event, "/home/dev/project", l.dir) }

// file is the path of a file of the lab's own.
func (l *lab) file(name string) string { return filepath.Join(l.dir, name) }

// files writes files below dir.
func files(dir string, list map[string]string) error {
	for _, name := range slices.Sorted(maps.Keys(list)) {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(file, []byte(list[name]), 0o644); err != nil {
			return err
		}
	}
	return nil
}
