package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"slices"
	"time"

	"gate/internal/audit"
	"gate/internal/audit/ship"
	"gate/internal/format"
	"gate/internal/hostfs"
)

// A Reporter sends the status of a machine.
type Reporter struct {
	Machine    *Machine
	Shipper    *ship.Shipper // to the collector
	Level      Level
	Pseudonyms Pseudonyms
	Logs       []Source // whose decisions are counted

	// Fill puts into a status what the machine knows beside its logs. calls are the last
	// calls by account and agent; "" is the account that sends.
	Fill func(s *Status, calls map[string]map[string]time.Time)
}

// A Source is a log of the machine.
type Source struct {
	Account string // "": of the account that sends
	Log     ship.Log
}

// A Report says what became of a status.
type Report struct {
	Seq  int64     // of the last status that arrived
	At   time.Time // when; zero: none ever did
	More bool      // not every decision is counted yet: the next one goes on
}

// Bounds of one status and of one sending.
const (
	mostRows    = 10_000  // hours, and answers of policies in each, of all logs
	mostLogRows = 2_000   // of one of them
	mostCounted = 100_000 // records of one log
	mostSent    = 20      // statuses in a row
	mostAgents  = 20      // of an account

	lockTime = 5 * time.Second
)

// counted is the name of the cursor that says which records a status has counted.
const counted = "status"

// Send sends a status, again and again until all decisions are counted. A status keeps its
// number and its bytes until it has arrived: so nothing is counted twice or lost.
func (r *Reporter) Send(ctx context.Context) (Report, error) {
	waiting, cancel := context.WithTimeout(ctx, lockTime)
	lock, err := Lock(waiting, r.Machine.dir)
	cancel()
	if err != nil {
		return Report{}, err
	}
	defer lock.Close()
	st, err := readState(r.Machine.dir)
	if err != nil {
		return Report{}, err
	}
	if st.Pending != nil {
		if err := r.deliver(ctx, st); err != nil && !errors.Is(err, errBehind) {
			return st.report(), err
		}
	}
	for range mostSent {
		more, err := r.next(ctx, st)
		if err == nil {
			err = r.deliver(ctx, st)
		}
		if errors.Is(err, errBehind) {
			continue
		}
		if err != nil || !more || ctx.Err() != nil {
			report := st.report()
			report.More = more
			return report, err
		}
	}
	report := st.report()
	report.More = true
	return report, nil
}

// state is the file beside the key: how far statuses have come.
type state struct {
	Type    string                          `json:"type"`
	Seq     int64                           `json:"seq"` // of the last status that arrived
	Sent    time.Time                       `json:"sent,omitzero"`
	Calls   map[string]map[string]time.Time `json:"calls,omitempty"` // the last, by account and agent
	Pending *pending                        `json:"pending,omitempty"`

	dir string
}

// pending is a status that may have arrived.
type pending struct {
	Seq     int64     `json:"seq"`
	Body    []byte    `json:"body"`
	Cursors []reached `json:"counted"`
}

// reached is how far a log is counted in a status.
type reached struct {
	Account string `json:"account"`
	Log     string `json:"log"`
	Seq     int64  `json:"seq"`
	Gone    bool   `json:"gone,omitempty"`
}

// maxState bounds the file, in bytes.
const maxState = 2*MaxStatus + 1<<20

// readState reads the file. One that cannot be read, other than a newer gate's, is begun
// anew: the collector says which number it has.
func readState(dir string) (*state, error) {
	st := &state{dir: dir}
	data, err := readPrivate(dir, statusFile, maxState)
	if err == nil {
		err = json.Unmarshal(data, st)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: %w", filepath.Join(dir, statusFile), hostfs.Reason(err))
	}
	if err != nil {
		return &state{dir: dir}, nil
	}
	if err := format.FleetStatus.CheckMark(st.Type); errors.Is(err, format.ErrNewer) {
		return nil, fmt.Errorf("%s: %w", filepath.Join(dir, statusFile), err)
	} else if err != nil || st.Seq < 0 {
		return &state{dir: dir}, nil
	}
	return st, nil
}

func (st *state) save() error {
	st.Type = format.FleetStatus.Mark()
	data, err := json.Marshal(st)
	if err != nil {
		return err
	}
	return replace(filepath.Join(st.dir, statusFile), data)
}

func (st *state) report() Report { return Report{Seq: st.Seq, At: st.Sent} }

// LastReport reads when a status of a state directory last arrived.
func LastReport(dir string) (Report, error) {
	st, err := readState(dir)
	if err != nil {
		return Report{}, err
	}
	return st.report(), nil
}

