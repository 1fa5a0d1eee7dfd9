package install

import "gate/hook"

// A Severity orders findings.
type Severity string

const (
	Error   Severity = "error"   // gate does not guard here, or can be got around now
	Warning Severity = "warning" // something weakens it
	Notice  Severity = "notice"  // worth knowing
)

// A Finding is one thing that is wrong or weak.
type Finding struct {
	ID       string   `json:"id"` // stable, such as "hooks.disabled"
	Severity Severity `json:"severity"`
	Agent    string   `json:"agent,omitempty"`
	Scope    Scope    `json:"scope,omitempty"`
	File     string   `json:"file,omitempty"`
	Line     int      `json:"line,omitempty"` // from 1; 0 if the whole file is meant
	Message  string   `json:"message"`
	Remedy   string   `json:"remedy"`
	Fixable  bool     `json:"fixable"` // [Diagnosis.Fix] repairs it

	mode *Change // a change of mode that repairs it
}

// A Guard is gate as one scope of an agent has it.
type Guard struct {
	Scope Scope  `json:"scope"`
	File  string `json:"file"`
	// Installed: there are entries of gate's. Complete: for every event, and
	// each does its work. InForce: the agent runs them.
	Installed bool        `json:"installed"`
	Complete  bool        `json:"complete"`
	InForce   bool        `json:"in_force"`
	Only      bool        `json:"only"` // no hook of a weaker scope runs beside it
	Command   []string    `json:"command,omitempty"`
	Events    []hook.Name `json:"events,omitempty"`
	Missing   []hook.Name `json:"missing,omitempty"`

	// Launcher: Command starts the launcher of a plugin, and it is the one of this gate.
	Launcher bool `json:"-"`

	plugin string // its id, such as "gate@gate"; "" for installed entries
	by     Scope  // whose settings switch a plugin on

	// stops: for every event on which a hook can stop something an entry does its
	// work, and starts the gate of the Machine.
	stops bool
}

// Plugin is the id of the plugin that the guard is, such as "gate@gate"; "" for
// installed entries, which Uninstall takes out.
func (g Guard) Plugin() string { return g.plugin }

// beyondProject reports a guard that no file of the project decides about.
func (g Guard) beyondProject() bool {
	s := g.Scope
	if s == Plugin {
		s = g.by
	}
	return s == Managed || s == User
}

// twice is the finding about guards that judge every call once more.
func twice(agent string, guards []Guard) *Finding {
	last := guards[len(guards)-1]
	f := Finding{ID: "gate.twice", Severity: Warning, Scope: last.Scope, File: last.File,
		Message: "gate is asked " + count(len(guards), "time") + " about every call, once for each scope that it is installed in",
		Remedy:  "gate uninstall " + agent + " --scope " + string(last.Scope)}
	if last.plugin != "" {
		f.Message = "gate is asked " + count(len(guards), "time") + " about every call, by its plugin and by installed entries"
		f.Remedy = agent + " plugin disable " + last.plugin + ", or: gate uninstall " + agent + " --scope " + string(guards[0].Scope)
	}
	return &f
}

// A Client is an agent's own program as files show it.
type Client struct {
	Version string `json:"version"`
	File    string `json:"file"`
}

// An AgentStatus says what guards one agent.
type AgentStatus struct {
	Agent string `json:"agent"`
	// Guarded: some scope is installed, complete and in force, and its
	// program can be trusted.
	Guarded  bool      `json:"guarded"`
	Guards   []Guard   `json:"guards"` // one a file of a scope, strongest scope first
	Clients  []Client  `json:"clients,omitempty"`
	Findings []Finding `json:"findings"` // most severe first

	Here bool `json:"-"` // there are signs of the agent on the machine
}

// A Status says what guards this machine now.
type Status struct {
	Agents []AgentStatus `json:"agents"`
}

// Status looks at every agent that there are signs of, and at Claude Code where
// there are signs of none. What cannot be read is a finding.
func (m Machine) Status() Status { return Status{m.lookAtAll()} }
