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

// ship sends the decision log of this account where settings want it. What goes
// wrong there concerns no policy: it is told, and the log is kept.
func (s *syncer) ship(ctx context.Context) {
	to := s.settings.DecisionLogs
	if to.URL == "" || !s.settings.On(setting.Log) {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, shipTime)
	defer cancel()
	report, err := shipLog(ctx, s.dirs.State, "", to, s.settings.Labels)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		fmt.Fprintf(s.stderr, "gate: note: %s; the rest goes with the next sync\n", oneLine(err.Error()))
	case report.Batches > 0:
		fmt.Fprintf(s.stderr, "gate: decision log: %s", shipText(report))
	}
}
