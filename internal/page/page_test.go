package page

import (
	"bufio"
	"context"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"gate/internal/page/look"
)

// A visitor is a page with a server, and a key to it.
type visitor struct {
	t    *testing.T
	page *Page
	addr string // 127.0.0.1:PORT
	key  string
}

// visit starts a page with sources that answer with what a file of hostile texts says.
func visit(t *testing.T, change ...func(*Options)) *visitor {
	t.Helper()
	o := Options{Sources: sources(hostile(t)), Tools: []string{"Bash", "Write"}, Outcomes: []string{"passed", "denied"}}
	for _, c := range change {
		c(&o)
	}
	server := httptest.NewUnstartedServer(nil)
	o.Address = "http://" + server.Listener.Addr().String()
	p, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	server.Config.Handler = p
	server.Start()
	t.Cleanup(server.Close)
	v := &visitor{t: t, page: p, addr: server.Listener.Addr().String()}
	_, invitation, _ := strings.Cut(p.Invite(), "#key=")
	status, body, _ := v.ask("POST", "/ui/key", url.Values{"invitation": {invitation}}.Encode(), "Origin: http://"+v.addr)
	var doc struct{ Key string }
	if err := json.Unmarshal([]byte(body), &doc); status != 200 || err != nil || doc.Key == "" {
		t.Fatalf("no key: %d %s", status, body)
	}
	v.key = doc.Key
	return v
}

