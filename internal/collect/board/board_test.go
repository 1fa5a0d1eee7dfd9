package board

import (
	"encoding/json"
	"encoding/xml"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"gate/internal/collect"
	"gate/internal/collect/sample"
	"gate/internal/collect/store"
	"gate/internal/page/look"
)

// until is when the fleet of the tests ends.
var until = time.Date(2026, 11, 28, 15, 0, 0, 0, time.UTC)

// hostile is a text that is more than text to a browser.
func hostile(t testing.TB) string {
	data, err := os.ReadFile("../../page/testdata/hostile.txt")
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// A visitor is a board with a server, over a small fleet that has hostile names in it.
type visitor struct {
	t     *testing.T
	addr  string
	store *store.Store
}

func visit(t *testing.T, change ...func(*Options)) *visitor {
	t.Helper()
	dir := t.TempDir()
	if err := sample.Fill(t.Context(), dir, sample.Fleet{Machines: 450, Days: 4, Calls: 80_000, Teams: 4, Tools: 5, Until: until, Odd: hostile(t)}); err != nil {
		t.Fatal(err)
	}
	now := func() time.Time { return until }
	s, err := store.Open(t.Context(), store.Options{Database: dir, Now: now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	o := Options{Store: s, Clock: now, Who: func(r *http.Request) (collect.Person, int, string) {
		role, known := map[string]collect.Role{"Bearer reader": collect.Reader, "Bearer reviewer": collect.Reviewer, "Bearer administrator": collect.Administrator, "Bearer nobody": 0}[r.Header.Get("Authorization")]
		if !known {
			return collect.Person{}, 401, "a token is wanted"
		}
		return collect.Person{Name: "alex", Role: role}, 0, ""
	}}
	for _, c := range change {
		c(&o)
	}
	b, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(b)
	t.Cleanup(server.Close)
	return &visitor{t, server.Listener.Addr().String(), s}
}

// ask sends a request; headers are lines. Host stands for the host of the request.
func (v *visitor) ask(method, path string, headers ...string) (status int, text string, h http.Header) {
	v.t.Helper()
	req, err := http.NewRequest(method, "http://"+v.addr+path, nil)
	if err != nil {
		v.t.Fatal(err)
	}
	for _, line := range headers {
		name, value, some := strings.Cut(line, ": ")
		if !some {
			continue
		}
		if name == "Host" {
			req.Host = value
			continue
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

func as(r collect.Role) string { return "Authorization: Bearer " + r.String() }

// addresses are the views of the fleet, with a policy and a machine that it has.
func addresses(t testing.TB, s *store.Store) []string {
	list, err := s.Machines(t.Context(), store.MachineQuery{Limit: 1, Finding: store.Gap})
	if err != nil || len(list) == 0 {
		t.Fatal("no machine: ", err)
	}
	odd := url.PathEscape(hostile(t))
	return []string{
		"/ui/overview", "/ui/findings", "/ui/findings?kind=weaker&closed=yes", "/ui/machines", "/ui/machines?finding=weaker", "/ui/machines?release=trial%3Acompany%4043&team=platform&text=LAPTOP",
		"/ui/machines/" + url.PathEscape(list[0].Machine), "/ui/machines/" + odd, "/ui/policies", "/ui/policies?team=payments&days=2", "/ui/policies/gate.git.push", "/ui/policies/" + odd,
		"/ui/asked", "/ui/asked?policy=gate.git.push", "/ui/trial", "/ui/figures", "/ui/figures?team=platform&days=30", "/ui/looks",
	}
}

// form is an address with the form of a view before its query.
func form(address, form string) string {
	path, query, _ := strings.Cut(address, "?")
	if query != "" {
		query = "?" + query
	}
	return path + form + query
}

// TestViews has every view be a shell without data, and for who has the role a part of a
// page and the same as JSON.
func TestViews(t *testing.T) {
	v := visit(t)
	shells := map[string]bool{}
	for _, path := range addresses(t, v.store) {
		status, shell, h := v.ask("GET", path)
		if status != 200 || !strings.Contains(shell, `<main id="main"`) || h.Get("Content-Security-Policy") != look.Policy {
			t.Errorf("%s: %d %v", path, status, h)
		}
		shells[shell] = true
		status, part, h := v.ask("GET", form(path, ".html"), as(collect.Administrator))
		if status != 200 || !strings.Contains(part, "<h1>") || !strings.HasPrefix(h.Get("Content-Type"), "text/html") {
			t.Errorf("%s: %d %s", path, status, part)
		}
		status, data, h := v.ask("GET", form(path, ".json"), as(collect.Administrator))
		if status != 200 || !json.Valid([]byte(data)) || h.Get("Content-Type") != "application/json" {
			t.Errorf("%s: %d %s", path, status, data)
		}
	}
	if len(shells) != 1 {
		t.Errorf("there are %d shells", len(shells))
	}
}

// TestContents has views say what the fleet is.
func TestContents(t *testing.T) {
	v := visit(t)
	for path, wants := range map[string][]string{
		"/ui/overview":                      {"machines are enrolled", "heard of in the last 24 hours", "Settings weaker than a bundle wants", "company 42", "trial", "company on trial"},
		"/ui/findings?kind=not_enrolled":    {"new-00.example.com", "Expected, and never enrolled"},
		"/ui/machines":                      {"laptop-", "Next page", "company 41"},
		"/ui/machines?finding=weaker":       {"laptop-0011.example.com"},
		"/ui/machines?text=laptop-0011":     {"laptop-0011.example.com"},
		"/ui/machines?release=company%4039": {"company 39"},
		"/ui/policies":                      {"gate.git.push", "acme.deploy.window", "By team", "2026-11-28"},
		"/ui/policies/gate.git.push":        {"By tool", "Bash"},
		"/ui/asked":                         {"Always approved", "acme.review.files", "gate learn --to proposals", "net.fetch"},
		"/ui/trial":                         {"would have held back", "gate bundle channel", "To retreat"},
		"/ui/figures":                       {"What a decision took", "Faults of all teams", "Machines with most faults"},
		"/ui/looks":                         {"GET /ui/looks.html", "administrator", "alex"},
	} {
		status, part, _ := v.ask("GET", form(path, ".html"), as(collect.Administrator))
		for _, want := range wants {
			if status != 200 || !strings.Contains(part, want) {
				t.Errorf("%s, %d: lacks %q:\n%.3000s", path, status, want, part)
			}
		}
	}
	var found struct{ Machines []store.Machine }
	_, data, _ := v.ask("GET", "/ui/machines.json?finding=weaker", as(collect.Reader))
	if err := json.Unmarshal([]byte(data), &found); err != nil || len(found.Machines) != 2 {
		t.Errorf("weaker ones: %v %.400s", err, data)
	}
}

// TestPages has the pages of the list be all machines, each once.
func TestPages(t *testing.T) {
	v := visit(t)
	seen, after := map[string]bool{}, ""
	for range 9 {
		var part struct {
			Machines []store.Machine
			Next     string
		}
		_, data, _ := v.ask("GET", "/ui/machines.json?after="+url.QueryEscape(after), as(collect.Reader))
		if err := json.Unmarshal([]byte(data), &part); err != nil {
			t.Fatal(err)
		}
		for _, m := range part.Machines {
			if seen[m.Machine] {
				t.Errorf("%q comes twice", m.Machine)
			}
			seen[m.Machine] = true
		}
		if after = part.Next; after == "" {
			break
		}
	}
	if len(seen) != 451 {
		t.Errorf("%d machines", len(seen))
	}
}

// TestRoles has nothing be told to who has no role for it, and says which one it takes.
func TestRoles(t *testing.T) {
	v := visit(t)
	for _, path := range addresses(t, v.store) {
		for header, want := range map[string]int{"": 401, "Authorization: Bearer other": 401, "Cookie: gate-collect-token=administrator": 401, "Authorization: Bearer nobody": 403} {
			for _, f := range []string{".html", ".json"} {
				status, body, _ := v.ask("GET", form(path, f), header)
				if status != want || strings.Contains(body, "laptop-") || strings.Contains(body, "gate.git.push") {
					t.Errorf("%s%s with %q: %d %s", path, f, header, status, body)
				}
			}
		}
	}
	for role, want := range map[collect.Role]int{collect.Reader: 403, collect.Reviewer: 403, collect.Administrator: 200} {
		if status, body, _ := v.ask("GET", "/ui/looks.html", as(role)); status != want || want == 403 && !strings.Contains(body, "administrator") {
			t.Errorf("looks for the %s: %d %s", role, status, body)
		}
	}
	if status, body, _ := v.ask("GET", "/ui/other.json", as(collect.Reader)); status != 404 {
		t.Errorf("no view: %d %s", status, body)
	}
	if status, body, _ := v.ask("GET", "/ui/other.json"); status != 401 {
		t.Errorf("no view, no role: %d %s", status, body)
	}
}

// TestTexts has texts of calls be for reviewers: readers see what calls do.
func TestTexts(t *testing.T) {
	v := visit(t)
	const text = "ssh web-3 uptime"
	for role, want := range map[collect.Role]bool{collect.Reader: false, collect.Reviewer: true, collect.Administrator: true} {
		for _, f := range []string{".html", ".json"} {
			status, body, _ := v.ask("GET", "/ui/trial"+f, as(role))
			if status != 200 || strings.Contains(body, text) != want || !strings.Contains(body, "exec.remote") || !strings.Contains(body, "acme.deploy.window") {
				t.Errorf("%s for the %s: %d %s", f, role, status, body)
			}
		}
	}
}

// TestTyped has no name that a machine made up stand in a command that people copy.
func TestTyped(t *testing.T) {
	v := visit(t)
	_, part, _ := v.ask("GET", "/ui/trial.html", as(collect.Reader))
	commands := 0
	for piece := range strings.SplitSeq(part, `<pre class="command"><code>`) {
		lines, _, found := strings.Cut(piece, "</code></pre>")
		if !found {
			continue
		}
		for line := range strings.Lines(lines) {
			if !strings.HasPrefix(line, "gate collect promote channel.2.json company") && !strings.HasPrefix(line, "gate collect retreat channel.2.json company") && !strings.HasPrefix(line, "gate bundle channel ") {
				t.Errorf("a command: %s", line)
			}
			commands++
		}
	}
	if commands != 4 {
		t.Errorf("%d commands", commands)
	}
}

// TestLooks has each look be noted, with who looked and at what, and an address without
// data not.
func TestLooks(t *testing.T) {
	v := visit(t)
	before, err := v.store.Looks(t.Context(), 0, 10)
	if err != nil {
		t.Fatal(err)
	}
	v.ask("GET", "/ui/overview")
	v.ask("GET", "/ui/overview.html")
	v.ask("GET", "/ui/looks.html", as(collect.Reader))
	v.ask("GET", "/ui/policies/gate.git.push.html?team=payments", as(collect.Reviewer))
	v.ask("GET", "/ui/overview.json", as(collect.Reader))
	after, err := v.store.Looks(t.Context(), 0, 10)
	if err != nil || len(after) != len(before)+3 {
		t.Fatalf("%v: %+v", err, after)
	}
	for i, want := range []store.Look{{Who: "alex", Role: "reader", What: "GET /ui/overview.json"}, {Who: "alex", Role: "reviewer", What: "GET /ui/policies/gate.git.push.html", Detail: "team=payments"}, {Who: "alex", Role: "reader", What: "refused: GET /ui/looks.html"}} {
		got := after[i]
		got.ID, got.At = 0, time.Time{}
		if got != want {
			t.Errorf("%+v, not %+v", got, want)
		}
	}
}

// TestStrangers has pages elsewhere, frames, other hosts and other methods get nothing.
func TestStrangers(t *testing.T) {
	v := visit(t, func(o *Options) { o.Hosts = []string{"collect.example"} })
	for name, test := range map[string]struct {
		headers []string
		status  int
	}{
		"itself":             {[]string{"Host: collect.example"}, 200},
		"behind TLS":         {[]string{"Host: collect.example", "Origin: https://collect.example", "Sec-Fetch-Site: same-origin"}, 200},
		"another host":       {[]string{"Host: evil.example"}, 421},
		"a page elsewhere":   {[]string{"Host: collect.example", "Origin: https://evil.example"}, 403},
		"by its site":        {[]string{"Host: collect.example", "Sec-Fetch-Site: cross-site"}, 403},
		"a neighbour's page": {[]string{"Host: collect.example", "Sec-Fetch-Site: same-site"}, 403},
		"a frame":            {[]string{"Host: collect.example", "Sec-Fetch-Dest: iframe"}, 403},
	} {
		for _, path := range []string{"/ui/overview", "/ui/overview.html", "/ui/overview.json", "/ui/look.js", "/ui/board.js", "/ui/style.css"} {
			status, body, h := v.ask("GET", path, append(test.headers, as(collect.Reader))...)
			if status != test.status || status != 200 && strings.Contains(body, "company") {
				t.Errorf("%s, %s: %d %s", name, path, status, body)
			}
			for key, want := range map[string]string{"Content-Security-Policy": look.Policy, "X-Frame-Options": "DENY", "Cache-Control": "no-store", "Access-Control-Allow-Origin": "", "Set-Cookie": ""} {
				if got := h.Get(key); got != want {
					t.Errorf("%s, %s: %s is %q", name, path, key, got)
				}
			}
		}
	}
	for _, method := range []string{"POST", "PUT", "DELETE", "OPTIONS"} {
		if status, _, _ := v.ask(method, "/ui/overview.json", "Host: collect.example", as(collect.Administrator)); status != 405 {
			t.Errorf("%s: %d", method, status)
		}
	}
}

// TestHostileTexts has no text of a machine become a part of the page.
func TestHostileTexts(t *testing.T) {
	v := visit(t)
	bad := url.QueryEscape(hostile(t))
	odd := 0
	paths := append(addresses(t, v.store), "/ui/machines?text="+bad+"&team="+bad+"&release="+bad, "/ui/findings?kind="+bad, "/ui/asked?policy="+bad, "/ui/figures?team="+bad, "/ui/figures?days="+bad, "/ui/findings?before="+bad)
	for _, path := range paths {
		_, part, _ := v.ask("GET", form(path, ".html"), as(collect.Administrator))
		checkMarkup(t, path, part)
		if strings.Contains(part, "&lt;script&gt;") {
			odd++
		}
	}
	if odd < 10 {
		t.Errorf("only %d views show anything of it", odd)
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
	for path, want := range map[string]struct {
		status int
		text   string
	}{
		"/ui/figures.json?days=0":    {400, "1 to 90"},
		"/ui/figures.json?days=x":    {400, "1 to 90"},
		"/ui/looks.json?before=x":    {400, "before is a number"},
		"/ui/findings.json?before=-": {400, "before is a number"},
		"/ui/machines/none.json":     {404, "machine none"},
		"/ui/overview/x.json":        {404, "nothing"},
		"/ui/assets/layout.html":     {404, "nothing"},
	} {
		if status, body, _ := v.ask("GET", path, as(collect.Administrator)); status != want.status || !strings.Contains(body, want.text) {
			t.Errorf("%s: %d %s", path, status, body)
		}
	}
}

// TestKinds has the page know every kind of finding.
func TestKinds(t *testing.T) {
	known := map[string]bool{}
	for _, k := range kinds() {
		known[k.kind] = true
		if k.title == "" || k.todo == "" || !slices.Contains([]string{"error", "warning", "notice"}, k.severity) {
			t.Errorf("%+v", k)
		}
	}
	for _, kind := range store.Kinds() {
		if !known[kind] {
			t.Errorf("it has no words for %s", kind)
		}
	}
	if len(known) != len(store.Kinds()) {
		t.Errorf("it knows %d kinds, and there are %d", len(known), len(store.Kinds()))
	}
}
