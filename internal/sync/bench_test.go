package sync_test

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"testing"
	"testing/fstest"

	"gate/bundles"
	"gate/internal/sync"
)

// BenchmarkActivate puts bundles of 1 000 policies, 2 KB each, in force one after
// the other: verified, unpacked, and swapped with what was there. Their own
// tests are not counted: what they cost is up to them.
func BenchmarkActivate(b *testing.B) {
	p := newPublisher(b)
	m := newMachine(b, p.keySet())
	version := int64(0)
	b.ReportAllocs()
	for b.Loop() {
		b.StopTimer()
		version++
		o := p.large(version, 1000)
		runtime.GC()
		b.StartTimer()
		out, err := sync.Store{Dir: m.dir}.Activate(context.Background(), []sync.Offer{o}, m.rules)
		if err != nil || out[0].Err != nil || out[0].After.Version != version {
			b.Fatal(out, err)
		}
	}
}

// large is a bundle of so many policies.
func (p *publisher) large(version int64, policies int) sync.Offer {
	p.t.Helper()
	manifest, err := json.Marshal(map[string]any{
		"roots": []string{"company"}, "metadata": map[string]any{"gate": map[string]any{"name": "company", "version": version}},
	})
	p.check(err)
	files := fstest.MapFS{".manifest": {Data: manifest}}
	for i := range policies {
		text := fmt.Appendf(nil, "package company.p%d\n", i)
		for n := 0; len(text) < 2<<10; n++ {
			text = fmt.Appendf(text, "\ndeny contains \"rule %d of version %d\" if {\n\tsome command in input.facts.shell.commands\n\tcommand.program == \"p%d-%d\"\n}\n", n, version, i, n*7919%1000)
		}
		files[fmt.Sprintf("company/p%d/policy.rego", i)] = &fstest.MapFile{Data: text}
	}
	archive, err := bundles.Pack(files, nil)
	p.check(err)
	signed, err := bundles.SignInside(archive, bundles.Signing{ID: "release", Key: p.keys.Keys["release"], By: p.private})
	p.check(err)
	return sync.Offer{Name: "company", Archive: signed}
}
