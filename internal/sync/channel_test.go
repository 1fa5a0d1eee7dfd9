package sync_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"gate/bundles"
	"gate/internal/sealed"
	"gate/internal/sync"
)

// channel is a signed channel file that gives everybody one release.
func (p *publisher) channel(version int64, digest string, expires time.Time) []byte {
	p.t.Helper()
	return p.sign(sealed.Channel{Version: version, Expires: expires, Releases: map[string][]sealed.Rollout{"company": {{Digest: digest}}}})
}

// trial is a signed channel file that gives everybody one release, and another one
// beside it; "" is none.
func (p *publisher) trial(version int64, release, trial string) []byte {
	p.t.Helper()
	c := sealed.Channel{Version: version, Releases: map[string][]sealed.Rollout{"company": {{Digest: release}}}}
	if trial != "" {
		c.Trials = map[string][]sealed.Rollout{"company": {{Digest: trial}}}
	}
	return p.sign(c)
}

func (p *publisher) sign(c sealed.Channel) []byte {
	p.t.Helper()
	data, err := c.Sign(nil, bundles.Signing{ID: "release", Key: p.keys.Keys["release"], By: p.private})
	p.check(err)
	return data
}

// TestTakeChannel: what is refused leaves the channel that was taken.
func TestTakeChannel(t *testing.T) {
	p := newPublisher(t)
	m := newMachine(t, p.keySet())
	one, two := sealed.Digest([]byte("1")), sealed.Digest([]byte("2"))
	never := time.Time{}
	for _, step := range []struct {
		name string
		file []byte
		want error
	}{
		{"a stranger's", newPublisher(t).channel(1, one, never), sealed.BadSignature},
		{"the first", p.channel(3, one, never), nil},
		{"the same", p.channel(3, one, never), nil},
		{"the same version, another release", p.channel(3, two, never), sealed.Rollback},
		{"an older one", p.channel(2, one, never), sealed.Rollback},
		{"one that is over", p.channel(4, two, now), sealed.Expired},
		{"far ahead", p.channel(1<<50, two, never), sealed.FastForward},
		{"a proxy's page", []byte("<html>"), sealed.BadGrant},
		{"nothing", nil, sealed.BadGrant},
		{"the next", p.channel(4, two, now.Add(time.Hour)), nil},
	} {
		before := m.kept()
		c, err := sync.Store{Dir: m.dir}.TakeChannel(context.Background(), step.file, now)
		if !errors.Is(err, step.want) {
			t.Errorf("%s: %v, want %v", step.name, err, step.want)
		}
		switch kept := m.kept(); {
		case err != nil && kept != before:
			t.Errorf("%s: it was refused, and kept", step.name)
		case err == nil && (kept != string(step.file) || len(c.Releases["company"]) != 1):
			t.Errorf("%s: it was taken, but is not there: %+v", step.name, c)
		}
	}
	m.write(sync.ChannelFile, []byte("{"))
	if _, err := (sync.Store{Dir: m.dir}).TakeChannel(context.Background(), p.channel(9, one, never), now); err == nil {
		t.Error("what was seen cannot be read, and a channel was taken")
	}
}

// kept is the channel file on the disk.
func (m *machine) kept() string {
	m.t.Helper()
	data, err := os.ReadFile(filepath.Join(m.dir, sync.ChannelFile))
	if err != nil && !os.IsNotExist(err) {
		m.t.Fatal(err)
	}
	return string(data)
}

// TestChannelStops has every step of taking a channel fail: afterwards the old or
// the new one is there, whole, and the next sync takes the new one.
func TestChannelStops(t *testing.T) {
	p := newPublisher(t)
	one := sealed.Digest([]byte("1"))
	old, next := p.channel(1, one, time.Time{}), p.channel(2, one, time.Time{})
	prepared := newMachine(t, p.keySet())
	prepared.activate(p.offer("company", 1))
	prepared.write(sync.ChannelFile, old)
	for step := 1; ; step++ {
		m := prepared.copy()
		n, failed := 0, ""
		s := sync.WithFaults(sync.Store{Dir: m.dir}, func(name string) error {
			if n++; n >= step {
				failed = name
				return syscall.ENOSPC
			}
			return nil
		})
		_, err := s.TakeChannel(context.Background(), next, now)
		if failed == "" {
			if step < 5 || err != nil {
				t.Errorf("only %d steps were seen: %v", step-1, err)
			}
			return
		}
		if kept := m.kept(); err == nil || kept != string(old) && kept != string(next) {
			t.Errorf("full at %s: %v, and half a channel is there:\n%s", failed, err, kept)
		}
		if got := m.inForce(); got != "company 1;" {
			t.Errorf("full at %s: %s is in force", failed, got)
		}
		if _, err := (sync.Store{Dir: m.dir}).TakeChannel(context.Background(), next, now); err != nil || m.kept() != string(next) {
			t.Errorf("after it was full at %s: %v", failed, err)
		}
	}
}

