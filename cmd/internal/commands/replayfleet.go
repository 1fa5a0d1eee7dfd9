package commands

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"gate/cmd/internal/past"
	"gate/cmd/internal/screen"
	"gate/internal/hostfs"
	"gate/internal/replay"
	"gate/internal/setup"
	"gate/internal/sources"
)

// A FleetPast says where the records of a fleet are.
type FleetPast struct {
	Place     string                           // a directory, s3://bucket/prefix, or the address of a collector
	From, To  string                           // the first and the last day, such as 2026-11-28; "": no bound
	TokenFile string                           // with a bearer token for a collector
	CA        string                           // a file with certificates for it; "": the system's
	LookupEnv func(name string) (string, bool) // says how a store is reached
}

// fleetFlags are the flags of gate replay about the records of a fleet.
type fleetFlags struct {
	from      FleetPast
	days      string
	state     string
	partition string
	merge     bool
}

func (f *fleetFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.from.Place, "from", "", "decide the records of a fleet: an archive's `DIR`ectory, s3://bucket/prefix, or a collector's https://host")
	cmd.Flags().StringVar(&f.days, "days", "", "with --from: only these days, such as 2026-11-01..2026-11-30")
	cmd.Flags().StringVar(&f.from.TokenFile, "token-file", "", "with --from: a `FILE` with a bearer token for the collector")
	cmd.Flags().StringVar(&f.from.CA, "ca", "", "with --from: a `FILE` with certificates, in PEM, of who may have signed the collector's")
	cmd.Flags().StringVar(&f.state, "state", "", "with --from: the `FILE` that keeps results of parts that are done; with it, it goes on where it was stopped")
	cmd.Flags().StringVar(&f.partition, "partition", "", "with --from and --state: decide only part `I/N` of the fleet, such as 3/8")
	cmd.Flags().BoolVar(&f.merge, "merge", false, "take files of --state together, and report")
}

// check reports flags that do not go together.
func (f *replayFlags) checkFleet(args []string) error {
	l := &f.fleet
	others := strings.Join([]string{l.days, l.from.TokenFile, l.from.CA, l.state, l.partition}, "")
	switch {
	case l.merge && (l.from.Place != "" || others != "" || f.against != ""):
		return usageError("--merge takes files alone: they say what was compared")
	case l.merge && len(args) == 0:
		return usageError("--merge needs the files that --state wrote")
	case l.merge:
	case l.from.Place == "" && others != "":
		return usageError("--days, --token-file, --ca, --state and --partition go with --from")
	case l.from.Place == "":
		return nil
	case len(args) > 0:
		return usageError("--from is all that is read: name no other file with it")
	case l.partition != "" && l.state == "":
		return usageError("--partition needs --state, the file that its result is written to")
	case f.facts == past.Today:
		return usageError("--facts today is for calls of this machine: a fleet's are decided by recorded facts, or blind")
	}
	if slices.Contains(f.failOn, failUnseen) {
		return usageError("--fail-on unseen needs transcripts, and a fleet has none")
	}
	return nil
}

// span reads --days.
func (f *fleetFlags) span() (from, to string, err error) {
	if f.days == "" {
		return "", "", nil
	}
	from, to, two := strings.Cut(f.days, "..")
	if !two {
		to = from
	}
	for _, day := range []string{from, to} {
		if t, err := time.Parse(time.DateOnly, day); day != "" && (err != nil || t.Format(time.DateOnly) != day) {
			return "", "", usageError(fmt.Sprintf("--days %s: days such as 2026-11-01..2026-11-30 are wanted", f.days))
		}
	}
	if from != "" && to != "" && to < from {
		return "", "", usageError("--days " + f.days + ": the last day is before the first")
	}
	return from, to, nil
}

