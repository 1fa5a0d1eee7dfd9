package bundles

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"
	"time"

	sealeds "gate/internal/sealed"
	"gate/internal/strictjson"
)

// An attack is a bundle on its way and the machine that it comes to.
type attack struct {
	t        *testing.T
	ring     *keyRing
	files    map[string][]byte
	archive  []byte // packed so far; nil: pack files
	envelope []byte
	check    Check
	digests  func(claims map[string]any)
}

func newAttack(t *testing.T, ring *keyRing) *attack {
	return &attack{t: t, ring: ring, check: Check{
		Keys: ring.known(), Now: time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC), Gate: "v1.0.0",
	}, files: map[string][]byte{
		".manifest":      []byte(`{"roots":["company"],"metadata":{"gate":{"name":"company","version":7}}}`),
		"company/a.rego": []byte("package company.a\n"),
		"data.json":      []byte(`{"company":{"limit":1}}`),
	}}
}

func (a *attack) open() (*Bundle, error) {
	return Open(a.packed(), a.envelope, a.check)
}

func (a *attack) packed() []byte {
	if a.archive == nil {
		var err error
		if a.archive, err = sealeds.PackOf(a.files); err != nil {
			a.t.Fatal(err)
		}
	}
	return a.archive
}

// edit changes the files of the archive, signed or not.
func (a *attack) edit(f func(files map[string][]byte)) {
	files, err := sealeds.Unpack(a.packed(), Limits{})
	if err != nil {
		a.t.Fatal(err)
	}
	f(files)
	a.files, a.archive = files, nil
}

// metadata changes metadata.gate.
func (a *attack) metadata(key string, value any) {
	a.manifest(func(doc map[string]any) {
		doc["metadata"].(map[string]any)["gate"].(map[string]any)[key] = value
	})
}

func (a *attack) manifest(f func(map[string]any)) {
	a.edit(func(files map[string][]byte) {
		files[sealeds.ManifestFile] = changed(a.t, files[sealeds.ManifestFile], f)
	})
}

