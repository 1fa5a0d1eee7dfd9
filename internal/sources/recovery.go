package sources

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"gate/bundles"
	"gate/hook"
	"gate/internal/core"
	"gate/internal/hostfs"
	"gate/internal/load"
	"gate/internal/places"
	"gate/internal/sealed"
	"gate/internal/sync"
	"gate/scopes"
)

// RecoveryFile lies in the managed directory of a machine that must do without
// a bundle for a short time.
const RecoveryFile = "recovery.json"

// machineFile gives a machine a name where the system has no file that does.
const machineFile = "machine-id"

// MachineName is how channel and recovery files name this machine.
func MachineName(managed *places.Place) (string, error) {
	if managed != nil && managed.Err == nil && managed.Has(machineFile) {
		data, err := load.ReadFile(managed.Files, machineFile, 4<<10)
		if err != nil || strings.TrimSpace(string(data)) == "" {
			return "", errors.Join(fmt.Errorf("%s says nothing", filepath.Join(managed.Dir, machineFile)), err)
		}
		return sealed.MachineName(string(data)), nil
	}
	if runtime.GOOS != "windows" {
		data, err := hostfs.Files{}.ReadFile("/etc/machine-id", 4<<10)
		if err == nil && strings.TrimSpace(string(data)) != "" {
			return sealed.MachineName(string(data)), nil
		}
	}
	return "", fmt.Errorf("this system has no /etc/machine-id; put a text that no other machine has into %s of the managed directory", machineFile)
}

// addRecovery looks for a recovery file. It is verified whenever it is there,
// unlike bundles: that is rare, and it loosens. One that is not good relaxes
// nothing, and people are told why.
func (l *Loaded) addRecovery(p *places.Place) {
	if p == nil || p.Err != nil || !p.Has(RecoveryFile) {
		return
	}
	r, err := openRecovery(p, l.latest(p))
	if err != nil {
		l.Unrelaxed = fmt.Sprintf("%s relaxes nothing: %s", filepath.Join(p.Dir, RecoveryFile), err)
		l.Notices = append(l.Notices, l.Unrelaxed)
		return
	}
	l.recovery, l.MayAge = r, r.Aged
	var what []string
	if len(r.Off) > 0 {
		what = append(what, "not in force: "+strings.Join(r.Off, ", "))
	}
	if len(r.Aged) > 0 {
		what = append(what, "may be old: "+strings.Join(r.Aged, ", "))
	}
	text := fmt.Sprintf("a recovery file relaxes this machine until %s (%s); %s answers for it: %s",
		r.Until.UTC().Format("2006-01-02 15:04 MST"), strings.Join(what, "; "), r.Owner, r.Reason)
	src := scopes.Source{Name: core.RecoverySource, Scope: hook.Policy, Authority: hook.Managed}
	l.Say(&src, "gate.recovery", hook.Reason{Reason: text})
	l.Sources = append(l.Sources, src)
	l.Relaxed = text
}

func openRecovery(p *places.Place, now time.Time) (sealed.Recovery, error) {
	none := sealed.Recovery{}
	data, err := stateFile(p, RecoveryFile)
	if err != nil {
		return none, err
	}
	keys, err := stateFile(p, sync.KeysFile)
	if errors.Is(err, fs.ErrNotExist) {
		return none, errors.New("there is no key set")
	}
	if err != nil {
		return none, err
	}
	set, err := bundles.ParseKeySet(keys)
	if err != nil {
		return none, err
	}
	machine, err := MachineName(p)
	if err != nil {
		return none, err
	}
	r, err := set.OpenRecovery(data, machine, now)
	if err != nil {
		return none, err
	}
	return r, nil
}

// latest is the time that it is at least: a clock that was set back makes
// nothing good again that was over when bundles were last synced.
func (l *Loaded) latest(p *places.Place) time.Time {
	now := time.Now()
	for _, last := range l.readSynced(p) {
		if last.At.After(now) {
			now = last.At
		}
	}
	return now
}

// relaxes reports whether a recovery file takes a bundle out of force.
func (l *Loaded) relaxes(name string) bool { return slices.Contains(l.recovery.Off, name) }
