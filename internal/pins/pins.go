// Package pins keeps what MCP servers were when they were first used: who they are, and
// what they said of their tools, resources and prompts. Whatever differs later is a
// [Change], which waits until a person has seen it.
//
// One file has it all, [FileName] in the user's directory. A file that is damaged,
// unreadable or a newer gate's is an error, and its caller lets nothing pass. The package
// speaks to no server and asks no policy: package mcpproxy does. It protects from nobody
// who can write the user's files.
//
// Start with [Store]: who runs a server calls [Store.Begin], and then [Store.List] with
// each part of a list. A person's commands call [Store.Servers], [Store.Accept] and
// [Store.Forget].
package pins

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"gate/internal/consent"
	"gate/internal/secret"
	"gate/internal/strictjson"
)

// A Kind is what is pinned of a server.
type Kind string

// The kinds. [Server] is who the server is, the others are its lists, and its instructions
// as a list of one.
const (
	Server    Kind = "server"
	Tools     Kind = "tools"
	Resources Kind = "resources"
	Templates Kind = "templates" // of resources
	Prompts   Kind = "prompts"

	Instructions Kind = "instructions" // what the server tells the model about itself
)

// Kinds are all of them, in the order that people are shown them.
func Kinds() []Kind { return []Kind{Server, Instructions, Tools, Resources, Templates, Prompts} }

// The fields of an [Identity].
const (
	Command       = "command"        // the command line
	Program       = "program"        // the file that it starts
	ProgramDigest = "program digest" // of that file
	Package       = "package"        // with its version, where the command line has a registry's package run
	URL           = "url"
	Headers       = "headers"    // their names, and their values as they were written
	PublicKey     = "public key" // the digest of the certificate's
)

// An Identity says who a server is: texts by the names of fields. It holds no secret,
// since [NewIdentity] masks them.
type Identity map[string]string

// NewIdentity masks the secrets in the fields, and leaves empty ones out.
func NewIdentity(fields map[string]string) Identity {
	is := Identity{}
	for name, value := range fields {
		if value != "" {
			is[name] = clip(secret.Redact(value))
		}
	}
	return is
}

// A Definition is one entry of a list.
type Definition struct {
	Name string         // of the tool or prompt, the address of the resource
	Body map[string]any // as the server says it, strictly read
}

// A Change is a difference from what was pinned. It is held until a person accepts it.
type Change struct {
	Kind    Kind
	Name    string // of the definition, or of the field of a server
	Was, Is string // for people, without secrets; Was "" is new, Is "" gone
	is      string // its digest
}

// A Pinned is what is known of one server.
type Pinned struct {
	Name     string
	Told     bool // the name is what the server calls itself
	At       time.Time
	Identity Identity
	Counts   map[Kind]int // of the definitions; a list that was never used is missing
	Held     []Change
}

// A Store is the directory of [FileName]: the user's, absolute. Any number of processes
// may use it at once.
type Store struct{ Dir string }

// Bounds of the file. What does not fit is an error.
const (
	maxServers     = 256
	maxDefinitions = 5000 // of a list, pinned and held apart
	maxText        = 32 << 10
	maxFile        = 48 << 20
	maxName        = 1 << 10
)

// Begin pins a server at its first use, and holds its identity against what was pinned
// later. What it returns is held, and nothing of the server may pass meanwhile. A field
// that can only be known later, such as the public key, may be missing.
//
// A told name is what the server calls itself. A server that called itself something
// else before is an error: by a new name it would be a new server.
func (s Store) Begin(ctx context.Context, server string, told bool, is Identity) (held []Change, err error) {
	if server == "" || len(server) > maxName {
		return nil, fmt.Errorf("a server's name has 1 to %d bytes", maxName)
	}
	err = s.change(ctx, func(f *file) (bool, error) {
		e := f.Servers[server]
		if e == nil {
			if told {
				for name, other := range f.Servers {
					if other.Told && same(other.Identity, is) {
						return false, fmt.Errorf("it called itself %s when it was first used; name it with --name, or forget the other name with: gate mcp forget %s", strictjson.Quoted(clip(name)), strictjson.Quoted(clip(name)))
					}
				}
			}
			if len(f.Servers) == maxServers {
				return false, fmt.Errorf("%d servers are known already; forget one with gate mcp forget", maxServers)
			}
			f.Servers[server] = &entry{At: now(), Told: told, Identity: maps.Clone(is)}
			return true, nil
		}
		if key := is[PublicKey]; key != "" && e.Identity[PublicKey] == "" && e.Identity[URL] == is[URL] {
			e.Identity[PublicKey] = key
			return true, nil
		}
		if same(e.Identity, is) {
			changed := e.Held != nil && len(is) == len(e.Identity)
			if changed {
				e.Held = nil // it is again who it was
			}
			return changed, nil
		}
		wants := maps.Clone(e.Identity)
		for _, name := range slices.Collect(maps.Keys(wants)) {
			if name != PublicKey || is[URL] != e.Identity[URL] {
				delete(wants, name)
			}
		}
		maps.Copy(wants, is)
		fresh := !maps.Equal(wants, e.Held)
		e.Held = wants
		held = e.identityChanges()
		return fresh, nil
	})
	return held, err
}

