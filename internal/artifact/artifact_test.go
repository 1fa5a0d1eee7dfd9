package artifact_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"reflect"
	"testing"
	"time"

	"gate/hook"
	"gate/internal/artifact"
	"gate/internal/setting"
	"gate/scopes"
)

const maker = "gate 1.2.3, OPA 1.22.0"

func encode(t testing.TB, c artifact.Content) string {
	t.Helper()
	data, err := artifact.Encode(&c)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func open(t testing.TB, c artifact.Content) *artifact.Artifact {
	t.Helper()
	a, err := artifact.Open(encode(t, c), c.Maker, c.Kind)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// fill sets everything below v to something other than zero, so that what is
// forgotten when it is written or read is missed. Each value is another one.
func fill(v reflect.Value, n *int) {
	*n++
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), n)
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(time.Unix(int64(1_800_000_000+*n), 17).UTC()))
			return
		}
		for i := range v.NumField() {
			fill(v.Field(i), n)
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fill(v.Index(0), n)
		fill(v.Index(1), n)
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		for _, key := range []string{"a.b", "ü", ""} {
			value := reflect.New(v.Type().Elem()).Elem()
			fill(value, n)
			v.SetMapIndex(reflect.ValueOf(key).Convert(v.Type().Key()), value)
		}
	case reflect.String:
		v.SetString(string(rune('a'+*n%26)) + "\x00\nß" + string(rune('a'+*n/26)))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(*n))
	case reflect.Uint8, reflect.Uint32, reflect.Uint64:
		v.SetUint(uint64(*n % 200))
	case reflect.Interface:
		v.Set(reflect.ValueOf(map[string]any{
			"n": json.Number("1e400"), "i": int64(-*n), "f": 0.1, "l": []any{nil, true, false, "x", []any{}}, "m": map[string]any{},
		}))
	default:
		panic(v.Kind())
	}
}

func TestLayers(t *testing.T) {
	var l scopes.Layer
	n := 0
	fill(reflect.ValueOf(&l).Elem(), &n)
	provider, server := l.Providers["ü"], l.MCPServers["ü"]
	// Whose a thing is follows from the place, never from the file.
	for key := range l.Providers {
		provider = l.Providers[key]
		provider.Authority = 0
		l.Providers[key] = provider
	}
	for key := range l.MCPServers {
		server = l.MCPServers[key]
		server.Authority = 0
		l.MCPServers[key] = server
	}
	l.StatusLine.Authority, l.FileSuggestion.Authority = 0, 0
	l.Switches = map[setting.Switch]bool{setting.Log: true, setting.Record: false} // others are no settings
	for _, c := range []struct {
		kind  artifact.Kind
		role  artifact.Role
		as    artifact.As
		want  hook.Authority
		name  string
		order int
	}{
		{artifact.Managed, artifact.Settings, artifact.As{}, hook.Managed, "", 0},
		{artifact.User, artifact.Settings, artifact.As{Trusted: true}, hook.User, "", 0},
		{artifact.Project, artifact.Settings, artifact.As{}, hook.Project, "", 0},
		{artifact.Project, artifact.LocalSettings, artifact.As{}, hook.Local, "", 0},
		{artifact.Managed, artifact.Settings, artifact.As{}, hook.Managed, "acme", 2},
	} {
		a := open(t, artifact.Content{
			Kind: c.kind, Maker: maker, Bundles: []artifact.Bundle{{}, {Bundle: hook.Bundle{Name: "acme"}}},
			Layers: []artifact.Layer{{Role: c.role, In: c.order, Layer: l}, {Role: c.role}},
		})
		got, err := a.Layers(c.as)
		if err != nil || len(got) != 2 {
			t.Fatalf("%s: %d layers, %v", c.kind, len(got), err)
		}
		want := l
		want.Authority = c.want
		want.Bundle, want.Order = c.name, c.order
		if !reflect.DeepEqual(got[0], want) {
			t.Errorf("%s:\ngot  %+v\nwant %+v", c.kind, got[0], want)
		}
		if got[1].Authority != c.want || got[1].Policies != nil {
			t.Errorf("%s: an empty layer is %+v", c.kind, got[1])
		}
	}
}

