package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// A shipping is what a machine of a fleet has beside its release.
type shipping struct {
	name  string
	logs  bool // the log is sent to a collector, which is not there
	trial bool // as many policies stand on trial
}

// shippings are compared with the first. The second is the same, and says what the machine's
// unrest makes of a ratio.
var shippings = []shipping{
	{name: "a release"}, {name: "the same once more"}, {name: "shipping on", logs: true}, {name: "shipping and a trial on", logs: true, trial: true},
}

// fleet measures gate-hook on machines with the same release, with and without shipping and
// a trial, in the same rounds.
func (l *lab) fleet(ctx context.Context, out io.Writer, sizes []int) error {
	err := files(l.dir, map[string]string{"harmful.json": l.here(harmful), "harmless.json": l.here(harmless), "unrelated.json": l.here(unrelated)})
	if err != nil {
		return err
	}
	if err := l.compile(ctx, l.programs()[:3]...); err != nil {
		return err
	}
	for _, n := range sizes {
		var machines [][]candidate
		for i, s := range shippings {
			dir := filepath.Join(l.dir, fmt.Sprintf("fleet-%d-%d", n, i))
			if err := l.machine(ctx, dir, n, s); err != nil {
				return err
			}
			machines = append(machines, l.calls(dir)[:3])
		}
		if err := l.pairs(ctx, out, n, machines); err != nil {
			return err
		}
	}
	return nil
}

// pairs runs the same calls on all machines in turns, and writes their ratios to the first.
func (l *lab) pairs(ctx context.Context, out io.Writer, n int, machines [][]candidate) error {
	all := map[[2]int][]measure{}
	for round := range l.rounds + 1 {
		for call := range machines[0] {
			for turn := range machines {
				i := (turn + round) % len(machines) // each has each place
				m, err := machines[i][call].once(ctx)
				if err != nil {
					return err
				}
				if round > 0 {
					all[[2]int{i, call}] = append(all[[2]int{i, call}], m)
				}
			}
		}
	}
	fmt.Fprintf(out, "\n**%d policies in a signed release** (%d rounds)\n\n| call | machine | wall ms | x a release, median of pairs | CPU, the same |\n|---|---|---|---|---|\n", n, l.rounds)
	for call, c := range machines[0] {
		base := all[[2]int{0, call}]
		for i, s := range shippings {
			ms := all[[2]int{i, call}]
			fmt.Fprintf(out, "| %s | %s | %.2f | %.3f | %.3f |\n", c.name, s.name,
				milliseconds(middle(ms, func(m measure) float64 { return float64(m.wall) })), paired(ms, base), pairedCPU(ms, base))
		}
	}
	return nil
}

// pairedCPU is paired, of the time of processors.
func pairedCPU(ms, base []measure) float64 {
	ratios := make([]float64, len(ms))
	for i := range ms {
		ratios[i] = float64(ms[i].cpu) / float64(base[i].cpu)
	}
	slices.Sort(ratios)
	return ratios[len(ratios)/2]
}

// machine makes a machine of a fleet, whose bundle and channel come from a directory.
func (l *lab) machine(ctx context.Context, dir string, n int, s shipping) error {
	site := filepath.Join(dir, "site")
	manifest := func(version int) string {
		return fmt.Sprintf(`{"roots": ["bench"], "metadata": {"gate": {"name": "company", "version": %d}}}`, version)
	}
	logs := ""
	if s.logs {
		logs = `, "decisionLogs": {"url": "http://127.0.0.1:9", "form": "collector"}`
	}
	if err := files(dir, map[string]string{
		"one/.manifest": manifest(1), "two/.manifest": manifest(2), "site/none": "", "user/none": "", "managed/machine-id": "bench",
		"managed/settings.json": `{"policies": {"gate": "off"}, "sync": [{"name": "company", "url": "` + site + `/{digest}.tar.gz", "channel": "` + site + `/channel.json"}]` + logs + `}`,
	}); err != nil {
		return err
	}
	for _, version := range []string{"one", "two"} {
		if err := writePolicies(filepath.Join(dir, version, "bench"), n); err != nil {
			return err
		}
	}
	gate := l.tool("gate")
	steps := [][]string{
		{gate, "keys", "generate", "alice"}, {gate, "keys", "add", "alice", "alice.pub.pem", "--root", "--bundle", "company", "--key", "alice=alice.pem"},
		{"cp", "keys.json", "managed/keys.json"},
	}
	for _, version := range []string{"one", "two"} {
		file := version + ".tar.gz"
		steps = append(steps, []string{gate, "bundle", "build", version, "-o", file}, []string{gate, "bundle", "sign", file, "--keys", "keys.json", "--key", "alice=alice.pem"})
	}
	if err := run(ctx, dir, steps...); err != nil {
		return err
	}
	digests := map[string]string{}
	for _, version := range []string{"one", "two"} {
		text, err := exec.CommandContext(ctx, "sha256sum", filepath.Join(dir, version+".tar.gz")).Output()
		if err != nil {
			return err
		}
		digests[version], _, _ = strings.Cut(string(text), " ")
		for _, end := range []string{".tar.gz", ".tar.gz.gate.json"} {
			if err := os.Rename(filepath.Join(dir, version+end), filepath.Join(site, digests[version]+end)); err != nil {
				return err
			}
		}
	}
	trials := ""
	if s.trial {
		trials = `, "trials": {"company": [{"digest": "sha256:` + digests["two"] + `", "share": 100}]}`
	}
	channel := `{"signed": {"type": "gate.channel/2", "version": 1, "releases": {"company": [{"digest": "sha256:` + digests["one"] + `"}]}` + trials + `}}`
	if err := files(site, map[string]string{"channel.2.json": channel}); err != nil {
		return err
	}
	return run(ctx, dir, []string{gate, "bundle", "channel", "site/channel.2.json", "--releases", "site", "--keys", "keys.json", "--key", "alice=alice.pem"},
		append([]string{l.tool("gate-server"), "sync", "--now"}, directories(dir)...), append([]string{gate, "build"}, directories(dir)...))
}

// run runs commands in a directory, one after the other.
func run(ctx context.Context, dir string, steps ...[]string) error {
	for _, args := range steps {
		cmd := exec.CommandContext(ctx, args[0], args[1:]...)
		cmd.Dir = dir
		if text, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%v: %w\n%s", args, err, text)
		}
	}
	return nil
}
