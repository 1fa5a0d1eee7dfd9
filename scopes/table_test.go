package scopes

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"gate/hook"
	"gate/internal/setting"
)

// sample is a value of a type in normal form, another one for each n below 3.
func sample(t *setting.Type, n int) any {
	switch t.Kind {
	case setting.Switched, setting.Truth:
		return n%2 == 0
	case setting.Text:
		return fmt.Sprint("/v", n)
	case setting.Word:
		return t.Words[n%len(t.Words)]
	case setting.Whole:
		return json.Number(strconv.Itoa(t.Min + n))
	case setting.Span:
		return (time.Duration(n+1) * time.Second).String()
	case setting.Moment:
		return time.Date(2027, 1, 1+n, 0, 0, 0, 0, time.UTC).Format(time.RFC3339Nano)
	case setting.Texts:
		return []any{fmt.Sprintf("Bash(git push %d)", n)}
	case setting.SwitchedText:
		return []any{true, "/plugin", false}[n%3]
	case setting.Free:
		return map[string]any{"verbs": n%2 == 0}
	case setting.List:
		if t.Of.Kind == setting.Text {
			return [][]any{{"acme.push"}, {"acme.push", "mine.curl"}, {"acme"}}[n%3]
		}
		return []any{sample(t.Of, n)}
	case setting.Map:
		return map[string]any{"acme.push": sample(t.Of, n), "mine.curl": sample(t.Of, n+1)}
	case setting.Object:
		out := map[string]any{}
		for i := range t.Fields {
			f := &t.Fields[i]
			if f.Required || n != 1 || i%2 == 0 || f.Type.Kind == setting.Switched { // a switch always says something
				out[f.Key] = sample(f.Type, n)
			}
			if t.Fields[i].Key == "policy" {
				out["policy"] = "acme.push"
			}
		}
		return out
	}
	return fmt.Sprint("x", n)
}

// saying is a layer that says one thing.
func sayingOf(a hook.Authority, file string, row *setting.Setting, n int) Layer {
	l := Layer{Authority: a, File: file}
	l.Take(map[string]any{row.Key: sample(row.Type, n)})
	return l
}

// rows are the settings that a layer can hold.
func settable() (rows []*setting.Setting) {
	for i := range setting.TableOf {
		if setting.TableOf[i].Type.Kind != setting.Version && setting.TableOf[i].Type.Kind != setting.Hooks {
			rows = append(rows, &setting.TableOf[i])
		}
	}
	return rows
}

// A mark is something that settings bring about.
type mark struct {
	row   *setting.Setting // nil of hooks
	of    hook.Authority
	field *setting.Field
	value any
}