func TestHooks(t *testing.T) {
	var h hook.Hook
	n := 0
	fill(reflect.ValueOf(&h).Elem(), &n)
	h.Matcher = "Bash"
	c := artifact.Content{Kind: artifact.Project, Maker: maker, Sources: []artifact.Part{{
		Role: artifact.Policies, Digest: "sha256:x", Program: "program", Saved: "saved",
		Hooks: []artifact.Hook{{Hook: &h, Why: "it calls http.send", Fingerprint: "0123"}, {Hook: &hook.Hook{ID: "b"}}},
	}}}
	list, err := open(t, c).All(artifact.As{Trusted: true, Managed: true})
	if err != nil || len(list) != 1 || len(list[0].Hooks) != 2 {
		t.Fatal(list, err)
	}
	s := list[0]
	want := h
	want.Scope, want.Authority, want.Library, want.Source = hook.Session, hook.Project, false, "project"
	want.Whole = "" // of sources that could not be loaded, which are not compiled
	if !reflect.DeepEqual(*s.Hooks[0], want) {
		t.Errorf("got  %+v\nwant %+v", *s.Hooks[0], want)
	}
	if s.Unready(h.ID) != "it calls http.send" || s.Unready("b") != "" {
		t.Error(s.Unready(h.ID), s.Unready("b"))
	}
	if s.Fingerprint(h.ID) != "0123" || s.Fingerprint("b") != "" {
		t.Error(s.Fingerprint(h.ID), s.Fingerprint("b"))
	}
	if program, err := s.Program(); err != nil || program != "program" {
		t.Error(program, err)
	}
	if saved, err := s.Saved(); err != nil || saved != "saved" {
		t.Error(saved, err)
	}
	if s.Name != "project" || !s.Trusted || s.Order != 0 || s.Digest != "sha256:x" || s.Bundle != nil {
		t.Errorf("%+v", s.Source)
	}
}

// TestHandlers holds that handlers, which policies may consult about any event,
// are there if somebody asks for them.
func TestHandlers(t *testing.T) {
	c := artifact.Content{Kind: artifact.User, Maker: maker, Sources: []artifact.Part{{Role: artifact.Policies, Hooks: []artifact.Hook{
		{Hook: &hook.Hook{ID: "a", Kind: hook.Rego, Events: []hook.Name{hook.PreToolUse}, Matcher: "Bash"}},
		{Hook: &hook.Hook{ID: "b", Kind: hook.Rego, Events: []hook.Name{hook.PreToolUse}, Matcher: "Write"}},
		{Hook: &hook.Hook{ID: "c", Kind: hook.Command, Events: []hook.Name{hook.PreToolUse}, Matcher: "Write"}},
		{Hook: &hook.Hook{ID: "d", Kind: hook.Prompt, Consult: true, Parallel: true}},
	}}}}
	ev := &hook.Event{Name: hook.PreToolUse, Fields: map[string]any{"tool_name": "Bash"}}
	for all, want := range map[bool]string{false: "a", true: "acd"} {
		list, err := open(t, c).Sources(ev, artifact.As{Handlers: all})
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, h := range list[0].Hooks {
			got += h.ID
		}
		if got != want {
			t.Errorf("handlers %t: %q, want %q", all, got, want)
		}
	}
}

