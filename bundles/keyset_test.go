package bundles

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/lestrrat-go/jwx/v3/jwk"

	"gate/internal/format"
	sealeds "gate/internal/sealed"
)

// TestKeySetRoundTrip writes a key set and reads it.
func TestKeySetRoundTrip(t *testing.T) {
	ring := newKeyRing(t)
	s := ring.set
	s.Expires = time.Date(2027, 1, 2, 3, 4, 5, 0, time.UTC)
	s.Thresholds = map[string]int{"company": 2, "*": 1}
	if err := s.Sign("alice", s.Keys["alice"], ring.private["alice"]); err != nil {
		t.Fatal(err)
	}
	data, err := s.Encode()
	if err != nil {
		t.Fatal(err)
	}
	got, err := ParseKeySet(data)
	if err != nil {
		t.Fatal(err)
	}
	again, err := got.Encode()
	if err != nil || !bytes.Equal(again, data) {
		t.Errorf("%v\n%s\n%s", err, data, again)
	}
	if err := got.Enough(got, "of its own"); err != nil {
		t.Error(err)
	}
	if !got.Keys["gone"].Revoked || got.Keys["ring"].Audiences[0] != "ring=canary" || got.Root.Threshold != 1 {
		t.Errorf("%+v", got)
	}
}

func TestThreshold(t *testing.T) {
	s := KeySet{Thresholds: map[string]int{"*": 2, "team-*": 3, "team-a": 4, "team-a*": 5}}
	for name, want := range map[string]int{"company": 2, "team-b": 3, "team-a": 4, "team-ab": 5} {
		if got := s.Threshold(name); got != want {
			t.Errorf("%s needs %d, want %d", name, got, want)
		}
	}
	if got := (&KeySet{}).Threshold("company"); got != 1 {
		t.Errorf("%d without thresholds", got)
	}
}

// TestFollow lists who may change a key set how.
func TestFollow(t *testing.T) {
	ring := newKeyRing(t)
	for _, c := range []struct {
		name   string
		change func(next *KeySet)
		by     []string
		want   Reason
	}{
		{"both sign", nil, []string{"alice", "bob"}, ""},
		{"nobody signs", nil, nil, sealeds.BadSuccessor},
		{"one of two", nil, []string{"alice"}, sealeds.BadSuccessor},
		{"others sign", nil, []string{"release", "mallory"}, sealeds.BadSuccessor},
		{"a version is skipped", func(n *KeySet) { n.Version++ }, []string{"alice", "bob"}, sealeds.BadSuccessor},
		{"the version stays", func(n *KeySet) { n.Version-- }, []string{"alice", "bob"}, sealeds.BadSuccessor},
		{"a new root that did not sign", func(n *KeySet) { n.Root.Keys = []string{"mallory", "alice"} }, []string{"alice", "bob"}, sealeds.BadSuccessor},
		{"a new root that signed", func(n *KeySet) { n.Root.Keys = []string{"mallory", "alice"} }, []string{"alice", "bob", "mallory"}, ""},
		{"a new root alone", func(n *KeySet) { n.Root = sealeds.Role{Keys: []string{"mallory"}, Threshold: 1} }, []string{"mallory"}, sealeds.BadSuccessor},
		{"a lower threshold, signed by too few", func(n *KeySet) { n.Root.Threshold = 1 }, []string{"alice"}, sealeds.BadSuccessor},
		{"a name for another key", func(n *KeySet) { n.Keys["release"] = n.Keys["thief"]; delete(n.Keys, "thief") }, []string{"alice", "bob"}, sealeds.BadSuccessor},
		{"a departed holder", func(n *KeySet) {
			bob := n.Keys["bob"]
			bob.Revoked = true
			n.Keys["bob"] = bob
			n.Root.Keys = []string{"alice", "mallory"}
		}, []string{"alice", "bob", "mallory"}, ""},
		{"a root of revoked keys", func(n *KeySet) { n.Root.Keys = []string{"gone", "alice"} }, []string{"alice", "bob"}, sealeds.BadKeySet},
		{"a threshold nobody can reach", func(n *KeySet) { n.Root.Threshold = 3 }, []string{"alice", "bob"}, sealeds.BadKeySet},
		{"a threshold of none", func(n *KeySet) { n.Root.Threshold = 0 }, []string{"alice", "bob"}, sealeds.BadKeySet},
		{"one key under two names", func(n *KeySet) { n.Keys["alice2"] = n.Keys["alice"] }, []string{"alice", "bob"}, sealeds.BadKeySet},
	} {
		t.Run(c.name, func(t *testing.T) {
			old := ring.set.Next()
			old.Root.Threshold = 2
			next := old.Next()
			if c.change != nil {
				c.change(next)
			}
			for _, id := range c.by {
				if err := next.Sign(id, ring.set.Keys[id], ring.private[id]); err != nil {
					t.Fatal(err)
				}
			}
			if got := reasonOf(old.Follow(next)); got != c.want {
				t.Errorf("%q (%v), want %q", got, old.Follow(next), c.want)
			}
		})
	}
}

// TestFollowForged changes a set after it was signed.
func TestFollowForged(t *testing.T) {
	ring := newKeyRing(t)
	next := ring.set.Next()
	if err := next.Sign("alice", next.Keys["alice"], ring.private["alice"]); err != nil {
		t.Fatal(err)
	}
	if err := ring.set.Follow(next); err != nil {
		t.Fatal(err)
	}
	next.Thresholds["company"] = 9
	if err := ring.set.Follow(next); !errors.Is(err, sealeds.BadSignature) {
		t.Errorf("%v, want %s", err, sealeds.BadSignature)
	}
}

