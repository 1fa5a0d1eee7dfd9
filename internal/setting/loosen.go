package setting

// A Direction is what a change does to what is held back.
type Direction byte

// The directions.
const (
	Same     Direction = iota // nothing is held back more or less
	Tightens                  // something is held back more
	Untold                    // nobody can tell
	Loosens                   // something is held back less
)

// Said returns what a layer says, in normal form, by the keys of [Change]: each policy's
// level and each named value by itself, lists as a whole.
func (l *Layer) Said() map[string]any {
	out := map[string]any{}
	for i := range TableOf {
		row := &TableOf[i]
		v := row.said(l)
		if entries, ok := v.(map[string]any); ok && !row.whole() {
			for name, one := range entries {
				out[row.Key+"."+name] = one
			}
		} else if v != nil {
			out[row.Key] = v
		}
	}
	return out
}

// whole reports a setting that is compared as one value.
func (s *Setting) whole() bool {
	return s.Type.Kind != Map && (s.Type.Kind != Object || s.Type.OneValue)
}

// towards is the direction of more being held back.
func Towards(more int) Direction {
	switch {
	case more > 0:
		return Tightens
	case more < 0:
		return Loosens
	}
	return Same
}

// direction says what a change of a field's value does.
func (f *Field) Direction(was, is any) Direction {
	more, ok := f.Compare(was, is)
	switch {
	case f.Bearing == Neutral:
		return Same
	case f.Bearing == Unclear || !ok:
		return Untold
	case f.Bearing == Looser:
		more = -more
	}
	return Towards(more)
}

// direction says what a change of an object does, by the worst of its fields. One that
// is switched off does nothing.
func (t *Type) Direction(was, is any) Direction {
	a, _ := was.(map[string]any)
	b, _ := is.(map[string]any)
	if f := t.FieldNamed("enabled"); f != nil {
		switch d := f.Direction(a["enabled"], b["enabled"]); {
		case d != Same:
			return d
		case a["enabled"] != true:
			return Same
		}
	}
	worst := Same
	for i := range t.Fields {
		f := &t.Fields[i]
		if f.Type.Kind == List && !f.Own && a[f.Key] == nil {
			continue // whoever a list names has a say only where another field gives it one
		}
		if !Equal(a[f.Key], b[f.Key]) {
			worst = max(worst, f.Direction(a[f.Key], b[f.Key]))
		}
	}
	return worst
}