// ask sends a request; headers are lines. Host stands for the host of the request.
func (v *visitor) ask(method, path, body string, headers ...string) (status int, text string, h http.Header) {
	v.t.Helper()
	req, err := http.NewRequest(method, "http://"+v.addr+path, strings.NewReader(body))
	if err != nil {
		v.t.Fatal(err)
	}
	if method == http.MethodPost {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for _, line := range headers {
		name, value, _ := strings.Cut(line, ": ")
		if name == "Host" {
			req.Host = value
			continue
		}
		if name == "Content-Type" {
			req.Header.Del(name)
		}
		req.Header.Add(name, value)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		v.t.Fatal(err)
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		v.t.Fatal(err)
	}
	return res.StatusCode, string(data), res.Header
}

func (v *visitor) withKey() string { return KeyHeader + ": " + v.key }

// hostile are texts that are more than text to a browser.
func hostile(t *testing.T) string {
	data, err := os.ReadFile("testdata/hostile.txt")
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// sources answer with documents in which every text is the given one.
func sources(bad string) Sources {
	step := func(id string, second int) Document {
		return Document{"id": id, "time": fmt.Sprintf("2026-11-28T07:00:%02dZ", second), "event": "PreToolUse", "tool": bad, "outcome": "denied", "effect": "deny", "text": bad,
			"reasons": []any{Document{"id": bad, "reason": bad}}, "does": Document{"secrets": []any{Document{"what": bad, "path": bad}}, "writes": []any{bad}}}
	}
	rule := Document{"rule": "deny", "package": bad, "pos": bad, "true": true, "not_looked_at": 0, "conditions": []any{
		Document{"text": bad, "true": true, "values": []any{Document{"text": bad, "path": bad, "value": Document{bad: bad}, "defined": true}}, "helpers": []any{}}}}
	judged := Document{"effect": "deny", "id": "abc123", "text": bad, "causes": []any{Document{"id": bad, "effect": "deny", "reason": bad, "help": bad, "suggestion": bad, "source": bad, "authority": "user", "pos": bad, "rule": rule,
		"texts": []any{Document{"where": bad, "text": bad + "é", "marks": []any{Document{"span": []any{0, 5}, "label": bad}}}}}},
		"changes":          []any{Document{"hook": bad, "reason": bad, "before": Document{"command": bad}, "after": Document{"command": bad, "x": bad}}},
		"confined":         Document{"profile": bad, "refused": []any{bad}, "may": Document{"write": []any{bad}}},
		"smallest_changes": Document{"changes": []any{Document{"effect": "ask", "input": Document{"command": bad}, "edits": []any{Document{"before": bad, "after": bad}}}}},
		"facts":            Document{"effects": []any{Document{"kind": "secret.read", "what": bad, bad: []any{Document{"x": bad}}}}}, "notices": []any{bad},
		"policies": []any{Document{"id": bad, "why_not": nil, "steps": []any{Document{"effect": "deny", "took_us": 12}}, "rules": []any{rule}}},
	}
	tally := Document{"name": bad, "calls": 3, "asked": 1, "approved": 1, "denied": 1, "p50_us": 100, "p90_us": 200, "p99_us": 300}
	call := func(id string) Document {
		return Document{"id": id, "time": "2026-11-28T07:00:00Z", "begun": "2026-11-28T07:00:00Z", "outcome": "denied", "agent": bad, "session": bad, "tool": bad, "event": "PreToolUse", "call": bad, "policies": []any{bad}, "objections": []any{Document{"id": bad, "note": bad}}, "project": bad, "review": bad}
	}
	one := func(doc Document) (Document, error) { return doc, nil }
	return Sources{
		Now: func(_ context.Context, f Filter) (Document, error) {
			return one(Document{"calls": []any{call("abc123")}, "waiting": []any{Document{"id": "abc123", "agent": bad, "tool": bad, "dir": bad, "text": bad, "asked": "2026-11-28T07:00:00Z", "reasons": []any{Document{"id": bad, "reason": bad}}}},
				"agents": []any{bad}, "policies": []any{bad}, "projects": []any{bad}, "newest": "2026-11-28T07:00:00Z", "filter": f.Text, "notes": []any{bad}})
		},
		Feed: func(ctx context.Context, f Filter, yield func(Document) error) error {
			for i := range 3 {
				if err := yield(call(fmt.Sprint("id", i))); err != nil {
					return err
				}
			}
			<-ctx.Done()
			return nil
		},
		Decision: func(_ context.Context, id string) (Document, error) {
			if id != "abc123" {
				return nil, fmt.Errorf("decision %s: %w", id, ErrNotFound)
			}
			doc := Document{"review": Document{"says": bad, "by": bad, "at": "2026-11-28T07:00:00Z", "note": bad}, "record": Document{"id": id, "effect": "deny", "time": "2026-11-28T07:00:00Z", "agent": bad, "session": bad, "event": "PreToolUse", "tool": bad, "dir": bad, "project": "/p", "took_us": 1200},
				"recorded": Document{"input": Document{bad: bad}}, "question": Document{"tool": "Bash", "input": bad, "dir": bad},
				"since": Document{"whole": false, "policies": []any{Document{"id": bad, "what": bad}}, "facts_now": []any{bad}},
				"chain": Document{"links": []any{Document{"from": step("def456", 1), "origin": "secret", "what": bad, "path": bad}}}}
			for k, v := range judged {
				doc[k] = v
			}
			return doc, nil
		},
		WhatIf: func(_ context.Context, q Question) (Document, error) {
			doc := Document{"asked": q.Tool + " " + q.Input + " " + q.Dir}
			for k, v := range judged {
				doc[k] = v
			}
			return doc, nil
		},
		Session: func(_ context.Context, id string) (Document, error) {
			return one(Document{"session": id, "agent": bad, "project": bad, "steps": []any{step("a", 1), step("b", 2)}, "whole": true, "holds": Document{bad: bad},
				"links": []any{Document{"from": step("a", 1), "to": step("b", 2), "origin": "secret", "what": bad, "path": bad, "how": "file"}}})
		},
		Policies: func(_ context.Context, project string) (Document, error) {
			return one(Document{"policies": []any{Document{"id": bad, "title": bad, "source": bad, "authority": "managed", "level": bad, "level_pos": bad, "spoke": tally, "tested": true, "reviewed": Document{"false_alarms": 1, "missed": 1}}}, "projects": []any{bad}, "days": 30, "notices": []any{bad},
				"sources": []any{Document{"faults": []any{Document{"error": bad}}}}})
		},
		Policy: func(_ context.Context, project, id string) (Document, error) {
			return one(Document{"id": id, "title": bad, "description": bad, "source": bad, "authority": "user", "text": bad, "tests": bad, "days": 30, "level_text": bad, "reviewed": Document{"false_alarms": 1, "missed": 1}, "events": []any{"PreToolUse"},
				"parameters": []any{Document{"name": bad, "type": bad, "value": bad, "default": bad, "description": bad, "set": []any{Document{"pos": bad}}}},
				"examples":   []any{Document{"effect": "deny", "line": bad}}, "exceptions": []any{Document{"until": bad, "if": bad, "pos": bad}}})
		},
		Coverage: func(_ context.Context, project, id string) (Document, error) {
			return one(Document{"id": id, "tested": true, "short": "50.0 %", "why": bad, "passed": 1, "failed": 1, "covered": 1, "missed": 1, "all": 2, "took_us": 1200,
				"not_passed": []any{Document{"name": bad, "file": bad, "line": 3, "message": bad}}, "lines": []any{Document{"line": 3, "text": bad}}})
		},
		Settings: func(_ context.Context, project string) (Document, error) {
			return one(Document{"settings": []any{Document{"key": bad, "value": bad, "authority": "user", "pos": bad, "counts": false, "why": bad}}, "faults": []any{Document{"error": bad}}, "beside": []any{bad}, "notices": []any{bad},
				"bundles": []any{Document{"name": bad, "version": 3, "digest": bad}}})
		},
		Figures: func(_ context.Context, days int) (Document, error) {
			return one(Document{"days": days, "all": tally, "per_day": []any{tally}, "per_policy": []any{tally}})
		},
		Machine: func(context.Context) (Document, error) {
			finding := Document{"severity": "warning", "message": bad, "remedy": bad, "file": bad}
			return one(Document{"agents": []any{Document{"agent": bad, "guarded": false, "guards": []any{Document{"installed": true, "scope": bad, "file": bad}}, "findings": []any{finding}}}, "findings": []any{finding},
				"inventory": Document{"gate": Document{"version": bad}, "log": Document{"path": bad}, "bundles": []any{Document{"name": bad}}}})
		},
	}
}

// addresses are the views.
var addresses = []string{"/ui/now", "/ui/decision/abc123", "/ui/session", "/ui/session/s-1", "/ui/policies", "/ui/policies/acme.deploy", "/ui/coverage/acme.deploy", "/ui/settings", "/ui/figures", "/ui/machine", "/ui/try"}

// TestViews has every view be a shell without data, and with the key a part of a page
// and the same as JSON.
func TestViews(t *testing.T) {
	v := visit(t)
	shells := map[string]bool{}
	for _, path := range addresses {
		status, shell, h := v.ask("GET", path, "")
		if status != 200 || !strings.Contains(shell, `<main id="main"`) || h.Get("Content-Security-Policy") != look.Policy {
			t.Errorf("%s: %d %v", path, status, h)
		}
		shells[shell] = true
		status, part, h := v.ask("GET", path+".html", "", v.withKey())
		if status != 200 || !strings.Contains(part, "<h1>") || !strings.HasPrefix(h.Get("Content-Type"), "text/html") {
			t.Errorf("%s: %d %s", path, status, part)
		}
		status, data, h := v.ask("GET", path+".json", "", v.withKey())
		if status != 200 || !json.Valid([]byte(data)) || h.Get("Content-Type") != "application/json" {
			t.Errorf("%s: %d %s", path, status, data)
		}
	}
	if len(shells) != 1 {
		t.Errorf("there are %d shells", len(shells))
	}
}

// TestWithoutKey has each address refuse who has no key, or another one.
func TestWithoutKey(t *testing.T) {
	v := visit(t)
	bad := strings.Fields(hostile(t))[0]
	paths := []string{"/ui/feed", "/ui/nothing.html", "/ui/decision/other.json"}
	for _, path := range addresses {
		paths = append(paths, path+".html", path+".json")
	}
	for _, path := range paths {
		for name, headers := range map[string][]string{
			"none": nil, "empty": {KeyHeader + ": "}, "another": {KeyHeader + ": " + v.key + "x"}, "as a cookie": {"Cookie: gate-page-key=" + v.key}, "as a bearer": {"Authorization: Bearer " + v.key},
		} {
			if status, body, _ := v.ask("GET", path, "", headers...); status != 401 || strings.Contains(body, bad) {
				t.Errorf("%s, %s: %d %s", path, name, status, body)
			}
		}
		if status, _, _ := v.ask("GET", path+"?key="+v.key, ""); status != 401 {
			t.Errorf("%s, in the address: %d", path, status)
		}
	}
	own := "Origin: http://" + v.addr
	if status, _, _ := v.ask("POST", "/ui/whatif.html", "input=ls", own); status != 401 {
		t.Errorf("what if: %d", status)
	}
	if status, _, _ := v.ask("POST", "/ui/close", "", own); status != 401 {
		t.Errorf("close: %d", status)
	}
	if status, _, _ := v.ask("POST", "/ui/close", "", own, v.withKey()); status != 204 {
		t.Errorf("close: %d", status)
	}
	if status, _, _ := v.ask("GET", "/ui/now.html", "", v.withKey()); status != 401 {
		t.Errorf("after the key was ended: %d", status)
	}
}

// TestStrangers has other hosts, ports, sites and frames get nothing, also with the key.
func TestStrangers(t *testing.T) {
	v := visit(t)
	_, port, _ := strings.Cut(v.addr, ":")
	for name, test := range map[string]struct {
		headers []string
		status  int
	}{
		"itself":                  {nil, 200},
		"its own origin":          {[]string{"Origin: http://" + v.addr, "Sec-Fetch-Site: same-origin"}, 200},
		"typed":                   {[]string{"Sec-Fetch-Site: none", "Sec-Fetch-Dest: document"}, 200},
		"localhost":               {[]string{"Host: localhost:" + port, "Origin: http://localhost:" + port}, 200},
		"a rebound name":          {[]string{"Host: evil.example:" + port}, 421},
		"one that begins alike":   {[]string{"Host: localhost.evil.example:" + port}, 421},
		"one that ends alike":     {[]string{"Host: evil.localhost:" + port}, 421},
		"another port":            {[]string{"Host: 127.0.0.1:1"}, 421},
		"no port":                 {[]string{"Host: 127.0.0.1"}, 421},
		"another address":         {[]string{"Host: 127.0.0.2:" + port}, 421},
		"a page elsewhere":        {[]string{"Origin: https://evil.example", "Sec-Fetch-Site: cross-site"}, 403},
		"its origin alone":        {[]string{"Origin: https://evil.example"}, 403},
		"a page on another port":  {[]string{"Origin: http://127.0.0.1:1", "Sec-Fetch-Site: same-site"}, 403},
		"no origin, another port": {[]string{"Sec-Fetch-Site: same-site"}, 403},
		"the other name":          {[]string{"Origin: http://localhost:" + port}, 403},
		"https":                   {[]string{"Origin: https://" + v.addr}, 403},
		"a sandbox":               {[]string{"Origin: null"}, 403},
		"two origins":             {[]string{"Origin: http://" + v.addr, "Origin: null"}, 403},
		"two sites":               {[]string{"Sec-Fetch-Site: none", "Sec-Fetch-Site: cross-site"}, 403},
		"a frame":                 {[]string{"Sec-Fetch-Site: same-origin", "Sec-Fetch-Dest: iframe"}, 403},
	} {
		for _, path := range []string{"/ui/now", "/ui/now.html", "/ui/now.json", "/ui/page.js", "/ui/look.js"} {
			status, body, h := v.ask("GET", path, "", append(test.headers, v.withKey())...)
			if status != test.status {
				t.Errorf("%s, %s: %d %s", name, path, status, body)
			}
			for key, want := range map[string]string{
				"Content-Security-Policy": look.Policy, "X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY", "Referrer-Policy": "no-referrer", "Cache-Control": "no-store",
				"Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin", "Access-Control-Allow-Origin": "", "Set-Cookie": "",
			} {
				if got := h.Get(key); got != want {
					t.Errorf("%s, %s: %s is %q", name, path, key, got)
				}
			}
		}
	}
	for _, headers := range [][]string{{"Origin: http://127.0.0.1:1"}, {}, {"Origin: null"}, {"Origin: http://" + v.addr, "Sec-Fetch-Site: cross-site"}} {
		for _, path := range []string{"/ui/key", "/ui/whatif.json", "/ui/close"} {
			if status, _, _ := v.ask("POST", path, "input=ls", append(headers, v.withKey())...); status != 403 {
				t.Errorf("post %s with %v: %d", path, headers, status)
			}
		}
	}
}

// TestInvitations has each be good for one key, and for two minutes.
func TestInvitations(t *testing.T) {
	now := time.Date(2026, 11, 28, 7, 0, 0, 0, time.UTC)
	v := visit(t, func(o *Options) { o.Clock = func() time.Time { return now } })
	exchange := func(invitation string) int {
		status, _, _ := v.ask("POST", "/ui/key", url.Values{"invitation": {invitation}}.Encode(), "Origin: http://"+v.addr)
		return status
	}
	invite := func() string {
		_, invitation, _ := strings.Cut(v.page.Invite(), "#key=")
		return invitation
	}
	first, second, third := invite(), invite(), invite()
	if got := exchange(first); got != 200 {
		t.Errorf("first: %d", got)
	}
	if got := exchange(first); got != 401 {
		t.Errorf("twice: %d", got)
	}
	if got := exchange(""); got != 401 {
		t.Errorf("none: %d", got)
	}
	now = now.Add(inviteLife - time.Second)
	if got := exchange(second); got != 200 {
		t.Errorf("in time: %d", got)
	}
	now = now.Add(time.Second)
	if got := exchange(third); got != 401 {
		t.Errorf("late: %d", got)
	}
	oldest := invite()
	now = now.Add(time.Second)
	for range maxInvites {
		invite()
	}
	if got := exchange(oldest); got != 401 {
		t.Errorf("one too many: %d", got)
	}
	if status, _, _ := v.ask("GET", "/ui/key?invitation="+invite(), ""); status != 405 {
		t.Errorf("by an address: %d", status)
	}
	now = now.Add(keyLife - 10*time.Minute)
	if status, _, _ := v.ask("GET", "/ui/now.json", "", v.withKey()); status != 200 {
		t.Errorf("a key: %d", status)
	}
	now = now.Add(keyLife - time.Minute)
	if status, _, _ := v.ask("GET", "/ui/now.json", "", v.withKey()); status != 200 {
		t.Errorf("a used key: %d", status)
	}
	now = now.Add(keyLife)
	if status, _, _ := v.ask("GET", "/ui/now.json", "", v.withKey()); status != 401 {
		t.Errorf("an old key: %d", status)
	}
}

// TestHostileTexts has no text of a document become a part of the page: a tag, an
// attribute, an address of a scheme.
func TestHostileTexts(t *testing.T) {
	v := visit(t)
	parts := map[string]string{}
	for _, path := range addresses {
		_, parts[path], _ = v.ask("GET", path+".html", "", v.withKey())
	}
	_, parts["what if"], _ = v.ask("POST", "/ui/whatif.html", url.Values{"input": {hostile(t)}}.Encode(), "Origin: http://"+v.addr, v.withKey())
	_, parts["query"], _ = v.ask("GET", "/ui/now.html?"+url.Values{"text": {hostile(t)}, "policy": {hostile(t)}}.Encode(), "", v.withKey())
	_, parts["name"], _ = v.ask("GET", "/ui/session/"+url.PathEscape(hostile(t))+".html", "", v.withKey())
	_, parts["not found"], _ = v.ask("GET", "/ui/decision/"+url.PathEscape(hostile(t))+".html", "", v.withKey())
	_, parts["row"], _ = v.ask("GET", "/ui/now.html", "", v.withKey())
	for name, part := range parts {
		checkMarkup(t, name, part)
		if !strings.Contains(part, "&lt;script&gt;") && name != "/ui/try" {
			t.Errorf("%s shows nothing of the text:\n%s", name, part)
		}
	}
}

// checkMarkup reads a part of the page and holds that it has nothing but what templates
// have: no element that runs or loads something, no handler, no address elsewhere, and
// no character that steers what is shown.
func checkMarkup(t *testing.T, name, part string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader("<root>" + part + "</root>"))
	d.Strict, d.AutoClose, d.Entity = false, xml.HTMLAutoClose, xml.HTMLEntity
	for {
		token, err := d.Token()
		if err == io.EOF {
			return
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			return
		}
		switch token := token.(type) {
		case xml.StartElement:
			if slices.Contains(strings.Fields("script img iframe style base object embed link meta template math"), token.Name.Local) {
				t.Errorf("%s has an element %s", name, token.Name.Local)
			}
			for _, a := range token.Attr {
				if strings.HasPrefix(a.Name.Local, "on") || slices.Contains(strings.Fields("style src srcdoc action formaction"), a.Name.Local) || a.Name.Local == "href" && !strings.HasPrefix(a.Value, "/ui/") {
					t.Errorf("%s has an attribute %s=%q", name, a.Name.Local, a.Value)
				}
			}
		case xml.CharData:
			if strings.ContainsAny(string(token), "\u202e\x1b") {
				t.Errorf("%s has %q", name, token)
			}
		}
	}
}

// TestForms has mistakes be said with a status of their own.
func TestForms(t *testing.T) {
	v := visit(t)
	own := "Origin: http://" + v.addr
	for name, test := range map[string]struct {
		method, path, body string
		headers            []string
		status             int
		want               string
	}{
		"asks":            {"POST", "/ui/whatif.json", "tool=Write&input=%2Fx&dir=%2Fd", nil, 200, `"asked":"Write /x /d"`},
		"by an address":   {"GET", "/ui/whatif.json?input=ls", "", nil, 405, "method"},
		"no line":         {"POST", "/ui/whatif.json", "input=+", nil, 400, "type a line"},
		"too large":       {"POST", "/ui/whatif.json", "input=" + strings.Repeat("x", maxForm), nil, 413, "too large"},
		"as text":         {"POST", "/ui/whatif.json", "input=ls", []string{"Content-Type: text/plain"}, 415, "form"},
		"unknown outcome": {"GET", "/ui/now.json?outcome=other", "", nil, 400, "passed, denied"},
		"days":            {"GET", "/ui/figures.json?days=0", "", nil, 400, "1 to 90"},
		"more days":       {"GET", "/ui/figures.json?days=x", "", nil, 400, "1 to 90"},
		"post a view":     {"POST", "/ui/now.json", "", nil, 405, "method"},
		"put a shell":     {"PUT", "/ui/now", "", nil, 405, "method"},
		"no decision":     {"GET", "/ui/decision/other.json", "", nil, 404, "other"},
		"no view":         {"GET", "/ui/other.json", "", nil, 404, "nothing"},
		"nothing named":   {"GET", "/ui/decision.json", "", nil, 404, "nothing"},
		"a named machine": {"GET", "/ui/machine/x.json", "", nil, 404, "nothing"},
		"a dot of a name": {"GET", "/ui/policies/acme%2Ejson.json", "", nil, 200, `"id":"acme.json"`},
		"a slash in one":  {"GET", "/ui/session/a%2Fb.json", "", nil, 200, `"session":"a/b"`},
		"no page":         {"GET", "/ui/assets/layout.html", "", nil, 404, "nothing"},
	} {
		status, body, _ := v.ask(test.method, test.path, test.body, append(test.headers, own, v.withKey())...)
		if status != test.status || !strings.Contains(body, test.want) {
			t.Errorf("%s: %d %.300s", name, status, body)
		}
	}
}

// TestFeed has each call be a line with its row, and end with the key.
func TestFeed(t *testing.T) {
	v := visit(t)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, "GET", "http://"+v.addr+"/ui/feed?outcome=denied", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set(KeyHeader, v.key)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	in, got := bufio.NewScanner(res.Body), 0
	for got < 3 && in.Scan() {
		if in.Text() == "" {
			continue
		}
		var item struct {
			Call map[string]any
			HTML string
		}
		if err := json.Unmarshal(in.Bytes(), &item); err != nil || item.Call["id"] != fmt.Sprint("id", got) || !strings.HasPrefix(item.HTML, `<tr data-id="id`) || strings.Contains(item.HTML, "<script") {
			t.Errorf("%v %s", err, in.Text())
		}
		got++
	}
	if got != 3 {
		t.Errorf("%d calls: %v", got, in.Err())
	}
}

// TestFeeds bounds them, and lets one more in when one has gone.
func TestFeeds(t *testing.T) {
	v := visit(t)
	var open []*http.Response
	get := func() *http.Response {
		req, _ := http.NewRequestWithContext(t.Context(), "GET", "http://"+v.addr+"/ui/feed", nil)
		req.Header.Set(KeyHeader, v.key)
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
	for range maxFeeds {
		open = append(open, get())
	}
	if res := get(); res.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("one more: %d", res.StatusCode)
	}
	for _, res := range open {
		res.Body.Close()
	}
	for range 100 {
		if res := get(); res.StatusCode == 200 {
			res.Body.Close()
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Error("no feed ever ends")
}

// TestStops has feeds end when the server stops.
func TestStops(t *testing.T) {
	done := make(chan struct{})
	v := visit(t, func(o *Options) { o.Done = done })
	go func() {
		time.Sleep(50 * time.Millisecond)
		close(done)
	}()
	if status, _, _ := v.ask("GET", "/ui/feed", "", v.withKey()); status != 200 {
		t.Errorf("%d", status)
	}
}
