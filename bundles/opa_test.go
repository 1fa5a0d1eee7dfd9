package bundles

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/bundle"
	"github.com/open-policy-agent/opa/v1/rego"
	"github.com/open-policy-agent/opa/v1/storage"
	"github.com/open-policy-agent/opa/v1/storage/inmem"
	"github.com/open-policy-agent/opa/v1/tester"

	sealeds "gate/internal/sealed"
)

// opaKeys is a key set as OPA's configuration has it.
func opaKeys(t *testing.T, ring *keyRing, id, scope string) *bundle.VerificationConfig {
	t.Helper()
	k := ring.set.Keys[id]
	text, err := sealeds.PublicPEM(k.Public)
	if err != nil {
		t.Fatal(err)
	}
	keys := map[string]*bundle.KeyConfig{id: {Key: text, Algorithm: string(k.Algorithm)}}
	return bundle.NewVerificationConfig(keys, "", scope, nil)
}

// TestOPATakesOurs opens our bundles as "opa eval --verification-key" does.
func TestOPATakesOurs(t *testing.T) {
	ring := newKeyRing(t)
	for _, signing := range [][]string{{"release"}, {"rsa"}, {"pss"}, {"scoped", "write"}} {
		a := newAttack(t, ring)
		a.step(`put "data.json" "{\"company\":{\"Limit\":1.50,\"limit\":[1e3,-0,\"<é\u2028>\",{\"b\":null,\"a\":true}]}}"`)
		if err := a.sign(append([]string{"inside"}, signing...), ring.set.Keys[signing[0]]); err != nil {
			t.Fatal(err)
		}
		scope := ""
		if len(signing) > 1 {
			scope = signing[1]
		}
		read := func(archive []byte) (bundle.Bundle, error) {
			return bundle.NewReader(bytes.NewReader(archive)).WithBundleVerificationConfig(opaKeys(t, ring, signing[0], scope)).Read()
		}
		b, err := read(a.archive)
		if err != nil || len(b.Modules) != 1 || b.Manifest.Metadata["gate"] == nil {
			t.Errorf("%s: %v", signing, err)
		}
		a.step(`put "company/a.rego" "package company.a\nx := 1\n"`)
		if _, err := read(a.packed()); err == nil {
			t.Errorf("%s: OPA takes a bundle that was changed", signing)
		}
	}
}

// TestOursTakesOPA opens what "opa build --signing-key" writes.
func TestOursTakesOPA(t *testing.T) {
	ring := newKeyRing(t)
	for _, c := range []struct {
		manifest, kid string
		pinned        bool
		want          Reason
	}{
		{`{"roots":["company"],"metadata":{"gate":{"name":"company","version":7}}}`, "release", false, ""},
		{`{"roots":["company"],"metadata":{"gate":{"name":"company","version":7}}}`, "", false, ""},
		{`{"roots":["company"],"metadata":{"gate":{"name":"company","version":7}}}`, "default", false, ""},
		{`{"roots":["company"],"metadata":{"gate":{"name":"company","version":7}}}`, "other", false, sealeds.UnknownKey},
		{`{"roots":["company"]}`, "release", false, sealeds.NoMetadata},
		{`{"roots":["company"]}`, "release", true, ""},
	} {
		a := newAttack(t, ring)
		a.files[sealeds.ManifestFile] = []byte(c.manifest)
		archive := opaBuild(t, a.packed(), ring.private["release"], c.kid)
		if c.pinned {
			a.check.Pins = map[string]string{sealeds.Digest(archive): "company"}
		}
		b, err := Open(archive, nil, a.check)
		if reasonOf(err) != c.want {
			t.Errorf("%+v: %v", c, err)
		}
		if err == nil && b.Name() != "company" {
			t.Errorf("opened %q", b.Name())
		}
	}
}

// opaBuild signs and writes an archive with OPA's code.
func opaBuild(t *testing.T, archive []byte, key *PrivateKey, kid string) []byte {
	t.Helper()
	b, err := bundle.NewReader(bytes.NewReader(archive)).WithSkipBundleVerification(true).Read()
	if err != nil {
		t.Fatal(err)
	}
	private, err := key.encode()
	if err != nil {
		t.Fatal(err)
	}
	if err := b.GenerateSignature(bundle.NewSigningConfig(string(private), "ES256", ""), kid, false); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := bundle.NewWriter(&out).Write(b); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestOPAEvaluates runs two bundles at once, as "opa eval -b a -b b" does, and
// the tests that travel in them, as "opa test -b" does.
func TestOPAEvaluates(t *testing.T) {
	ring := newKeyRing(t)
	options := []func(*rego.Rego){rego.SkipBundleVerification(true)}
	dir := t.TempDir()
	var paths []string
	for _, name := range []string{"company", "finance"} {
		a := newAttack(t, ring)
		a.files = map[string][]byte{
			sealeds.ManifestFile:                  []byte(`{"roots":["` + name + `","gate/bundles/` + name + `"],"metadata":{"gate":{"name":"` + name + `","version":1}}}`),
			name + "/a.rego":                      []byte("package " + name + "\n\nlimit := data.gate.bundles." + name + ".settings.limit\n"),
			name + "/a_test.rego":                 []byte("package " + name + ".a_test\n\nimport data." + name + "\n\ntest_limit if " + name + ".limit == 3\n"),
			"gate/bundles/" + name + "/data.json": []byte(`{"settings":{"limit":3}}`),
		}
		a.signRaw("release")
		path := filepath.Join(dir, name+".tar.gz")
		if err := os.WriteFile(path, a.packed(), 0o600); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
		options = append(options, rego.LoadBundle(path))
	}
	ctx := context.Background()
	result, err := rego.New(append(options, rego.Query("data.company.limit + data.finance.limit"))...).Eval(ctx)
	if err != nil || len(result) != 1 {
		t.Fatalf("%v, %v", result, err)
	}
	found, err := tester.LoadBundlesWithRegoVersion(paths, nil, ast.RegoV1)
	if err != nil {
		t.Fatal(err)
	}
	store := inmem.New()
	txn, err := store.NewTransaction(ctx, storage.WriteParams)
	if err != nil {
		t.Fatal(err)
	}
	ch, err := tester.NewRunner().SetStore(store).SetBundles(found).RunTests(ctx, txn)
	if err != nil {
		t.Fatal(err)
	}
	passed := 0
	for r := range ch {
		if !r.Pass() {
			t.Errorf("%s: %v", r.Name, r.Error)
		}
		passed++
	}
	if passed != 2 {
		t.Errorf("%d tests ran", passed)
	}
}
