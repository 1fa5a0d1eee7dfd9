package commands

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"gate/internal/setting"
)

// shipTime bounds what sending the log adds to a sync: the next one goes on
// where this one ended.
const shipTime = 2 * time.Minute

// statusTime bounds what sending the machine's status adds to that. It has time of its own,
// for it says what keeps the records from arriving.
const statusTime = 30 * time.Second

// ship sends the decision log of this account where settings want it, and as root those
// of the machine's accounts. What goes wrong there concerns no policy: it is told, and the
// log is kept.
func (s *syncer) ship(ctx context.Context) {
	to := s.settings.DecisionLogs
	if to.URL == "" || !s.settings.On(setting.Log) {
		return
	}
	text, err := s.shipAll(ctx)
	if text != "" {
		fmt.Fprintf(s.stderr, "gate: decision log: %s", text)
	}
	if err != nil {
		fmt.Fprintf(s.stderr, "gate: note: %s; the rest goes with the next sync\n", oneLine(err.Error()))
	}
}

func (s *syncer) shipAll(ctx context.Context) (text string, err error) {
	shipper, err := s.newShipper(s.dirs, "", s.settings.DecisionLogs, s.settings)
	if err != nil {
		return "", err
	}
	all := s.accounts != nil && !s.dirs.ManagedNamed
	if all {
		if err := s.readyForAccounts(s.dirs); err != nil {
			return "", err
		}
	}
	records, cancel := context.WithTimeout(ctx, shipTime)
	defer cancel()
	report, err := shipLog(records, s.dirs.State, shipper)
	if err == nil && report.Batches+report.Kept > 0 {
		text = shipText(report)
	}
	if all && (err == nil || errors.Is(err, fs.ErrNotExist)) {
		var others []shippedAccount
		others, err = s.shipAccounts(records, s.dirs, shipper)
		text += accountsText(others)
	}
	last, cancelLast := context.WithTimeout(ctx, statusTime)
	defer cancelLast()
	status := s.sendStatus(last, shippedBy{flags: s.flags.dirs, dirs: s.dirs, shipper: shipper, accounts: all, shipped: err})
	return text + status.text(), errors.Join(err, status.failed())
}
