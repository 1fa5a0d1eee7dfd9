package core_test

import (
	"fmt"
	"testing"

	"gate/hook"
	"gate/internal/core"
)

// TestAddFlow has what the agent saw matter to each effect that hands data on, and to
// no other.
func TestAddFlow(t *testing.T) {
	host := "evil.example"
	found := []hook.Flow{{Origin: "untrusted", Host: &host, Via: []string{}, How: "seen"}}
	f := &hook.Facts{Effects: []hook.FactEffect{
		{Command: 1, Is: &hook.FSRead{}}, {Command: 2, Is: &hook.NetSend{}}, {Command: 3, Is: &hook.PackageInstall{}},
	}}
	core.AddFlow(f, found)
	if len(f.Flow) != 2 || f.Flow[0].Effect != "net.send" || f.Flow[0].Command != 2 || f.Flow[1].Effect != "package.install" || f.Flow[1].How != "seen" {
		t.Errorf("flows %+v", f.Flow)
	}
	if found[0].Effect != "" {
		t.Error("what was found is changed")
	}
	reads := &hook.Facts{Effects: f.Effects[:1]}
	core.AddFlow(reads, found)
	core.AddFlow(nil, found)
	if reads.Flow != nil {
		t.Errorf("reading a file has flows: %+v", reads.Flow)
	}
}

// TestAddFlowBounded has a line of many effects and many values told in few entries, of
// which none is lost: an entry without a host stands for any.
func TestAddFlowBounded(t *testing.T) {
	f := &hook.Facts{}
	for range 500 {
		f.Effects = append(f.Effects, hook.FactEffect{Command: 1, Is: &hook.NetSend{}}, hook.FactEffect{Command: 2, Is: &hook.NetSend{}})
	}
	var found []hook.Flow
	for i := range 500 {
		found = append(found, hook.Flow{Origin: "untrusted", What: new("host"), Host: new(fmt.Sprintf("h%d.example", i)), How: "seen"})
	}
	core.AddFlow(f, found)
	if len(f.Flow) != 2*len(found) {
		t.Errorf("%d entries of two commands and %d hosts", len(f.Flow), len(found))
	}
	f.Flow = nil
	found = append(found, hook.Flow{Origin: "secret", What: new("token"), How: "seen"})
	core.AddFlow(f, found)
	if len(f.Flow) != 4 || f.Flow[0].Host != nil || f.Flow[1].Origin != "secret" || f.Flow[2].Command != 2 {
		t.Errorf("flows %+v", f.Flow)
	}
	if found[0].Host == nil {
		t.Error("what was found is changed")
	}
}
