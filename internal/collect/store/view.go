package store

import "time"

// A Machine is one that is enrolled, or that is expected and never was.
type Machine struct {
	Machine    string            `json:"machine"` // "" where it is expected by its host and not enrolled
	Host       string            `json:"host,omitempty"`
	Labels     map[string]string `json:"labels,omitempty"` // of its enrolment
	Team       string            `json:"team,omitempty"`
	Key        []byte            `json:"-"` // Ed25519
	Enrolled   time.Time         `json:"enrolled,omitzero"`
	Expected   bool              `json:"expected"` // it stands on the list
	Seen       time.Time         `json:"seen,omitzero"`
	LastRecord time.Time         `json:"last_record,omitzero"` // the time of its latest record
	StatusSeq  int64             `json:"status,omitempty"`
	StatusAt   time.Time         `json:"status_at,omitzero"`
	Level      string            `json:"level,omitempty"` // of privacy, as it says
	Version    string            `json:"version,omitempty"`
	OS         string            `json:"os,omitempty"`
	Arch       string            `json:"arch,omitempty"`
	Agents     []AgentState      `json:"agents,omitempty"`
	Releases   []MachineRelease  `json:"releases,omitempty"`
	Findings   int               `json:"findings"` // that are open
}

// An AgentState is what a machine says of one of its agents.
type AgentState struct {
	Name     string    `json:"name"`
	Account  string    `json:"account,omitempty"` // a pseudonym; "": that of the account that sends
	Version  string    `json:"version,omitempty"`
	Hook     string    `json:"hook"`               // live, missing, other or unknown
	LastCall time.Time `json:"last_call,omitzero"` // the last record that it caused
	Used     time.Time `json:"used,omitzero"`      // the agent's own last sign of life
}

// A MachineRelease is a bundle that is in force on a machine, or on trial.
type MachineRelease struct {
	Bundle    string    `json:"bundle"`
	Revision  string    `json:"revision"`
	Trial     bool      `json:"trial,omitempty"`
	Digest    string    `json:"digest,omitempty"`
	Activated time.Time `json:"activated,omitzero"` // when it came into force
	Asked     time.Time `json:"asked,omitzero"`     // when its source was last asked
	Code      string    `json:"code,omitempty"`     // why the last one did not come into force
	Message   string    `json:"message,omitempty"`
}

// A Release is how many machines have a release of a bundle.
type Release struct {
	Bundle   string    `json:"bundle"`
	Revision string    `json:"revision"`
	Trial    bool      `json:"trial,omitempty"`
	Machines int       `json:"machines"`
	Failing  int       `json:"failing"`         // of these, whose last attempt to have another one failed
	First    time.Time `json:"first,omitzero"`  // when the first machine had it
	Latest   time.Time `json:"latest,omitzero"` // when the latest one had it
}

// A Finding is something that is not as it should be. It is open until Closed.
type Finding struct {
	ID       int64     `json:"id"`
	Kind     string    `json:"kind"` // one of [Kinds]
	Machine  string    `json:"machine,omitempty"`
	Host     string    `json:"host,omitempty"`
	Team     string    `json:"team,omitempty"`
	Log      string    `json:"log,omitempty"`   // a chain; of other findings what tells them apart
	First    int64     `json:"first,omitempty"` // of records, or what else is counted
	Last     int64     `json:"last,omitempty"`
	Detail   string    `json:"detail"`
	Times    int64     `json:"times"` // how often it was seen
	Opened   time.Time `json:"opened"`
	Seen     time.Time `json:"seen"` // last
	Closed   time.Time `json:"closed,omitzero"`
	ClosedBy string    `json:"closed_by,omitempty"` // "" where it closed by itself
}

// A Span is a time from a moment to just before another one. Figures are kept by hours.
type Span struct{ From, Until time.Time }

// Figures asks for numbers of calls.
type Figures struct {
	Span
	By     []string // any of time, policy, team, agent, tool, effect, would, spared; the order of rows
	Day    bool     // time is a day in UTC, otherwise an hour
	Policy string   // "": all calls, each once; "*": all policies, each by itself; otherwise the one
	Team   string   // "*" or "": all; otherwise the one
	Tool   string
	Effect string
	Would  string // "*": only those with some
	Limit  int    // rows; default 10 000, which is also the most
}

