package builtin

import (
	"errors"
	"fmt"

	"gate/internal/plan/value"
)

var errDeleted = errors.New("the document was removed")

// jsonPatch applies RFC 6902, to sets as well. It is undefined if the patches
// remove the whole document.
func jsonPatch(ctx *Context, args []value.Value) (value.Value, error) {
	patches, err := array(args, 1)
	if err != nil {
		return nil, err
	}
	doc, p := args[0], &patcher{ctx: ctx}
	for _, operation := range patches.Elems() {
		if doc, err = p.apply(doc, operation); err != nil {
			return nil, err
		}
	}
	return doc, nil
}

// A patcher applies operations, one after another.
type patcher struct {
	ctx *Context

	// shifted says that elements of an array have other positions than they
	// had. OPA goes on to look paths up where they were.
	shifted bool
}

// A patchOperation is one member of a patch.
type patchOperation struct{ fields *value.Object }

func (p patchOperation) field(name string) (value.Value, error) {
	if v := p.fields.Get(value.String(name)); v != nil {
		return v, nil
	}
	return nil, fmt.Errorf("missing required attribute '%s'", name)
}

func (p patchOperation) path(name string) ([]value.Value, error) {
	v, err := p.field(name)
	if err != nil {
		return nil, err
	}
	return pathOf(v)
}

// apply applies one operation to a document, which is nil if it was removed.
func (p *patcher) apply(doc, operation value.Value) (value.Value, error) {
	fields, ok := operation.(*value.Object)
	if !ok {
		return nil, errors.New("must be an array of JSON-Patch objects, but at least one element is not an object")
	}
	o := patchOperation{fields}
	if _, err := o.field("path"); err != nil {
		return nil, err
	}
	op, err := o.field("op")
	if err != nil {
		return nil, err
	}
	name, ok := op.(value.String)
	if !ok {
		return nil, fmt.Errorf("attribute 'op' must be a string but found: %s", value.KindOf(op))
	}
	path, err := o.path("path")
	if err != nil {
		return nil, err
	}
	switch name {
	case "add":
		v, err := o.field("value")
		if err != nil {
			return nil, err
		}
		return p.insertAt(doc, path, v)
	case "remove":
		return p.deleteAt(doc, path)
	case "replace":
		return p.replace(doc, path, o)
	case "move", "copy":
		return p.transfer(doc, path, o, name == "move")
	case "test":
		return doc, p.test(doc, path, o)
	}
	return nil, fmt.Errorf("unrecognized op: '%s'", string(name))
}

// replace shifts nothing, since what it deletes is put in again.
func (p *patcher) replace(doc value.Value, path []value.Value, o patchOperation) (value.Value, error) {
	shifted := p.shifted
	doc, err := p.deleteAt(doc, path)
	if err != nil {
		return nil, err
	}
	p.shifted = shifted
	v, err := o.field("value")
	if err != nil {
		return nil, err
	}
	doc, err = p.insertAt(doc, path, v)
	p.shifted = shifted
	return doc, err
}

// transfer puts what is at one path at another.
func (p *patcher) transfer(doc value.Value, to []value.Value, o patchOperation, move bool) (value.Value, error) {
	from, err := o.path("from")
	if err != nil {
		return nil, err
	}
	v, err := p.lookAt(doc, from)
	if err != nil {
		return nil, err
	}
	if v == nil {
		return nil, errDeleted
	}
	if move {
		if doc, err = p.deleteAt(doc, from); err != nil {
			return nil, err
		}
	}
	return p.insertAt(doc, to, v)
}

func (p *patcher) test(doc value.Value, path []value.Value, o patchOperation) error {
	found, err := p.lookAt(doc, path)
	if err != nil {
		return err
	}
	want, err := o.field("value")
	if err != nil {
		return err
	}
	if found == nil || !value.Equal(found, want) {
		return errors.New("the value at the path is not the value of the patch")
	}
	return nil
}
