// Package board is what a person sees in a browser of a collector: what of a fleet needs
// attention, its machines, what policies ask about and deny, what a release on trial
// would stop, figures, and who looked at what.
//
// It reads a [store.Store] and changes nothing in it but the log of looks, and nothing
// on any machine. It knows neither tokens nor proxies: who asks is for [Options.Who] to
// say. An address alone shows an empty page; data is for who has a role, and texts of
// calls for reviewers. Start with [New], and have [Board.ServeHTTP] answer below /ui.
//
// docs/board.md says what it shows.
package board

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"gate/internal/collect"
	"gate/internal/collect/store"
	"gate/internal/page/look"
	"gate/internal/strictjson"
)

// Options are what a Board is made of.
type Options struct {
	Store *store.Store

	// Who says who asks, as [collect.Server.Who] does.
	Who func(*http.Request) (p collect.Person, status int, why string)

	// Hosts are the names by which browsers may reach the page, with the port where it is
	// no usual one; none: any.
	Hosts []string

	// Clock is the time; nil: the system's.
	Clock func() time.Time
}

// Limits of what is answered at once, and for how long.
const (
	maxBusy   = 16
	viewLimit = 30 * time.Second
)

//go:embed assets
var assets embed.FS

// A Board answers browsers. Make it with [New].
type Board struct {
	o     Options
	tmpl  *template.Template
	files map[string]look.File
	shell []byte
	busy  chan struct{}
}

// New returns a Board. An error is a mistake in what is built in.
func New(o Options) (*Board, error) {
	if o.Clock == nil {
		o.Clock = time.Now
	}
	b := &Board{o: o, busy: make(chan struct{}, maxBusy)}
	tmpl, err := look.Templates(o.Clock, functions())
	if err != nil {
		return nil, err
	}
	if b.tmpl, err = tmpl.ParseFS(assets, "assets/*.html"); err != nil {
		return nil, err
	}
	if b.files, err = look.Files(assets, "board.js"); err != nil {
		return nil, err
	}
	var shell bytes.Buffer
	if err := b.tmpl.ExecuteTemplate(&shell, "layout", nil); err != nil {
		return nil, err
	}
	b.shell = shell.Bytes()
	return b, nil
}

// A refusal is why a request is not answered. The zero refusal is none.
type refusal struct {
	status int
	word   string
	why    string
}

// ServeHTTP answers one request below /ui.
func (b *Board) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	look.Guard(w.Header())
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		b.refuse(w, r, refusal{http.StatusMethodNotAllowed, "method", "the page only shows: it takes GET"})
		return
	}
	if len(b.o.Hosts) > 0 && !slices.Contains(b.o.Hosts, r.Host) {
		b.refuse(w, r, refusal{http.StatusMisdirectedRequest, "host", "the request is for another host than this page's"})
		return
	}
	scheme, _, _ := strings.Cut(r.Header.Get("Origin"), "://") // a proxy may end TLS
	if scheme != "http" {
		scheme = "https"
	}
	if look.Foreign(r, scheme+"://"+r.Host) {
		b.refuse(w, r, refusal{http.StatusForbidden, "origin", "requests of other pages are not answered"})
		return
	}
	path := r.URL.EscapedPath()
	place, known := look.Locate(path, views())
	f, file := b.files[path]
	switch {
	case file:
	case path == "/ui" || path == "/ui/" || known && place.Form == "":
		f = look.File{Kind: "text/html; charset=utf-8", Data: b.shell}
	default:
		b.view(w, r, place, known)
		return
	}
	w.Header().Set("Content-Type", f.Kind)
	w.Write(f.Data)
}

// view answers with a view as HTML or as JSON, to who may see it, and notes the look
// before anything is told.
func (b *Board) view(w http.ResponseWriter, r *http.Request, place look.Place, known bool) {
	person, status, why := b.o.Who(r)
	switch {
	case status != 0:
		b.refuse(w, r, refusal{status, "person", why})
		return
	case person.Role < collect.Reader:
		b.refuse(w, r, refusal{http.StatusForbidden, "role", "you have no role here: an administrator of the collector gives you one"})
		return
	case !known:
		b.refuse(w, r, refusal{http.StatusNotFound, "not_found", "there is nothing at this address"})
		return
	}
	s := sights()[place.View]
	seen := store.Look{Who: person.Name, Role: person.Role.String(), What: r.Method + " " + r.URL.Path, Detail: r.URL.RawQuery}
	if person.Role < s.least {
		seen.What = "refused: " + seen.What
	}
	if err := b.o.Store.AddLook(r.Context(), seen); err != nil {
		b.refuse(w, r, refusal{http.StatusServiceUnavailable, "looks", "a look that cannot be noted is not had: " + err.Error()})
		return
	}
	if person.Role < s.least {
		b.refuse(w, r, refusal{http.StatusForbidden, "role", fmt.Sprintf("this view is for the role %s, and yours is %s", s.least, person.Role)})
		return
	}
	select {
	case b.busy <- struct{}{}:
		defer func() { <-b.busy }()
	default:
		w.Header().Set("Retry-After", "2")
		b.refuse(w, r, refusal{http.StatusServiceUnavailable, "busy", "too much of the page is asked for at once"})
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), viewLimit)
	defer cancel()
	doc, err := s.load(&ask{b, ctx, person, place.Name, r.URL.Query()})
	if err != nil {
		b.refuse(w, r, refusalOf(err))
		return
	}
	if place.Form == look.AsJSON {
		look.WriteJSON(w, http.StatusOK, doc)
		return
	}
	name := place.View
	if place.Name != "" {
		name += "-one"
	}
	var out bytes.Buffer
	if err := b.tmpl.ExecuteTemplate(&out, name, sheet{look.Visible(doc).(look.Document), look.VisibleQuery(r.URL.Query()), person}); err != nil {
		b.refuse(w, r, refusal{http.StatusInternalServerError, "failed", "the view cannot be shown: " + err.Error()})
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Write(out.Bytes())
}

// A sheet is what a template is filled in with.
type sheet struct {
	Doc    look.Document
	Query  url.Values
	Person collect.Person
}

// A formError is a mistake in what was asked for, in words for who asked.
type formError string

func (e formError) Error() string { return string(e) }

func refusalOf(err error) refusal {
	var wrong formError
	switch {
	case errors.As(err, &wrong):
		return refusal{http.StatusBadRequest, "form", err.Error()}
	case errors.Is(err, store.ErrNotFound):
		return refusal{http.StatusNotFound, "not_found", err.Error()}
	}
	return refusal{http.StatusInternalServerError, "failed", err.Error()}
}

// refuse says why a request is not answered: as JSON, or as a part of the page.
func (b *Board) refuse(w http.ResponseWriter, r *http.Request, no refusal) {
	if strings.HasSuffix(r.URL.Path, look.AsHTML) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.WriteHeader(no.status)
		b.tmpl.ExecuteTemplate(w, "refusal", look.Document{"why": strictjson.Visible(no.why), "status": no.status})
		return
	}
	look.WriteJSON(w, no.status, look.Document{"code": no.word, "message": no.why})
}