// TestOffChannel: only the release that the channel has comes into force.
func TestOffChannel(t *testing.T) {
	p := newPublisher(t)
	m := newMachine(t, p.keySet())
	first, second := p.offer("company", 1), p.offer("company", 2)
	second.Digest = sealed.Digest(first.Archive)
	if out := m.activate(second)[0]; !errors.Is(out.Err, sealed.OffChannel) || m.inForce() != "" {
		t.Errorf("another release: %v, and %s is in force", out.Err, m.inForce())
	}
	m.activate(first)
	again := sync.Offer{Name: "company", Unchanged: true, Digest: sealed.Digest(second.Archive)}
	if out := m.activate(again)[0]; !errors.Is(out.Err, sealed.OffChannel) || m.inForce() != "company 1;" {
		t.Errorf("what is in force is another release: %v", out.Err)
	}
}

// trying is a machine whose channel decides about the bundle company.
func trying(p *publisher) *machine {
	m := newMachine(p.t, p.keySet())
	m.rules.Channelled, m.rules.Machine = []string{"company"}, sealed.MachineName("here")
	return m
}

// TestTrial: a trial stands beside the release in force and takes nothing from it. It
// was never seen, so that its end is no way back, and it ends when the channel
// no longer has it.
func TestTrial(t *testing.T) {
	p := newPublisher(t)
	m := trying(p)
	one, two, three := p.offer("company", 1), p.offer("company", 2), p.offer("company", 3)
	id := func(o sync.Offer) string { return sealed.Digest(o.Archive) }
	tried := func(o sync.Offer) sync.Offer { o.Trial = true; return o }
	kept := sync.Offer{Name: "company", Unchanged: true}
	for i, step := range []struct {
		name           string
		release, trial string // of the channel
		offers         []sync.Offer
		want           error // of the last offer
		inForce        string
	}{
		{"beside the first", id(one), id(two), []sync.Offer{one, tried(two)}, nil, "company 1;trial company 2;"},
		{"nothing new", id(one), id(two), []sync.Offer{kept, tried(kept)}, nil, "company 1;trial company 2;"},
		{"a trial that the channel does not have", id(one), id(two), []sync.Offer{kept, tried(three)}, sealed.OffChannel, "company 1;trial company 2;"},
		{"a trial by hand", id(one), id(three), []sync.Offer{three}, nil, "company 1;trial company 3;"},
		{"the end, with the old digest", id(one), "", []sync.Offer{one}, nil, "company 1;"},
		{"again", id(one), id(two), []sync.Offer{kept, tried(two)}, nil, "company 1;trial company 2;"},
		{"it comes into force", id(two), "", []sync.Offer{two}, nil, "company 2;"},
		{"an older one on trial", id(two), id(one), []sync.Offer{kept, tried(one)}, nil, "company 2;trial company 1;"},
		{"an older one in force", id(one), "", []sync.Offer{one}, sealed.Rollback, "company 2;"},
	} {
		if _, err := (sync.Store{Dir: m.dir}).TakeChannel(context.Background(), p.trial(int64(i+1), step.release, step.trial), now); err != nil {
			t.Fatal(err)
		}
		out := m.activate(step.offers...)
		last := out[len(step.offers)-1]
		if !errors.Is(last.Err, step.want) || m.inForce() != step.inForce || len(m.leftovers()) > 0 && i == 1 {
			t.Errorf("%s: %v, in force: %s, besides %v", step.name, last.Err, m.inForce(), m.leftovers())
		}
		for _, ended := range out[len(step.offers):] {
			if !ended.Trial || !ended.Changed() || ended.After != (sync.Active{}) {
				t.Errorf("%s: %+v", step.name, ended)
			}
		}
	}
}

