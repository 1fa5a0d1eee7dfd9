package hook

// A FactEffect is one thing that the event amounts to, "effects" in the
// document. (The Go name differs because an [Effect] is a severity.)
type FactEffect struct {
	Command int        // the command that causes it; 0 when a tool other than a shell does
	Is      EffectKind // what it is, such as a *GitPush; nil in the zero value only
}

// Kind returns the kind's name, such as "git.push".
func (e *FactEffect) Kind() string {
	if e.Is == nil {
		return ""
	}
	return e.Is.kind()
}

// member is that of [FactObject]: the fields of the kind, with kind and command.
func (e *FactEffect) member(i int) (name string, at any) {
	if e.Is == nil {
		e = &FactEffect{Command: e.Command, Is: &OwnEffect{}}
	}
	return e.Is.member(e, i)
}

// An EffectKind is a pointer to one of the structs here: one a kind.
type EffectKind interface {
	kind() string
	member(e *FactEffect, i int) (name string, at any)
}

// A Place is where an effect on a file lies.
type Place struct {
	Path     *string  `unknown:"null" form:"path"`
	Resolved *string  `form:"path"`
	Area     string   `enum:"root|device|system|home|user|project_root|git|project|temp|cache|outside|unknown"`
	CouldBe  []string `enum:"root|device|system|home|user|project_root|git|project|temp|cache|outside"`
}

// A FSRead reads a file or directory.
type FSRead struct {
	Place
}

// A FSWrite changes a file or directory.
type FSWrite struct {
	Place
	How       string `enum:"create|overwrite|append|truncate|edit|move|link"`
	Recursive bool
}

// A FSDelete makes a file or directory go away.
type FSDelete struct {
	Place
	Recursive bool
	Force     bool
	Glob      bool   // many files by pattern
	Contents  bool   // everything inside, the directory may stay
	How       string `enum:"remove|overwrite|sync|move"` // overwrite: as shred does
}

// A FSPermissions changes who may do what with a file.
type FSPermissions struct {
	Place
	Recursive     bool
	Mode          *string // as written
	WorldWritable bool
	Setuid        bool
	Owner         *string
}

// A Disk works on a whole disk or partition.
type Disk struct {
	Verb   string  `enum:"format|partition|wipe|write|encrypt|fill"`
	Device *string `unknown:"null"`
}

// A GitPush sends commits to a remote.
type GitPush struct {
	Remote       *string  `unknown:"null"`
	Branches     []string `unknown:"branches_from" form:"branch"`
	BranchesFrom string   `enum:"refspec|head|config|unknown"` // head: the branch that is checked out, also by the line itself; config: git's settings; unknown: branches does not name them all
	Force        bool
	Lease        bool
	All          bool
	Mirror       bool
	Tags         bool
	Delete       bool
}

// A GitHistory rewrites or drops recorded history.
type GitHistory struct {
	Verb   string // rebase, amend, filter-branch, filter-repo, reflog expire, gc prune, update-ref, branch delete, tag delete …
	Target *string
	Force  bool
	Local  bool // only of this clone
}

// A GitDiscard throws away uncommitted work.
type GitDiscard struct {
	Verb  string    // reset --hard, checkout, restore, clean, switch, stash drop, stash clear …
	Paths []*string `unknown:"null"`
	All   bool
	Force bool
}

// A GitBypass switches git's checks off.
type GitBypass struct {
	What string `examples:"hooks|signing"`
	Verb string
}

// A GitConfig changes a setting of git.
type GitConfig struct {
	Key   *string `unknown:"null"`
	Value *string `unknown:"null"`
	Scope string  `examples:"local|global|system|command|worktree|file"`
	Runs  bool    // the value is a program or decides which code runs
	Once  bool    // -c
}

// A GitRemote changes where a remote lies.
type GitRemote struct {
	Verb string  `examples:"add|set-url|remove|rename"`
	Name *string `unknown:"null"`
	URL  *string `unknown:"null"`
}

// A NetFetch gets something from the network.
type NetFetch struct {
	Host     *string `unknown:"null" form:"host"`
	IP       *string // the address that the host is written as, in its usual notation; null for a name
	URL      *string `unknown:"null"`
	Method   *string
	To       *string // path or null
	Private  bool    // loopback or private address
	Metadata bool    // cloud metadata service
}

// A NetSend sends something over the network.
type NetSend struct {
	Host     *string `unknown:"null" form:"host"`
	IP       *string // the address that the host is written as, in its usual notation; null for a name
	URL      *string `unknown:"null"`
	Method   *string
	Source   string  `enum:"text|file|stdin|environment|encoded|unknown"` // encoded: base64 and the like, within the address
	Path     *string `form:"path"`
	Secret   *string // what kind of secret, or null; [which values are one](log.md#what-a-secret-is)
	Private  bool
	Metadata bool
}

// A NetListen waits for connections.
type NetListen struct {
	Port   *string
	Shell  bool // a shell is attached: a reverse or bind shell
	Public bool // a tunnel from the internet
}

