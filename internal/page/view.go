package page

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"gate/internal/page/look"
)

// A sight is one view: what it is called, whether its address names something, and
// where its document comes from.
type sight struct {
	named int // names in its address: 0, 1, or optional -1
	load  func(p *Page, ctx context.Context, name string, q url.Values) (Document, error)
}

// sights are the views by the first part of their address.
func sights() map[string]sight {
	return map[string]sight{
		"now": {0, func(p *Page, ctx context.Context, _ string, q url.Values) (Document, error) {
			f, err := p.filterOf(q)
			if err != nil {
				return nil, err
			}
			return p.o.Sources.Now(ctx, f)
		}},
		"decision": {1, func(p *Page, ctx context.Context, id string, _ url.Values) (Document, error) {
			return p.o.Sources.Decision(ctx, id)
		}},
		"try": {0, func(p *Page, _ context.Context, _ string, q url.Values) (Document, error) {
			return Document{"tool": "Bash", "input": q.Get("input"), "dir": q.Get("dir")}, nil
		}},
		"session": {-1, func(p *Page, ctx context.Context, id string, _ url.Values) (Document, error) {
			return p.o.Sources.Session(ctx, id)
		}},
		"policies": {-1, func(p *Page, ctx context.Context, id string, q url.Values) (Document, error) {
			if id != "" {
				return p.o.Sources.Policy(ctx, q.Get("project"), id)
			}
			return p.o.Sources.Policies(ctx, q.Get("project"))
		}},
		"coverage": {1, func(p *Page, ctx context.Context, id string, q url.Values) (Document, error) {
			return p.o.Sources.Coverage(ctx, q.Get("project"), id)
		}},
		"settings": {0, func(p *Page, ctx context.Context, _ string, q url.Values) (Document, error) {
			return p.o.Sources.Settings(ctx, q.Get("project"))
		}},
		"figures": {0, func(p *Page, ctx context.Context, _ string, q url.Values) (Document, error) {
			days, err := daysOf(q.Get("days"))
			if err != nil {
				return nil, err
			}
			return p.o.Sources.Figures(ctx, days)
		}},
		"machine": {0, func(p *Page, ctx context.Context, _ string, _ url.Values) (Document, error) {
			return p.o.Sources.Machine(ctx)
		}},
	}
}

// A FormError is a mistake in what was asked for, in words for who asked.
type FormError string

func (e FormError) Error() string { return string(e) }

// Days of figures.
const (
	usualDays = 14
	mostDays  = 90
)

func daysOf(text string) (int, error) {
	if text == "" {
		return usualDays, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > mostDays {
		return 0, FormError(fmt.Sprintf("days is a number from 1 to %d", mostDays))
	}
	return n, nil
}

// filterOf reads a filter out of an address.
func (p *Page) filterOf(q url.Values) (Filter, error) {
	f := Filter{
		Agent: q.Get("agent"), Outcome: q.Get("outcome"), Policy: q.Get("policy"), Project: q.Get("project"), Text: q.Get("text"), After: q.Get("after"),
	}
	if f.Outcome != "" && !slices.Contains(p.o.Outcomes, f.Outcome) {
		return f, FormError("outcome is one of " + strings.Join(p.o.Outcomes, ", "))
	}
	return f, nil
}

// viewsOf says which addresses there are.
func viewsOf() look.Views {
	out := look.Views{}
	for view, s := range sights() {
		out[view] = s.named
	}
	return out
}

// isShell reports the address of a view itself, which shows nothing without a key.
func isShell(path string) bool {
	place, ok := look.Locate(path, viewsOf())
	return ok && place.Form == ""
}

// view answers with a view as HTML or as JSON.
func (p *Page) view(w http.ResponseWriter, r *http.Request, path string) {
	select {
	case p.busy <- struct{}{}:
		defer func() { <-p.busy }()
	default:
		p.refuse(w, r, busy)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), viewLimit)
	defer cancel()
	if path == "/ui/whatif"+look.AsHTML || path == "/ui/whatif"+look.AsJSON {
		p.whatIf(ctx, w, r)
		return
	}
	place, ok := look.Locate(path, viewsOf())
	if !ok {
		p.refuse(w, r, wrongPath)
		return
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		p.refuse(w, r, wrongMethod)
		return
	}
	view := place.View
	doc, err := sights()[view].load(p, ctx, place.Name, r.URL.Query())
	if err != nil {
		p.refuse(w, r, refusalOf(err))
		return
	}
	if view == "policies" && place.Name != "" {
		view = "policy"
	}
	p.hand(w, r, place.Form, view, doc)
}

// refusalOf is what an error of a source is to a browser.
func refusalOf(err error) refusal {
	var wrong FormError
	switch {
	case errors.As(err, &wrong):
		return wrongForm.because(err.Error())
	case errors.Is(err, ErrNotFound):
		return wrongPath.because(err.Error())
	}
	return failed.because(err.Error())
}

// hand writes a document in the form that was asked for.
func (p *Page) hand(w http.ResponseWriter, r *http.Request, form, view string, doc Document) {
	if form == look.AsJSON {
		look.WriteJSON(w, http.StatusOK, doc)
		return
	}
	var out bytes.Buffer
	if err := p.tmpl.ExecuteTemplate(&out, view, sheet{look.Visible(doc).(Document), look.VisibleQuery(r.URL.Query()), &p.o}); err != nil {
		p.refuse(w, r, failed.because("the view cannot be shown: "+err.Error()))
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Write(out.Bytes())
}

// A sheet is what a template is filled in with.
type sheet struct {
	Doc   Document
	Query url.Values
	O     *Options
}

// whatIf judges a line that somebody typed.
func (p *Page) whatIf(ctx context.Context, w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		p.refuse(w, r, wrongMethod)
		return
	}
	form, no := readForm(w, r, maxForm)
	if no.status != 0 {
		p.refuse(w, r, no)
		return
	}
	q := Question{Tool: form.Get("tool"), Input: form.Get("input"), Dir: form.Get("dir")}
	if q.Tool == "" {
		q.Tool = "Bash"
	}
	if strings.TrimSpace(q.Input) == "" {
		p.refuse(w, r, wrongForm.because("type a line first"))
		return
	}
	doc, err := p.o.Sources.WhatIf(ctx, q)
	if err != nil {
		p.refuse(w, r, refusalOf(err))
		return
	}
	kind := look.AsHTML
	if strings.HasSuffix(r.URL.Path, look.AsJSON) {
		kind = look.AsJSON
	}
	p.hand(w, r, kind, "answer", doc)
}
