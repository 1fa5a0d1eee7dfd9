package commands

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"gate/bundles"
	"gate/hook"
	"gate/internal/places"
	"gate/internal/sealed"
	"gate/internal/setting"
	"gate/internal/setup"
	"gate/internal/source"
	"gate/internal/sync"
	"gate/scopes"
)

// syncFlags are the flags of gate sync.
type syncFlags struct {
	dirs             dirFlags
	feed             setting.Feed // --from, and what belongs to it
	now, watch, json bool
	every, spread    time.Duration
	longPoll         time.Duration
}

func newSync(p process) *cobra.Command {
	var f syncFlags
	cmd := &cobra.Command{
		Use:   "sync",
		Short: "fetch and install the signed bundles of this machine",
		Long: "Fetches the bundles that managed settings name (sync), or the one of --from, and puts\n" +
			"in force what is newer, signed by the right keys and passes its own tests. Whatever\n" +
			"else comes, the release in force stays. A machine has its own moment within --spread, so\n" +
			"that a fleet does not ask at once; --now does not wait for it. docs/sync.md has more.",
		Example: "  gate sync --now\n  gate sync --watch --every 30m\n  gate sync --now --from https://policy.acme.example/company.tar.gz",
		Args:    noArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return f.run(cmd.Context(), p) },
	}
	addDirFlags(cmd, &f.dirs)
	flags := cmd.Flags()
	flags.StringVar(&f.feed.URL, "from", "", "fetch this bundle only: a `PATH`, or an address (https, http, oci)")
	f.addFeed(cmd)
	flags.StringVar(&f.feed.Keys, "keys", "", "with --from: the `DIR` or address where successors of the key set are, as 2.json, 3.json …")
	flags.BoolVar(&f.now, "now", false, "at once")
	flags.BoolVarP(&f.watch, "watch", "w", false, "stay, and sync again and again")
	flags.DurationVar(&f.every, "every", time.Hour, "with --watch: from one sync to the next")
	flags.DurationVar(&f.spread, "spread", 5*time.Minute, "the time that a fleet takes to ask, with --watch for the first time")
	flags.DurationVar(&f.longPoll, "long-poll", 0, "with --watch: how long a server of OPA's bundle API may hold a request until there is something new")
	flags.BoolVar(&f.json, "json", false, "print JSON for programs")
	return cmd
}

// addFeed adds the flags that describe one place that a bundle comes from.
func (f *syncFlags) addFeed(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.feed.Name, "name", "", "the bundle's name")
	flags.StringVar(&f.feed.Pin, "pin", "", "take this digest without metadata.gate, as the bundle of --name")
	flags.StringVar(&f.feed.TokenFile, "token-file", "", "the `FILE` with a bearer token, or user:password for a registry")
	flags.StringVar(&f.feed.CertFile, "cert-file", "", "the `FILE` of the client's certificate, PEM")
	flags.StringVar(&f.feed.KeyFile, "key-file", "", "the `FILE` of the client's key, PEM")
	flags.StringVar(&f.feed.CAFile, "ca-file", "", "the `FILE` of the CA of the server's certificate, PEM")
}

// A syncer brings the bundles of one machine up to date.
type syncer struct {
	process
	flags *syncFlags
	dirs  dirs
	store sync.Store

	settings scopes.Settings // of the managed directory, since feeds read them
}

// syncMemory is from where on a sync rather takes time than memory: it runs beside
// whatever else the machine does, and compiling a large bundle makes much garbage.
const syncMemory = 192 << 20

