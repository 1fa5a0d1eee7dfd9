package setting

import (
	"slices"
	"time"

	"gate/hook"
)

// A Setting is a row of the table of settings: all that gate knows of one key of
// settings files. Reading, weighing, the list of settings, the compiled form, the
// comparison of releases, the JSON Schema and the page are made of it.
type Setting struct {
	Field
	Alias string // another spelling that is read; ""
	Who   Who
	Weigh Weigh
	None  string // what holds where nobody says anything, for the page

	// weigh settles what counts of the layers that may have a say, the highest
	// first. Nil: hooks are tuned one by one, or the setting is a [Switch].
	weigh func(*Settings, []*Layer)

	Now func(*Settings) any // a pointer to what counts, as of Field.at; nil: there is no such one value
}

// Who says whose word about a setting can count.
type Who byte

// The authorities that a setting can have.
const (
	anyone        Who = iota
	upper             // managed and user settings
	administrator     // managed settings
	machine           // managed settings of the machine's own, no bundle's
	first             // managed settings of the machine's own and of the first bundle
	alone             // managed settings; the user's where there are none
	governing         // managed settings; the user's where nothing is managed, sources neither
	running           // managed and user settings, of those whose hooks are not switched off
)

// String is what the page says.
func (w Who) String() string {
	return [...]string{
		"all, for what is theirs and below", "managed, user", "managed", "managed, and no bundle", "managed, and of bundles the first",
		"managed; user where there are no managed settings", "managed; user where there is nothing managed", "managed, user; not where their hooks are switched off",
	}[w]
}

// may says why an authority has no right to a setting, "" if it has.
func (w Who) May(a hook.Authority) string {
	switch {
	case w == anyone, a == hook.Managed:
		return ""
	case w == administrator || w == machine || w == first:
		return "only managed settings set it"
	case a != hook.User:
		return "only managed and user settings set it"
	}
	return ""
}

// bars says why a layer, whose authority has the right, has no say since others
// stand before it; "" if it has.
func (w Who) Bars(s *Settings, l *Layer) string {
	managed := func() bool { return s.managedSay(func(*Layer) bool { return true }) }
	switch {
	case w == machine && l.Bundle != "":
		return "only the machine's own files set it: a bundle does not"
	case w == first && l.Order > 1:
		return "of bundles only the first sets it, and the machine's own settings come before it"
	case w == alone && l.Authority == hook.User && managed():
		return "where there are managed settings, only they set it"
	case w == governing && l.Authority == hook.User && s.governed:
		return "where anything is managed, only managed settings set it"
	case w == running && s.Off(l.Authority):
		return "switched off with the hooks of this authority"
	}
	return ""
}

// Weigh says what counts of several settings files.
type Weigh byte

// The ways to weigh.
const (
	nothing   Weigh = iota // there is nothing to weigh
	ByPolicy               // for each policy: the highest authority that may tune it, and of that the most exact, then the strictest word
	ByParam                // for each policy and parameter: the highest authority that may tune it; files of one standing must agree
	All                    // each counts
	Strictest              // the strictest
	byRank                 // managed before user; of several files the strictest
	byName                 // each name by itself: managed before user; managed files must agree
	oneValue               // managed before user; managed files must agree
)

// String is what the page says.
func (w Weigh) String() string {
	return [...]string{
		"", "for each policy the highest authority, then the longest key, then the strictest", "for each parameter the highest authority; two of one standing must agree",
		"all count", "the strictest", "managed before user, then the strictest", "by name, managed before user; managed files must agree",
		"managed before user; managed files must agree",
	}[w]
}

// A Switch is the key of a setting that is true or false and nothing more: a row
// with the type Switched is all that one needs. [Settings.On] says what counts.
type Switch string

// The switches.
const (
	Log    Switch = "log"
	Record Switch = "record"
)

// Table returns the settings, in the order of the page. The caller must not
// change it.
func Table() []Setting { return TableOf[:] }

// Named returns the setting of a key or of its other spelling, nil if there is
// none.
func Named(key string) *Setting {
	for i := range TableOf {
		if s := &TableOf[i]; s.Key == key || s.Alias == key && key != "" {
			return s
		}
	}
	return nil
}

// RightTo reports who may set a key at all; why is empty if a may.
func RightTo(key string, a hook.Authority) (why string) {
	who := upper
	if s := Named(key); s != nil {
		who = s.Who
	}
	return who.May(a)
}

// Values calls f for each value of a setting that is shown by itself, with its
// key, such as policies.acme.push, and the way to it below v, which is what a
// file says.
func (s *Setting) Values(v any, f func(key string, value any, way ...string)) {
	s.Type.valuesOf(s.Key, v, f)
}