// changed edits a JSON object.
func changed(t *testing.T, data []byte, f func(map[string]any)) []byte {
	t.Helper()
	doc, err := strictjson.Object(data, strictjson.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	f(doc)
	return strictjson.Append(nil, doc)
}

func (a *attack) step(step string) {
	w := args(a.t, step)
	rest := w[1:]
	switch w[0] {
	case "sign":
		if err := a.sign(rest, a.ring.set.Keys[rest[1]]); err != nil {
			a.t.Fatal(err)
		}
	case "sign-anyway": // as somebody would with another program
		k := a.ring.set.Keys[rest[1]]
		k.Revoked, k.Bundles, k.Audiences, k.Scopes = false, []string{"*"}, nil, rest[2:]
		if err := a.sign(rest, k); err != nil {
			a.t.Fatal(err)
		}
	case "sign-raw": // of a manifest that gate would not sign
		a.signRaw(rest[0])
	case "weak-digests":
		a.digests = func(claims map[string]any) {
			for _, f := range claims["files"].([]any) {
				f.(map[string]any)["algorithm"] = "MD5"
			}
		}
	case "listed-twice":
		a.digests = func(claims map[string]any) {
			list := claims["files"].([]any)
			claims["files"] = append(list, list[0])
		}
	case "audience", "expires", "min-gate", "facts", "metadata", "roots", "manifest-version":
		a.describe(w[0], rest)
	case "put", "file", "remove", "rename", "swap", "strip":
		a.tamper(w[0], rest)
	default:
		a.stepOn(w[0], rest)
	}
}

func (a *attack) stepOn(word string, rest []string) {
	switch {
	case strings.HasPrefix(word, "jwt-"), word == "signatures-key":
		a.forge(word, rest)
	case strings.HasPrefix(word, "envelope-"):
		a.forgeEnvelope(word, rest)
	default:
		a.machine(word, rest)
	}
}

func (a *attack) sign(rest []string, k Key) (err error) {
	s := Signing{ID: rest[1], Key: k, By: a.ring.private[rest[1]]}
	if len(rest) > 2 {
		s.Scope = rest[2]
	}
	if rest[0] == "beside" {
		a.envelope, err = SignBeside(a.packed(), a.envelope, "company", s)
		return err
	}
	if a.archive, err = SignInside(a.packed(), s); err == nil && a.digests != nil {
		a.signRaw(rest[1])
	}
	return err
}

// signRaw signs without looking at what is signed.
func (a *attack) signRaw(id string) {
	s := Signing{ID: id, Key: a.ring.set.Keys[id], By: a.ring.private[id]}
	a.edit(func(files map[string][]byte) {
		delete(files, sealeds.SignaturesFile)
		token, err := s.Token(files)
		if err != nil {
			a.t.Fatal(err)
		}
		if a.digests != nil {
			parts := strings.Split(token, ".")
			claims, _ := sealeds.Base64url().DecodeString(parts[1])
			parts[1] = sealeds.Base64url().EncodeToString(changed(a.t, claims, a.digests))
			sig, err := s.Key.Sign(s.By, []byte(parts[0]+"."+parts[1]))
			if err != nil {
				a.t.Fatal(err)
			}
			token = parts[0] + "." + parts[1] + "." + sealeds.Base64url().EncodeToString(sig)
		}
		files[sealeds.SignaturesFile] = strictjson.Append(nil, map[string]any{"signatures": []string{token}})
	})
}

func (a *attack) describe(word string, rest []string) {
	switch word {
	case "audience":
		a.metadata("audience", rest)
	case "expires":
		a.metadata("expires", rest[0])
	case "min-gate":
		a.metadata("min_gate", rest[0])
	case "facts":
		a.metadata("facts", json.Number(rest[0]))
	case "roots":
		a.manifest(func(doc map[string]any) { doc["roots"] = rest })
	case "manifest-version":
		a.metadata("version", json.Number(rest[0]))
	case "metadata":
		if rest[0] == "version" {
			a.metadata("version", json.Number(rest[1]))
		} else {
			a.metadata(rest[0], rest[1])
		}
	}
}

func (a *attack) tamper(word string, rest []string) {
	a.edit(func(files map[string][]byte) {
		switch word {
		case "put", "file":
			files[rest[0]] = []byte(rest[1])
		case "remove":
			delete(files, rest[0])
		case "strip":
			delete(files, sealeds.SignaturesFile)
		case "rename":
			files[rest[1]] = files[rest[0]]
			delete(files, rest[0])
		case "swap":
			files[rest[0]], files[rest[1]] = files[rest[1]], files[rest[0]]
		}
	})
}

// machine changes who the bundle comes to.
func (a *attack) machine(word string, rest []string) {
	c := &a.check
	switch word {
	case "drop-envelope":
		a.envelope = nil
	case "no-keys":
		c.Keys = nil
	case "no-time":
		c.Now = time.Time{}
	case "keys-expire":
		c.Keys.Expires, _ = time.Parse(time.RFC3339, rest[0])
	case "threshold":
		c.Keys.Thresholds["company"], _ = strconv.Atoi(rest[0])
	case "revoke":
		k := c.Keys.Keys[rest[0]]
		k.Revoked = true
		c.Keys.Keys[rest[0]] = k
		c.Keys.Root = sealeds.Role{Keys: []string{"release"}, Threshold: 1}
	case "pin":
		c.Pins = map[string]string{sealeds.Digest(a.packed()): rest[0]}
	case "asked":
		c.Name = rest[0]
	case "gate":
		c.Gate = rest[0]
	case "labels":
		c.Labels = map[string]string{}
		for _, label := range rest {
			key, value, _ := strings.Cut(label, "=")
			c.Labels[key] = value
		}
	case "seen":
		n, _ := strconv.ParseInt(rest[0], 10, 64)
		c.Seen = sealeds.Seen{Bundles: map[string]sealeds.Release{"company": {Version: n, Digest: sealeds.Digest(nil)}}}
	case "seen-this":
		c.Seen = sealeds.Seen{Bundles: map[string]sealeds.Release{"company": {Version: 7, Digest: sealeds.Digest(a.packed())}}}
	default:
		a.t.Fatalf("unknown step %s", word)
	}
}