// A Figure is a row of them. What was not asked for by name is empty.
type Figure struct {
	Time     time.Time `json:"time,omitzero"` // when the hour or day begins
	Policy   string    `json:"policy,omitempty"`
	Team     string    `json:"team,omitempty"`
	Agent    string    `json:"agent,omitempty"`
	Tool     string    `json:"tool,omitempty"`
	Effect   string    `json:"effect,omitempty"` // pass, allow, change, ask or deny; of a policy what it added
	Would    string    `json:"would,omitempty"`  // ask, deny or change
	Spared   string    `json:"spared,omitempty"`
	N        int64     `json:"n"`
	Approved int64     `json:"approved"` // of what was asked about: a person let it through
}

// An Asked is what a policy asks about, by what the call does.
type Asked struct {
	Policy   string   `json:"policy"`
	Tool     string   `json:"tool"`
	Effects  []string `json:"effects"`
	Asked    int64    `json:"asked"`
	Approved int64    `json:"approved"`
	Days     int64    `json:"days"` // on which it was asked about
}

// A Latency is how long gate took, or the agent waited, in a time.
type Latency struct {
	Time time.Time     `json:"time,omitzero"` // when the hour or day begins; zero: of all
	Team string        `json:"team,omitempty"`
	Kind string        `json:"kind"` // "decision" or "call"
	N    int64         `json:"n"`
	P50  time.Duration `json:"p50_ns"` // at most a tenth too much
	P90  time.Duration `json:"p90_ns"`
	P99  time.Duration `json:"p99_ns"`
}

// A Trial is what a policy on trial would have stopped or changed.
type Trial struct {
	Policy   string      `json:"policy"`
	Would    string      `json:"would"` // ask, deny or change
	N        int64       `json:"n"`
	Machines int         `json:"machines"`
	Who      []TrialWho  `json:"who"`   // most calls first; 100 at most
	Calls    []TrialCall `json:"calls"` // one of each kind of call, the most frequent first; 5 at most
}

// A TrialWho is a machine whose agents would have been stopped.
type TrialWho struct {
	Machine string `json:"machine"`
	Host    string `json:"host,omitempty"`
	Team    string `json:"team,omitempty"`
	N       int64  `json:"n"`
}

// A TrialCall is a kind of call that would have been stopped: the same tool and effects.
type TrialCall struct {
	Near    Near   `json:"call"` // the latest of them
	N       int64  `json:"n"`
	Nearest []Near `json:"nearest"` // the five calls most like it that the policy let pass
}

// A Near is a call beside another one.
type Near struct {
	Day     string    `json:"day"`
	Machine string    `json:"machine"`
	Log     string    `json:"log"`
	Seq     int64     `json:"seq"`
	At      time.Time `json:"at"`
	Agent   string    `json:"agent,omitempty"`
	Tool    string    `json:"tool"`
	Effect  string    `json:"effect"`
	Effects []string  `json:"effects"`
	Shared  []string  `json:"shared,omitempty"` // effects that both have
	Text    string    `json:"text,omitempty"`   // the call in a line, at level text only
}

// A Day is how much is kept of a day.
type Day struct {
	Day     string `json:"day"`
	Records int64  `json:"records"`
	Text    int64  `json:"text"`    // of these, at level text
	Dropped string `json:"dropped"` // levels that were dropped, with spaces between
	Archive string `json:"archive"` // where the day was archived; "" where it was not
}

// An Archive says where a day's records are kept outside the store.
type Archive struct {
	Day     string    `json:"day"`
	Place   string    `json:"place"`
	Records int64     `json:"records"`
	Bytes   int64     `json:"bytes"`
	Digest  string    `json:"digest"` // SHA-256 of the file, in hex
	At      time.Time `json:"at"`
}

// A Token lets one machine enrol, once.
type Token struct {
	ID      string            `json:"id"`
	Machine string            `json:"machine,omitempty"` // the only one that it is for
	Host    string            `json:"host,omitempty"`    // the same by its host's name
	Labels  map[string]string `json:"labels,omitempty"`  // that the machine must have
	Team    string            `json:"team,omitempty"`    // that the machine gets
	Made    time.Time         `json:"made"`
	MadeBy  string            `json:"made_by,omitempty"`
	Expires time.Time         `json:"expires"`
	Used    time.Time         `json:"used,omitzero"`
	UsedBy  string            `json:"used_by,omitempty"` // the machine
	Revoked time.Time         `json:"revoked,omitzero"`
}

// A Look is that somebody looked at something, or changed something.
type Look struct {
	ID     int64     `json:"id"`
	At     time.Time `json:"at"`
	Who    string    `json:"who"`
	Role   string    `json:"role"`
	What   string    `json:"what"`
	Detail string    `json:"detail,omitempty"`
}
