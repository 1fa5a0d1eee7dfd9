package core_test

import (
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
