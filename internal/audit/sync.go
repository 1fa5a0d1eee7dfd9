package audit

// A Sync is what became of a bundle, or of the key set, that was offered to
// this machine. Its record is no decision about a call: Reasons say why it was
// refused, each with the reason's word as id; without any it came into force.
type Sync struct {
	Name    string // of the bundle; "" for the key set
	Trial   bool   // of the bundle: it stands beside the release in force, and Version says which
	Digest  string // of what was offered, "sha256:…"
	Version int64  // in force from now on; 0: none
	Before  int64  // in force until now; 0: none
	Signers []string
}

// SyncPath is what records of bundles have in the place of [DecisionPath].
const SyncPath = "gate/sync"

// path tells what kind of record it is.
func (r *Record) path() string {
	switch {
	case r.Sync != nil:
		return SyncPath
	case r.Review != nil:
		return ReviewPath
	}
	return DecisionPath
}

// what says what was offered.
func (s *Sync) what() string {
	if s.Name == "" {
		return "key_set"
	}
	return "bundle"
}

// syncOf reads the result of a record; nil: it is a decision.
func syncOf(path string, result fields) *Sync {
	if path != SyncPath {
		return nil
	}
	return &Sync{
		Name: result.text("name"), Trial: result["trial"] == true, Digest: result.text("digest"),
		Version: result.number("version"), Before: result.number("before"), Signers: result.texts("signers"),
	}
}
