package collect

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"gate/internal/collect/store"
)

// A Role says what a person may look at. Each has what those before it have.
type Role int

const (
	Nobody        Role = iota
	Reader             // figures, machines, findings
	Reviewer           // records, too
	Administrator      // who looked, and tokens, too
)

var roleNames = [...]string{Nobody: "nobody", Reader: "reader", Reviewer: "reviewer", Administrator: "administrator"}

func (r Role) String() string { return roleNames[r] }

// ParseRole reads the name of a role that a person can have.
func ParseRole(s string) (Role, error) {
	if i := slices.Index(roleNames[:], s); i > 0 {
		return Role(i), nil
	}
	return Nobody, fmt.Errorf("%q is no role: there are reader, reviewer and administrator", s)
}

// A Person is who asks.
type Person struct {
	Name string
	Role Role
}

type personKey struct{}

// PersonOf returns who asks, as the collector found out; the zero Person: nobody.
func PersonOf(ctx context.Context) Person {
	p, _ := ctx.Value(personKey{}).(Person)
	return p
}

// A Gatekeeper knows who may look. The zero one lets nobody in.
//
// Its file has a line for each person or group, and comments that begin with #:
//
//	token ROLE NAME DIGEST    DIGEST is the SHA-256 of the token, in hex
//	user ROLE NAME            who is called so by the proxy
//	group ROLE NAME           whom the proxy says to be in that group
type Gatekeeper struct {
	Path  string // of the file; it is read again when it has changed
	Proxy Proxy

	mu    sync.Mutex
	read  os.FileInfo // as it was when it was read
	rules rules
	err   error
}

// A Proxy stands before the collector and has people log in. Nothing of it counts
// unless the request proves that the proxy sent it.
type Proxy struct {
	UserHeader   string // the header with the name of who asks; "": there is no proxy
	GroupsHeader string // the header with the groups, with commas between; "": none
	Secret       string // what the header [SecretHeader] has; "": the listener lets nobody else in
}

// SecretHeader proves that a request came by the proxy.
const SecretHeader = "Gate-Proxy-Secret"

type rules struct {
	tokens map[[sha256.Size]byte]Person
	users  map[string]Role
	groups map[string]Role
}

// parseRules reads the file of roles.
func parseRules(data []byte) (rules, error) {
	r := rules{map[[sha256.Size]byte]Person{}, map[string]Role{}, map[string]Role{}}
	lines := bufio.NewScanner(bytes.NewReader(data))
	for n := 1; lines.Scan(); n++ {
		text, _, _ := strings.Cut(lines.Text(), "#")
		words := strings.Fields(text)
		if len(words) == 0 {
			continue
		}
		want := map[string]int{"token": 4, "user": 3, "group": 3}[words[0]]
		if want == 0 || len(words) != want {
			return r, fmt.Errorf("line %d: token ROLE NAME DIGEST, user ROLE NAME or group ROLE NAME is wanted", n)
		}
		role, err := ParseRole(words[1])
		if err != nil {
			return r, fmt.Errorf("line %d: %w", n, err)
		}
		switch words[0] {
		case "user":
			r.users[words[2]] = max(role, r.users[words[2]])
		case "group":
			r.groups[words[2]] = max(role, r.groups[words[2]])
		case "token":
			digest, err := hex.DecodeString(words[3])
			if err != nil || len(digest) != sha256.Size {
				return r, fmt.Errorf("line %d: the digest of a token has 64 hexadecimal digits", n)
			}
			r.tokens[[sha256.Size]byte(digest)] = Person{words[2], role}
		}
	}
	return r, lines.Err()
}

// Check reads the file, and says whether it is good.
func (g *Gatekeeper) Check() error {
	_, err := g.load()
	return err
}

// maxRoles bounds the file of roles, in bytes.
const maxRoles = 1 << 20

