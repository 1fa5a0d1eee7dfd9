package format

// All returns the table, a row a kind of file.
func All() []File {
	rows := table
	return rows[:]
}

var table = [kinds]File{
	Grant: {
		Name: "grants", Where: []string{"STATE/consent/trust/*", "STATE/consent/pending/*", "STATE/consent/approved/*", "STATE/consent/used/*", "STATE/consent/claims/*", "STATE/consent/settings/*", "STATE/consent/injectors/*", "STATE/consent/questions/*", "STATE/consent/answered/*"}, Number: 1, Prefix: "gate ",
		Writer: "`gate trust`, `gate approve`, `gate approval answer`, `gate except`, `gate set`, `gate settings confirm`, `gate hook` (questions that wait, settings that tightened)", Readers: "every decision that needs a grant, `gate doctor`",
		Older: "read; a grant holds on", Newer: "grants nothing and is not overwritten; the decision and `gate trust` say so",
		Lost: "nothing: a newer gate finds its grants again",
	},
	Clock: {
		Name: "highest time", Where: []string{"STATE/consent/clock/*"},
		Writer: "every decision that needs a grant", Readers: "the same",
		Older: "the name of an empty file is the time", Newer: "the same", Lost: "nothing",
	},
	Session: {
		Name: "memory of a session", Where: []string{"STATE/sessions/*"}, Number: 3, Member: "v",
		Writer: "`gate hook`, `gate mcp`, `gate session`, `gate inject`", Readers: "the same, `gate doctor`",
		Older: "read; format 2 had one line, and neither marks nor counts of effects", Newer: "calls of that session are refused, since what it holds may forbid them; `gate doctor` names the file",
		Lost: "nothing; a session is forgotten after 30 days",
	},
	Ledger: {
		Name: "what calls left in files", Where: []string{"STATE/origins/*"}, Number: 3, Prefix: "gate.ledger/",
		Writer: "`gate hook`, before a call that leaves a secret, a fetched text or an agent's text in a file", Readers: "facts",
		Older: "read; format 2 did not know which calls had run", Newer: "calls that depend on it are asked about; `gate doctor` names the file",
		Lost: "which files hold a secret by another name, came from the network, or have an agent's text",
	},
	Shown: {
		Name: "what a session was shown", Where: []string{"STATE/seen/????????????????????????????????"}, Number: 1, Prefix: "gate.shown/",
		Writer: "`gate hook`, after a call with something new in its output, and after a prompt", Readers: "`gate hook`, before a call; `gate doctor`",
		Older: "read", Newer: "it is left as it is; calls of that session may hold anything that it was shown, and `gate doctor` names the file",
		Lost: "which secrets and which untrusted hosts, packages and lines the session was shown; a session is forgotten after 30 days",
	},
	ShownKey: {
		Name: "key of a month", Where: []string{"STATE/seen/key-*"}, Number: 1, Prefix: "gate.shown.key/",
		Writer: "`gate hook`, the first of a month that writes what a session was shown", Readers: "the same",
		Older: "read", Newer: "as of the sessions that use it", Lost: "what those sessions were shown",
	},
	Late: {
		Name: "late answer", Where: []string{"STATE/late/*/*.json"}, Number: 1,
		Writer: "the supervisor of an `async` hook", Readers: "the session's next event",
		Older: "read", Newer: "members that this gate does not know are passed over", Lost: "a text for the agent, at most a day old",
	},
	Log: {
		Name: "decision log", Where: []string{"STATE/decisions.jsonl*"}, Number: 1,
		Writer: "every decision, `gate log review`", Readers: "`gate log`, `replay`, `explain`, `log ship`",
		Older: "read", Newer: "members that this gate does not know are passed over, and stay in the file", Lost: "nothing",
	},
	LogHead: {
		Name: "end of the log", Where: []string{"STATE/decisions.head"}, Number: 1,
		Writer: "every decision", Readers: "the same, `gate log verify`",
		Older: "read", Newer: "the end is looked for in the log, and written anew", Lost: "nothing: the log says it, too", Cache: true,
	},
	LogCursor: {
		Name: "what was sent of the log", Where: []string{"STATE/decisions.sent*", "STATE/accounts/*/decisions.sent*"}, Number: 1,
		Writer: "`gate log ship`, `gate sync`", Readers: "the same, rotation of the log",
		Older: "read", Newer: "members that this gate does not know are passed over", Lost: "nothing: at worst records are sent twice",
	},
	MachineKey: {
		Name: "key of the machine", Where: []string{"STATE/machine.key"}, Number: 1, Member: "type", Prefix: "gate.machine/",
		Writer: "`gate enroll`", Readers: "`gate log ship`, `gate sync`, `gate status`",
		Older: "read", Newer: "nothing is sent to the collector of the fleet, which says so; it is left as it is", Lost: "nothing; a machine whose file is gone is enrolled anew, once an administrator has the collector forget the old key",
	},
	PseudonymKey: {
		Name: "key for pseudonyms", Where: []string{"STATE/pseudonyms.key"}, Number: 1, Prefix: "gate.pseudonyms/",
		Writer: "`gate enroll`", Readers: "`gate log ship`, `gate sync`",
		Older: "read", Newer: "nothing is sent to the collector of the fleet, which says so; it is left as it is", Lost: "which person a pseudonym is; from then on each has another",
	},
	FleetStatus: {
		Name: "statuses that were sent", Where: []string{"STATE/status.json"}, Number: 1, Member: "type", Prefix: "gate.status/",
		Writer: "`gate log ship`, `gate sync`", Readers: "the same, `gate status`",
		Older: "read", Newer: "no status is sent, and it is left as it is", Lost: "counts of a status that arrived without an answer come twice; the collector says which number is next",
	},
	Shipped: {
		Name: "when logs were sent", Where: []string{"MANAGED/shipped.json"}, Number: 1, Member: "schema",
		Writer: "`gate sync` and `gate log ship --accounts`, as root", Readers: "`gate status` of every account",
		Older: "read", Newer: "`gate status` does not say when", Lost: "nothing: the next sending writes it", Cache: true,
	},
	ConfinedCall: {
		Name: "call that runs confined", Where: []string{"STATE/confined/calls/*"}, Number: 1,
		Writer: "`gate hook`; of the end, `gate-run`", Readers: "`gate-run`, once; `gate hook` after the call",
		Older: "read", Newer: "nothing runs: other fields than it knows are a fault", Lost: "a call that has not started yet, and what it was refused",
	},
	ConfinedCopy: {
		Name: "changes of caches", Where: []string{"STATE/confined/*/*/**"},
		Writer: "confined programs", Readers: "the same, in that project",
		Older: "files of tools, as they wrote them", Newer: "the same", Lost: "nothing but time", Cache: true,
	},
	Holds: {
		Name: "what the machine can confine", Where: []string{"STATE/confined/machine.json"}, Number: 1,
		Writer: "`gate hook`, `gate doctor`", Readers: "the same",
		Older: "not used; the launcher is asked again", Newer: "not used; the launcher is asked again", Lost: "nothing but time", Cache: true,
	},
	Compiled: {
		Name: "compiled form", Where: []string{"STATE/compiled/*.plan", "MANAGED/compiled/*.plan"}, Number: 10, Prefix: "gate artifact ",
		Writer: "`gate install`, `gate build`, `gate sync`, `gate hook` afterwards", Readers: "`gate-hook`, `gate hook`",
		Older: "not used; made anew from the files", Newer: "not used; made anew from the files", Lost: "nothing but time", Cache: true,
	},
	LastGood: {
		Name: "files as they last decided", Where: []string{"STATE/good/*"},
		Writer: "`gate hook`", Readers: "the same, `gate doctor`",
		Older: "a copy of a file, byte by byte", Newer: "the same", Lost: "one comparison with a file that was cut off", Cache: true,
	},
	Verdict: {
		Name: "ruling of a model", Where: []string{"STATE/verdicts/*"}, Number: 1, Member: "v",
		Writer: "prompt and agent hooks", Readers: "the same",
		Older: "not used; the model is asked again", Newer: "not used; the model is asked again", Lost: "one answer, at most as old as `judges.keep`", Cache: true,
	},
	ServeToken: {
		Name: "token of the server", Where: []string{"STATE/serve/token"},
		Writer: "`gate serve`", Readers: "its clients",
		Older: "one line of text", Newer: "the same", Lost: "nothing: each start writes a new one", Cache: true,
	},
	Keys: {
		Name: "key set", Where: []string{"MANAGED/keys.json", "MANAGED/bundles/keys.json"}, Number: 1, Member: "type", Prefix: "gate.keys/",
		Writer: "`gate keys`, `gate fleet init`", Readers: "`gate sync`, `gate bundle`, every decision on a machine with bundles",
		Older: "read", Newer: "no bundle is taken, the release in force stays; `gate sync` and `gate doctor` say so", Lost: "nothing",
	},
	Seen: {
		Name: "versions that were seen", Where: []string{"MANAGED/seen.json"}, Number: 1, Member: "schema",
		Writer: "`gate sync`, `gate bundle install`", Readers: "the same",
		Older: "read", Newer: "no bundle is taken, the release in force stays", Lost: "nothing",
	},
	Current: {
		Name: "bundles in force", Where: []string{"MANAGED/bundles/current.json"}, Number: 2, Member: "schema",
		Writer: "`gate sync`, `gate bundle install`; format 1 while nothing is on trial", Readers: "every decision",
		Older: "read; a bundle with `record` is a trial", Newer: "calls are refused: the bundles in force are not known", Lost: "nothing",
	},
	Synced: {
		Name: "last syncs", Where: []string{"MANAGED/bundles/synced.json"}, Number: 1, Member: "schema",
		Writer: "`gate sync`", Readers: "every decision (age of bundles), `gate doctor`",
		Older: "read", Newer: "no bundle is taken, the release in force stays and counts as never synced", Lost: "nothing",
	},
	Fetched: {
		Name: "where bundles came from", Where: []string{"MANAGED/bundles/fetched.json"}, Number: 1, Member: "schema",
		Writer: "`gate sync`", Readers: "the same",
		Older: "not used; made anew", Newer: "not used; made anew", Lost: "one download", Cache: true,
	},
	Failed: {
		Name: "what fails in syncs", Where: []string{"MANAGED/bundles/failed.json"}, Number: 1, Member: "schema",
		Writer: "`gate sync`", Readers: "`gate status`, `gate doctor`",
		Older: "not used; made anew", Newer: "not used; made anew", Lost: "since when a sync fails", Cache: true,
	},
	Damaged: {
		Name: "remains of a file that could not be read", Where: []string{"MANAGED/bundles/*.damaged"},
		Writer: "`gate sync`", Readers: "people, `gate doctor`", Older: "the file as it was, byte by byte", Newer: "the same", Lost: "nothing",
	},
	Release: {
		Name: "release in force", Where: []string{"MANAGED/bundles/*/*/bundle.tar.gz", "MANAGED/bundles/*/*/bundle.tar.gz.gate.json", "MANAGED/bundles/*/*/files/**"},
		Writer: "`gate sync`, `gate bundle install`", Readers: "every decision",
		Older: "the bundle's own files, as they came", Newer: "the same", Lost: "nothing: the next sync brings them",
	},
	Locks: {
		Name: "locks and marks", Where: []string{"STATE/sessions/locks/*", "STATE/origins/locks/*", "STATE/seen/locks/*", "STATE/compiled/.*", "STATE/machine.lock", "USER/.mcp.lock", "MANAGED/bundles/.lock"},
		Writer: "whoever changes the files beside them", Readers: "the same",
		Older: "they have no content", Newer: "the same", Lost: "nothing", Cache: true,
	},
	Channel: {
		Name: "channel", Where: []string{"MANAGED/channel.json", "a publisher's server"}, Number: 2, Member: "type", Prefix: "gate.channel/",
		Writer: "`gate bundle channel`, and format 1 beside it while a machine needs that", Readers: "`gate sync`",
		Older: "read; a release with `record` is a trial beside the release in force", Newer: "the sync fails and says so; the release in force stays", Lost: "nothing",
	},
	Recovery: {
		Name: "recovery file", Where: []string{"MANAGED/recovery.json"}, Number: 1, Member: "type", Prefix: "gate.recovery/",
		Writer: "`gate bundle recovery`", Readers: "every decision, `gate doctor`",
		Older: "read", Newer: "relaxes nothing; `gate doctor` says so", Lost: "nothing: the machine stays as strict as its bundles",
	},
	Pins: {
		Name: "what MCP servers were when they were first used", Where: []string{"USER/mcp.lock"}, Number: 2, Prefix: "gate.mcp/",
		Writer: "`gate mcp`", Readers: "the same",
		Older: "read; it may say nothing of `_meta`, which is then pinned at a definition's next use", Newer: "nothing of an MCP server passes, and the file is left as it is; `gate mcp` and the agent's calls say so",
		Lost: "what was pinned: the next use of each server is its first",
	},
	Collected: {
		Name: "store of a collector", Where: []string{"DIR/collect.db", "PostgreSQL, table gate_store"}, Number: 2,
		Writer: "`gate collect`", Readers: "the same, and its commands",
		Older: "brought up to date by the first collector that opens it", Newer: "it is not opened, and `gate collect` says so", Lost: "nothing: an older collector goes on with a copy from before",
	},
	Roles: {
		Name: "who may look", Where: []string{"the file of --roles"},
		Writer: "people, `gate collect let`", Readers: "`gate collect`",
		Older: "read", Newer: "a line that this gate does not know lets nobody in, and is told", Lost: "nothing",
	},
	Envelope: {
		Name: "signatures beside a bundle", Where: []string{"NAME.tar.gz.gate.json"}, Number: 1, Member: "type", Prefix: "gate.bundle/",
		Writer: "`gate bundle sign`", Readers: "`gate bundle verify`, `gate sync`",
		Older: "read", Newer: "the bundle is refused; the release in force stays", Lost: "nothing",
	},
	Bundle: {
		Name: "bundle", Where: []string{"NAME.tar.gz"}, Number: 1,
		Writer: "`gate bundle build`, OPA's own tools", Readers: "`gate sync`, `gate bundle`, every decision (its files)",
		Older: "read", Newer: "a key of `metadata.gate`, hooks or settings that this gate does not know refuses the bundle; `min_gate` says it beforehand", Lost: "nothing",
	},
	Settings: {
		Name: "settings and hook files", Where: []string{"settings.*", "hooks.* of every directory"},
		Writer: "people, `gate set`, `gate fleet init`", Readers: "every decision",
		Older: "keys are never taken away without a sentence that names the new one", Newer: "a key that this gate does not know is a mistake with file and line: the file closes or is inactive, by its authority", Lost: "nothing: the file is never rewritten as a whole",
	},
	AgentSettings: {
		Name: "entries in agents' settings", Where: []string{"each agent's own files"},
		Writer: "`gate install`", Readers: "the agents, `gate status`, `gate uninstall`",
		Older: "recognised by the program that they name; `gate doctor --fix` writes the present form", Newer: "recognised by the program that they name; 3a18b57 leaves the one before Claude Code's prompts, which a line of `sh` starts: run the newer `gate uninstall` first", Lost: "nothing",
	}, Archive: {
		Name: "archived day of a fleet", Where: []string{"day=YYYY-MM-DD/part-*.parquet below the place of `gate collect archive --to`"}, Number: 1, Member: "gate.archive",
		Writer: "`gate collect archive`", Readers: "`gate replay --from`, `gate collect`, engines that read Parquet",
		Older: "read", Newer: "not read and not overwritten; the command says so", Lost: "nothing: a newer gate reads it",
	},
	Replayed: {
		Name: "results of a fleet's replay", Where: []string{"the files of `gate replay --state` and `--out`"}, Number: 1, Member: "type", Prefix: "gate.replay/",
		Writer: "`gate replay --from`", Readers: "the same, `gate replay --merge`",
		Older: "read", Newer: "not read and not overwritten; the command says so", Lost: "the time of the replay",
	},
}