// TestOlderTrial: an older gate put a trial in the place of the release, and noted it
// as seen. The release that the channel has comes back beside it, and nothing that
// the channel does not have.
func TestOlderTrial(t *testing.T) {
	p := newPublisher(t)
	m := trying(p)
	one, two := p.offer("company", 1), p.offer("company", 2)
	other := p.offer("company", 1, func(md *bundles.Metadata) { md.Expires = now.Add(time.Hour) })
	m.write(sync.ChannelFile, p.trial(1, sealed.Digest(two.Archive), ""))
	m.activate(two)
	current := m.current()
	old := strings.Replace(string(current.Encode()), `"name"`, `"record": true, "name"`, 1)
	m.write(sync.CurrentFile, []byte(old))
	m.write(sync.ChannelFile, p.trial(2, sealed.Digest(one.Archive), sealed.Digest(two.Archive)))
	if m.inForce() != "trial company 2;" {
		t.Fatalf("as the older gate left it: %s", m.inForce())
	}
	if out := m.activate(other)[0]; !errors.Is(out.Err, sealed.OffChannel) || m.inForce() != "trial company 2;" {
		t.Errorf("what the channel does not have: %v, %s", out.Err, m.inForce())
	}
	if out := m.activate(one)[0]; out.Err != nil || m.inForce() != "company 1;trial company 2;" {
		t.Errorf("the release: %v, %s", out.Err, m.inForce())
	}
	other.Digest = ""
	m.write(sync.ChannelFile, p.trial(3, sealed.Digest(other.Archive), ""))
	if out := m.activate(other)[0]; !errors.Is(out.Err, sealed.Rollback) {
		t.Errorf("the same version with other bytes: %v", out.Err)
	}
}

// TestTrialCounts: the channel that was taken meanwhile has what was to be tried as the
// release. Then it is held against what was seen, as every release is.
func TestTrialCounts(t *testing.T) {
	p := newPublisher(t)
	one, two, three := p.offer("company", 1), p.offer("company", 2), p.offer("company", 3)
	one.Trial, three.Trial = true, true
	m := trying(p)
	m.activate(two)
	m.write(sync.ChannelFile, p.trial(1, sealed.Digest(one.Archive), ""))
	if out := m.activate(one)[0]; !errors.Is(out.Err, sealed.Rollback) || m.inForce() != "company 2;" {
		t.Errorf("an older one: %v, %s", out.Err, m.inForce())
	}
	m.write(sync.ChannelFile, p.trial(2, sealed.Digest(three.Archive), ""))
	if out := m.activate(three)[0]; out.Err != nil || m.inForce() != "company 3;" {
		t.Errorf("a newer one: %v, %s", out.Err, m.inForce())
	}
}

// TestTrialHealed: where current.json is lost, no trial that stands on the disk comes
// into force in the place of the release, whatever is known of what was seen.
func TestTrialHealed(t *testing.T) {
	p := newPublisher(t)
	one, two := p.offer("company", 1), p.offer("company", 2)
	two.Trial = true
	trial := p.trial(1, sealed.Digest(one.Archive), sealed.Digest(two.Archive))
	for _, c := range []struct {
		name    string
		offers  []sync.Offer
		damage  func(m *machine)
		inForce string
	}{
		{"seen.json is cut, too", []sync.Offer{one, two}, func(m *machine) { m.write(sync.SeenFile, []byte("{")) }, "company 1;"},
		{"seen.json is lost, too", []sync.Offer{one, two}, func(m *machine) { os.Remove(filepath.Join(m.dir, sync.SeenFile)) }, "company 1;"},
		{"seen.json is whole", []sync.Offer{one, two}, func(*machine) {}, "company 1;"},
		{"there was a trial only", []sync.Offer{two}, func(*machine) {}, ""},
	} {
		m := trying(p)
		m.write(sync.ChannelFile, trial)
		m.activate(c.offers...)
		m.write(sync.CurrentFile, []byte("{"))
		c.damage(m)
		if _, err := (sync.Store{Dir: m.dir}).Heal(context.Background(), m.rules); err != nil || m.inForce() != c.inForce {
			t.Errorf("%s: %v, in force: %q, want %q", c.name, err, m.inForce(), c.inForce)
		}
	}
}