func (f *syncFlags) run(ctx context.Context, p process) error {
	s, err := f.syncer(p)
	if err != nil {
		return err
	}
	debug.SetMemoryLimit(min(debug.SetMemoryLimit(-1), syncMemory))
	if f.every < time.Minute {
		return usageError("--every takes a minute at least")
	}
	if f.longPoll != 0 && (f.longPoll < 10*time.Second || !f.watch) {
		return usageError("--long-poll goes with --watch, and takes ten seconds at least")
	}
	schedule := sync.Schedule{Every: f.every, Machine: machineID(), Random: rand.Float64}
	if f.watch {
		return s.watch(ctx, schedule)
	}
	if wait := schedule.Slot(f.spread).Round(time.Second); !f.now && f.feed.URL == "" && wait > 0 {
		if _, _, _, err := s.feeds(); err != nil {
			return err // nobody waits for a mistake
		}
		if err := p.awaitMoment(ctx, wait); err != nil {
			return err
		}
	}
	list, err := s.once(ctx)
	s.ship(ctx)
	if err != nil {
		return err
	}
	return s.report(list)
}

// syncer looks whether the managed directory is what it must be.
func (f *syncFlags) syncer(p process) (*syncer, error) {
	d, err := f.dirs.ForPeople(p.lookupEnv)
	if err != nil {
		return nil, err
	}
	o := places.ManagedFiles(d)
	err = o.Above(d.Managed)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s is missing: put the key set there first, as %s", d.Managed, sync.KeysFile)
	}
	if err != nil {
		return nil, err
	}
	check := func(name string, info fs.FileInfo) error {
		if err := o.Check(name, info); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		return nil
	}
	return &syncer{process: p, flags: f, dirs: d, store: sync.Store{Dir: d.Managed, Check: check}}, nil
}

// watch syncs until it is told to end.
func (s *syncer) watch(ctx context.Context, schedule sync.Schedule) error {
	failures, news := 0, false
	for first := true; ; first = false {
		if first && !s.flags.now && s.awaitMoment(ctx, schedule.Slot(s.flags.spread)) != nil {
			return nil
		}
		var wait time.Duration
		list, err := s.once(ctx)
		s.ship(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			fmt.Fprintf(s.stderr, "gate: %s\n", visible(err.Error()))
		}
		failed := err != nil
		for _, b := range list {
			failed = failed || b.unjudged()
			wait = max(wait, b.wait)
		}
		if err := s.report(list); err != nil && !errors.As(err, new(statusError)) {
			return err
		}
		if failures++; !failed {
			failures = 0
		}
		// News that changed nothing would be news for ever.
		if news && !slices.ContainsFunc(list, func(b synced) bool { return b.Changed() }) {
			list = nil
		}
		if news = s.rest(ctx, schedule.Next(time.Now(), failures, wait), list); ctx.Err() != nil {
			return nil
		}
	}
}

// awaitMoment waits until it is this machine's turn, and says so: whoever looks on
// would take it for stuck.
func (p process) awaitMoment(ctx context.Context, wait time.Duration) error {
	fmt.Fprintf(p.stderr, "gate: waiting %s, this machine's moment; --now does not\n", wait.Round(time.Second))
	return p.wait(ctx, wait)
}