// TestWhose holds that a file never says whose it is.
func TestWhose(t *testing.T) {
	part := []artifact.Part{{Role: artifact.Policies, Hooks: []artifact.Hook{{Hook: &hook.Hook{
		ID: "x", Scope: hook.Policy, Authority: hook.Managed, Library: true, Source: "managed",
	}}}}}
	for _, c := range []struct {
		kind artifact.Kind
		as   artifact.As
		want scopes.Source
	}{
		{artifact.Library, artifact.As{Trusted: true}, scopes.Source{Name: "library", Scope: hook.Policy, Authority: hook.User, Library: true}},
		{artifact.Library, artifact.As{Managed: true}, scopes.Source{Name: "library", Scope: hook.Policy, Authority: hook.Managed, Library: true}},
		{artifact.Managed, artifact.As{}, scopes.Source{Name: "managed", Scope: hook.Policy, Authority: hook.Managed}},
		{artifact.User, artifact.As{Managed: true}, scopes.Source{Name: "user", Scope: hook.Session, Authority: hook.User}},
		{artifact.Project, artifact.As{Managed: true}, scopes.Source{Name: "project", Scope: hook.Session, Authority: hook.Project}},
	} {
		a := open(t, artifact.Content{
			Kind: c.kind, Maker: maker, Sources: part,
		})
		list, err := a.All(c.as)
		if err != nil {
			t.Fatal(err)
		}
		h := list[0].Hooks[0]
		if h.Scope != c.want.Scope || h.Authority != c.want.Authority || h.Library != c.want.Library || h.Source != c.want.Name {
			t.Errorf("%s: the hook is %+v", c.kind, h)
		}
		list[0].Hooks = nil
		if !reflect.DeepEqual(list[0].Source, c.want) {
			t.Errorf("%s: got %+v, want %+v", c.kind, list[0].Source, c.want)
		}
	}
	for _, k := range []artifact.Kind{artifact.Library, artifact.Managed, artifact.User} {
		if _, err := artifact.Encode(&artifact.Content{Kind: k, Sources: []artifact.Part{{Role: artifact.LocalSettings}}}); err == nil {
			t.Errorf("%s: has local settings", k)
		}
	}
}

// TestBundles holds that what a signed bundle says is said in its place in the
// order.
func TestBundles(t *testing.T) {
	bundles := []artifact.Bundle{
		{Bundle: hook.Bundle{Name: "company", Version: 7, Digest: "sha256:a"}, Dir: "/etc/gate/bundles/company", Expires: moment, Synced: moment.Add(1)},
		{Bundle: hook.Bundle{Name: "team", Trial: true}},
	}
	data := map[string]any{"team": map[string]any{"list": []any{json.Number("1")}}}
	a := open(t, artifact.Content{Kind: artifact.Managed, Maker: maker, Bundles: bundles, Sources: []artifact.Part{
		{Role: artifact.Policies},
		{Role: artifact.Policies, In: 2, Data: data, Hooks: []artifact.Hook{{Hook: &hook.Hook{ID: "team.a"}}}},
	}})
	if !reflect.DeepEqual(a.Bundles(), bundles) {
		t.Errorf("got %+v", a.Bundles())
	}
	list, err := a.All(artifact.As{})
	if err != nil {
		t.Fatal(err)
	}
	want := []scopes.Source{
		{Name: "managed", Scope: hook.Policy, Authority: hook.Managed},
		{Name: "trial:team", Scope: hook.Policy, Authority: hook.Managed, Order: 2, Bundle: &bundles[1].Bundle, Data: data, Hooks: list[1].Hooks},
	}
	for i := range want {
		if !reflect.DeepEqual(list[i].Source, want[i]) {
			t.Errorf("got %+v, want %+v", list[i].Source, want[i])
		}
	}
	for _, c := range []artifact.Content{
		{Kind: artifact.Managed, Maker: maker, Bundles: bundles, Sources: []artifact.Part{{Role: artifact.Policies, In: 3}}},
		{Kind: artifact.Managed, Maker: maker, Bundles: bundles, Layers: []artifact.Layer{{Role: artifact.Settings, In: 3}}},
	} {
		a, err := artifact.Open(encode(t, c), maker, artifact.Managed)
		if err == nil {
			_, err = a.Layers(artifact.As{})
		}
		if err == nil {
			t.Error("something stands in a bundle that is not there")
		}
	}
}

