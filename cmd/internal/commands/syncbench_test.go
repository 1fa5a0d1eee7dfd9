package commands

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"testing"
	"testing/fstest"
	"time"

	"gate/bundles"
	"gate/internal/sealed"
	"gate/internal/sync"
)

// BenchmarkInstall puts a bundle of 1 000 policies of 2 KB in force, as gate
// bundle install does: verified, loaded and compiled as a call would, with one
// test of its own for each policy, written to the disk and swapped with what
// was there. "peak-MB" is the most that the heap held.
//
//	go test ./cmd/internal/commands -run '^$' -bench Install -benchtime 3x
func BenchmarkInstall(b *testing.B) {
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(syncMemory))
	for _, tested := range []bool{false, true} {
		b.Run(map[bool]string{false: "untested", true: "tested"}[tested], func(b *testing.B) {
			dir, keys, private := keyedMachine(b)
			version, peak := int64(0), uint64(0)
			b.ReportAllocs()
			for b.Loop() {
				b.StopTimer()
				version++
				archive := benchBundle(b, version, 1000, tested, keys, private)
				runtime.GC()
				done := peakHeap(&peak)
				b.StartTimer()
				out, err := sync.Store{Dir: dir}.Activate(context.Background(), []sync.Offer{{Name: "company", Archive: archive}},
					sync.Rules{Now: time.Now(), Try: comparison{}.try})
				b.StopTimer()
				done()
				if err != nil || out[0].Err != nil || out[0].After.Version != version {
					b.Fatal(out, err)
				}
				b.StartTimer()
			}
			b.ReportMetric(float64(peak)/(1<<20), "peak-MB")
		})
	}
}

// peakHeap watches the heap until it is told to end.
func peakHeap(peak *uint64) (done func()) {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	end, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for {
			metrics.Read(sample)
			*peak = max(*peak, sample[0].Value.Uint64())
			select {
			case <-tick.C:
			case <-end:
				return
			}
		}
	}()
	return func() { close(end); <-ended }
}

// keyedMachine is a managed directory with a key set, and the one key of that.
func keyedMachine(b testing.TB) (dir string, keys *bundles.KeySet, private *bundles.PrivateKey) {
	b.Helper()
	keys, private = oneKey(b)
	data, err := keys.Encode()
	if err != nil {
		b.Fatal(err)
	}
	dir = b.TempDir()
	if err := os.WriteFile(filepath.Join(dir, sync.KeysFile), data, 0o600); err != nil {
		b.Fatal(err)
	}
	return dir, keys, private
}

// oneKey is a key set and its key, which may sign all bundles.
func oneKey(b testing.TB) (*bundles.KeySet, *bundles.PrivateKey) {
	b.Helper()
	pem, err := bundles.GenerateKey(sealed.ES256)
	if err != nil {
		b.Fatal(err)
	}
	private, err := bundles.ParsePrivate(pem)
	if err != nil {
		b.Fatal(err)
	}
	public, err := private.Public()
	if err != nil {
		b.Fatal(err)
	}
	key, err := bundles.ImportKey(public, sealed.ES256)
	if err != nil {
		b.Fatal(err)
	}
	key.Bundles = []string{"*"}
	return &bundles.KeySet{
		Version: 1, Root: sealed.Role{Keys: []string{"release"}, Threshold: 1}, Keys: map[string]bundles.Key{"release": key},
	}, private
}

// benchBundle is a signed bundle of so many policies, each with a test if wanted.
func benchBundle(b testing.TB, version int64, policies int, tested bool, keys *bundles.KeySet, private *bundles.PrivateKey) []byte {
	b.Helper()
	files := fstest.MapFS{".manifest": {Data: fmt.Appendf(nil,
		`{"roots": ["company"], "metadata": {"gate": {"name": "company", "version": %d}}}`, version)}}
	for i := range policies {
		text := fmt.Appendf(nil, "# METADATA\n# title: Policy %d\n# description: One of many.\n# custom:\n#   gate:\n#     events: [PreToolUse]\npackage company.p%d\n", i, i)
		for n := 0; len(text) < 2<<10; n++ {
			text = fmt.Appendf(text, "\ndeny contains \"rule %d of version %d\" if {\n\tsome command in input.facts.shell.commands\n\tcommand.program == \"p%d-%d\"\n}\n", n, version, i, n*7919%1000)
		}
		files[fmt.Sprintf("company/p%d/policy.rego", i)] = &fstest.MapFile{Data: text}
		if tested {
			files[fmt.Sprintf("company/p%d/policy_test.rego", i)] = &fstest.MapFile{Data: fmt.Appendf(nil,
				"package company.p%d_test\n\nimport data.company.p%d\n\ntest_denies if \"rule 0 of version %d\" in p%d.deny with input as gate.event(\"p%d-0 now\")\n\ntest_passes if count(p%d.deny) == 0 with input as gate.event(\"ls\")\n",
				i, i, version, i, i, i)}
		}
	}
	archive, err := bundles.Pack(fs.FS(files), nil)
	if err != nil {
		b.Fatal(err)
	}
	signed, err := bundles.SignInside(archive, bundles.Signing{ID: "release", Key: keys.Keys["release"], By: private})
	if err != nil {
		b.Fatal(err)
	}
	return signed
}
