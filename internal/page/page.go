// Package page is what a person sees in a browser of a gate that stays up: what is
// decided now, why, what waits, policies, settings, figures and the machine.
//
// It presents documents that its [Sources] give it, and knows no files. It judges
// nothing and loosens nothing: whoever wants to approve a call is shown the command to
// type. It trusts no browser: an address alone shows an empty shell, and data is for
// who has the key, which is sent as a header and never kept in a cookie. Start with
// [New], have [Page.ServeHTTP] answer below /ui, and give people [Page.Invite].
//
// docs/page.md says what it shows and what it never does.
package page

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"html/template"
	"net/http"
	"strings"
	"time"

	"gate/internal/page/look"
	"gate/internal/strictjson"
)

// A Document is a JSON tree, as the command of the same name prints it. The page shows
// it, and hands it out as it is where an address ends in .json.
type Document = look.Document

// ErrNotFound is wrapped by the errors of Sources that know nothing of a name.
var ErrNotFound = errors.New("there is no such thing")

// A Filter narrows the list of calls. An empty field takes all of them.
type Filter struct {
	Agent   string
	Outcome string // a word of [Options].Outcomes
	Policy  string // a policy or a group
	Project string // its root, or a directory above it
	Text    string // in the call or in a reason, in any case of letters
	After   string // an RFC 3339 time; the feed begins behind it, and the list does not look at it
}

// A Question is a call that nobody makes.
type Question struct {
	Tool  string
	Input string // a shell line, a path, an address, or the input as JSON
	Dir   string // where it would be made; "": where the server was started
}

// Sources are what the page shows. All must be given. Each is called by many goroutines
// at once, keeps to its context, and hands out no secret that the decision log would not
// show.
type Sources struct {
	// Now are the newest calls ("calls", the newest first), what waits for a person
	// ("waiting"), and what can be filtered for ("agents", "policies", "projects").
	Now func(context.Context, Filter) (Document, error)
	// Feed hands over each further call of a filter, as Now has it, until the context
	// ends or yield fails.
	Feed func(ctx context.Context, f Filter, yield func(Document) error) error
	// Decision is a decision of the log: explained, as recorded, and what changed since.
	Decision func(ctx context.Context, id string) (Document, error)
	// WhatIf judges a call without making it, and writes nothing down.
	WhatIf func(context.Context, Question) (Document, error)
	// Session is the story of a session; "" is the last one.
	Session func(ctx context.Context, id string) (Document, error)
	// Policies, Policy and Settings are those of a project; "" is the directory that
	// the server was started in.
	Policies func(ctx context.Context, project string) (Document, error)
	Policy   func(ctx context.Context, project, id string) (Document, error)
	Settings func(ctx context.Context, project string) (Document, error)
	// Coverage is which lines of a policy of a project its tests evaluate. It runs them,
	// and bounds the time for that.
	Coverage func(ctx context.Context, project, id string) (Document, error)
	// Figures are the calls of the last days, by day and by policy.
	Figures func(ctx context.Context, days int) (Document, error)
	// Machine is what guards this machine, and what is wrong with that.
	Machine func(context.Context) (Document, error)
}

// Options are what a Page is made of.
type Options struct {
	Sources Sources

	// Address is where browsers reach the page, such as "http://127.0.0.1:4283".
	Address string

	// Done ends the feeds when it is closed; nil: nothing does.
	Done <-chan struct{}

	// Tools and Outcomes are the words that can be chosen.
	Tools, Outcomes []string

	// Clock is the time; nil: the system's.
	Clock func() time.Time
}

// Limits of what is answered at once, and for how long.
const (
	maxBusy   = 8  // views under way
	maxFeeds  = 16 // feeds under way
	viewLimit = 30 * time.Second
	beatEvery = 10 * time.Second // an empty line of a feed, which shows that it is alive
	slowest   = 30 * time.Second // for a browser to take a part of a feed
	maxForm   = 256 << 10        // bytes of a posted form
)

//go:embed assets
var assets embed.FS

// A Page answers browsers. Make it with [New].
type Page struct {
	o     Options
	keys  *keyring
	tmpl  *template.Template
	files map[string]look.File
	shell []byte
	busy  chan struct{}
	feeds chan struct{}
}

// New returns a Page that nobody is invited to yet. An error is a mistake in what is
// built in.
func New(o Options) (*Page, error) {
	if o.Clock == nil {
		o.Clock = time.Now
	}
	p := &Page{o: o, keys: newKeyring(o.Clock), busy: make(chan struct{}, maxBusy), feeds: make(chan struct{}, maxFeeds)}
	tmpl, err := look.Templates(o.Clock, functions())
	if err != nil {
		return nil, err
	}
	if p.tmpl, err = tmpl.ParseFS(assets, "assets/*.html"); err != nil {
		return nil, err
	}
	if p.files, err = look.Files(assets, "page.js"); err != nil {
		return nil, err
	}
	var shell bytes.Buffer
	if err := p.tmpl.ExecuteTemplate(&shell, "layout", nil); err != nil {
		return nil, err
	}
	p.shell = shell.Bytes()
	return p, nil
}

// Invite returns an address that opens the page once, within [inviteLife]. It is a
// secret of the person who asked for it.
func (p *Page) Invite() string { return p.o.Address + "/ui/now#key=" + p.keys.invite() }

// ServeHTTP answers one request below /ui. It must come over a TCP listener on a
// loopback address.
func (p *Page) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	look.Guard(w.Header())
	if no := admit(r); no.status != 0 {
		p.refuse(w, r, no)
		return
	}
	path := r.URL.EscapedPath()
	if f, known := p.files[path]; known || path == "/ui" || path == "/ui/" || isShell(path) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			p.refuse(w, r, wrongMethod)
			return
		}
		if !known {
			f = look.File{Kind: "text/html; charset=utf-8", Data: p.shell}
		}
		w.Header().Set("Content-Type", f.Kind)
		w.Write(f.Data)
		return
	}
	if path == "/ui/key" {
		p.exchange(w, r)
		return
	}
	key := r.Header.Get(KeyHeader)
	if !p.keys.opens(key) {
		p.refuse(w, r, noKey)
		return
	}
	switch path {
	case "/ui/close":
		if r.Method != http.MethodPost {
			p.refuse(w, r, wrongMethod)
			return
		}
		p.keys.close(key)
		w.WriteHeader(http.StatusNoContent)
	case "/ui/feed":
		p.feed(w, r, key)
	default:
		p.view(w, r, path)
	}
}

// exchange gives who was invited a key, once.
func (p *Page) exchange(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		p.refuse(w, r, wrongMethod)
		return
	}
	const most = 256
	form, no := readForm(w, r, most)
	if no.status != 0 {
		p.refuse(w, r, no)
		return
	}
	key, ok := p.keys.exchange(form.Get("invitation"))
	if !ok {
		p.refuse(w, r, usedUp)
		return
	}
	look.WriteJSON(w, http.StatusOK, Document{"key": key})
}

// refuse says why a request is not answered: as JSON, or as a part of the page.
func (p *Page) refuse(w http.ResponseWriter, r *http.Request, no refusal) {
	w.Header().Set("Connection", "close")
	if strings.HasSuffix(r.URL.Path, ".html") {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.WriteHeader(no.status)
		p.tmpl.ExecuteTemplate(w, "refusal", Document{"why": strictjson.Visible(no.why), "status": no.status})
		return
	}
	look.WriteJSON(w, no.status, Document{"code": no.word, "message": no.why})
}