// marks lists what layers bring about, by name.
func marks(layers ...Layer) (map[string]mark, []string, error) {
	s, err := setting.Combine(layers...)
	if err != nil {
		return nil, nil, err
	}
	var sources []Source
	for id, a := range map[string]hook.Authority{"acme.push": hook.Managed, "mine.curl": hook.User, "site.deploy": hook.Project} {
		scope := hook.Session
		if a == hook.Managed {
			scope = hook.Policy
		}
		sources = append(sources, Source{Name: id, Scope: scope, Authority: a, Trusted: true, Hooks: []*hook.Hook{{
			ID: id, Kind: hook.Rego, Scope: scope, Authority: a, Source: id, Events: []hook.Name{hook.PreToolUse},
		}}})
	}
	set, err := New(sources, s)
	if err != nil {
		return nil, nil, err
	}
	out := map[string]mark{}
	for _, row := range settable() {
		var v any
		if row.Now != nil {
			v = row.Get(row.Now(&set.settings))
		} else if row.At == nil {
			v = set.settings.On(setting.Switch(row.Key))
		}
		row.Values(v, func(key string, value any, way ...string) {
			f := &row.Field
			if inner := row.Type.FieldNamed(strings.Join(way, ".")); inner != nil {
				f = inner
			}
			out[key] = mark{row, 0, f, value}
		})
	}
	level := &setting.Field{Bearing: setting.Stricter, Type: &setting.Type{Kind: setting.Word, Words: []string{"off", "record", "warn", "ask", "deny"}}, Default: "deny"}
	for a := hook.Managed; a.Valid(); a++ {
		if setting.HasSettings(a) {
			out["off "+a.String()] = mark{nil, a, &setting.Field{Bearing: setting.Looser, Type: &setting.Type{Kind: setting.Switched}}, set.settings.Off(a) && !set.settings.ManagedHooksOnly}
		}
	}
	for _, src := range sources {
		h := src.Hooks[0]
		layers := set.settings.Precedence(h)
		out["level "+h.ID] = mark{nil, h.Authority, level, string(set.settings.Level(h, layers).Level)}
		out["params "+h.ID] = mark{nil, h.Authority, &setting.Field{Type: &setting.Type{}}, anyMap(set.settings.Params(h, layers, nil))}
		out["exceptions "+h.ID] = mark{nil, h.Authority, &setting.Field{Bearing: setting.Looser, Type: &setting.Type{Kind: setting.Whole}}, json.Number(strconv.Itoa(len(set.settings.Exceptions(h, layers))))}
	}
	var shown []string
	for _, r := range set.Explain() {
		shown = append(shown, fmt.Sprint(r.Key, r.Value, r.Authority, r.Pos, r.Counts, r.Why))
	}
	slices.Sort(shown)
	return out, shown, nil
}

func anyMap(m map[string]any) any {
	if m == nil {
		return map[string]any{}
	}
	return m
}

// looser reports that is holds back less than was, or that nobody can tell.
func (m mark) looser(is any) bool {
	if setting.Equal(m.value, is) {
		return false
	}
	if m.field.Type.Kind == setting.Object {
		was, _ := m.value.(map[string]any)
		now, _ := is.(map[string]any)
		for i := range m.field.Type.Fields {
			f := &m.field.Type.Fields[i]
			if (mark{m.row, 0, f, was[f.Key]}).looser(now[f.Key]) {
				return true
			}
		}
		return false
	}
	more, ok := m.field.Compare(m.value, is)
	switch {
	case !ok:
		return true
	case m.field.Bearing == setting.Stricter:
		return more < 0
	case m.field.Bearing == setting.Looser, m.row != nil && m.row.Weigh == setting.Strictest && m.field.Type.Kind == setting.Span:
		return more > 0
	}
	return true
}

// TestLowerNeverLoosens has each row said by one authority and each row by
// another below it: nothing that the first brought about is held back less.
func TestLowerNeverLoosens(t *testing.T) {
	compared := 0
	for _, pair := range [][2]hook.Authority{{hook.Managed, hook.User}, {hook.Managed, hook.Project}, {hook.User, hook.Project}, {hook.User, hook.Local}} {
		above, below := pair[0], pair[1]
		for _, high := range settable() {
			for n := range 3 {
				first := sayingOf(above, "above", high, n)
				before, _, err := marks(first)
				if err != nil {
					t.Fatal(err)
				}
				for _, low := range settable() {
					for m := range 3 {
						after, _, err := marks(first, sayingOf(below, "below", low, m))
						if err != nil {
							continue // no call passes
						}
						for name, was := range before {
							own := was.row == nil && setting.Standing(was.of) >= setting.Standing(below)
							said := was.row == high || was.row == nil || below != hook.User
							if own || !said || high.Key == setting.KeyDelegate && below == hook.User {
								continue
							}
							if was.row != nil && was.row.Who.May(above) != "" {
								continue
							}
							compared++
							if is := after[name].value; was.looser(is) {
								t.Errorf("%s settings say %s, sample %d; then %s settings say %s, sample %d: %s was %v and is %v", above, high.Key, n, below, low.Key, m, name, was.value, is)
							}
						}
					}
				}
			}
		}
	}
	if compared < 10_000 {
		t.Errorf("only %d comparisons", compared)
	}
}

