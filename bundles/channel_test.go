package bundles_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"gate/bundles"
	"gate/internal/format"
	"gate/internal/sealed"
	"gate/internal/strictjson"
)

// signers makes a key set in which alice may sign company, bob company and team,
// and carol company for the ring canary only; company needs two keys.
func signers(t *testing.T) (*bundles.KeySet, map[string]bundles.Signing) {
	t.Helper()
	set := &bundles.KeySet{
		Version: 1, Root: sealed.Role{Keys: []string{"alice"}, Threshold: 1}, Keys: map[string]bundles.Key{},
		Thresholds: map[string]int{"company": 2},
	}
	acts := map[string]bundles.Signing{}
	for id, may := range map[string]bundles.Key{
		"alice": {Bundles: []string{"company"}}, "bob": {Bundles: []string{"company", "team"}},
		"carol": {Bundles: []string{"company"}, Audiences: []string{"ring=canary"}}, "mallory": {Bundles: []string{"company"}, Revoked: true},
	} {
		pem, err := bundles.GenerateKey(sealed.Ed25519)
		if err != nil {
			t.Fatal(err)
		}
		private, err := bundles.ParsePrivate(pem)
		if err != nil {
			t.Fatal(err)
		}
		public, err := private.Public()
		if err != nil {
			t.Fatal(err)
		}
		k, err := bundles.ImportKey(public, "")
		if err != nil {
			t.Fatal(err)
		}
		k.Bundles, k.Audiences, k.Revoked = may.Bundles, may.Audiences, may.Revoked
		set.Keys[id] = k
		k.Revoked = false // whoever lost the key signs all the same
		acts[id] = bundles.Signing{ID: id, Key: k, By: private}
	}
	return set, acts
}

var (
	today = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	one   = sealed.Digest([]byte("1"))
	two   = sealed.Digest([]byte("2"))
)

type signable interface {
	Sign(old []byte, s bundles.Signing) ([]byte, error)
}

func signedBy(t *testing.T, doc signable, acts map[string]bundles.Signing, ids ...string) []byte {
	t.Helper()
	var data []byte
	for _, id := range ids {
		var err error
		if data, err = doc.Sign(data, acts[id]); err != nil {
			t.Fatal(err)
		}
	}
	return data
}

func TestChannelIsTakenFromThoseWhoMaySign(t *testing.T) {
	set, acts := signers(t)
	everybody := sealed.Channel{Version: 3, Releases: map[string][]sealed.Rollout{"company": {{Digest: one, Share: 5}, {Digest: two}}}}
	ring := sealed.Channel{Version: 3, Releases: map[string][]sealed.Rollout{"company": {{Digest: one, Labels: []string{"ring=canary"}}}}}
	both := sealed.Channel{Version: 3, Releases: map[string][]sealed.Rollout{"company": {{Digest: one}}, "team": {{Digest: two}}}}
	old := everybody
	old.Expires = today
	for _, c := range []struct {
		name string
		doc  sealed.Channel
		by   []string
		last int64
		want error
	}{
		{"two of two", everybody, []string{"alice", "bob"}, 3, nil},
		{"one of two", everybody, []string{"alice"}, 0, sealed.TooFewKeys},
		{"a ring's key for everybody", everybody, []string{"alice", "carol"}, 0, sealed.TooFewKeys},
		{"a ring's key for its ring", ring, []string{"alice", "carol"}, 0, nil},
		{"a revoked key", everybody, []string{"alice", "mallory"}, 0, sealed.TooFewKeys},
		{"only a revoked key", everybody, []string{"mallory"}, 0, sealed.UnknownKey},
		{"every bundle needs its own", both, []string{"alice", "carol"}, 0, sealed.TooFewKeys},
		{"every bundle has its own", both, []string{"alice", "bob"}, 0, nil},
		{"older than the last", everybody, []string{"alice", "bob"}, 4, sealed.Rollback},
		{"expired", old, []string{"alice", "bob"}, 0, sealed.Expired},
	} {
		got, err := set.OpenChannel(signedBy(t, c.doc, acts, c.by...), c.last, today)
		if !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
		if err == nil && got.Releases["company"][0].Digest != one {
			t.Errorf("%s: read as %+v", c.name, got)
		}
	}
}

