package bundles

import (
	"bytes"
	"compress/gzip"
	"io/fs"
	"path"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/open-policy-agent/opa/v1/bundle"
	"github.com/open-policy-agent/opa/v1/util"

	sealeds "gate/internal/sealed"
)

// fuzzed is a signed bundle and what checks it.
func fuzzed(f *testing.F) *attack {
	a := newAttack(new(testing.T), newKeyRing(f))
	a.step("sign inside release")
	a.step("sign beside alice")
	return a
}

// FuzzArchive unpacks whatever tar stream there is: names stay clean, and what
// was unpacked can be packed again.
func FuzzArchive(f *testing.F) {
	var b archiveBuilder
	for _, name := range []string{"data.json", "/a/x.rego", "./.manifest", "straße/ä"} {
		b.entry('0', name, "", "{}")
	}
	f.Add(append(b.tar.Bytes(), make([]byte, 2*sealeds.TarBlock)...))
	b.pax("y", []string{"path=z"})
	f.Add(b.tar.Bytes())
	f.Fuzz(func(t *testing.T, stream []byte) {
		var z bytes.Buffer
		gz, _ := gzip.NewWriterLevel(&z, gzip.NoCompression)
		gz.Write(stream)
		gz.Close()
		files, err := sealeds.Unpack(z.Bytes(), small)
		if err != nil {
			if reasonOf(err) == "" {
				t.Errorf("no reason: %v", err)
			}
			return
		}
		for name := range files {
			if name != path.Clean(name) || path.IsAbs(name) || strings.HasPrefix(name, "..") || !fs.ValidPath(name) {
				t.Errorf("unpacked %q", name)
			}
		}
		again, err := sealeds.PackOf(files)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := sealeds.Unpack(again, small); err != nil {
			t.Errorf("packed again: %v", err)
		}
	})
}

// FuzzDigest holds our digests of files against OPA's own hasher, over the tree
// that it is given when a bundle is loaded.
func FuzzDigest(f *testing.F) {
	for _, text := range []string{
		`{"b":[1,-0.0,1e5,null,true],"a":{"z":"\u2028<&>","y":"\u0007\\\/\""}}`, "{\"\\n\":\"\x7f\",\"\":{}}", `{"é":1,"é":[[]],"😀":"\ud83d\ude00"}`, ` [ ] `, `"x\n"`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, name := range []string{"a/data.json", ".manifest", "a/x.rego"} {
			text, err := sealeds.OpaBytes(name, data)
			if err != nil {
				return // what gate does not take has no digest
			}
			var value any = data
			if name != "a/x.rego" {
				if err := util.NewJSONDecoder(bytes.NewReader(data)).Decode(&value); err != nil {
					t.Fatalf("OPA cannot read it: %v", err)
				}
			}
			for _, algorithm := range []string{"SHA-256", "SHA-384", "SHA-512", "SHA-512-256"} {
				hasher, err := bundle.NewSignatureHasher(bundle.HashingAlgorithm(algorithm))
				if err != nil {
					t.Fatal(err)
				}
				want, err := hasher.HashFile(value)
				if err != nil || !bytes.Equal(sealeds.SumBy(algorithm)(text), want) {
					t.Errorf("%s of %s: not OPA's (%v): %s", algorithm, name, err, text)
				}
			}
		}
	})
}