// TestRightTo has each row said by an authority that has no right to it: nothing
// changes.
func TestRightTo(t *testing.T) {
	none, _, err := marks()
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range settable() {
		for _, a := range []hook.Authority{hook.User, hook.Project, hook.Local} {
			for n := range 3 {
				if setting.RightTo(row.Key, a) == "" {
					continue
				}
				got, shown, err := marks(sayingOf(a, "f", row, n))
				if err != nil || !reflect.DeepEqual(values(got), values(none)) {
					t.Errorf("%s of %s settings counts (%v)", row.Key, a, err)
				}
				for _, line := range shown {
					if strings.Contains(line, "true ") && !strings.Contains(line, setting.RightTo(row.Key, a)) {
						t.Errorf("%s: %s", row.Key, line)
					}
				}
			}
		}
	}
}

func values(in map[string]mark) map[string]any {
	out := map[string]any{}
	for name, m := range in {
		out[name] = m.value
	}
	return out
}

// TestOrder gives files in each order: they bring about the same, and are shown
// alike.
func TestOrder(t *testing.T) {
	for _, row := range settable() {
		for n := range 27 {
			layers := []Layer{
				sayingOf(hook.Managed, "a", row, n%3), sayingOf(hook.Managed, "b", row, n/3%3), sayingOf(hook.User, "c", row, n/9),
				{Authority: hook.Managed, File: "t", Bundle: "team", Order: 2}, sayingOf(hook.Project, "d", row, n%3),
			}
			layers[3].Take(map[string]any{row.Key: sample(row.Type, (n+1)%3)})
			want, wantShown, wantErr := marks(layers...)
			for range 4 {
				layers = append(layers[1:], layers[0])
				layers[1], layers[3] = layers[3], layers[1]
				got, shown, err := marks(layers...)
				if (err == nil) != (wantErr == nil) || !reflect.DeepEqual(values(got), values(want)) || !slices.Equal(shown, wantShown) {
					t.Fatalf("%s, %d:\n%v\n%v\n%v\nand not\n%v\n%v\n%v", row.Key, n, values(got), strings.Join(shown, "\n"), err, values(want), strings.Join(wantShown, "\n"), wantErr)
				}
			}
		}
	}
}

// TestTable holds what every row must have, and that what a layer says comes back
// from its tree and is shown.
func TestTable(t *testing.T) {
	seen := map[string]bool{}
	for i := range setting.TableOf {
		row := &setting.TableOf[i]
		if row.Key == "" || seen[row.Key] || row.Says == "" || row.None == "" || strings.ContainsAny(row.Says+row.None, "|\n") {
			t.Errorf("row %d, %q, lacks something or is there twice", i, row.Key)
		}
		seen[row.Key], seen[row.Alias] = true, row.Alias != ""
	}
	for _, row := range settable() {
		for n := range 3 {
			l := sayingOf(hook.Managed, "f", row, n)
			want := map[string]any{row.Key: sample(row.Type, n)}
			if got := l.Tree(); !setting.Equal(got, want) {
				t.Errorf("%s: %v, want %v", row.Key, got, want)
			}
			keys := 0
			row.Values(want[row.Key], func(string, any, ...string) { keys++ })
			if got := len(l.Rows()); got == 0 || got != keys {
				t.Errorf("%s: %d of %d values are shown", row.Key, got, keys)
			}
			if row.Now == nil && row.At != nil && row.Weigh != setting.ByPolicy && row.Weigh != setting.ByParam && row.Weigh != setting.All && row.Key != setting.KeyDisable {
				t.Errorf("%s: nobody can tell what counts", row.Key)
			}
		}
	}
	if setting.Named("") != nil || setting.Named("loge") != nil || setting.RightTo("loge", hook.Project) == "" {
		t.Error(errors.New("an unknown key is a setting"))
	}
}