func TestChannelSharesOnlyGrow(t *testing.T) {
	count := map[int]int{}
	for i := range 10_000 {
		machine, before := sealed.MachineName(fmt.Sprint("machine ", i)), false
		for _, share := range []int{1, 5, 50, 100} {
			c := sealed.Channel{Releases: map[string][]sealed.Rollout{"company": {{Digest: two, Share: share}, {Digest: one}}}}
			release, _ := c.For("company", machine, nil)
			in := release == two
			if before && !in {
				t.Fatalf("machine %d leaves when the share grows to %d", i, share)
			}
			if before = in; in {
				count[share]++
			}
		}
	}
	for share, n := range count {
		if want := share * 100; n < want*7/10 || n > want*13/10 {
			t.Errorf("%d of 10000 machines for %d percent", n, share)
		}
	}
}

// TestTrialsStandBeside: a trial goes to its share, and whoever has it keeps the
// release that all have.
func TestTrialsStandBeside(t *testing.T) {
	three := sealed.Digest([]byte("3"))
	c := sealed.Channel{
		Releases: map[string][]sealed.Rollout{"company": {{Digest: two, Labels: []string{"ring=canary"}}, {Digest: one}}},
		Trials:   map[string][]sealed.Rollout{"company": {{Digest: two, Share: 5}}, "team": {{Digest: three, Labels: []string{"ring=canary"}}}},
	}
	trying := 0
	for i := range 10_000 {
		machine := sealed.MachineName(fmt.Sprint("machine ", i))
		release, trial := c.For("company", machine, nil)
		if release != one || trial != "" && trial != two {
			t.Fatalf("machine %d has %s, and tries %s", i, release, trial)
		}
		if trial == two {
			trying++
		}
		if release, trial = c.For("company", machine, map[string]string{"ring": "canary"}); release != two || trial != "" {
			t.Fatalf("machine %d of the ring has %s, and tries %s", i, release, trial)
		}
	}
	if trying < 350 || trying > 650 {
		t.Errorf("%d of 10000 machines for 5 percent", trying)
	}
	for ring, want := range map[string]string{"canary": three, "slow": ""} {
		if release, trial := c.For("team", "m", map[string]string{"ring": ring}); release != "" || trial != want {
			t.Errorf("the ring %s has %q, and tries %q", ring, release, trial)
		}
	}
}