// TestTrialStops has every step fail of a sync that ends one trial and begins another
// one: the release in force is there afterwards, with a whole trial or none.
func TestTrialStops(t *testing.T) {
	p := newPublisher(t)
	one, two, three := p.offer("company", 1), p.offer("company", 2), p.offer("company", 3)
	two.Trial, three.Trial = true, true
	prepared := trying(p)
	prepared.write(sync.ChannelFile, p.trial(1, sealed.Digest(one.Archive), sealed.Digest(two.Archive)))
	prepared.activate(one, two)
	prepared.write(sync.ChannelFile, p.trial(2, sealed.Digest(one.Archive), sealed.Digest(three.Archive)))
	for step := 1; ; step++ {
		m := prepared.copy()
		n, failed := 0, ""
		s := sync.WithFaults(sync.Store{Dir: m.dir}, func(name string) error {
			if n++; n >= step {
				failed = name
				return syscall.ENOSPC
			}
			return nil
		})
		_, err := s.Activate(context.Background(), []sync.Offer{three}, m.rules)
		if failed == "" {
			if step < 20 || err != nil || m.inForce() != "company 1;trial company 3;" {
				t.Errorf("only %d steps were seen: %v, %s", step-1, err, m.inForce())
			}
			return
		}
		if got := m.inForce(); got != "company 1;" && got != "company 1;trial company 2;" && got != "company 1;trial company 3;" {
			t.Errorf("full at %s: %s is in force", failed, got)
		}
		if out := m.activate(three); out[0].Err != nil || m.inForce() != "company 1;trial company 3;" {
			t.Errorf("after it was full at %s: %v, %s", failed, out[0].Err, m.inForce())
		}
	}
}

// TestFormats: the file for older gates, which has no trials, is one version with the
// file of trials beside it. Whoever took the latter does not take the former for it.
func TestFormats(t *testing.T) {
	p := newPublisher(t)
	m := newMachine(t, p.keySet())
	one, two := sealed.Digest([]byte("1")), sealed.Digest([]byte("2"))
	c := sealed.Channel{
		Version: 1, Releases: map[string][]sealed.Rollout{"company": {{Digest: one}}}, Trials: map[string][]sealed.Rollout{"company": {{Digest: two}}},
	}
	older, _ := c.Older()
	other := c
	other.Releases = map[string][]sealed.Rollout{"company": {{Digest: two}}}
	for _, step := range []struct {
		name string
		file []byte
		want error
	}{
		{"format 1", p.sign(older), nil},
		{"format 2 that says something else", p.sign(other), sealed.Rollback},
		{"format 2", p.sign(c), nil},
		{"format 1 again", p.sign(older), sealed.Rollback},
	} {
		if _, err := (sync.Store{Dir: m.dir}).TakeChannel(context.Background(), step.file, now); !errors.Is(err, step.want) {
			t.Errorf("%s: %v, want %v", step.name, err, step.want)
		}
	}
}

// TestChannelled: an offer that was chosen by an earlier channel, or by hand, does
// not pass the one that was taken since.
func TestChannelled(t *testing.T) {
	p := newPublisher(t)
	m := newMachine(t, p.keySet())
	one, two := p.offer("company", 1), p.offer("company", 2)
	take := func(version int64, o sync.Offer) {
		t.Helper()
		_, err := sync.Store{Dir: m.dir}.TakeChannel(context.Background(), p.channel(version, sealed.Digest(o.Archive), time.Time{}), now)
		p.check(err)
	}
	m.rules.Channelled, m.rules.Machine = []string{"company"}, sealed.MachineName("here")
	for _, step := range []struct {
		name    string
		channel int64
		has     sync.Offer
		offer   sync.Offer
		want    error
		inForce string
	}{
		{"no channel yet", 0, one, one, nil, "company 1;"},
		{"another release", 2, one, two, sealed.OffChannel, "company 1;"},
		{"what is in force, though the channel went on", 3, two, sync.Offer{Name: "company", Unchanged: true}, nil, "company 1;"},
		{"what the channel has", 4, two, two, nil, "company 2;"},
		{"another bundle", 5, two, p.offer("team", 1), nil, "company 2;team 1;"},
	} {
		if step.channel > 0 {
			take(step.channel, step.has)
		}
		out := m.activate(step.offer)[0]
		if !errors.Is(out.Err, step.want) || m.inForce() != step.inForce {
			t.Errorf("%s: %v, in force: %s", step.name, out.Err, m.inForce())
		}
	}
}
