package setting

import (
	"fmt"
	"slices"
	"time"

	"gate/hook"
)

// A Layer is what one settings file says: typed, and not yet weighed against
// the others. The zero of a field means that the file is silent about it.
// Managed, user, project and local settings exist; plugins and skills set
// nothing.
type Layer struct {
	Authority hook.Authority
	Bundle    string         // the signed bundle that it stands in; "" for a file of the machine's own
	Order     int            // of managed layers: that of the [Source] it came with
	File      string         // for people
	Lines     map[string]int // where a key begins, by the keys of [Row]

	DisableAllHooks       *bool
	AllowManagedHooksOnly *bool // any value but false there means true
	PolicyRewritesOnly    *bool // of managed and user settings, as AllowManagedHooksOnly

	Policies   map[string]Level          // by hook or group
	Params     map[string]map[string]any // by policy, then name
	Exceptions []Exception
	Delegate   []string // managed only: hooks and groups that the user may tune

	Deadline  time.Duration // of one decision; the shortest counts
	Faults    hook.OnFault  // FaultDeny: faults of every authority close
	Approvals *Approvals
	Consent   *Consent
	Stale     *Stale              // managed only
	Sync      []Feed              // the machine's own managed files only
	Labels    map[string]string   // managed only
	Switches  map[Switch]bool     // those that the file speaks of
	Plugins   map[string]bool     // by name; managed and user
	PluginDir map[string]string   // where plugins lie, by name: absolute
	Programs  map[string]any      // rows for the catalogue of programs, by name; managed, or user where nothing is managed
	Profiles  map[string]Profile  // by which calls run confined, by name
	Providers map[string]Provider // of language models, by name; managed and user
	Judges    *Judges             // managed and user

	MCPServers map[string]MCPServer // whose tools hooks may call, by name; managed and user

	TrustedServers []string // MCP servers of agents; managed, or user where nothing is managed

	StatusLine, FileSuggestion *Script // managed and user

	DecisionLogs *DecisionLogs // managed only
}

// An MCPServer is a server whose tools hooks may call: a program that talks on
// its standard input and output, or an address behind streamable HTTP.
type MCPServer struct {
	Command string   // absolute, or a name in PATH; "" for an address
	Args    []string // of the command
	URL     string   // as [CheckAddress] wants it; "" for a program
	Headers map[string]string
	Env     []string // names of variables that the program gets, or that headers use

	// Authority is whose settings name it. Hooks of managed sources must not
	// rely on what the user names. In a Layer it is not set.
	Authority hook.Authority
}

// Approvals say whether and how a person may answer an ask for one exact call.
// Every field must be given in a file. The zero value allows none.
type Approvals struct {
	Enabled     bool
	Minutes     int      // how long one is good for, 1 to 60
	KeyRequired bool     // it must be signed by one of Keys
	Keys        []string // public keys of approvers

	Approvers []string      // who may answer from elsewhere: lines of allowed signers
	Deliver   []Receiver    // who is told of a question; none: nobody
	When      string        // WhenAbsent or WhenAlways; "": WhenAbsent
	Poll      string        // an address that is asked for answers, "": none
	PollToken string        // absolute; holds the bearer token for Poll, "": none
	Wait      time.Duration // for an answer, while the call waits; 0: as long as the agent lets it, negative: not at all
}

// A Receiver is told of questions that need a person.
type Receiver struct {
	Form      string   // FormWebhook, FormNtfy, FormSlack or FormMail
	URL       string   // where a message is posted; "" with FormMail
	TokenFile string   // absolute; holds the bearer token, "": none
	To        []string // of FormMail: addresses
	Program   string   // of FormMail: absolute, speaks as sendmail does; "": the system's sendmail
}

// The words of [Receiver.Form].
const (
	FormWebhook = "webhook" // a JSON object for programs
	FormNtfy    = "ntfy"    // a text, as ntfy's topics take it
	FormSlack   = "slack"   // as incoming webhooks of Slack and of many others take it
	FormMail    = "mail"    // an e-mail, by sendmail
)

// The words of [Approvals.When].
const (
	WhenAbsent = "absent" // nobody sits at the agent's terminal
	WhenAlways = "always"
)

// Consent says what a person has to show before anything is loosened.
type Consent struct {
	Key     string   // KeyCode or KeyRequired; "": KeyCode
	Signers []string // public keys, as in a line of ~/.ssh/authorized_keys without options
}

// The words of [Consent.Key].
const (
	KeyCode     = "code"     // a code that is typed back
	KeyRequired = "required" // a signature of one of the signers in its place
)

// Stale says what follows when signed bundles grow old. A zero field of a layer
// says nothing; of [Settings] every field has a value.
type Stale struct {
	After   time.Duration // without a successful sync; default 7 days
	Then    Consequence   // of that; default warn
	Expired Consequence   // of the end that a bundle itself names; default warn

	// Enrolling is of a machine to which no bundle has come yet that counts; default warn.
	Enrolling Consequence
}

// A Consequence is what happens to calls meanwhile. The policies stay in force
// in any case.
type Consequence string

// The consequences, from the mildest.
const (
	StaleWarn  Consequence = "warn"  // people are told
	StaleAsk   Consequence = "ask"   // each call is put to a person
	StaleClose Consequence = "close" // no call passes
)

func (c Consequence) strictness() int {
	return slices.Index([]Consequence{"", StaleWarn, StaleAsk, StaleClose}, c)
}

// maxApproval is the longest life of an approval, in minutes.
const maxApproval = 60

// Pos returns file:line of a key, for messages.
func (l *Layer) Pos(key string) string {
	if n := l.Lines[key]; n > 0 {
		return fmt.Sprintf("%s:%d", l.File, n)
	}
	return l.File
}

// The keys of a settings file, as [Row] names them. Those of one hook, group,
// exception, label or plugin have it appended: policies.acme.push.
const (
	KeyDisable      = "disableAllHooks"
	keyOnly         = "allowManagedHooksOnly"
	keyRewrites     = "allowPolicyRewritesOnly"
	KeyPolicies     = "policies"
	KeyParams       = "params"
	KeyExceptions   = "exceptions"
	KeyDelegate     = "delegate"
	keyDeadline     = "deadline"
	keyFaults       = "faults"
	keyApprovals    = "approvals"
	keyConsent      = "consent"
	keyLabels       = "labels"
	keyStale        = "stale"
	keySync         = "sync"
	keyPlugins      = "plugins"
	keyPrograms     = "programs"
	keyProfiles     = "profiles"
	keyProviders    = "providers"
	keyJudges       = "judges"
	keyMCPServers   = "mcpServers"
	keyTrusted      = "trustedServers"
	keyDecisionLogs = "decisionLogs"
)
