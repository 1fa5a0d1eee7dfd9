package moment

// A Dialect is the system that a hook was written for. It fixes what its
// handler is given, how its answer and its exit code are read, and its default
// time-out. The zero Dialect is gate's own.
type Dialect string

const (
	Claude    Dialect = "claude"    // Claude Code's settings files, plugins and frontmatter
	Cocode    Dialect = "cocode"    // the hooks architecture of cocode-rs: hooks.toml, hooks.json
	Zeph      Dialect = "zeph"      // zeph-subagent: YAML frontmatter
	MassGen   Dialect = "massgen"   // MassGen's YAML, global and by agent
	CodeWhale Dialect = "codewhale" // the hook lifecycle RFC of CodeWhale: TOML
)