func (p process) wait(ctx context.Context, d time.Duration) error {
	if p.pause != nil {
		return p.pause(ctx, d)
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// A synced is what became of one bundle.
type synced struct {
	sync.Outcome
	feed        setting.Feed
	url         string
	hint        string
	release     sync.Active       // in force afterwards, beside which a trial stands
	left        map[string]string // why policies of what came into force stay with OPA though they have plans, by their ids
	offered     string            // the digest of what was judged; "" if nothing was
	unreachable bool              // its source gave nothing; it is asked again soon
	wait        time.Duration     // how long it wants to be left alone
}

// unjudged reports that what went wrong says nothing about the bundle: its source
// gave nothing, or it could not be written here.
func (b *synced) unjudged() bool {
	return b.unreachable || errors.As(b.Err, new(*sync.DiskError))
}

// once syncs every bundle of the machine, and notes what fails.
func (s *syncer) once(ctx context.Context) ([]synced, error) {
	list, err := s.all(ctx)
	if ctx.Err() == nil {
		s.noteFailures(ctx, list, err)
	}
	return list, err
}

func (s *syncer) all(ctx context.Context) ([]synced, error) {
	feeds, order, labels, err := s.feeds()
	if err != nil {
		return nil, err
	}
	known := comparison{}
	rules := sync.Rules{Now: time.Now(), Labels: labels, Gate: setup.Version(), Facts: hook.FactsSchema, Try: known.try, Pins: map[string]string{}, Order: order}
	if len(order) > 0 {
		rules.First = order[0]
	}
	for _, feed := range feeds {
		if feed.Pin != "" {
			rules.Pins[feed.Pin] = feed.Name
		}
	}
	if err := s.heal(ctx, rules); err != nil {
		return nil, err
	}
	current, err := s.store.Current()
	if err != nil {
		return nil, err
	}
	if err := s.channelled(&rules); err != nil {
		return nil, err
	}
	wants := s.wanted(ctx, feeds, labels, current)
	list, offers, at := s.offers(ctx, wants, current)
	outcomes, err := s.store.Activate(ctx, offers, rules)
	for n := len(offers); n < len(outcomes); n++ { // trials that ended
		at, list = append(at, len(list)), append(list, synced{})
	}
	s.again(ctx, wants, at, offers, outcomes, rules)
	for n, o := range outcomes {
		list[at[n]].Outcome = o
		if o.Err == nil && o.Changed() {
			list[at[n]].left = known[o.After.Digest]
		}
		for _, r := range bundles.Refusals(o.Err) {
			list[at[n]].hint = cmp.Or(list[at[n]].hint, r.Reason.Hint())
		}
	}
	if now, err := s.store.Current(); err == nil {
		for i := range list {
			if in := now.Find(list[i].Name); in != nil {
				list[i].release = *in
			}
		}
	}
	s.noteAll(list)
	compileManaged(s.dirs, known)
	return list, err
}

// offers fetches what is wanted. The outcome of offer n belongs at list[at[n]]; what could not be fetched says so there.
func (s *syncer) offers(ctx context.Context, wants []want, current sync.Current) (list []synced, offers []sync.Offer, at []int) {
	list = make([]synced, len(wants))
	for i, w := range wants {
		feed, in := w.feed, current.Find(w.feed.Name)
		if w.trial {
			in = current.Trial(feed.Name)
		}
		list[i] = synced{feed: feed, url: feed.URL, Outcome: sync.Outcome{Name: feed.Name, Trial: w.trial}}
		if in != nil {
			list[i].Before, list[i].After = *in, *in
		}
		o, err := s.offer(ctx, w)
		if err != nil {
			list[i].fail(err)
			continue
		}
		list[i].offered = list[i].Before.Digest
		if !o.Unchanged {
			list[i].offered = sealed.Digest(o.Archive)
		}
		offers, at = append(offers, o), append(at, i)
	}
	return list, offers, at
}

// again fetches what is in force already, but is not worth what it was: it may
// have been signed again, or be damaged on the disk.
func (s *syncer) again(ctx context.Context, wants []want, at []int, offers []sync.Offer, outcomes []sync.Outcome, r sync.Rules) {
	for n, o := range outcomes {
		if n >= len(offers) || o.Err == nil || !offers[n].Unchanged || errors.Is(o.Err, sealed.OffChannel) {
			continue
		}
		offer, err := s.fetch(ctx, wants[at[n]], "")
		if err != nil {
			continue
		}
		if again, err := s.store.Activate(ctx, []sync.Offer{offer}, r); err == nil {
			outcomes[n] = again[0]
		}
	}
}

func (b *synced) fail(err error) {
	b.Err, b.unreachable = err, len(bundles.Refusals(err)) == 0 // a key set or a channel can be refused
	var e *source.Error
	if errors.As(err, &e) {
		b.hint, b.wait = e.Hint, e.Wait
	}
	for _, r := range bundles.Refusals(err) {
		b.hint = cmp.Or(b.hint, r.Reason.Hint())
	}
}
