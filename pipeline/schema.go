package pipeline

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"gate/adapters"
	"gate/internal/inputschema"
	"gate/internal/strictjson"
)

// A tool is one with its schema compiled.
type tool struct {
	Tool
	schema func(any) error // nil: any object
}

// compile checks a tool and compiles its schema, once for all calls.
func compile(t Tool) (*tool, error) {
	c := &tool{Tool: t}
	switch {
	case t.Name == "" || strictjson.Visible(t.Name) != t.Name:
		return nil, errors.New("a tool needs a name of visible characters")
	case t.Run == nil:
		return nil, errors.New("there is no function to run")
	case len(t.Schema) == 0:
		return c, nil
	}
	if _, err := strictjson.Decode(t.Schema, strictjson.Limits{Bytes: 1 << 20}); err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	var err error
	if c.schema, err = inputschema.Compile(t.Schema); err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	return c, nil
}

// validate reports everything that is wrong with an input.
func (t *tool) validate(input map[string]any) error {
	return safely(func() error {
		if t.schema != nil {
			if err := t.schema(input); err != nil {
				return err
			}
		}
		if t.Check != nil {
			return t.Check(clone(input).(map[string]any))
		}
		return nil
	})
}

// enabled reports whether the tool may be called now; one that cannot say is
// not.
func (t *tool) enabled() (on bool) {
	err := safely(func() error {
		on = t.Enabled == nil || t.Enabled()
		return nil
	})
	return on && err == nil
}

// errPanic marks the error that a panic became.
var errPanic = errors.New("panic")

// safely makes an error of a panic.
func safely(f func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%w: %v", errPanic, r)
		}
	}()
	return f()
}

// tree returns what a tool returned as the JSON tree that hooks see.
func tree(v any) (any, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	if len(text) > adapters.MaxEvent {
		return nil, fmt.Errorf("an output of %d bytes; %d are allowed", len(text), adapters.MaxEvent)
	}
	var out any
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&out); err != nil {
		return nil, err
	}
	return out, strictjson.Check(out)
}

// clone copies a JSON tree, so that whoever gets it cannot change what was
// judged.
func clone(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, e := range v {
			out[k] = clone(e)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = clone(e)
		}
		return out
	}
	return v
}