// said returns what a layer says of a setting, in normal form; nil: nothing.
func (s *Setting) said(l *Layer) any {
	if s.At != nil {
		return s.Get(s.At(l))
	}
	if on, ok := l.Switches[Switch(s.Key)]; ok {
		return on
	}
	return nil
}

// inForce returns the value that counts, under the key that [Setting.Values] gives it.
func (s *Setting) InForce(all *Settings, key string) (value any) {
	var v any
	switch {
	case s.Now != nil:
		v = s.Get(s.Now(all))
	case s.Type.Kind == Switched:
		v = all.On(Switch(s.Key))
	}
	s.Values(v, func(k string, one any, _ ...string) {
		if k == key {
			value = one
		}
	})
	return value
}

// Tree returns what a layer says, by key, in normal form.
func (l *Layer) Tree() map[string]any {
	out := map[string]any{}
	for i := range TableOf {
		if v := TableOf[i].said(l); v != nil {
			out[TableOf[i].Key] = v
		}
	}
	return out
}

// Take has a layer say what a tree does, which must be in normal form. Values of
// another type than their setting's are passed over.
func (l *Layer) Take(tree map[string]any) {
	for i := range TableOf {
		s := &TableOf[i]
		v, ok := tree[s.Key]
		switch on, isSwitch := v.(bool); {
		case !ok || v == nil:
		case s.At != nil:
			s.put(s.At(l), v)
		case isSwitch && s.Type.Kind == Switched:
			if l.Switches == nil {
				l.Switches = map[Switch]bool{}
			}
			l.Switches[Switch(s.Key)] = on
		}
	}
}

// Types that several settings have.
var (
	text       = Type{Kind: Text}
	texts      = Type{Kind: List, Of: &text}
	signals    = Type{Kind: List, Of: &Type{Kind: Word, Words: []string{"logs", "traces", "metrics"}}}
	mayBeEmpty = Type{Kind: Text, Min: -1} // may be empty
	labels     = Type{Kind: Map, Of: &mayBeEmpty}
	file       = Type{Kind: Text, Absolute: true}
	script     = Type{Kind: Object, OneValue: true, Fields: []Field{
		{Key: "type", Type: &Type{Kind: Word, Words: []string{"command"}}, Required: true, Says: "`command`"},
		{Key: "command", Type: &text, Required: true, Says: "a line for the shell, which runs in the agent's directory; a file that it begins with is looked for beside the settings",
			At: func(v any) any { return &v.(*Script).Command }},
		{Key: "env", Type: &texts, Says: "variables that it gets in addition to the usual ones", At: func(v any) any { return &v.(*Script).Env }},
	}}
)