// same reports that an identity is what was pinned, as far as it is known yet.
func same(was, is Identity) bool {
	for _, name := range slices.Concat(slices.Collect(maps.Keys(was)), slices.Collect(maps.Keys(is))) {
		if was[name] != is[name] && (name != PublicKey || is[name] != "") {
			return false
		}
	}
	return true
}

// List holds a part of a list against what was pinned, and returns for each definition
// what is held of it, nil if it is as it was. At the first use of the list, and as long
// as first is set, what is new is pinned. The caller sets first from the list's beginning
// until its end, within one run. first returns as it must be set for the next part.
func (s Store) List(ctx context.Context, server string, kind Kind, first bool, part []Definition) (held []*Change, open bool, err error) {
	held = make([]*Change, len(part))
	err = s.change(ctx, func(f *file) (bool, error) {
		e := f.Servers[server]
		if e == nil {
			return false, fmt.Errorf("the server %s was forgotten while it ran", strictjson.Quoted(clip(server)))
		}
		l := e.Lists[kind]
		changed := l == nil
		if l == nil {
			l = &list{At: now(), Pinned: map[string]kept{}, Held: map[string]kept{}}
			if e.Lists == nil {
				e.Lists = map[Kind]*list{}
			}
			e.Lists[kind] = l
		}
		open = changed || first
		for i, d := range part {
			c, news, err := l.take(kind, d, open)
			if err != nil {
				return false, err
			}
			held[i], changed = c, changed || news
		}
		return changed, nil
	})
	if err != nil {
		return nil, false, err
	}
	return held, open, nil
}

// Has reports what is known of a definition: whether its list was used, whether it is
// pinned, and what of it is held.
func (s Store) Has(server string, kind Kind, name string) (used, pinned bool, held *Change, err error) {
	f, err := s.read()
	if err != nil || f.Servers[server] == nil || f.Servers[server].Lists[kind] == nil {
		return false, false, nil, err
	}
	l := f.Servers[server].Lists[kind]
	_, pinned = l.Pinned[name]
	if k, waits := l.Held[name]; waits {
		held = l.changeOf(kind, name, k)
	}
	return true, pinned, held, nil
}

// Servers returns what is known of all servers, by their names.
func (s Store) Servers() ([]Pinned, error) {
	f, err := s.read()
	if err != nil {
		return nil, err
	}
	var all []Pinned
	for _, name := range slices.Sorted(maps.Keys(f.Servers)) {
		e := f.Servers[name]
		p := Pinned{Name: name, Told: e.Told, At: e.At, Identity: e.Identity, Counts: map[Kind]int{}, Held: e.identityChanges()}
		for _, kind := range Kinds() {
			if l := e.Lists[kind]; l != nil {
				p.Counts[kind] = len(l.Pinned)
				for _, name := range slices.Sorted(maps.Keys(l.Held)) {
					p.Held = append(p.Held, *l.changeOf(kind, name, l.Held[name]))
				}
			}
		}
		all = append(all, p)
	}
	return all, nil
}

// Accept pins what was held, as a person was shown it. What has changed again meanwhile
// stays held, and is an error.
func (s Store) Accept(ctx context.Context, w *consent.Witness, server string, shown []Change) error {
	if _, _, err := w.Take(); err != nil {
		return err
	}
	return s.change(ctx, func(f *file) (bool, error) {
		e := f.Servers[server]
		if e == nil {
			return false, fmt.Errorf("the server %s is not known any more", strictjson.Quoted(clip(server)))
		}
		for _, c := range shown {
			if c.Kind == Server {
				if e.Held == nil || e.Held[c.Name] != c.Is {
					return false, errOther
				}
				continue
			}
			l := e.Lists[c.Kind]
			if l == nil || l.Held[c.Name].Digest != c.is {
				return false, errOther
			}
			l.Pinned[c.Name] = l.Held[c.Name]
			delete(l.Held, c.Name)
		}
		if slices.ContainsFunc(shown, func(c Change) bool { return c.Kind == Server }) {
			e.Identity, e.Held = e.Held, nil
		}
		return true, nil
	})
}

// Forget has the next use of a server be its first.
func (s Store) Forget(ctx context.Context, w *consent.Witness, server string) error {
	if _, _, err := w.Take(); err != nil {
		return err
	}
	return s.change(ctx, func(f *file) (bool, error) {
		if f.Servers[server] == nil {
			return false, fmt.Errorf("the server %s is not known any more", strictjson.Quoted(clip(server)))
		}
		delete(f.Servers, server)
		return true, nil
	})
}

// digest is of all that a definition says, its secrets included.
func digest(kind Kind, body map[string]any) string {
	sum := sha256.Sum256(append([]byte("gate mcp "+string(kind)+"\n"), strictjson.Append(nil, body)...))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// clip bounds a text that is kept.
func clip(s string) string {
	if len(s) <= maxText {
		return s
	}
	return strings.ToValidUTF8(s[:maxText], "") + fmt.Sprintf("… (%d bytes)", len(s))
}

func now() time.Time { return time.Now().UTC().Truncate(time.Millisecond) }
