package artifact

import "gate/scopes"

// layer writes what a settings file says, as a tree by the table of settings.
func (e *encoder) layer(l *scopes.Layer) {
	e.text(l.File)
	writeMap(e, l.Lines, e.int)
	e.tree(l.Tree())
}

// layer reads what [encoder.layer] wrote.
func (d *decoder) layer() scopes.Layer {
	l := scopes.Layer{File: d.text(), Lines: mapOf(d, d.int)}
	l.Take(d.tree())
	return l
}
