package commands

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"runtime"
	"strconv"
	"time"

	"gate/internal/audit"
	"gate/internal/audit/accounts"
	"gate/internal/audit/ship"
	"gate/internal/fleet"
	"gate/internal/places"
	"gate/internal/setting"
	"gate/internal/sources"
)

// errNotEnrolled reports a machine whose key no collector has.
var errNotEnrolled = hintedError{errors.New("this machine is not enrolled at the collector that managed settings name"), "gate enroll --token-file FILE, once, as the account that sends; docs/fleet.md"}

// enrolledMachine is the machine that a collector knows, with its key.
func enrolledMachine(d dirs) (*fleet.Machine, error) {
	m, err := fleet.Open(d.State)
	if errors.Is(err, fs.ErrNotExist) || err == nil && m.URL == "" {
		return nil, errNotEnrolled
	}
	if err != nil {
		return nil, err
	}
	name, err := machineName(d)
	if err != nil {
		return nil, err
	}
	return m, m.Is(name)
}

// machineName is how channels and collectors name this machine.
func machineName(d dirs) (string, error) {
	place := places.Open(d.Managed, ".", places.ManagedFiles(d))
	defer place.Close()
	return sources.MachineName(place)
}

// collectorForm is the form of the collector of a fleet.
func (p process) collectorForm(d dirs, to setting.DecisionLogs) (*fleet.Form, error) {
	m, err := enrolledMachine(d)
	if err != nil {
		return nil, err
	}
	f := &fleet.Form{Machine: m}
	if f.Level, err = fleet.ParseLevel(to.Level); err != nil {
		return nil, err
	}
	if to.Pseudonyms != "" {
		f.Pseudonyms, err = fleet.ReadPseudonyms(to.Pseudonyms)
	} else {
		f.Pseudonyms, err = m.Pseudonyms()
	}
	if err != nil {
		return nil, fmt.Errorf("pseudonyms: %w", err)
	}
	homes := map[string][]string{"": spelledHome(p.home())}
	if p.accounts != nil {
		list, _ := p.accounts() // of whom it does not list no log is read
		for _, who := range list {
			homes[who.Name] = spelledHome(who.Home)
		}
	}
	f.Homes = func(account string) []string { return homes[account] }
	return f, nil
}

// spelledHome is a home directory as it is written, and as it is behind links.
func spelledHome(home string) []string {
	if home == "" {
		return nil
	}
	list := []string{filepath.Clean(home)}
	if real, err := filepath.EvalSymlinks(home); err == nil && real != list[0] {
		list = append(list, real)
	}
	if runtime.GOOS == "windows" {
		for _, path := range list {
			list = append(list, filepath.ToSlash(path))
		}
	}
	return list
}

// A shippedBy is what sent the records that a status comes after.
type shippedBy struct {
	flags    dirFlags
	dirs     dirs
	shipper  *ship.Shipper
	accounts bool  // those of the machine, too
	shipped  error // why records did not arrive
}

// A sentStatus is what became of a status.
type sentStatus struct {
	fleet.Report
	err error
}

// sendStatus sends the status of the machine to the collector of a fleet, after the
// records; nil where the log goes to none.
func (p process) sendStatus(ctx context.Context, o shippedBy) *sentStatus {
	form, ok := o.shipper.Form.(*fleet.Form)
	if !ok {
		return nil
	}
	shipper := *o.shipper
	shipper.Form = nil
	if o.shipped != nil {
		shipper.Tries = 1 // the other side was asked often enough
	}
	r := fleet.Reporter{Machine: form.Machine, Shipper: &shipper, Level: form.Level, Pseudonyms: form.Pseudonyms}
	if h, err := audit.OpenHistory(o.dirs.State); err == nil {
		r.Logs = append(r.Logs, fleet.Source{Log: h})
	}
	if o.accounts {
		r.Logs = append(r.Logs, p.accountSources(ctx, o.dirs)...)
	}
	r.Fill = func(s *fleet.Status, calls map[string]map[string]time.Time) {
		(&statusFiller{process: p, shippedBy: o, form: form, calls: calls, Status: s}).fill()
	}
	s := &sentStatus{}
	s.Report, s.err = r.Send(ctx)
	if s.err == nil && o.accounts {
		s.err = share(o.dirs, form.Machine.Name, s.Report)
	}
	return s
}

// accountSources are the logs of the machine's accounts.
func (p process) accountSources(ctx context.Context, d dirs) []fleet.Source {
	list, _ := p.accounts() // what is wrong with it was said with the records
	var out []fleet.Source
	for _, who := range list {
		out = append(out, fleet.Source{Account: who.Name, Log: p.accountLog(ctx, d, who)})
	}
	return out
}

// accountLog is the log of an account, which a process of the account's own reads.
func (p process) accountLog(ctx context.Context, d dirs, who places.Numbered) *accounts.Log {
	_, state := places.InHome(who.Home)
	return &accounts.Log{
		Context: ctx, Account: who.Name, UID: who.UID, GID: who.GID, Dir: state,
		Kept: filepath.Join(d.Accounts(), strconv.FormatUint(uint64(who.UID), 10)), Program: append(p.self[:len(p.self):len(p.self)], sendCommand),
	}
}

func (s *sentStatus) failed() error {
	if s == nil {
		return nil
	}
	return s.err
}

func (s *sentStatus) text() string {
	switch {
	case s == nil || s.err != nil:
		return ""
	case s.More:
		return fmt.Sprintf("status %d sent; the next one goes on counting\n", s.Seq)
	}
	return fmt.Sprintf("status %d sent\n", s.Seq)
}

// document is what became of the status, for programs.
func (s *sentStatus) document() map[string]any {
	doc := map[string]any{"seq": s.Seq, "error": nil}
	if s.err != nil {
		doc["error"] = s.err.Error()
	}
	return doc
}