// table has everything that settings can say. It is laid out when gate is built.
var TableOf = [...]Setting{
	{
		Field: Field{Key: "version", Type: &Type{Kind: Version}, Bearing: Neutral, Says: "`1`"},
		None:  "`1`",
	},
	{
		Field: Field{Key: KeyDisable, Type: &Type{Kind: Switched}, Bearing: Looser, At: func(v any) any { return &v.(*Layer).DisableAllHooks },
			Says: "true or false: switches off every hook of this authority and below; in managed settings also the status line and file suggestions"},
		Alias: "disable_all_hooks", Weigh: Strictest, None: "false", weigh: (*Settings).weighDisable,
	},
	{
		Field: Field{Key: keyOnly, Type: &Type{Kind: Truth}, Bearing: Stricter, At: func(v any) any { return &v.(*Layer).AllowManagedHooksOnly },
			Says: "only managed hooks run; any value but `false` means true"},
		Alias: "allow_managed_hooks_only", Who: administrator, Weigh: Strictest, None: "false",
		weigh: (*Settings).weighOnly, Now: func(s *Settings) any { return &s.ManagedHooksOnly },
	},
	{
		Field: Field{Key: keyRewrites, Type: &Type{Kind: Truth}, Bearing: Stricter, At: func(v any) any { return &v.(*Layer).PolicyRewritesOnly },
			Says: "only hooks of the scope Policy rewrite: `modify` and variables for the shell of all others do not count; any value but `false` means true"},
		Who: upper, Weigh: Strictest, None: "false",
		weigh: (*Settings).weighRewrites, Now: func(s *Settings) any { return &s.PolicyRewritesOnly },
	},
	{
		Field: Field{Key: KeyPolicies, Says: "levels, by policy or group (below)", Bearing: Stricter, At: func(v any) any { return worded(&v.(*Layer).Policies) },
			Type: &Type{Kind: Map, Pattern: namePattern, Of: &Type{Kind: Word, Words: []string{"off", "record", "warn", "confine", "ask", "deny"}}}},
		Weigh: ByPolicy, None: "as written",
	},
	{
		Field: Field{Key: KeyParams, Says: "values of policies' parameters, by policy and name", At: func(v any) any { return nested(&v.(*Layer).Params) },
			Type: &Type{Kind: Map, Of: &Type{Kind: Map, Of: &Type{}}}},
		Weigh: ByParam, None: "the policy's defaults",
	},
	{
		Field: Field{Key: KeyExceptions, Says: "calls that a policy does not concern for a time (below)", Bearing: Looser,
			At: func(v any) any { return listed[Exception]{&v.(*Layer).Exceptions} }, Type: &Type{Kind: List, Of: &exceptionType}},
		Weigh: All, None: "none",
	},
	{
		Field: Field{Key: KeyDelegate, Says: "managed policies and groups that user settings may tune all the same", Bearing: Looser,
			At: func(v any) any { return &v.(*Layer).Delegate }, Type: &texts},
		Who: administrator, Weigh: All, None: "none",
	},
	{
		Field: Field{Key: keyDeadline, Type: &Type{Kind: Span, Longest: 55 * time.Second}, At: func(v any) any { return &v.(*Layer).Deadline },
			Says: "the longest that one decision may take, at most `55s`, in a bundle `1s` at least; a time such as `20s`, or seconds"},
		Who: upper, Weigh: Strictest, None: "55 s, and the agent's own limit",
		weigh: (*Settings).weighDeadline, Now: func(s *Settings) any { return &s.Deadline },
	},
	{
		Field: Field{Key: keyFaults, Type: &Type{Kind: Word, Words: []string{string(hook.FaultContinue), string(hook.FaultDeny)}}, Bearing: Stricter, Default: "continue",
			At:   func(v any) any { return (*string)(&v.(*Layer).Faults) },
			Says: "`deny`: a hook of any authority that cannot answer, or a source that cannot be loaded, closes; `continue`"},
		Who: upper, Weigh: Strictest, None: "`continue`: managed, user and library sources close all the same",
		weigh: (*Settings).weighFaults, Now: (*Settings).faults,
	},
	{
		Field: Field{Key: keyApprovals, Says: "whether a person may approve an ask (below)", At: func(v any) any { return optional[Approvals]{&v.(*Layer).Approvals} }, Type: &approvalsType},
		Who:   alone, Weigh: Strictest, None: "off",
		weigh: (*Settings).weighApprovals, Now: func(s *Settings) any { return plain[Approvals]{&s.Approvals} },
	},
	{
		Field: Field{Key: keyConsent, Says: "the proof that a person gives before gate loosens anything (below)", At: func(v any) any { return optional[Consent]{&v.(*Layer).Consent} }, Type: &consentType},
		Who:   alone, Weigh: Strictest, None: "a code that is typed back",
		weigh: (*Settings).weighConsent, Now: func(s *Settings) any { return plain[Consent]{&s.Consent} },
	},
	{
		Field: Field{Key: keyStale, Says: "the consequence of old signed bundles (below)", At: func(v any) any { return optional[Stale]{&v.(*Layer).Stale} }, Type: &staleType},
		Who:   administrator, Weigh: Strictest, None: "told after 7 days without a sync, when a bundle has expired, and until the first one comes",
		weigh: (*Settings).weighStale, Now: func(s *Settings) any { return plain[Stale]{&s.Stale} },
	},
	{
		Field: Field{Key: keySync, Says: "where signed [bundles](sync.md) come from (below)", At: func(v any) any { return listed[Feed]{&v.(*Layer).Sync} }, Type: &Type{Kind: List, Of: &feedType}},
		Who:   machine, Weigh: byName, None: "none",
		weigh: (*Settings).weighFeeds, Now: func(s *Settings) any { return listed[Feed]{&s.Sync} },
	},
	{
		Field: Field{Key: keyLabels, Says: "names of this machine, by which rollouts and policies tell machines apart", At: func(v any) any { return worded(&v.(*Layer).Labels) }, Type: &labels},
		Who:   machine, Weigh: byName, None: "none",
		weigh: (*Settings).weighLabels, Now: func(s *Settings) any { return worded(&s.Labels) },
	},
	{
		Field: Field{Key: string(Log), Type: &Type{Kind: Switched}, Bearing: Stricter, Default: "true",
			Says: "whether decisions are logged; bundles are managed settings, too"},
		Who: alone, Weigh: byRank, None: "true",
	},
	{
		Field: Field{Key: string(Record), Type: &Type{Kind: Switched}, Bearing: Stricter, Default: "true",
			Says: "whether the [log](log.md) keeps the event with each decision, without secrets"},
		Who: upper, Weigh: byRank, None: "true",
	},
	{
		Field: Field{Key: keyDecisionLogs, Says: "where the [log](log.md#sending-it) is sent (below)", At: func(v any) any { return optional[DecisionLogs]{&v.(*Layer).DecisionLogs} }, Type: &decisionLogsType},
		Who:   first, Weigh: oneValue, None: "sent nowhere; required where there is anything managed",
		weigh: (*Settings).weighDecisionLogs, Now: func(s *Settings) any { return plain[DecisionLogs]{&s.DecisionLogs} },
	},
	{
		Field: Field{Key: keyPlugins, Says: "the plugins that are on, by name, with their directories (below)", Type: &Type{Kind: Map, Of: &Type{Kind: SwitchedText, Absolute: true}},
			At: func(v any) any { l := v.(*Layer); return plugins{&l.Plugins, &l.PluginDir} }},
		Who: upper, Weigh: byName, None: "off",
		weigh: (*Settings).weighPlugins, Now: (*Settings).pluginsNow,
	},
	{
		Field: Field{Key: keyPrograms, Says: "the effects of your own programs, by name (below)", At: func(v any) any { return &v.(*Layer).Programs }, Type: &Type{Kind: Map, Of: &Type{Kind: Free}}},
		Who:   governing, Weigh: byName, None: "unknown programs have plain words only",
		weigh: (*Settings).weighPrograms, Now: func(s *Settings) any { return &s.Programs },
	},
	{
		Field: Field{Key: keyProfiles, Says: "what calls can do that run [confined](confinement.md), by the name of the profile (below)",
			At:   func(v any) any { return named[Profile]{&v.(*Layer).Profiles} },
			Type: &Type{Kind: Map, Pattern: `^[A-Za-z0-9_][A-Za-z0-9_.-]*$`, Of: &profileType}},
		Weigh: All, None: "`project`, `project-net` and `look` as gate has them",
	},
	{
		Field: Field{Key: keyProviders, Says: "services with language models that may [judge](handlers.md#judges) calls, by name (below)",
			At:   func(v any) any { return named[Provider]{&v.(*Layer).Providers} },
			Type: &Type{Kind: Map, Pattern: `^[A-Za-z0-9_][A-Za-z0-9_.-]*$`, Of: &providerType}},
		Who: upper, Weigh: byName, None: "prompt and agent hooks cannot answer",
		weigh: (*Settings).weighProviders, Now: func(s *Settings) any { return named[Provider]{&s.Providers} },
	},
	{
		Field: Field{Key: keyJudges, Says: "the judge of hooks that name none, and the life of a verdict (below)", At: func(v any) any { return optional[Judges]{&v.(*Layer).Judges} }, Type: &judgesType},
		Who:   upper, Weigh: oneValue, None: "the only provider; 10 min", Now: (*Settings).judgesNow,
	},
	{
		Field: Field{Key: keyMCPServers, Says: "servers whose tools [hooks may call](handlers.md#tools-of-mcp-servers), by name (below)",
			At: func(v any) any { return named[MCPServer]{&v.(*Layer).MCPServers} }, Type: &Type{Kind: Map, Pattern: namePattern, Of: &serverType}},
		Who: upper, Weigh: byName, None: "none",
		weigh: (*Settings).weighServers, Now: func(s *Settings) any { return named[MCPServer]{&s.MCPServers} },
	},
	{
		Field: Field{Key: keyTrusted, Says: "MCP servers of agents whose results are no [untrusted text](flows.md#what-the-agent-was-shown), by name", Bearing: Looser,
			At: func(v any) any { return &v.(*Layer).TrustedServers }, Type: &texts},
		Who: governing, Weigh: All, None: "none: the results of every server are untrusted",
		weigh: (*Settings).weighTrusted, Now: func(s *Settings) any { return &s.TrustedServers },
	},
	{
		Field: Field{Key: "statusLine", Says: "a command that makes the status line (below)", Bearing: Neutral, At: func(v any) any { return optional[Script]{&v.(*Layer).StatusLine} }, Type: &script},
		Who:   running, Weigh: oneValue, None: "none",
		weigh: func(s *Settings, layers []*Layer) {
			s.StatusLine = firstScript(layers, func(l *Layer) *Script { return l.StatusLine })
		},
		Now: func(s *Settings) any { return plain[Script]{&s.StatusLine} },
	},
	{
		Field: Field{Key: "fileSuggestion", Says: "a command that suggests files (below)", Bearing: Neutral, At: func(v any) any { return optional[Script]{&v.(*Layer).FileSuggestion} }, Type: &script},
		Who:   running, Weigh: oneValue, None: "none",
		weigh: func(s *Settings, layers []*Layer) {
			s.FileSuggestion = firstScript(layers, func(l *Layer) *Script { return l.FileSuggestion })
		},
		Now: func(s *Settings) any { return plain[Script]{&s.FileSuggestion} },
	},
	{
		Field: Field{Key: "hooks", Type: &Type{Kind: Hooks}, Says: "hooks, as in a hook file (below)"},
		Weigh: All, None: "none",
	},
}