// FuzzManifest reads manifests: what has a name is well formed.
func FuzzManifest(f *testing.F) {
	f.Add([]byte(`{"roots":["a","b/c"],"revision":"r","metadata":{"gate":{"name":"x","version":1,"expires":"2027-01-01T00:00:00Z","audience":["a=b"],"min_gate":"v1.2.3"}}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := sealeds.ParseManifest(data)
		if err != nil {
			return
		}
		if g := m.Gate; g.Name != "" && (!sealeds.IsName(g.Name) || g.Version < 1) {
			t.Errorf("%+v", g)
		}
		if m.Gate.Name == "" {
			return
		}
		normal, err := sealeds.NormalManifest(data, nil)
		if err != nil {
			return // roots are missing
		}
		if again, err := sealeds.NormalManifest(normal, nil); err != nil || !bytes.Equal(again, normal) {
			t.Errorf("%v: %s\n%s", err, normal, again)
		}
	})
}

// FuzzSignatures puts another signature file into a bundle: only the one that
// the key made is taken, whatever its white space.
func FuzzSignatures(f *testing.F) {
	a := fuzzed(f)
	files, err := sealeds.Unpack(a.archive, Limits{})
	if err != nil {
		f.Fatal(err)
	}
	right := files[sealeds.SignaturesFile]
	want, err := sealeds.ParseSignatures(right)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(right)
	f.Fuzz(func(t *testing.T, data []byte) {
		j, err := sealeds.ParseSignatures(data)
		if err != nil {
			return
		}
		sig, err := a.check.Keys.CheckJWS(j)
		if err == nil && sig.Counts && !bytes.Equal(j.Message, want.Message) {
			t.Errorf("%s counts", data)
		}
		if err == nil && sig.Counts {
			if l, err := j.Listing(); err != nil || l.Covers(files) != nil {
				t.Errorf("%v", err)
			}
		}
	})
}

// FuzzEnvelope puts another envelope beside a bundle: only what says the same is
// taken.
func FuzzEnvelope(f *testing.F) {
	a := fuzzed(f)
	right, _, err := sealeds.ParseEnvelope(a.envelope)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(a.envelope)
	f.Fuzz(func(t *testing.T, data []byte) {
		doc, s, err := sealeds.ParseEnvelope(data)
		if err != nil {
			return
		}
		list, err := a.check.Keys.CheckSealed(&doc)
		if err != nil {
			return
		}
		for _, sig := range list {
			if sig.Counts && (!bytes.Equal(doc.Message(), right.Message()) || s.IsFor(sealeds.Digest(a.archive)) != nil) {
				t.Errorf("%s counts", data)
			}
		}
	})
}

// FuzzKeySet reads key sets: what can be read is written the same way.
func FuzzKeySet(f *testing.F) {
	ring := newKeyRing(f)
	ring.set.Expires = time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)
	data, err := ring.set.Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := ParseKeySet(data)
		if err != nil {
			return
		}
		out, err := s.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if again, err := ParseKeySet(out); err != nil || again.Version != s.Version || len(again.Keys) != len(s.Keys) {
			t.Errorf("%v: %s", err, out)
		}
	})
}

// FuzzSeen reads what was seen: what can be read is written the same way, and no
// version is lost on the way.
func FuzzSeen(f *testing.F) {
	f.Add([]byte(`{"schema": 1, "bundles": {"company": {"version": 7, "digest": "sha256:` + strings.Repeat("0", 64) + `"}}, "keys": 3}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := sealeds.ParseSeen(data)
		if err != nil {
			return
		}
		for name, r := range s.Bundles {
			if !sealeds.IsName(name) || r.Version < 1 {
				t.Errorf("%q: %+v", name, r)
			}
		}
		if again, err := sealeds.ParseSeen(s.Encode()); err != nil || !reflect.DeepEqual(again, s) {
			t.Errorf("%v: %+v became %+v", err, s, again)
		}
	})
}

// FuzzRecovery reads recovery files: what can be read is bounded, and relaxes
// nothing without a signature, nor with ours over something else.
func FuzzRecovery(f *testing.F) {
	ring := newKeyRing(f)
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	machine := sealeds.MachineName("laptop")
	k := ring.set.Keys["alice"]
	right, err := sealeds.Recovery{Machine: machine, From: now, Until: now.Add(time.Hour), Off: []string{"company"}, Owner: "ana", Reason: "OPS-17"}.
		Sign(nil, Signing{ID: "alice", Key: k, By: ring.private["alice"]})
	if err != nil {
		f.Fatal(err)
	}
	doc, _, err := sealeds.ParseRecoveryOf(right)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(right)
	f.Fuzz(func(t *testing.T, data []byte) {
		got, r, err := sealeds.ParseRecoveryOf(data)
		if err != nil {
			return
		}
		if err := r.Check(); err != nil || r.Until.Sub(r.From) > sealeds.MaxRecovery {
			t.Errorf("%+v: %v", r, err)
		}
		if _, err := (&KeySet{Version: 1}).OpenRecovery(data, r.Machine, r.From); err == nil {
			t.Error("taken without a key")
		}
		if _, err := ring.set.OpenRecovery(data, machine, now); err == nil && !bytes.Equal(got.Message(), doc.Message()) {
			t.Errorf("%s is taken", data)
		}
	})
}