// load returns the rules of the file as it is now. A file that is no good lets nobody in.
func (g *Gatekeeper) load() (rules, error) {
	if g.Path == "" {
		return rules{}, nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	info, err := os.Stat(g.Path)
	if err != nil {
		return rules{}, err
	}
	if g.read != nil && os.SameFile(g.read, info) && g.read.ModTime().Equal(info.ModTime()) && g.read.Size() == info.Size() {
		return g.rules, g.err
	}
	g.read = info
	if info.Size() > maxRoles || !info.Mode().IsRegular() {
		g.rules, g.err = rules{}, fmt.Errorf("%s: a file of at most %d bytes is wanted", g.Path, maxRoles)
		return g.rules, g.err
	}
	data, err := os.ReadFile(g.Path)
	if err != nil {
		g.read = nil
		return rules{}, err
	}
	if g.rules, g.err = parseRules(data); g.err != nil {
		g.rules, g.err = rules{}, fmt.Errorf("%s: %w", g.Path, g.err)
	}
	return g.rules, g.err
}

var (
	errNoPerson = errors.New("a token is wanted (Authorization: Bearer TOKEN)")
	errToken    = errors.New("nobody has this token")
	errProxy    = errors.New("the proxy's word for who asks is not to be believed")
	errSite     = errors.New("requests of other pages are not answered")
)

// who finds out who asks.
func (g *Gatekeeper) who(r *http.Request) (Person, error) {
	rules, err := g.load()
	if err != nil {
		return Person{}, err
	}
	if auth := r.Header.Values("Authorization"); len(auth) > 0 {
		token, bearer := strings.CutPrefix(auth[0], "Bearer ")
		p, known := rules.tokens[sha256.Sum256([]byte(token))]
		if len(auth) > 1 || !bearer || !known {
			return Person{}, errToken
		}
		return p, nil
	}
	if g.Proxy.UserHeader == "" {
		return Person{}, errNoPerson
	}
	return g.byProxy(r, rules)
}

// byProxy believes the proxy, if it is the proxy. What a browser sends by itself is a
// login, too: so pages elsewhere are not answered.
func (g *Gatekeeper) byProxy(r *http.Request, rules rules) (Person, error) {
	if secret := r.Header.Values(SecretHeader); g.Proxy.Secret != "" && (len(secret) != 1 || subtle.ConstantTimeCompare([]byte(secret[0]), []byte(g.Proxy.Secret)) != 1) {
		return Person{}, errProxy
	}
	if sites := r.Header.Values("Sec-Fetch-Site"); len(sites) > 1 || len(sites) == 1 && sites[0] != "none" && sites[0] != "same-origin" {
		return Person{}, errSite
	}
	names := r.Header.Values(g.Proxy.UserHeader)
	if len(names) != 1 || names[0] == "" || len(names[0]) > 256 {
		return Person{}, errProxy
	}
	p := Person{names[0], rules.users[names[0]]}
	if g.Proxy.GroupsHeader != "" {
		for _, list := range r.Header.Values(g.Proxy.GroupsHeader) {
			for group := range strings.SplitSeq(list, ",") {
				p.Role = max(p.Role, rules.groups[strings.TrimSpace(group)])
			}
		}
	}
	return p, nil
}

// Who finds out who asks, for a handler of [Server.HandleOpen]. Where nobody does that
// is known, status is what to answer, and why the reason in words; otherwise it is 0.
func (s *Server) Who(r *http.Request) (p Person, status int, why string) {
	p, err := s.gate.who(r)
	switch {
	case err == nil:
		return p, 0, ""
	case errors.Is(err, errNoPerson), errors.Is(err, errToken), errors.Is(err, errProxy):
		return Person{}, http.StatusUnauthorized, err.Error()
	case errors.Is(err, errSite):
		return Person{}, http.StatusForbidden, err.Error()
	}
	s.log.Error("the file of roles is no good", "error", err)
	return Person{}, http.StatusServiceUnavailable, "the file of roles is no good: nobody is let in"
}

// admit lets people in who have a role, and notes that they looked before they see
// anything.
func (s *Server) admit(w http.ResponseWriter, r *http.Request, role Role) (*http.Request, bool) {
	p, status, why := s.Who(r)
	switch status {
	case 0:
	case http.StatusServiceUnavailable:
		later(w, status, time.Minute, why)
		return r, false
	case http.StatusUnauthorized:
		w.Header().Set("WWW-Authenticate", `Bearer realm="gate"`)
		fallthrough
	default:
		fail(w, status, why)
		return r, false
	}
	look := store.Look{Who: p.Name, Role: p.Role.String(), What: r.Method + " " + r.URL.Path, Detail: r.URL.RawQuery}
	if p.Role < role {
		look.What = "refused: " + look.What
	}
	if err := s.store.AddLook(r.Context(), look); err != nil {
		s.broken(w, r, err)
		return r, false
	}
	if p.Role < role {
		fail(w, http.StatusForbidden, fmt.Sprintf("this is for the role %s, and %s has the role %s", role, p.Name, p.Role))
		return r, false
	}
	return r.WithContext(context.WithValue(r.Context(), personKey{}, p)), true
}