func TestOpenRefuses(t *testing.T) {
	data := encode(t, artifact.Content{Kind: artifact.User, Maker: maker})
	if _, err := artifact.Open(data, maker, artifact.Managed); err == nil {
		t.Error("a user's file passes for a managed one")
	}
	if _, err := artifact.Open(data, maker+"1", artifact.User); !errors.Is(err, artifact.ErrStale) {
		t.Errorf("of another program: %v", err)
	}
	if _, err := artifact.Open("gate artifact 00\n"+data[17:], maker, artifact.User); !errors.Is(err, artifact.ErrStale) {
		t.Errorf("of another version: %v", err)
	}
}

// whole is an artifact with something of everything.
func whole(t testing.TB) artifact.Content {
	c := artifact.Content{Kind: artifact.Project, Maker: maker}
	n := 0
	fill(reflect.ValueOf(&c).Elem(), &n)
	c.Kind, c.Maker, c.Sources = artifact.Project, maker, c.Sources[:1]
	c.Layers[0].Role, c.Layers[1].Role = artifact.Settings, artifact.LocalSettings
	c.Layers[0].In, c.Layers[1].In = 1, 2
	p := &c.Sources[0]
	p.Role, p.In, p.Always = artifact.Policies, 1, []int{1}
	for i := range p.Hooks {
		p.Hooks[i].Events, p.Hooks[i].Matcher = []hook.Name{hook.PreToolUse}, "Bash|Task"
	}
	return c
}

// use does everything that a reader does, and returns the first error.
func use(data string) error {
	a, err := artifact.Open(data, maker, artifact.Project)
	if err != nil {
		return err
	}
	_, errLayers := a.Layers(artifact.As{})
	_, errSchemas := a.Schemas()
	errFresh := a.Fresh(os.DevNull)
	if errors.Is(errFresh, artifact.ErrStale) || errors.Is(errFresh, errors.ErrUnsupported) {
		errFresh = nil
	}
	list, errAll := a.All(artifact.As{})
	for _, tool := range []string{"Bash", "Agent", "Write"} {
		ev := hook.Event{Name: hook.PreToolUse, Fields: map[string]any{"tool_name": tool}}
		_, err := a.Sources(&ev, artifact.As{})
		errAll = errors.Join(errAll, err)
	}
	for i := range list {
		_, err := list[i].Program()
		_, errSaved := list[i].Saved()
		errAll = errors.Join(errAll, err, errSaved)
	}
	return errors.Join(errLayers, errSchemas, errFresh, errAll)
}

// TestDamaged cuts a file off after every byte, and changes every byte of it.
func TestDamaged(t *testing.T) {
	data := encode(t, whole(t))
	if err := use(data); err != nil {
		t.Fatal(err)
	}
	for i := range len(data) {
		if use(data[:i]) == nil {
			t.Errorf("cut off after %d bytes, it is used", i)
		}
		changed := []byte(data)
		changed[i] ^= 1 << (i % 8)
		if use(string(changed)) == nil {
			t.Errorf("with byte %d changed, it is used", i)
		}
	}
	if use(data+"x") == nil {
		t.Error("with more behind it, it is used")
	}
}

func TestReproducible(t *testing.T) {
	c := whole(t)
	first := encode(t, c)
	for range 20 {
		if encode(t, whole(t)) != first {
			t.Fatal("the same content makes other bytes")
		}
	}
}

func FuzzOpen(f *testing.F) {
	data := []byte(encode(f, whole(f)))
	f.Add(data)
	f.Add([]byte(encode(f, artifact.Content{Kind: artifact.Project, Maker: maker})))
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := use(string(data)); err == nil && !bytes.HasPrefix(data, []byte("gate artifact 10\n")) {
			t.Error("something else is used")
		}
		use(artifact.Reseal(string(data)))
	})
}
