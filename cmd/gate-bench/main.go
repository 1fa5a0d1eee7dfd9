// Command gate-bench compares what a decision costs: gate-hook and gate hook
// beside a Go program that only reads JSON and opens a socket (the "Go floor"),
// OPA's own commands and hooks as people write them, as whole processes and in
// the same rounds.
//
//	go run ./cmd/gate-bench -sizes 25,100,1000,5000
//	go run ./cmd/gate-bench -sessions -before DIR
//	go run ./cmd/gate-bench -confined -rounds 400 -before DIR
//	go run ./cmd/gate-bench -protocols
//	go run ./cmd/gate-bench -fleet -sizes 25,1000
//	go run ./cmd/gate-bench -past 1000000 -out DIR
//	go run ./cmd/gate-bench -collect -machines 5000 -records 1000000 -database postgres://…
//
// The second measures the calls of sessions: both hooks of a call, with outputs of
// several sizes, counted, by one agent and by many at once, and what agents wait in a
// session. It takes the calls of policies/testdata, so that it is run at the root of the
// tree. DIR has gate and gate-hook of another tree, which take turns with those of this
// one.
//
// The third measures a confined call of /bin/true, in a project with a repository and in one
// without. Beside it stand a bare start, bubblewrap with few mounts, and bubblewrap with
// the mounts, namespaces and filter of gate-run. DIR has gate-run of another tree. On a busy
// machine the fastest run says most.
//
// The fourth asks about the same call in each protocol that gate speaks, over one
// connection and over 64 at once.
//
// The fifth has machines with the same signed release, with and without shipping to a
// collector that is not there, and with a trial beside the release. The same calls run on all
// of them in turns.
//
// The sixth measures nothing: it writes an archive of a fleet's past, for gate replay --from.
//
// The seventh has simulated machines send an hour of their day to gate collect, which is killed
// at random moments and started again, and looks whether every record is there once, and
// every finding that there is a reason for. DIR of -before has the gate-server that it runs;
// without it that of this tree is built. It is run at the root of the tree.
//
// It builds what it measures from this module, writes nothing outside a
// temporary directory, and leaves out what the machine does not have: only root
// can have policies in force as a signed bundle. What counts are the ratios: the
// milliseconds are the machine's.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"gate/internal/fleet"
)

func main() {
	rounds := flag.Int("rounds", 40, "rounds at 25 and 100 policies; fewer are run with more policies")
	sizes := flag.String("sizes", "25,100,1000,5000", "numbers of policies")
	only := flag.String("only", "", "run only what has one of these words in its name (the floor always runs)")
	npm := flag.Bool("npm", false, "install cc-safety-net from the npm registry and measure it, too")
	sessions := flag.Bool("sessions", false, "measure the calls of sessions, by 1, 8 and 32 agents at once")
	confined := flag.Bool("confined", false, "measure confined calls, beside bubblewrap")
	other := flag.String("before", "", "with -sessions, -confined or -collect: a directory with the programs of another tree, to compare with")
	shipped := flag.Bool("fleet", false, "measure gate-hook with shipping and a trial on, beside the same without")
	pastCalls := flag.Int("past", 0, "write an archive of so many calls of a fleet's past")
	pastDir := flag.String("out", "", "with -past: the directory of the archive")
	protocols := flag.Bool("protocols", false, "measure a warm decision in each protocol, by 1 and 64 connections")
	collect := flag.Bool("collect", false, "have simulated machines send to gate collect, and look what it has of them")
	machines := flag.Int("machines", 5000, "with -collect: how many there are")
	records := flag.Int("records", 200_000, "with -collect: how many records they write in an hour of theirs")
	database := flag.String("database", "", "with -collect: an empty database of PostgreSQL, postgres://… (SQLite in a temporary directory)")
	level := flag.String("level", "effects", "with -collect: what records have, effects or text")
	most := flag.Duration("most", 10*time.Minute, "with -collect: for how long machines may send")
	kill := flag.Duration("kill", 15*time.Second, "with -collect: for how long a collector lives, on the average; 0: until the end")
	flag.Parse()
	if flag.Arg(0) == serverWord && flag.NArg() == 1 {
		if err := mcpServer(os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, "gate-bench:", err)
			os.Exit(1)
		}
		return
	}
	ctx, stop := signal.NotifyContext(wholeLife(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := func() error {
		list, err := numbers(*sizes)
		if err != nil {
			return err
		}
		if *rounds < 1 || flag.NArg() > 0 {
			return errors.New("want -rounds of 1 or more, and no further words")
		}
		if *other != "" && !*sessions && !*confined && !*collect {
			return errors.New("-before is for -sessions, -confined and -collect")
		}
		if *machines < 1 || *machines > 100_000 || *records > 20_000_000 || *most > time.Hour || *level != string(fleet.Effects) && *level != string(fleet.Text) {
			return errors.New("-collect takes up to 100000 machines, 20000000 records and an hour, and the level effects or text")
		}
		if (*pastCalls > 0) != (*pastDir != "") {
			return errors.New("-past and -out go together")
		}
		if *pastCalls > 0 {
			return fleetArchive(ctx, os.Stderr, *pastCalls, *pastDir)
		}
		dir, err := os.MkdirTemp("", "gate-bench-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		l := lab{dir: dir, rounds: *rounds, npm: *npm, log: os.Stderr}
		if *only != "" {
			l.only = strings.Split(*only, ",")
		}
		if *shipped {
			return l.fleet(ctx, os.Stdout, list)
		}
		if *collect {
			return l.collect(ctx, os.Stdout, crowd{*machines, *records, *database, fleet.Level(*level), *most, *kill, *other})
		}
		if *protocols {
			return l.protocols(ctx, os.Stdout)
		}
		if *sessions {
			return l.sessions(ctx, os.Stdout, *other)
		}
		if *confined {
			return l.confined(ctx, os.Stdout, *other)
		}
		return l.run(ctx, os.Stdout, list)
	}()
	if err != nil {
		fmt.Fprintln(os.Stderr, "gate-bench:", err)
		os.Exit(1)
	}
}

func numbers(list string) ([]int, error) {
	var out []int
	for word := range strings.SplitSeq(list, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(word))
		if err != nil || n < 1 || n > 100_000 {
			return nil, fmt.Errorf("-sizes %s: want numbers from 1 to 100000", list)
		}
		out = append(out, n)
	}
	return out, nil
}