// runMerge takes results together that several processes wrote.
func (f *replayFlags) runMerge(p process, files []string) error {
	var all *replay.Partial
	for _, name := range files {
		one, err := readPartial(name)
		switch {
		case err != nil:
			return err
		case one == nil:
			return hostfs.At(name, fs.ErrNotExist)
		case all == nil:
			all = one
			continue
		}
		if err := all.Merge(one); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	if n := all.Missing(); n > 0 {
		return hintedError{fmt.Errorf("%s of %d are in none of these files", screen.Counted(int(n), "record"), all.Task.Records),
			"run the parts that are missing, and those that were stopped again, with the same --state"}
	}
	return f.report(p, all)
}

// readPartial reads a result; nil where there is no such file.
func readPartial(name string) (*replay.Partial, error) {
	file, err := hostfs.Regular(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, hostfs.At(name, err)
	}
	defer file.Close()
	text, err := hostfs.ReadAll(file, replay.MaxPartial)
	if err != nil {
		return nil, hostfs.At(name, err)
	}
	part, err := replay.ReadPartial(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return part, nil
}

// runFleet decides about the records of a fleet.
func (f *replayFlags) runFleet(cmd *cobra.Command, p process) error {
	if p.clients == nil || p.clients.Past == nil {
		if p.handOver == nil {
			return errors.New("this program reads no records of fleets")
		}
		return serverMissing(p.handOver(p.args, nil))
	}
	part := replay.Part{I: 1, N: 1}
	var err error
	if f.fleet.partition != "" {
		if part, err = replay.ParsePart(f.fleet.partition); err != nil {
			return usageError("--partition: " + err.Error())
		}
	}
	from := f.fleet.from
	if from.From, from.To, err = f.fleet.span(); err != nil {
		return err
	}
	d, err := f.dirs.ForPeople(p.lookupEnv)
	if err != nil {
		return err
	}
	var against *past.Proposal
	if f.against != "" {
		if against, err = past.LoadProposal(f.against, f.as); err != nil {
			return err
		}
	}
	ctx := cmd.Context()
	from.LookupEnv = p.lookupEnv
	held, err := p.clients.Past(ctx, from)
	if err != nil {
		return fmt.Errorf("--from: %w", err)
	}
	defer held.Close()
	r := past.NewFleet(setup.Options{For: sources.For{Machine: p.machine(d, "")}}, against, f.facts)
	task, err := r.Task(held)
	if err != nil {
		return err
	}
	if against != nil {
		task.Against = against.Text(p.page())
	}
	if _, set := p.lookupEnv("GOGC"); !set {
		defer debug.SetGCPercent(debug.SetGCPercent(fleetGC)) // decisions leave much behind, and little of it stays
	}
	run := fleetRun{replayer: r, held: held, part: part, state: f.fleet.state, all: &replay.Partial{Task: task, Summary: replay.NewSummary()}}
	if err := run.resume(); err != nil {
		return err
	}
	if err := run.parts(ctx, newProgressBar(p, f.progress)); err != nil {
		return err
	}
	return f.report(p, run.all)
}

// report prints what came of it.
func (f *replayFlags) report(p process, all *replay.Partial) error {
	r := past.FleetReport{Partial: all, Limit: f.limit}
	var err error
	if f.format == "json" {
		err = printJSON(p, r.Document())
	} else {
		err = printAll(p, r.Text(p.page()))
	}
	if err == nil && f.failsFleet(all.Summary) {
		err = exitWith(exitReject)
	}
	return err
}

// failsFleet reports whether something is there that --fail-on names.
func (f *replayFlags) failsFleet(s *replay.Summary) bool {
	return slices.ContainsFunc(f.failOn, func(word string) bool {
		switch word {
		case failChanged:
			return s.Count("") > 0
		case failLost:
			return s.Lost.Calls > 0
		case failFault:
			return s.Faults.Calls > 0
		}
		return s.Count(replay.Change(word)) > 0
	})
}

// fleetGC is by how many hundredths the heap may grow before garbage is collected.
const fleetGC = 300

// A fleetRun decides a part of a fleet, in smaller parts: as many at once as there are
// processors, and each with a memory of its own, which ends with it.
type fleetRun struct {
	replayer *past.Replayer
	held     replay.Past
	part     replay.Part
	state    string // the file that results are kept in; "": none

	all  *replay.Partial // of what is done
	done atomic.Int64    // records that were looked at
}

// partRecords is how many records a part should have: what is remembered of the sessions
// of so many is what a processor takes of memory.
const partRecords = 16 << 10

// inner is into how many smaller parts the part is dealt out. It is the same in a later
// run.
func (r *fleetRun) inner() int {
	n := r.held.Records() / int64(r.part.N) / partRecords
	return int(min(max(n+1, 1), int64(replay.MaxParts/r.part.N)))
}

// resume takes what an earlier run has done.
func (r *fleetRun) resume() error {
	if r.state == "" {
		return nil
	}
	before, err := readPartial(r.state)
	if err != nil || before == nil {
		return err
	}
	for _, name := range before.Parts {
		if part, _ := replay.ParsePart(name); part != r.part && !r.within(part) {
			return fmt.Errorf("%s: it is of the part %s, and not of %s", r.state, name, r.part)
		}
	}
	if err := r.all.Merge(before); err != nil {
		return hintedError{fmt.Errorf("%s: %w", r.state, err), "name another file, or remove this one, to begin anew"}
	}
	r.done.Store(before.Summary.Records)
	return nil
}

func (r *fleetRun) within(part replay.Part) bool {
	n := r.inner()
	for i := range n {
		if r.part.Within(i+1, n) == part {
			return true
		}
	}
	return false
}

// parts decides all that are not done yet.
func (r *fleetRun) parts(ctx context.Context, bar *progressBar) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	n := r.inner()
	left := make(chan replay.Part)
	results := make(chan *replay.Partial)
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for part := range left {
				one, err := r.one(ctx, part)
				if err != nil {
					stop(err)
					continue
				}
				results <- one
			}
		})
	}
	go func() {
		whole := slices.Contains(r.all.Parts, r.part.String())
		for i := range n {
			part := r.part.Within(i+1, n)
			if whole || slices.Contains(r.all.Parts, part.String()) {
				continue
			}
			select {
			case left <- part:
			case <-ctx.Done():
			}
		}
		close(left)
		workers.Wait()
		close(results)
	}()
	return r.collect(ctx, results, n, bar, stop)
}

