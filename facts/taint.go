package facts

// A taint says what unknown text carries.
type taint struct {
	secret string // what kind of secret, "" for none
	host   string // fetched from this peer
	url    string
	remote bool // fetched from some peer
	hidden bool // decoded from something unreadable
}

//go:noinline
func (t taint) merge(o taint) taint {
	if t.secret == "" {
		t.secret = o.secret
	}
	if !t.remote && o.remote {
		t.host, t.url, t.remote = o.host, o.url, true
	}
	t.hidden = t.hidden || o.hidden
	return t
}

// taint joins what flows through the holes.
//
//go:noinline
func (f field) taint() taint {
	var t taint
	for _, p := range f.parts {
		if p.hole != nil {
			t = t.merge(p.hole.taint)
		}
	}
	return t
}
