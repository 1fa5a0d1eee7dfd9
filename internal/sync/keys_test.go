package sync_test

import (
	"context"
	"errors"
	"testing"

	"gate/internal/sealed"
	"gate/internal/sync"
)

// TestFollow: a key set has successors only, one after the other; when a key is
// revoked what it signed stays in force, and is told to be worth nothing.
func TestFollow(t *testing.T) {
	p := newPublisher(t)
	m := newMachine(t, p.keySet())
	m.activate(p.offer("company", 1))
	store := sync.Store{Dir: m.dir}
	first, firstKey := p.keySet(), p.private

	next := p.keys.Next()
	newPrivate, newKey := p.key()
	newKey.Bundles = []string{"*"}
	next.Keys["release2"] = newKey
	revoked := next.Keys["release"]
	next.Root.Keys = []string{"release", "release2"}
	p.check(next.Sign("release", revoked, firstKey))
	second, err := next.Encode()
	p.check(err)

	third := next.Next()
	third.Root.Keys = []string{"release2"}
	revoked.Revoked = true
	third.Keys["release"] = revoked
	p.check(third.Sign("release2", newKey, newPrivate))
	thirdFile, err := third.Encode()
	p.check(err)

	stranger := newPublisher(t)
	strange := stranger.keys.Next()
	stranger.check(strange.Sign("release", stranger.keys.Keys["release"], stranger.private))
	strangeFile, err := strange.Encode()
	p.check(err)

	for _, step := range []struct {
		name string
		file []byte
		want error
	}{
		{"skips one", thirdFile, sealed.BadSuccessor},
		{"a stranger's", strangeFile, sealed.BadSuccessor},
		{"none", []byte("<html>"), sealed.BadKeySet},
		{"the next", second, nil},
		{"again", second, sealed.BadSuccessor},
		{"the one before", first, sealed.BadSuccessor},
		{"the one after", thirdFile, nil},
	} {
		if err := store.Follow(context.Background(), step.file); !errors.Is(err, step.want) {
			t.Errorf("%s: %v, want %v", step.name, err, step.want)
		}
	}
	if keys, err := store.Keys(); err != nil || keys.Version != 3 {
		t.Errorf("%+v, %v", keys, err)
	}
	out := m.activate(sync.Offer{Name: "company", Unchanged: true})[0]
	if !errors.Is(out.Err, sealed.RevokedKey) || m.inForce() != "company 1;" {
		t.Errorf("signed by a revoked key: %v, %s", out.Err, m.inForce())
	}
	m.write(sync.KeysFile, second)
	if _, err := store.Activate(context.Background(), nil, m.rules); err == nil {
		t.Error("an older key set was put back, and taken")
	}
}

// TestTag: a tag is for what is in force, and where it came from.
func TestTag(t *testing.T) {
	p := newPublisher(t)
	m := newMachine(t, p.keySet())
	store := sync.Store{Dir: m.dir}
	offer := p.offer("company", 2)
	offer.URL, offer.Tag = "https://a/", "etag 1"
	tag := func(want string) {
		t.Helper()
		if got := store.Tag("company", "https://a/"); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	tag("")
	out := m.activate(offer)
	tag("etag 1")
	if s := out[0].Signers; len(s) != 1 || s[0] != "release" {
		t.Errorf("signed by %q", s)
	}
	old := p.offer("company", 1)
	old.URL, old.Tag = "https://a/", "etag 2"
	m.activate(old) // refused
	tag("etag 1")
	m.activate(sync.Offer{Name: "company", Unchanged: true})
	tag("etag 1")
	if got := store.Tag("company", "https://b/"); got != "" {
		t.Errorf("from elsewhere: %q", got)
	}
	m.activate(p.offer("company", 3))
	tag("")
}