// An ExecRemote runs code fetched from the network.
type ExecRemote struct {
	Host *string `unknown:"null" form:"host"`
	URL  *string `unknown:"null"`
	Via  string  `examples:"pipe|substitution|file|package|eval"`
}

// An ExecCode runs code in a language.
type ExecCode struct {
	Language string
	Source   string `examples:"inline|stdin|heredoc|file"`
	Known    bool
	Decoded  bool // base64, hex …
}

// An ExecHidden is an option or file that makes an innocent program run another.
type ExecHidden struct {
	Program string
	Option  string
	Value   *string `unknown:"null"`
}

// An ExecShell is a connected or remote shell.
type ExecShell struct {
	How  string  `enum:"reverse|bind|interactive"`
	Host *string `form:"host"`
}

// A SecretRead reads a secret.
type SecretRead struct {
	Path  *string // if its directory is not known, as written with … for what is not known; so too in persistence and self
	What  string  // private key, credentials, environment file, password store, environment …
	Shown bool    // its content goes to the agent or onward; not where a configuration that a tool loads only reads it
	Grade string  `enum:"key|config"` // key: always a secret; config: may hold one
}

// An Environment sets a variable that makes programs run code or go elsewhere.
type Environment struct {
	Variable *string `unknown:"null"`
	Value    *string `unknown:"null"`
	Runs     any     // what it makes run: library, program, start-up code …; or true
}

// A Persistence changes what starts by itself later.
type Persistence struct {
	Path *string
	What string // shell start-up file, cron, service, autostart, authorized keys, git hook, setuid, a program that stands before the system's own …
	Verb string `examples:"write|delete|run|permissions"`
}

// A Kubernetes works on a cluster.
type Kubernetes struct {
	Verb          string
	Access        string    `enum:"read|write|delete|exec"`
	Context       *string   `unknown:"null"`
	ContextFrom   string    `enum:"option|env|file|unknown"` // file: the kubeconfig or what the line switched to
	Namespace     *string   `unknown:"null"`
	NamespaceFrom string    `enum:"option|env|file|default|unknown"` // file: the context's; default: kubectl's own, where neither line nor context names one
	ClusterWide   *bool     `unknown:"null"`                         // every namespace, or what lies in none: nodes, namespaces, volumes, cluster roles …; null where a file says it
	Resources     []*string `unknown:"null"`
	All           bool
	DryRun        bool
}

// An Infrastructure changes servers and services elsewhere.
type Infrastructure struct {
	Tool     string  // terraform, pulumi, aws, gcloud, az, helm, ansible …
	Verb     *string `unknown:"null"`
	Access   string  `enum:"read|write|delete"`
	Approved bool    // no question asked
	Target   *string
}

// A Container works on containers and images.
type Container struct {
	Tool       string
	Verb       string
	Access     string `enum:"read|write|delete"`
	Privileged bool
	Mounts     []*string `unknown:"null"`
	Volumes    bool      // data volumes are deleted
	All        bool
	Image      OptionalText `unknown:"null"` // of run and create, otherwise missing; null when not known
}

// A Database works on what a database holds.
type Database struct {
	Tool   string
	Verb   *string // drop, truncate, delete, update, flush, restore …
	Access string  `enum:"read|write|delete"`
	Where  bool    // a condition limits it
	Object *string
	Local  bool
}

// A PackageInstall installs software.
type PackageInstall struct {
	Tool     string
	Packages []*string `unknown:"null"`
	Source   string    `examples:"registry|url|file"`
	From     string    `enum:"names|lock|requirements|address|run"` // which list: names on the line, the project's manifest or lock file, a file of requirements, an address, a package that is fetched to be run
	Registry *string   `unknown:"null"`                             // the registry's address, by option, variable or settings; null also where several may serve
	Host     *string   `unknown:"null" form:"host"`                 // whom the packages come from: null where a lock file or requirements may name others
	Global   bool
}

// A PackagePublish changes what others install.
type PackagePublish struct {
	Tool string
	Verb string // publish, unpublish, yank, push, release
}

// A Process ends or multiplies processes, or types into one.
type Process struct {
	Verb   string `examples:"kill|fork bomb|fork|type|mine|attack|probe"`
	Target *string
	Signal *string
	All    bool
}

// A System changes the machine.
type System struct {
	Verb   string // shutdown, reboot, service, firewall, mount, kernel, user, sysctl, time, swap, power, history, privilege
	What   *string
	Access string `enum:"read|write"`
}

// A Self touches gate's and agents' own files and switches.
type Self struct {
	What string  // gate policy, gate state, gate program, agent settings, agent program, agent hooks
	Verb string  // write, delete, run, permissions, configure
	Path *string `form:"path"`

	Change *string // what a person should see before deciding: what becomes of the project's own agent settings, where all of it is known and switches no guard off, or that a tool without a row gets the path with a text; otherwise null
}

// A Tool is a call that changes something elsewhere, by an MCP or other tool.
type Tool struct {
	Tool   string
	Verb   *string
	Access string `enum:"read|write|delete"`
	Target *string
}
