package commands

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"gate/cmd/internal/screen"
	"gate/internal/audit"
	"gate/internal/fleet"
	"gate/internal/format"
	"gate/internal/hostfs"
	"gate/internal/setting"
)

// A leaving says for the person what leaves this machine, and how far it has come.
type leaving struct {
	URL     string `json:"url"`
	Form    string `json:"form"`
	Level   string `json:"level,omitempty"`   // of a collector of a fleet
	Machine string `json:"machine,omitempty"` // as that calls it
	By      string `json:"by"`                // whose process sends: "this account", "root", or "nobody"

	Record    *time.Time `json:"last_record,omitempty"` // when records last arrived
	Seq       int64      `json:"seq"`                   // of the last of this account's log that arrived
	Waiting   int64      `json:"waiting"`               // records of this account's log that did not
	Status    *time.Time `json:"last_status,omitempty"`
	StatusSeq int64      `json:"status_seq,omitempty"`
	Problem   string     `json:"problem,omitempty"`
}

// sharedFile is what root's sending tells every account of the machine.
const sharedFile = "shipped.json"

// A shared is that file.
type shared struct {
	Schema  int       `json:"schema"`
	Machine string    `json:"machine"`
	At      time.Time `json:"at"`     // when records or a status last arrived
	Status  time.Time `json:"status"` // when a status did
	Seq     int64     `json:"seq"`
}

// share notes for every account of the machine that its logs are sent. That it cannot be
// written concerns nobody else.
func share(d dirs, machine string, r fleet.Report) error {
	data, err := json.Marshal(shared{format.Shipped.Number(), machine, time.Now().UTC().Truncate(time.Second), r.At.Truncate(time.Second), r.Seq})
	if err != nil {
		return err
	}
	path := filepath.Join(d.Managed, sharedFile)
	if err := hostfs.Replace(path, append(data, '\n'), 0o644); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: %w", path, hostfs.Reason(err))
	}
	return nil
}

// leavingOf is what leaves the machine by these settings; nil: nothing.
func leavingOf(d dirs, to setting.DecisionLogs) *leaving {
	if to.URL == "" {
		return nil
	}
	l := &leaving{URL: to.URL, Form: to.Form, By: "nobody"}
	if l.Form == "" {
		l.Form = setting.FormOPA
	}
	l.log(d)
	if to.Form != setting.FormCollector {
		return l
	}
	level, err := fleet.ParseLevel(to.Level)
	l.Level = string(level)
	m, keyErr := enrolledMachine(d)
	switch {
	case keyErr == nil:
		l.By, l.Machine = "this account", m.Name
		if r, err := fleet.LastReport(d.State); err != nil {
			l.Problem = oneLine(err.Error())
		} else if !r.At.IsZero() {
			l.Status, l.StatusSeq = &r.At, r.Seq
		}
	case l.byRoot(d):
	default:
		l.Problem = oneLine(keyErr.Error())
	}
	if err != nil {
		l.Problem = oneLine(err.Error())
	}
	return l
}

// log looks how far this account's own log was sent.
func (l *leaving) log(d dirs) {
	h, err := audit.OpenHistory(d.State)
	if err != nil {
		return
	}
	sent, err := h.Cursor("")
	if err != nil {
		l.Problem = oneLine(err.Error())
		return
	}
	if !sent.At.IsZero() {
		l.By, l.Record, l.Seq = "this account", &sent.At, sent.Seq
	}
	if last, err := h.Last(); err == nil && last.Place != nil {
		l.Waiting = last.Place.Seq
		if last.Place.Log == sent.Log {
			l.Waiting = max(last.Place.Seq-sent.Seq, 0)
		}
	}
}

// byRoot looks what root's sending told.
func (l *leaving) byRoot(d dirs) bool {
	data, err := readFile(filepath.Join(d.Managed, sharedFile), 4<<10)
	var s shared
	if err != nil || json.Unmarshal(data, &s) != nil || format.Shipped.Check(int64(s.Schema)) != nil {
		return false
	}
	l.By, l.Machine, l.Record, l.Waiting = "root", s.Machine, &s.At, 0
	if !s.Status.IsZero() {
		l.Status, l.StatusSeq = &s.Status, s.Seq
	}
	return true
}

// text says it to people.
func (l *leaving) text() string {
	if l == nil {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "decisions are sent to %s", visible(l.URL))
	if l.Level != "" {
		fmt.Fprintf(&b, ", level %s: %s", l.Level, levelSays(fleet.Level(l.Level)))
	}
	b.WriteString("\n")
	when := func(t *time.Time) string {
		if t == nil {
			return "never"
		}
		return t.Local().Format(time.DateTime)
	}
	fmt.Fprintf(&b, "  records were last sent: %s", when(l.Record))
	switch {
	case l.By == "root":
		b.WriteString(", by root")
	case l.Waiting > 0:
		fmt.Fprintf(&b, "; %s of this account waiting", screen.Counted(int(l.Waiting), "record"))
	}
	if l.Level != "" {
		fmt.Fprintf(&b, "\n  the machine's status was last sent: %s", when(l.Status))
	}
	b.WriteString("\n")
	if l.Problem != "" {
		fmt.Fprintf(&b, "  nothing is sent now: %s\n", visible(l.Problem))
	}
	return b.String()
}
