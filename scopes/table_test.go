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
)

// sample is a value of a type in normal form, another one for each n below 3.
func sample(t *Type, n int) any {
	switch t.Kind {
	case Switched, Truth:
		return n%2 == 0
	case Text:
		return fmt.Sprint("/v", n)
	case Word:
		return t.Words[n%len(t.Words)]
	case Whole:
		return json.Number(strconv.Itoa(t.Min + n))
	case Span:
		return (time.Duration(n+1) * time.Second).String()
	case Moment:
		return time.Date(2027, 1, 1+n, 0, 0, 0, 0, time.UTC).Format(time.RFC3339Nano)
	case Texts:
		return []any{fmt.Sprintf("Bash(git push %d)", n)}
	case SwitchedText:
		return []any{true, "/plugin", false}[n%3]
	case Free:
		return map[string]any{"verbs": n%2 == 0}
	case List:
		if t.Of.Kind == Text {
			return [][]any{{"acme.push"}, {"acme.push", "mine.curl"}, {"acme"}}[n%3]
		}
		return []any{sample(t.Of, n)}
	case Map:
		return map[string]any{"acme.push": sample(t.Of, n), "mine.curl": sample(t.Of, n+1)}
	case Object:
		out := map[string]any{}
		for i := range t.Fields {
			if f := &t.Fields[i]; f.Required || n != 1 || i%2 == 0 {
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
func sayingOf(a hook.Authority, file string, row *Setting, n int) Layer {
	l := Layer{Authority: a, File: file}
	l.Take(map[string]any{row.Key: sample(row.Type, n)})
	return l
}

// rows are the settings that a layer can hold.
func settable() (rows []*Setting) {
	for i := range table {
		if table[i].Type.Kind != Version && table[i].Type.Kind != Hooks {
			rows = append(rows, &table[i])
		}
	}
	return rows
}

// A mark is something that settings bring about.
type mark struct {
	row   *Setting // nil of hooks
	of    hook.Authority
	field *Field
	value any
}

// marks lists what layers bring about, by name.
func marks(layers ...Layer) (map[string]mark, []string, error) {
	s, err := Combine(layers...)
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
		if row.now != nil {
			v = row.get(row.now(&set.settings))
		} else if row.at == nil {
			v = set.settings.On(Switch(row.Key))
		}
		row.Values(v, func(key string, value any, way ...string) {
			f := &row.Field
			if inner := row.Type.FieldNamed(strings.Join(way, ".")); inner != nil {
				f = inner
			}
			out[key] = mark{row, 0, f, value}
		})
	}
	level := &Field{Bearing: Stricter, Type: &Type{Kind: Word, Words: []string{"off", "record", "warn", "ask", "deny"}}, Default: "deny"}
	for a := hook.Managed; a.Valid(); a++ {
		if hasSettings(a) {
			out["off "+a.String()] = mark{nil, a, &Field{Bearing: Looser, Type: &Type{Kind: Switched}}, set.settings.off(a) && !set.settings.ManagedHooksOnly}
		}
	}
	for _, src := range sources {
		h := src.Hooks[0]
		layers := set.settings.precedence(h)
		out["level "+h.ID] = mark{nil, h.Authority, level, string(set.settings.level(h, layers).level)}
		out["params "+h.ID] = mark{nil, h.Authority, &Field{Type: &Type{}}, anyMap(set.settings.params(h, layers, nil))}
		out["exceptions "+h.ID] = mark{nil, h.Authority, &Field{Bearing: Looser, Type: &Type{Kind: Whole}}, json.Number(strconv.Itoa(len(set.settings.exceptions(h, layers))))}
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
	if equal(m.value, is) {
		return false
	}
	if m.field.Type.Kind == Object {
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
	case m.field.Bearing == Stricter:
		return more < 0
	case m.field.Bearing == Looser, m.row != nil && m.row.Weigh == strictest && m.field.Type.Kind == Span:
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
							own := was.row == nil && standing(was.of) >= standing(below)
							said := was.row == high || was.row == nil || below != hook.User
							if own || !said || high.Key == keyDelegate && below == hook.User {
								continue
							}
							if was.row != nil && was.row.Who.may(above) != "" {
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
				if RightTo(row.Key, a) == "" {
					continue
				}
				got, shown, err := marks(sayingOf(a, "f", row, n))
				if err != nil || !reflect.DeepEqual(values(got), values(none)) {
					t.Errorf("%s of %s settings counts (%v)", row.Key, a, err)
				}
				for _, line := range shown {
					if strings.Contains(line, "true ") && !strings.Contains(line, RightTo(row.Key, a)) {
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
	for i := range table {
		row := &table[i]
		if row.Key == "" || seen[row.Key] || row.Says == "" || row.None == "" || strings.ContainsAny(row.Says+row.None, "|\n") {
			t.Errorf("row %d, %q, lacks something or is there twice", i, row.Key)
		}
		seen[row.Key], seen[row.Alias] = true, row.Alias != ""
	}
	for _, row := range settable() {
		for n := range 3 {
			l := sayingOf(hook.Managed, "f", row, n)
			want := map[string]any{row.Key: sample(row.Type, n)}
			if got := l.Tree(); !equal(got, want) {
				t.Errorf("%s: %v, want %v", row.Key, got, want)
			}
			keys := 0
			row.Values(want[row.Key], func(string, any, ...string) { keys++ })
			if got := len(l.rows()); got == 0 || got != keys {
				t.Errorf("%s: %d of %d values are shown", row.Key, got, keys)
			}
			if row.now == nil && row.at != nil && row.Weigh != byPolicy && row.Weigh != byParam && row.Weigh != all && row.Key != keyDisable {
				t.Errorf("%s: nobody can tell what counts", row.Key)
			}
		}
	}
	if Named("") != nil || Named("loge") != nil || RightTo("loge", hook.Project) == "" {
		t.Error(errors.New("an unknown key is a setting"))
	}
}
