// Package inputschema holds the arguments of a tool against the tool's own JSON Schema,
// which a stranger may have written. It fetches nothing: a reference to another document
// is an error. It is not for the schemas of settings, which package load reads by itself.
//
// Compiling its drafts costs each start of a program that links it, so gate and gate-hook
// do not. Start with [Compile].
package inputschema

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v5"
)

// Compile compiles a schema, and returns what reports everything that is wrong with a JSON
// tree, as package strictjson reads one. Formats such as "email" are not checked.
func Compile(text []byte) (fits func(any) error, err error) {
	defer caught(&err)
	const at = "mem:///tool"
	compiler := jsonschema.NewCompiler()
	compiler.LoadURL = func(url string) (io.ReadCloser, error) {
		return nil, fmt.Errorf("%q lies outside; put it under $defs", url)
	}
	err = compiler.AddResource(at, bytes.NewReader(text))
	var compiled *jsonschema.Schema
	if err == nil {
		compiled, err = compiler.Compile(at)
	}
	if err != nil {
		return nil, errors.New(strings.ReplaceAll(err.Error(), at, ""))
	}
	return func(v any) (err error) {
		defer caught(&err)
		err = compiled.Validate(v)
		var invalid *jsonschema.ValidationError
		if errors.As(err, &invalid) {
			return errors.Join(leaves(invalid, nil)...)
		}
		return err
	}, nil
}

// leaves are the mistakes themselves, without the keywords that led there.
func leaves(e *jsonschema.ValidationError, list []error) []error {
	if len(e.Causes) == 0 {
		where := e.InstanceLocation
		if where == "" {
			return append(list, errors.New(e.Message))
		}
		return append(list, fmt.Errorf("%s: %s", where, e.Message))
	}
	for _, c := range e.Causes {
		list = leaves(c, list)
	}
	return list
}

// caught makes an error of a panic.
func caught(err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("the schema cannot be used: %v", r)
	}
}
