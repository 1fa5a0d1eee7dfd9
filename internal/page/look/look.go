// Package look is what gate's pages have in common: one stylesheet, one script, small
// templates, plots, the form of an address, and how a document becomes text that steers
// nothing. It knows no view and nobody who may look; a page is a room above it.
//
// A page parses its own templates into those of [Templates], hands out [Files], sets
// [Guard] on every answer, and finds views by [Locate]. Documents pass [Visible] before
// they reach a template.
package look

import (
	"embed"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"path"
	"slices"
	"strings"
	"time"

	"gate/internal/strictjson"
)

//go:embed assets
var assets embed.FS

// Policy is the content security policy: nothing from anywhere but the server itself,
// and nothing that stands within a document.
const Policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// Guard sets the headers of every answer.
func Guard(h http.Header) {
	h.Set("Content-Security-Policy", Policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY") // for browsers without frame-ancestors
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cross-Origin-Embedder-Policy", "require-corp")
	h.Set("Cache-Control", "no-store")
}

// Foreign reports that a request comes from a page of another site or port, or from a
// frame. The origin is the page's own, such as "http://127.0.0.1:4283".
func Foreign(r *http.Request, origin string) bool {
	origins := r.Header.Values("Origin")
	if len(origins) > 1 || len(origins) == 1 && origins[0] != origin {
		return true
	}
	if r.Method == http.MethodPost && len(origins) == 0 {
		return true // browsers always say it, and nobody else posts here
	}
	sites := r.Header.Values("Sec-Fetch-Site")
	if len(sites) > 1 || len(sites) == 1 && !slices.Contains([]string{"none", "same-origin"}, sites[0]) {
		return true
	}
	// A frame, an image or a script of a page whose site says nothing of itself.
	return slices.Contains([]string{"iframe", "frame", "object", "embed", "fencedframe"}, r.Header.Get("Sec-Fetch-Dest"))
}

// A File is one that everybody may have.
type File struct {
	Kind string // its Content-Type
	Data []byte
}

// Files are those of all pages, and those of the given names among a page's own assets,
// by their address.
func Files(own fs.FS, names ...string) (map[string]File, error) {
	kinds := map[string]string{"css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8", "svg": "image/svg+xml"}
	out := map[string]File{}
	add := func(from fs.FS, name string) error {
		data, err := fs.ReadFile(from, "assets/"+name)
		if err != nil {
			return err
		}
		ending := strings.TrimPrefix(path.Ext(name), ".")
		out["/ui/"+name] = File{kinds[ending], data}
		return nil
	}
	for _, name := range []string{"style.css", "look.js", "icon.svg"} {
		if err := add(assets, name); err != nil {
			return nil, err
		}
	}
	for _, name := range names {
		if err := add(own, name); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Templates are those that all pages use: outcome, time, tree and plot. What they call,
// and what is given, a page's own templates can call, too.
func Templates(clock func() time.Time, own template.FuncMap) (*template.Template, error) {
	return template.New("").Funcs(template.FuncMap{
		"address": Address, "outcomeClass": OutcomeClass, "outcomeSign": OutcomeSign, "severityClass": severityClass, "severitySign": severitySign,
		"shortTime": func(v any) string { return shortTime(v, clock()) }, "ms": millis, "seconds": seconds, "short": Short, "plain": plain, "join": Join, "nodes": nodes,
	}).Funcs(own).ParseFS(assets, "assets/*.html")
}

// WriteJSON answers with a document, which must be a JSON tree.
func WriteJSON(w http.ResponseWriter, status int, doc Document) {
	data, err := Marshal(doc)
	if err != nil {
		status, data = http.StatusInternalServerError, []byte(`{"code":"internal_error","message":"this cannot be shown as JSON"}`)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	w.Write(append(data, '\n'))
}

// Marshal writes a document, which must be a JSON tree.
func Marshal(doc Document) ([]byte, error) {
	if err := strictjson.Check(doc); err != nil {
		return nil, fmt.Errorf("no JSON: %w", err)
	}
	return strictjson.Append(nil, doc), nil
}