// next makes the next status and keeps it; more says that it has not counted everything.
func (r *Reporter) next(ctx context.Context, st *state) (more bool, err error) {
	s := &Status{Bundles: map[string]BundleStatus{}}
	s.Gate = GateStatus{
		Format: Version, Seq: st.Seq + 1, Time: time.Now().UTC().Truncate(time.Second), Machine: r.Machine.Name, Level: r.Level,
		Agents: []Agent{}, Settings: map[string]Setting{}, Findings: []Finding{}, Heads: []Head{},
	}
	p := &pending{Seq: s.Gate.Seq}
	t := &Tally{Pseudonyms: r.Pseudonyms}
	if st.Calls == nil {
		st.Calls = map[string]map[string]time.Time{}
	}
	logs := slices.Clone(r.Logs)
	rand.Shuffle(len(logs), func(i, j int) { logs[i], logs[j] = logs[j], logs[i] }) // a log without end keeps none from its turn for ever
	for _, log := range logs {
		at, rest, err := r.count(ctx, log, t, st)
		if err != nil {
			continue // what cannot be read is a finding among the records
		}
		more = more || rest
		if at.Log != "" {
			p.Cursors = append(p.Cursors, reached{log.Account, at.Log, at.Seq, at.Gone})
			s.Gate.Heads = append(s.Gate.Heads, Head{Log: at.Log, Seq: at.Seq, Account: r.Pseudonyms.Account(log.Account)})
		}
		s.Gate.Ship.add(log, at)
	}
	slices.SortFunc(s.Gate.Heads, func(a, b Head) int { return slices.Compare([]string{a.Account, a.Log}, []string{b.Account, b.Log}) })
	s.Gate.Counters = t.Hours()
	r.Fill(s, st.Calls)
	if p.Body, err = s.JSON(); err != nil {
		return more, err
	}
	st.Pending = p
	return more, st.save()
}

// add takes in how far a log is sent.
func (s *Ship) add(log Source, at audit.Cursor) {
	sent, err := log.Log.Cursor("")
	if err != nil {
		return
	}
	if !sent.At.IsZero() && (s.Last == nil || sent.At.After(*s.Last)) {
		s.Last = &sent.At
	}
	if sent.Log == at.Log {
		s.Waiting += max(at.Seq-sent.Seq, 0)
	} else {
		s.Waiting += at.Seq
	}
}

// count takes in the decisions of a log that no status had, and returns how far it came;
// rest says that there are more.
func (r *Reporter) count(ctx context.Context, log Source, t *Tally, st *state) (at audit.Cursor, rest bool, err error) {
	if at, err = log.Log.Cursor(counted); err != nil {
		return at, false, err
	}
	begin := t.Rows()
	n := 0
	for item, err := range log.Log.Unsent(at, audit.Origin{Now: time.Now()}) {
		if err != nil {
			return at, false, err
		}
		if n == mostCounted || t.Rows() >= mostRows || t.Rows()-begin >= mostLogRows || ctx.Err() != nil {
			return at, true, nil
		}
		n++
		at = item.After
		if item.Gap || item.Finding {
			continue
		}
		if record, err := audit.Parse(item.Text); err == nil {
			t.Add(&record)
			st.saw(log.Account, &record)
		}
	}
	return at, false, nil
}

// saw notes that an agent asked gate.
func (st *state) saw(account string, r *audit.Record) {
	if r.Sync != nil || !isPlain(r.Agent, 0) || r.Agent == "" {
		return
	}
	calls := st.Calls[account]
	if calls == nil {
		calls = map[string]time.Time{}
		st.Calls[account] = calls
	}
	at := r.Time.UTC().Truncate(time.Second)
	if last, known := calls[r.Agent]; !known && len(calls) < mostAgents || known && at.After(last) {
		calls[r.Agent] = at
	}
}

// deliver sends the status that waits. One that the collector has already has arrived.
func (r *Reporter) deliver(ctx context.Context, st *state) error {
	p := st.Pending
	err := r.Shipper.Post(ctx, ship.Request{
		Path: StatusPath, Type: "application/json", Body: p.Body, Sign: r.Machine.signs(StatusPath),
		Answer: func(_ string, body []byte) (ship.Refusal, error) {
			if !json.Valid(body) {
				return ship.Refusal{}, errors.New("this is no answer of gate collect")
			}
			return ship.Refusal{}, nil
		},
	})
	var answer *ship.AnswerError
	if errors.As(err, &answer) {
		switch answer.Code {
		case http.StatusConflict:
			if has := seqOf(answer.Body); has > p.Seq && has <= maxSeq { // nothing of this one was counted there
				st.Seq, st.Pending = has, nil
				return errors.Join(errBehind, st.save())
			}
			err = nil
		case http.StatusBadRequest, http.StatusRequestEntityTooLarge: // the same would be refused for ever
			st.Pending = nil
			return errors.Join(fmt.Errorf("status: %w", err), st.save())
		}
	}
	if err != nil {
		return fmt.Errorf("status: %w", err)
	}
	for _, c := range p.Cursors {
		i := slices.IndexFunc(r.Logs, func(l Source) bool { return l.Account == c.Account })
		if i < 0 {
			continue // the account is gone
		}
		if err := r.Logs[i].Log.Advance(counted, audit.Cursor{Log: c.Log, Seq: c.Seq, Gone: c.Gone, At: time.Now()}); err != nil {
			return err
		}
	}
	st.Seq, st.Sent, st.Pending = p.Seq, time.Now().UTC(), nil
	return st.save()
}

// errBehind reports that the collector has later statuses of this machine: the state is
// older than they are, as behind the restoring of a disk.
var errBehind = errors.New("status: the collector has later ones of this machine")

// maxSeq is the highest number that a collector is believed.
const maxSeq = 1 << 52

// seqOf reads the number that the collector has of this machine, 0 where it says none.
func seqOf(body []byte) int64 {
	var answer struct {
		Seq int64 `json:"seq"`
	}
	json.Unmarshal(body, &answer)
	return answer.Seq
}

// Calls returns, by account and agent in order, what Fill makes agents of.
func Calls(calls map[string]map[string]time.Time, each func(account, agent string, last time.Time)) {
	for _, account := range slices.Sorted(maps.Keys(calls)) {
		for _, agent := range slices.Sorted(maps.Keys(calls[account])) {
			each(account, agent, calls[account][agent])
		}
	}
}