// namePattern is what names of policies, groups and servers look like.
const namePattern = `^[A-Za-z0-9_][A-Za-z0-9_.:-]*$`

// The types of settings that are objects.
var (
	exceptionType = Type{Kind: Object, Fields: []Field{
		{Key: "policy", Type: &text, Required: true, Says: "one policy, by its whole name", At: func(v any) any { return &v.(*Exception).Policy }},
		{Key: "if", Type: &Type{Kind: Texts}, Required: true, Says: "a condition such as `Bash(git push origin dev:*)`, or several", At: func(v any) any { return &v.(*Exception).If }},
		{Key: "project", Type: &text, Required: true, Says: "the absolute directory in which it holds", At: func(v any) any { return &v.(*Exception).Project }},
		{Key: "until", Type: &Type{Kind: Moment}, Required: true, Says: "the last day (in UTC), or the moment it ends; one that ends more than a year ahead does not count yet", At: func(v any) any { return &v.(*Exception).Until }},
		{Key: "owner", Type: &text, Required: true, Says: "the person responsible", At: func(v any) any { return &v.(*Exception).Owner }},
		{Key: "reason", Type: &text, Required: true, Says: "why", At: func(v any) any { return &v.(*Exception).Reason }},
	}}
	approvalsType = Type{Kind: Object, OneValue: true, Fields: []Field{
		{Key: "enabled", Type: &Type{Kind: Switched}, Required: true, Bearing: Looser, Says: "whether approvals answer asks at all", At: func(v any) any { return &v.(*Approvals).Enabled }},
		{Key: "minutes", Type: &Type{Kind: Whole, Min: 1, Max: maxApproval}, Required: true, Bearing: Looser, Says: "how long one is good for, 1 to 60", At: func(v any) any { return &v.(*Approvals).Minutes }},
		{Key: "keyRequired", Type: &Type{Kind: Switched}, Required: true, Bearing: Stricter, Says: "whether one of `keys` must have signed it", At: func(v any) any { return &v.(*Approvals).KeyRequired }},
		{Key: "keys", Type: &texts, Bearing: Looser, Says: "the public keys of those who may approve", At: func(v any) any { return &v.(*Approvals).Keys }},
		{Key: "approvers", Type: &texts, Bearing: Looser, Own: true, At: func(v any) any { return &v.(*Approvals).Approvers },
			Says: "who may [answer from elsewhere](approvals.md), each as a line of `allowed_signers`: a name, options such as `valid-before=\"20270101Z\"`, an SSH public key. Of several files only those in each"},
		{Key: "deliver", Type: &Type{Kind: List, Of: &receiverType}, Own: true, At: func(v any) any { return listed[Receiver]{&v.(*Approvals).Deliver} },
			Says: "who is told of a question (below); what they get is no key"},
		{Key: "when", Type: &Type{Kind: Word, Words: []string{WhenAbsent, WhenAlways}}, Bearing: Neutral, Default: WhenAbsent, At: func(v any) any { return &v.(*Approvals).When },
			Says: "`absent`: where the agent has nobody at its terminal to ask; `always`; `absent` without it"},
		{Key: "poll", Type: &text, At: func(v any) any { return &v.(*Approvals).Poll },
			Says: "an `https://` address that is asked for answers while a question is open"},
		{Key: "poll_token_file", Type: &file, Bearing: Neutral, At: func(v any) any { return &v.(*Approvals).PollToken },
			Says: "holds a bearer token for `poll`"},
		{Key: "wait", Type: &Type{Kind: Span, Longest: 55 * time.Second, Zero: true}, Bearing: Neutral, At: func(v any) any { return (*patience)(&v.(*Approvals).Wait) },
			Says: "how long a call waits for its answer, `0` to `55s`; as long as the agent lets it without it"},
	}}
	receiverType = Type{Kind: Object, Fields: []Field{
		{Key: "form", Type: &Type{Kind: Word, Words: []string{FormWebhook, FormNtfy, FormSlack, FormMail}}, Required: true, At: func(v any) any { return &v.(*Receiver).Form },
			Says: "`webhook`: a JSON object; `ntfy`: a text, as topics of ntfy take it; `slack`: as incoming webhooks of Slack and its like; `mail`: by sendmail"},
		{Key: "url", Type: &text, Says: "where the message is posted; needed but with `mail`", At: func(v any) any { return &v.(*Receiver).URL }},
		{Key: "token_file", Type: &file, Says: "holds a bearer token", At: func(v any) any { return &v.(*Receiver).TokenFile }},
		{Key: "to", Type: &texts, Says: "with `mail`: the addresses", At: func(v any) any { return &v.(*Receiver).To }},
		{Key: "program", Type: &file, Says: "with `mail`: a program that speaks as sendmail does; the system's sendmail without it", At: func(v any) any { return &v.(*Receiver).Program }},
	}}
	consentType = Type{Kind: Object, OneValue: true, Fields: []Field{
		{Key: "key", Type: &Type{Kind: Word, Words: []string{KeyCode, KeyRequired}}, Required: true, Bearing: Stricter, Default: KeyCode, At: func(v any) any { return &v.(*Consent).Key },
			Says: "`code`: a code is typed back; `required`: one of `signers` signs the grant"},
		{Key: "signers", Type: &texts, Bearing: Looser, At: func(v any) any { return &v.(*Consent).Signers },
			Says: "SSH public keys, each as in a line of `authorized_keys`; those of security keys (`sk-`) have to be touched"},
	}}
	consequence = Type{Kind: Word, Words: []string{string(StaleWarn), string(StaleAsk), string(StaleClose)}}
	staleType   = Type{Kind: Object, Fields: []Field{
		{Key: "after", Type: &Type{Kind: Span, Longest: 366 * 24 * time.Hour, Days: true}, Bearing: Looser, Default: "168h0m0s",
			Says: "how long a [bundle](bundles.md) may go without a sync that succeeded: `72h`, `7d`; `7d` without it", At: func(v any) any { return &v.(*Stale).After }},
		{Key: "then", Type: &consequence, Bearing: Stricter, Default: "warn", At: func(v any) any { return (*string)(&v.(*Stale).Then) },
			Says: "what follows: `warn` (people are told), `ask` (each tool call is put to a person), `close` (no call passes); `warn` without it"},
		{Key: "expired", Type: &consequence, Bearing: Stricter, Default: "warn", At: func(v any) any { return (*string)(&v.(*Stale).Expired) },
			Says: "the same for a bundle whose own time is over; `warn` without it"},
		{Key: "enrolling", Type: &consequence, Bearing: Stricter, Default: "warn", At: func(v any) any { return (*string)(&v.(*Stale).Enrolling) },
			Says: "the same for a machine that has a key set, and to which no bundle has come yet, or only one on trial; `warn` without it"},
	}}
	feedType = Type{Kind: Object, Fields: []Field{
		{Key: "name", Type: &Type{Kind: Text, Pattern: `^[a-z0-9][a-z0-9_-]*$`, Min: -1}, Required: true, Says: "the bundle", At: func(v any) any { return &v.(*Feed).Name }},
		{Key: "url", Type: &text, Required: true, Says: "its path or address: `https://…`, `http://…`, `oci://host/repository:tag`. An address that ends in `/` is a directory with `NAME.tar.gz`", At: func(v any) any { return &v.(*Feed).URL }},
		{Key: "keys", Type: &text, Says: "a directory with the successors of the key set, `2.json`, `3.json` …: each is taken in turn, if the one before it says so", At: func(v any) any { return &v.(*Feed).Keys }},
		{Key: "pin", Type: &Type{Kind: Text, Pattern: `^sha256:[0-9a-f]{64}$`, Min: -1}, Says: "the digest of a bundle without `metadata.gate`", At: func(v any) any { return &v.(*Feed).Pin }},
		{Key: "channel", Type: &text, At: func(v any) any { return &v.(*Feed).Channel },
			Says: "the path or address of the [channel file](sync.md#channels) that says which release this machine is to have; a machine has one. In `url`, `{digest}` then stands for the 64 digits of that release"},
		{Key: "token_file", Type: &file, Says: "holds a bearer token, or `user:password` for a registry", At: func(v any) any { return &v.(*Feed).TokenFile }},
		{Key: "cert_file", Type: &file, Says: "a client certificate, PEM", At: func(v any) any { return &v.(*Feed).CertFile }},
		{Key: "key_file", Type: &file, Says: "its key, PEM", At: func(v any) any { return &v.(*Feed).KeyFile }},
		{Key: "ca_file", Type: &file, Says: "the CA of the server's certificate, PEM", At: func(v any) any { return &v.(*Feed).CAFile }},
	}}
	decisionLogsType = Type{Kind: Object, OneValue: true, Fields: []Field{
		{Key: "url", Type: &text, Says: "where batches are posted", At: func(v any) any { return &v.(*DecisionLogs).URL }},
		{Key: "form", Type: &Type{Kind: Word, Words: []string{FormOPA, FormOTLP, FormCollector}}, At: func(v any) any { return &v.(*DecisionLogs).Form },
			Says: "`opa`: as OPA sends its decision log; `otlp`: as [OpenTelemetry](log.md#opentelemetry) over HTTP, below `url`; `collector`: signed by the machine, with its status, to a [collector](fleet.md#a-fleet-that-is-seen), below `url`; `opa` without it"},
		{Key: "level", Type: &Type{Kind: Word, Words: []string{SendCounts, SendEffects, SendText}}, At: func(v any) any { return &v.(*DecisionLogs).Level },
			Says: "with `collector`: [what leaves the machine](fleet.md#what-leaves-a-machine): `counts`, `effects` or `text`; `effects` without it"},
		{Key: "pseudonyms", Type: &file, Says: "with `collector`: the key for pseudonyms, where machines share one; without it the one that `gate enroll` made", At: func(v any) any { return &v.(*DecisionLogs).Pseudonyms }},
		{Key: "signals", Type: &signals, Says: "with `otlp`: any of `logs`, `traces` and `metrics`; all three without it", At: func(v any) any { return &v.(*DecisionLogs).Signals }},
		{Key: "call_text", Type: &Type{Kind: Switched}, Default: "false", Says: "with `otlp`: true sends the text of calls along, redacted as in the log", At: func(v any) any { return &v.(*DecisionLogs).CallText }},
		{Key: "token_file", Type: &file, Says: "holds a bearer token", At: func(v any) any { return &v.(*DecisionLogs).TokenFile }},
		{Key: "ca", Type: &file, Says: "the CA of the server's certificate, PEM", At: func(v any) any { return &v.(*DecisionLogs).CA }},
		{Key: "client_cert", Type: &file, Says: "a certificate of this machine, PEM", At: func(v any) any { return &v.(*DecisionLogs).ClientCert }},
		{Key: "client_key", Type: &file, Says: "its key, PEM", At: func(v any) any { return &v.(*DecisionLogs).ClientKey }},
		{Key: "labels", Type: &labels, Says: "go with every record, beside those of the machine", At: func(v any) any { return worded(&v.(*DecisionLogs).Labels) }},
		{Key: "required", Type: &Type{Kind: Switched}, Bearing: Stricter, Default: "true", Says: "false lets calls pass that cannot be logged", At: func(v any) any { return (*unless)(&v.(*DecisionLogs).Optional) }},
	}}
	profileType = Type{Kind: Object, Fields: []Field{
		{Key: "read", Type: &texts, Bearing: Looser, Says: "what can be read and run: paths, absolute or below `~/` or `{project}`", At: func(v any) any { return said{&v.(*Profile).Read} }},
		{Key: "write", Type: &texts, Bearing: Looser, Says: "what can be changed, too", At: func(v any) any { return said{&v.(*Profile).Write} }},
		{Key: "cache", Type: &texts, Bearing: Looser, Says: "what can be changed, in a copy that belongs to the project", At: func(v any) any { return said{&v.(*Profile).Cache} }},
		{Key: "guard", Type: &texts, Bearing: Stricter, Says: "what cannot be changed, though it lies below `write`", At: func(v any) any { return said{&v.(*Profile).Guard} }},
		{Key: "deny", Type: &texts, Bearing: Stricter, Says: "what does not exist, though it lies below the others", At: func(v any) any { return said{&v.(*Profile).Deny} }},
		{Key: "hosts", Type: &texts, Bearing: Looser, Says: "what can be reached, as `host:port`; `[]`: no network", At: func(v any) any { return said{&v.(*Profile).Hosts} }},
		{Key: "run", Type: &texts, Says: "out of which programs are started; `[]`: all that can be read", At: func(v any) any { return said{&v.(*Profile).Programs} }},
		{Key: "env", Type: &texts, Says: "the variables that are kept, with `*` at the end of a name; `[]`: all but secrets", At: func(v any) any { return said{&v.(*Profile).Env} }},
		{Key: "processes", Type: &Type{Kind: Whole, Min: 1, Max: 1 << 20}, Bearing: Looser, Says: "at most so many at the same time", At: func(v any) any { return &v.(*Profile).Processes }},
		{Key: "memory", Type: &Type{Kind: Whole, Min: 1, Max: 1 << 20}, Bearing: Looser, Says: "MiB of one process", At: func(v any) any { return &v.(*Profile).Memory }},
	}}
	providerType = Type{Kind: Object, Fields: []Field{
		{Key: "type", Type: &Type{Kind: Word, Words: []string{"anthropic", "openai"}}, Required: true, At: func(v any) any { return &v.(*Provider).Type },
			Says: "`anthropic` (the Messages API) or `openai` (chat completions, as Ollama, vLLM and many others speak it)"},
		{Key: "model", Type: &text, Required: true, Says: "the model where a hook names none", At: func(v any) any { return &v.(*Provider).Model }},
		{Key: "url", Type: &text, Says: "below which the API lies; without it, the company's own. No password or query; with a key, `https://` or this machine", At: func(v any) any { return &v.(*Provider).URL }},
		{Key: "key_env", Type: &Type{Kind: Text, Pattern: `^[A-Za-z_][A-Za-z0-9_]*$`, Min: -1}, Says: "the environment variable that holds the key; without it, none is sent", At: func(v any) any { return &v.(*Provider).KeyEnv }},
		{Key: "max_tokens", Type: &Type{Kind: Whole, Min: 64, Max: 16384}, Says: "the longest answer, 64 to 16384; 2048 without it", At: func(v any) any { return &v.(*Provider).MaxTokens }},
	}}
	judgesType = Type{Kind: Object, Fields: []Field{
		{Key: "provider", Type: &text, Says: "the judge of hooks that name none; needed where there are several", At: func(v any) any { return &v.(*Judges).Provider }},
		{Key: "keep", Type: &Type{Kind: Span, Longest: MaxKeep, Zero: true}, Bearing: Looser, At: func(v any) any { return (*kept)(v.(*Judges)) },
			Says: "how long a verdict is good for the same call: `0`, or up to `24h`; of two files of one authority the shorter life counts"},
	}}
	serverType = Type{Kind: Object, Fields: []Field{
		{Key: "command", Type: &text, Says: "a program that talks on its standard input and output: an absolute path, or a name in `PATH`", At: func(v any) any { return &v.(*MCPServer).Command }},
		{Key: "args", Type: &Type{Kind: List, Of: &mayBeEmpty}, Says: "its arguments", At: func(v any) any { return &v.(*MCPServer).Args }},
		{Key: "url", Type: &text, Says: "instead: an address behind streamable HTTP", At: func(v any) any { return &v.(*MCPServer).URL }},
		{Key: "headers", Type: &labels, Says: "of the requests to it, as those of [webhooks](handlers.md#webhooks)", At: func(v any) any { return worded(&v.(*MCPServer).Headers) }},
		{Key: "env", Type: &texts, Says: "the names of variables: the program gets them in addition to the usual ones, headers may hold them as `${NAME}`", At: func(v any) any { return &v.(*MCPServer).Env }},
	}}
)