// one decides a small part.
func (r *fleetRun) one(ctx context.Context, part replay.Part) (*replay.Partial, error) {
	held := r.held.Part(ctx, part.Has)
	sum, err := r.replayer.Part(ctx, func(yield func(*replay.Held, error) bool) {
		for h, err := range held {
			r.done.Add(1)
			if !yield(h, err) {
				return
			}
		}
	})
	if err != nil {
		return nil, err
	}
	return &replay.Partial{Task: r.all.Task, Parts: []string{part.String()}, Summary: sum}, nil
}

// collect takes results together as they come, and keeps them in the file.
func (r *fleetRun) collect(ctx context.Context, results <-chan *replay.Partial, n int, bar *progressBar, stop func(error)) error {
	tick := time.NewTicker(progressEvery)
	defer tick.Stop()
	bar.records = r.held.Records() / int64(r.part.N)
	for open := true; open; {
		select {
		case one, more := <-results:
			if open = more; more {
				if err := r.keep(one); err != nil {
					stop(err)
				}
			}
		case <-tick.C:
		}
		bar.at(int(r.done.Load()))
	}
	bar.end()
	err := context.Cause(ctx)
	if errors.Is(err, context.Canceled) {
		err = fmt.Errorf("interrupted after %d of %d parts", len(r.all.Parts), n)
		if r.state != "" {
			err = hintedError{err, "the same command goes on from " + r.state}
		}
	}
	if err != nil {
		return err
	}
	r.all.Parts = []string{r.part.String()}
	return r.write()
}

func (r *fleetRun) keep(one *replay.Partial) error {
	if err := r.all.Merge(one); err != nil {
		return err
	}
	return r.write()
}

// write puts what is done in the place of what was done before, whole.
func (r *fleetRun) write() error {
	if r.state == "" {
		return nil
	}
	text, err := r.all.Append(nil)
	if err != nil {
		return err
	}
	if err := hostfs.Replace(r.state, text, 0o600); err != nil {
		return hostfs.At(r.state, err)
	}
	return nil
}
