package fleet

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"gate/internal/strictjson"
)

// A Status is what a machine says of itself: OPA's status form, and what gate adds to it.
// It is the machine's word.
type Status struct {
	Labels  map[string]string       `json:"labels,omitempty"`
	Bundles map[string]BundleStatus `json:"bundles"` // by name; of a trial trial:NAME
	Logs    LogStatus               `json:"decision_logs"`
	Gate    GateStatus              `json:"gate"`
}

// A BundleStatus is a bundle that is in force, or that settings want.
type BundleStatus struct {
	Name       string     `json:"name"`
	Revision   string     `json:"active_revision,omitempty"` // its version; "": none is in force
	Digest     string     `json:"digest,omitempty"`          // of its archive, "sha256:…"; gate's addition
	Activated  *time.Time `json:"last_successful_activation,omitempty"`
	Downloaded *time.Time `json:"last_successful_download,omitempty"` // when its source last gave it, or said that it has no other
	Requested  *time.Time `json:"last_request,omitempty"`
	Code       string     `json:"code,omitempty"`    // "": all is well; else [SyncFailed] or [SyncRefused]
	Message    string     `json:"message,omitempty"` // why; at level text only
}

// Codes of a bundle whose sync fails, and of a log that cannot be sent.
const (
	SyncFailed  = "sync_failed"
	SyncRefused = "sync_refused"
	ShipFailed  = "ship_failed"
)

// A LogStatus says whether records arrive.
type LogStatus struct {
	Code    string `json:"code,omitempty"`    // "": they do; else [ShipFailed]
	Message string `json:"message,omitempty"` // why not; at level text only
}

// A GateStatus is what OPA's form has no place for.
type GateStatus struct {
	Format  int       `json:"format"` // [Version]
	Seq     int64     `json:"seq"`    // grows; one number is one document
	Time    time.Time `json:"time"`
	Machine string    `json:"machine"`
	Level   Level     `json:"level"`

	Version    string `json:"version"` // gate's
	OS         string `json:"os"`
	Arch       string `json:"arch"`
	HookDigest string `json:"hook_digest,omitempty"` // of gate-hook, "sha256:…"

	Agents   []Agent            `json:"agents"`
	Settings map[string]Setting `json:"settings"` // those that bind, by key
	Findings []Finding          `json:"findings"` // doctor's
	Heads    []Head             `json:"logs"`
	Counters []Hour             `json:"counters"` // since the status before that arrived
	Ship     Ship               `json:"ship"`
}

// An Agent is a coding agent of the machine.
type Agent struct {
	Name     string     `json:"name"`
	Account  string     `json:"account,omitempty"` // a pseudonym; "": of the account that sends
	Version  string     `json:"version,omitempty"`
	Hook     string     `json:"hook"`                // HookLive and so on
	LastCall *time.Time `json:"last_call,omitempty"` // the last record that it caused
	Used     *time.Time `json:"used,omitempty"`      // the agent's own last sign of life, where it leaves one
}

// Words for an agent's hook.
const (
	HookLive    = "live"    // registered, and it is this gate's
	HookMissing = "missing" // not registered, or not for all events
	HookOther   = "other"   // another program is registered
	HookUnknown = "unknown" // nobody could tell
)

// A Setting is one that binds.
type Setting struct {
	From   string `json:"from"`             // the source that decides it
	Digest string `json:"digest,omitempty"` // of a managed value: equal values have one digest
	Weaker bool   `json:"weaker,omitempty"` // a bundle wants it stricter
}

// A Finding is one of gate doctor's.
type Finding struct {
	ID       string `json:"id"`
	Severity string `json:"severity"`
	Text     string `json:"text,omitempty"` // at level text only
}

// A Head is where a log ends, as the machine knows it.
type Head struct {
	Log     string `json:"log"`
	Seq     int64  `json:"seq"`
	Account string `json:"account,omitempty"` // a pseudonym
}

// An Hour has the decisions of one hour.
type Hour struct {
	Hour     time.Time `json:"hour"`     // its beginning, UTC
	Calls    int64     `json:"calls"`    // decisions about whether a call may run
	Asked    int64     `json:"asked"`    // of those: put to a person
	Approved int64     `json:"approved"` // of those: a person had approved it
	Denied   int64     `json:"denied"`
	Changed  int64     `json:"changed"`
	Faults   int64     `json:"faults"` // decisions of any kind with a fault
	Policies []Said    `json:"policies,omitempty"`
}

// A Said counts one answer of one policy to calls.
type Said struct {
	Policy   string `json:"policy"`
	Effect   string `json:"effect"`
	Would    string `json:"would,omitempty"`  // the effect that did not follow
	Spared   string `json:"spared,omitempty"` // what took from it: trial, exception, approval or a level
	N        int64  `json:"n"`
	Approved int64  `json:"approved,omitempty"` // of those: a person had approved the call
}

// A Ship says how far the machine's logs are sent.
type Ship struct {
	Last    *time.Time `json:"last,omitempty"` // when records last arrived
	Waiting int64      `json:"waiting"`        // records that did not arrive yet, as far as is known
}

// MaxStatus is the largest status, in bytes before compression.
const MaxStatus = 4 << 20

// JSON returns the document as it is signed and sent, before compression.
func (s *Status) JSON() ([]byte, error) {
	data, err := json.Marshal(s)
	if err == nil && len(data) > MaxStatus {
		err = fmt.Errorf("the status has %d bytes; %d may be sent", len(data), MaxStatus)
	}
	return data, err
}

// ParseStatus reads what JSON wrote, also a newer gate's, of which it ignores what it does
// not know. The error is one sentence.
func ParseStatus(data []byte) (*Status, error) {
	if _, err := strictjson.Object(data, strictjson.Limits{Bytes: MaxStatus}); err != nil {
		return nil, err
	}
	var s Status
	if err := json.Unmarshal(data, &s); err != nil {
		return nil, fmt.Errorf("no status: %w", err)
	}
	switch {
	case s.Gate.Format < 1:
		return nil, errors.New("gate.format: it is missing")
	case s.Gate.Seq < 1:
		return nil, errors.New("gate.seq: a number from 1 on is wanted")
	case !IsMachine(s.Gate.Machine):
		return nil, fmt.Errorf("gate.machine: %w", errNoMachine)
	case s.Gate.Time.IsZero():
		return nil, errors.New("gate.time: a time is wanted")
	}
	return &s, nil
}