// oldChannel is a signed file of format 1, as older gates write it.
func oldChannel(t *testing.T, bundles string, acts map[string]bundles.Signing, ids ...string) []byte {
	t.Helper()
	body, err := strictjson.Object([]byte(`{"type": "gate.channel/1", "version": 3, "bundles": `+bundles+`}`), strictjson.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	doc := sealed.Sealed{Kind: format.Channel, Body: body}
	for _, id := range ids {
		if err := doc.Sign(id, acts[id].Key, acts[id].By); err != nil {
			t.Fatal(err)
		}
	}
	return doc.Encode()
}

// TestOldChannel: what format 1 has with "record" is a trial beside the release that
// the rest of the list says. This gate signs no such file, and those that it writes
// for older gates have no trials.
func TestOldChannel(t *testing.T) {
	set, acts := signers(t)
	data := oldChannel(t, `{"company": [{"digest": "`+two+`", "share": 100, "record": true}, {"digest": "`+one+`"}]}`, acts, "alice", "bob")
	c, err := set.OpenChannel(data, 0, today)
	if err != nil {
		t.Fatal(err)
	}
	if release, trial := c.For("company", "m", nil); release != one || trial != two {
		t.Errorf("the machine has %s, and tries %s", release, trial)
	}
	if _, err := c.Sign(nil, acts["alice"]); !errors.Is(err, sealed.BadGrant) || !strings.Contains(err.Error(), "gate.channel/2") {
		t.Errorf("a trial of format 1 was signed: %v", err)
	}
	c.Format = 0
	older, ok := c.Older()
	if !ok {
		t.Fatal("nothing is left for older gates")
	}
	again, err := set.OpenChannel(signedBy(t, older, acts, "alice", "bob"), 0, today)
	if release, trial := again.For("company", "m", nil); err != nil || again.Format != 1 || release != one || trial != "" {
		t.Errorf("older gates have %s, and try %s: %v", release, trial, err)
	}
	for name, body := range map[string]string{
		"record of format 2":    `"releases": {"company": [{"digest": "` + one + `", "record": true}]}`,
		"bundles of format 2":   `"bundles": {"company": [{"digest": "` + one + `"}]}`,
		"nothing":               `"releases": {}, "trials": {}`,
		"an empty list":         `"trials": {"company": []}`,
		"a trial that is a map": `"trials": {"company": {"digest": "` + one + `"}}`,
	} {
		if _, _, err := sealed.ParseChannel([]byte(`{"signed": {"type": "gate.channel/2", "version": 1, ` + body + `}, "signatures": []}`)); !errors.Is(err, sealed.BadGrant) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := set.OpenChannel(oldChannel(t, `{"company": [{"digest": "`+two+`", "record": true}]}`, acts, "alice", "carol"), 0, today); !errors.Is(err, sealed.TooFewKeys) {
		t.Errorf("a ring's key addresses a trial to everybody: %v", err)
	}
}

func TestRecoveryIsNarrow(t *testing.T) {
	set, acts := signers(t)
	machine := sealed.MachineName("laptop 7\n")
	good := sealed.Recovery{
		Machine: machine, From: today.Add(-time.Hour), Until: today.Add(time.Hour), Off: []string{"company"},
		Owner: "ana@acme.example", Reason: "OPS-17",
	}
	open := func(data []byte, machine string, now time.Time) error {
		_, err := set.OpenRecovery(data, machine, now)
		return err
	}
	data := signedBy(t, good, acts, "alice", "bob")
	for name, c := range map[string]struct {
		err, want error
	}{
		"as it is meant":  {open(data, machine, today), nil},
		"another machine": {open(data, sealed.MachineName("laptop 8"), today), sealed.WrongAudience},
		"too late":        {open(data, machine, today.Add(time.Hour)), sealed.Expired},
		"too early":       {open(data, machine, today.Add(-2*time.Hour)), sealed.Expired},
		"one key":         {open(signedBy(t, good, acts, "bob"), machine, today), sealed.TooFewKeys},
		"a ring's key":    {open(signedBy(t, good, acts, "carol"), machine, today), sealed.NotAllowed},
		"unsigned":        {open([]byte(`{"signed": {}, "signatures": []}`), machine, today), sealed.BadGrant},
		"cut off":         {open(data[:len(data)/2], machine, today), sealed.BadGrant},
	} {
		if !errors.Is(c.err, c.want) {
			t.Errorf("%s: %v, want %v", name, c.err, c.want)
		}
	}
	for name, change := range map[string]func(*sealed.Recovery){
		"too long":      func(r *sealed.Recovery) { r.Until = r.From.Add(sealed.MaxRecovery + time.Second) },
		"no end":        func(r *sealed.Recovery) { r.Until = time.Time{} },
		"everything":    func(r *sealed.Recovery) { r.Off = []string{"*"} },
		"nothing":       func(r *sealed.Recovery) { r.Off = nil },
		"every machine": func(r *sealed.Recovery) { r.Machine = "" },
		"no owner":      func(r *sealed.Recovery) { r.Owner = "" },
	} {
		r := good
		change(&r)
		if _, err := r.Sign(nil, acts["alice"]); !errors.Is(err, sealed.BadGrant) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzChannel(f *testing.F) {
	f.Add([]byte(`{"signed": {"type": "gate.channel/1", "version": 1, "bundles": {"company": [{"digest": "` + one + `", "share": 5, "record": true}]}}, "signatures": []}`))
	f.Add([]byte(`{"signed": {"type": "gate.channel/2", "version": 1, "releases": {"company": [{"digest": "` + one + `"}]}, "trials": {"company": [{"digest": "` + two + `", "share": 5}]}}, "signatures": []}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, _, err := sealed.ParseChannel(data)
		if err != nil {
			return
		}
		for _, name := range c.Names() {
			c.For(name, "m", nil)
		}
		if _, err := (&bundles.KeySet{Version: 1}).OpenChannel(data, 0, today); err == nil {
			t.Errorf("%s: taken without a key", data)
		}
	})
}
