package offer

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"gate/internal/confine/profile"
	"gate/internal/hostfs"
	"gate/internal/strictjson"
)

// A probed file says what a machine was found to hold. It counts for the same start of
// the system and the same program.
type probed struct {
	key   string // the start of the system, and the program with its size and time
	holds profile.Capability
}

const (
	probeTime = 5 * time.Second  // that a probe may take
	probeAge  = 10 * time.Minute // after which less than all is looked for again: somebody may have changed the machine
)

// Holds returns what the machine can hold. It asks the launcher, which tries it, and
// keeps the answer.
func (m Machine) Holds() (profile.Capability, error) {
	info, err := os.Stat(m.Launcher)
	if err != nil {
		return profile.Capability{}, err
	}
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return profile.Capability{Missing: "only Linux has what confines a program here"}, nil
	}
	now := probed{key: fmt.Sprintf("%s %s %d %d", strings.TrimSpace(string(boot)), m.Launcher, info.Size(), info.ModTime().UnixNano())}
	dir := filepath.Join(m.State, "confined")
	if kept, age, err := readProbed(dir); err == nil && kept.key == now.key && (kept.holds.Level == profile.Full || age < probeAge) {
		return kept.holds, nil
	}
	if now.holds, err = probe(m.Launcher); err != nil {
		return profile.Capability{}, fmt.Errorf("nobody knows what can be held here: %s: %w", m.Launcher, err)
	}
	now.write(dir) // otherwise it is asked again
	return now.holds, nil
}

const probedName = "machine.json"

func readProbed(dir string) (p probed, age time.Duration, err error) {
	root, err := hostfs.OpenDir(dir)
	if err != nil {
		return p, 0, err
	}
	defer root.Close()
	data, err := hostfs.ReadFile(root, probedName, 1<<16)
	if err != nil {
		return p, 0, err
	}
	doc, err := strictjson.Object(data, strictjson.Limits{})
	if err != nil {
		return p, 0, err
	}
	info, err := root.Stat(probedName)
	if err != nil {
		return p, 0, err
	}
	p.key, _ = doc["key"].(string)
	holds, _ := doc["holds"].(map[string]any)
	p.holds, err = profile.CapabilityFrom(holds)
	return p, time.Since(info.ModTime()), err
}

func (p probed) write(dir string) {
	if os.MkdirAll(dir, 0o700) != nil {
		return
	}
	data := strictjson.Append(nil, map[string]any{"key": p.key, "holds": p.holds.Document()})
	f, err := os.CreateTemp(dir, ".machine-*")
	if err != nil {
		return
	}
	_, err = f.Write(data)
	if errors.Join(err, f.Close()) != nil || os.Rename(f.Name(), filepath.Join(dir, probedName)) != nil {
		os.Remove(f.Name())
	}
}

// probe has the launcher try what it can hold.
func probe(launcher string) (c profile.Capability, err error) {
	out, theirs, err := os.Pipe()
	if err != nil {
		return c, err
	}
	defer out.Close()
	p, err := os.StartProcess(launcher, []string{launcher, "--probe=json"}, &os.ProcAttr{Dir: "/", Env: []string{"PATH=/usr/bin:/bin"}, Files: []*os.File{nil, theirs, nil}})
	theirs.Close()
	if err != nil {
		return c, err
	}
	late := time.AfterFunc(probeTime, func() { p.Kill() })
	defer late.Stop()
	data, err := io.ReadAll(io.LimitReader(out, 1<<16))
	if _, waited := p.Wait(); err == nil {
		err = waited
	}
	if err == nil {
		var doc map[string]any
		if doc, err = strictjson.Object(data, strictjson.Limits{}); err == nil {
			c, err = profile.CapabilityFrom(doc)
		}
	}
	return c, err
}
