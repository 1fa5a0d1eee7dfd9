// Package source describes the origins of bundles: a file or a directory, a web server,
// a registry for containers.
//
// A bundle from there is the bytes of a stranger. The package unpacks, believes and
// remembers nothing, and knows nothing of the machine; package bundles verifies it,
// internal/sync puts it in force. These are values, which every program can have: what
// fetches and pushes is a [Client], such as that of internal/source/fetch.
package source

import (
	"context"
	"time"
)

// A Found is what a source has.
type Found struct {
	Archive, Envelope []byte // the envelope is nil if there is none
	// Tag is what the source calls this state of the two. It is given to the
	// next Fetch. "": it has no name for it.
	Tag string
	// Unchanged says that the source still has what the tag stands for; nothing
	// else is set.
	Unchanged bool
}

// A Source is one place that one bundle comes from. It may be used by one
// goroutine at a time.
type Source interface {
	// Fetch brings what the source has now, unless that is what the tag of an
	// earlier Found stands for. It takes no longer than Options.Time.
	Fetch(ctx context.Context, tag string) (Found, error)
}

// Options say where a bundle comes from, and how.
type Options struct {
	// URL is a path, or an address: file, http, https, or oci for a registry
	// (oci://host/repository:tag; registries on this machine are spoken to
	// without TLS). A directory holds the bundle as NAME.tar.gz. A path or the
	// address of a file names the archive; its envelope is beside it, with
	// [EnvelopeSuffix].
	URL  string
	Name string // of the bundle; wanted where the URL is a directory's

	TokenFile string // holds a bearer token, or user:password for a registry; never sent over plain http but to this machine
	CertFile  string // of the client, with KeyFile; PEM
	KeyFile   string
	CAFile    string // whom to believe that they are the server, instead of the system's; PEM

	Alone   bool          // there is no envelope, and none is asked for
	Limit   int64         // bytes of an archive; default 64 MiB
	Time    time.Duration // for everything; default 5 minutes
	Partial string        // a file that keeps half a download for the next try; "": none
	Agent   string        // what requests call this program

	Hold time.Duration // how long the server may hold a request; [Client].Await says it
}

// EnvelopeSuffix makes the name of the envelope that lies beside an archive.
const EnvelopeSuffix = ".gate.json"

// A Client brings bundles and puts them into registries. It is safe for concurrent use.
type Client interface {
	// Open makes the source of an address. Nothing is asked for yet.
	Open(Options) (Source, error)

	// Await has a web server that speaks OPA's bundle API hold requests, each for so
	// long, until its archive is another one than the tag stands for. Then it returns
	// true, and [Source] fetches it. It returns false when ctx ends, when the tag is
	// of a server that holds none, and when the server gives something else: the next
	// Fetch says what. Of the archive nothing is read.
	Await(ctx context.Context, o Options, tag string, hold time.Duration) bool

	// Push puts a bundle into a registry under its tag, so that gate, OPA and oras
	// find it there, and returns the digest of the artifact. The same bundle makes
	// the same artifact.
	Push(ctx context.Context, o Options, archive, envelope []byte) (digest string, err error)
}

// An Error says why a source gave nothing, in one sentence.
type Error struct {
	Err     error
	Hint    string        // what to do about it; ""
	Missing bool          // there is nothing under this address
	Wait    time.Duration // how long the source wants to be left alone; 0: it does not say
}

func (e *Error) Error() string { return e.Err.Error() }
func (e *Error) Unwrap() error { return e.Err }