// plugins are those that are on or off, and where they lie.
type plugins struct {
	on  *map[string]bool
	dir *map[string]string
}

func (p plugins) tree(*Type) any {
	return treeEach(*p.on, func(name string, on bool) any {
		if dir := (*p.dir)[name]; dir != "" {
			return dir
		}
		return on
	})
}

func (p plugins) take(_ *Type, v any) {
	all, _ := v.(map[string]any)
	*p.on, *p.dir = make(map[string]bool, len(all)), map[string]string{}
	for name, v := range all {
		dir, isDir := v.(string)
		if (*p.on)[name] = isDir || v == true; isDir {
			(*p.dir)[name] = dir
		}
	}
}

// kept is how long verdicts are, which a file may say is no time at all.
type kept Judges

func (k *kept) tree(*Type) any {
	if !k.KeepSet {
		return nil
	}
	return k.Keep.String()
}

func (k *kept) take(_ *Type, v any) {
	text, _ := v.(string)
	k.Keep, _ = time.ParseDuration(text)
	k.KeepSet = true
}

// A patience is how long is waited, where a file may say not at all. In a struct that is
// less than nothing, since zero is silent.
type patience time.Duration

func (p *patience) tree(*Type) any {
	if *p == 0 {
		return nil
	}
	return max(0, time.Duration(*p)).String()
}

func (p *patience) take(_ *Type, v any) {
	text, _ := v.(string)
	d, err := time.ParseDuration(text)
	if *p = patience(d); err == nil && d == 0 {
		*p = -1
	}
}

// switches settles what counts of a [Switch], of the layers that may have a say:
// where managed ones say anything, only they count. Of several the strict word
// does, and a later bundle has no other.
func (s *Settings) switches(row *Setting, layers []*Layer) {
	key, strict := Switch(row.Key), row.Bearing != Looser
	for _, a := range []hook.Authority{hook.Managed, hook.User} {
		said := slices.DeleteFunc(slices.Clone(layers), func(l *Layer) bool {
			on, ok := l.Switches[key]
			return l.Authority != a || !ok || l.later() && on != strict
		})
		if len(said) == 0 {
			continue
		}
		if s.on == nil {
			s.on = map[Switch]bool{}
		}
		s.on[key] = strict == slices.ContainsFunc(said, func(l *Layer) bool { return l.Switches[key] == strict })
		return
	}
}

// On reports what counts of a setting that is true or false: its default where
// nobody says anything.
func (s Settings) On(key Switch) bool {
	on, said := s.on[key]
	if row := Named(string(key)); !said && row != nil {
		return row.Default == "true"
	}
	return on
}