// TestParseKeySetRefuses edits a good key set.
func TestParseKeySetRefuses(t *testing.T) {
	ring := newKeyRing(t)
	good, err := ring.set.Encode()
	if err != nil {
		t.Fatal(err)
	}
	keys := func(doc map[string]any) map[string]any { return signedOf(doc)["keys"].(map[string]any) }
	for name, change := range map[string]func(map[string]any){
		"an unknown key at the top":   func(d map[string]any) { d["comment"] = "x" },
		"an unknown key in a key":     func(d map[string]any) { keys(d)["alice"].(map[string]any)["bundle"] = "x" },
		"another algorithm":           func(d map[string]any) { keys(d)["alice"].(map[string]any)["algorithm"] = "ES256" },
		"HMAC":                        func(d map[string]any) { keys(d)["alice"].(map[string]any)["algorithm"] = "HS256" },
		"none":                        func(d map[string]any) { keys(d)["alice"].(map[string]any)["algorithm"] = "none" },
		"no public key":               func(d map[string]any) { keys(d)["alice"].(map[string]any)["public"] = "x" },
		"a key that is a text":        func(d map[string]any) { keys(d)["alice"] = "x" },
		"a name with a space":         func(d map[string]any) { keys(d)["al ice"] = keys(d)["alice"]; delete(keys(d), "alice") },
		"version 0":                   func(d map[string]any) { signedOf(d)["version"] = json.Number("0") },
		"no root":                     func(d map[string]any) { delete(signedOf(d), "root") },
		"an envelope":                 func(d map[string]any) { signedOf(d)["type"] = format.Envelope.Mark() },
		"a time that is none":         func(d map[string]any) { signedOf(d)["expires"] = "tomorrow" },
		"another time zone":           func(d map[string]any) { signedOf(d)["expires"] = "2027-01-01T00:00:00+01:00" },
		"an empty list":               func(d map[string]any) { keys(d)["alice"].(map[string]any)["scopes"] = []any{} },
		"revoked by a text":           func(d map[string]any) { keys(d)["alice"].(map[string]any)["revoked"] = "no" },
		"a signature that is no text": func(d map[string]any) { d["signatures"] = []any{map[string]any{"key": "alice"}} },
	} {
		if _, err := ParseKeySet(changed(t, good, change)); reasonOf(err) != sealeds.BadKeySet {
			t.Errorf("%s: %v", name, err)
		}
	}
	for n := range len(good) - 2 {
		if _, err := ParseKeySet(good[:n]); err == nil {
			t.Fatalf("half a key set was read (%d bytes)", n)
		}
	}
}

func signedOf(doc map[string]any) map[string]any { return doc["signed"].(map[string]any) }

// TestImportKey reads every kind of key as PEM and as JWK.
func TestImportKey(t *testing.T) {
	ring := newKeyRing(t)
	for id, k := range ring.set.Keys {
		text, err := sealeds.PublicPEM(k.Public)
		if err != nil {
			t.Fatal(err)
		}
		key, err := jwk.Import(k.Public)
		if err != nil {
			t.Fatal(err)
		}
		web, err := json.Marshal(key)
		if err != nil {
			t.Fatal(err)
		}
		for _, form := range []string{text, string(web)} {
			got, err := ImportKey([]byte(form), k.Algorithm)
			if err != nil || !sealeds.SamePublic(got.Public, k.Public) {
				t.Errorf("%s: %v\n%s", id, err, form)
			}
		}
		private, err := jwk.Import(ring.private[id].key)
		if err != nil {
			t.Fatal(err)
		}
		if web, err = json.Marshal(private); err != nil {
			t.Fatal(err)
		}
		if _, err := ImportKey(web, ""); err == nil || !strings.Contains(err.Error(), "public half") {
			t.Errorf("%s: a private key was imported: %v", id, err)
		}
	}
	for _, bad := range []string{"", "x", "{}", `{"kty":"oct","k":"AAAA"}`, `{"kty":"EC","crv":"P-256","x":"AA","y":"AA"}`,
		"-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n"} {
		if _, err := ImportKey([]byte(bad), ""); err == nil {
			t.Errorf("%q was imported", bad)
		}
	}
}

func TestSeen(t *testing.T) {
	b := &Bundle{Manifest: Manifest{Gate: Metadata{Name: "company", Version: 7}}, Digest: sealeds.Digest([]byte("7"))}
	s := sealeds.Seen{}.Raise(b)
	b.Manifest.Gate.Version, b.Digest = 6, sealeds.Digest([]byte("6"))
	s = s.Raise(b)
	got, err := sealeds.ParseSeen(s.Encode())
	if err != nil || got.Bundles["company"] != (sealeds.Release{Version: 7, Digest: sealeds.Digest([]byte("7"))}) {
		t.Errorf("%+v, %v", got, err)
	}
	for _, bad := range []string{"", "{}", `{"schema":1,"bundles":{"company":{"version":7}}}`, `{"schema":2}`, `{"schema":1,"bundles":{"company":{}}}`} {
		if s, err := sealeds.ParseSeen([]byte(bad)); err == nil {
			t.Errorf("%q is %+v", bad, s)
		}
	}
}
