package commands

import (
	"errors"
	"fmt"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/spf13/cobra"

	"gate/hook"
	"gate/internal/sources"
)

func newLib(p process) *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:   "lib [FUNCTION]",
		Short: "list the functions of data.gate.lib, or show one",
		Long: "Lists the functions of gate's library, which every policy may import as data.gate.lib,\n" +
			"with the meaning of each. With a name, it shows the function in Rego. docs/rego.md has\n" +
			"an example of each.",
		Example: "  gate lib\n  gate lib could_be",
		Args:    upToOneArg,
		RunE: func(_ *cobra.Command, args []string) error {
			list, err := libFunctions()
			if err != nil {
				return err
			}
			if len(args) > 0 {
				if list, err = namedFunction(list, args[0]); err != nil {
					return err
				}
			}
			if format == "json" {
				return printJSON(p, functionsDocument(list))
			}
			if len(args) > 0 {
				return printAll(p, list[0].text)
			}
			return printAll(p, functionsText(list))
		},
		ValidArgsFunction: first(func() (words []string) {
			list, _ := libFunctions()
			for _, f := range list {
				words = append(words, about(f.name, f.meaning))
			}
			return words
		}),
	}
	addFormat(cmd, &format)
	return cmd
}

// A libFunction is a function of data.gate.lib.
type libFunction struct {
	name      string
	signature string // such as is(thing, field, value)
	meaning   string // in one line
	text      string // its definitions, with METADATA
}

// libFunctions reads the library: the functions that say what they mean, in the order
// of the text. Others are its own.
func libFunctions() ([]libFunction, error) {
	_, modules := sources.Library(hook.User)
	var list []libFunction
	for _, m := range modules {
		if m.Package != "gate.lib" { // data.gate.proof, which is whole as it is
			continue
		}
		parsed, err := ast.ParseModuleWithOpts(m.File, m.Text, ast.ParserOptions{ProcessAnnotation: true, RegoVersion: ast.RegoV1})
		if err != nil {
			return nil, err
		}
		list = append(list, functionsOf(parsed, strings.Split(m.Text, "\n"))...)
	}
	return list, nil
}

func functionsOf(m *ast.Module, lines []string) (list []libFunction) {
	meanings := map[int]*ast.Annotations{} // by the row of the rule below
	for _, a := range m.Annotations {
		if target := a.GetTargetPath(); target != nil && a.Scope != "package" && a.Description != "" {
			meanings[a.EndLoc().Row+1] = a
		}
	}
	for i, r := range m.Rules {
		a := meanings[r.Location.Row]
		if a == nil {
			continue
		}
		name := r.Head.Name.String()
		end := len(lines) + 1 // the row behind its last definition
		var args []string
		for _, other := range m.Rules[i:] {
			if other.Head.Name.String() != name {
				end = other.Location.Row
				break
			}
			args = argNames(args, other.Head.Args)
		}
		own := lines[a.Location.Row-1 : end-1]
		for last := len(own) - 1; own[last] == "" || strings.HasPrefix(own[last], "#"); last-- { // of what comes next
			own = own[:last]
		}
		list = append(list, libFunction{
			name: name, signature: name + "(" + strings.Join(args, ", ") + ")",
			meaning: strings.Join(strings.Fields(a.Description), " "), text: strings.Join(own, "\n") + "\n",
		})
	}
	return list
}

// argNames returns the names of arguments, those that a definition leaves open from
// another one.
func argNames(names []string, args ast.Args) []string {
	for i, a := range args {
		v, isVar := a.Value.(ast.Var)
		if i == len(names) {
			names = append(names, "_")
		}
		if names[i] == "_" && isVar && !v.IsWildcard() {
			names[i] = v.String()
		}
	}
	return names
}

// namedFunction returns the function of a name, with or without "lib." before it.
func namedFunction(list []libFunction, name string) ([]libFunction, error) {
	name = name[strings.LastIndexByte(name, '.')+1:]
	var known []string
	for _, f := range list {
		if f.name == name {
			return []libFunction{f}, nil
		}
		known = append(known, f.name)
	}
	return nil, hintedError{errors.New("data.gate.lib has no function " + quoted(name) + didYouMean(name, known, strings.Clone)), "gate lib lists them"}
}

func functionsText(list []libFunction) string {
	width := 0
	for _, f := range list {
		width = max(width, len(f.signature))
	}
	var b strings.Builder
	for _, f := range list {
		fmt.Fprintf(&b, "%-*s  %s\n", width, f.signature, f.meaning)
	}
	return b.String()
}

func functionsDocument(list []libFunction) []any {
	docs := []any{}
	for _, f := range list {
		docs = append(docs, map[string]any{"name": f.name, "signature": f.signature, "meaning": f.meaning, "text": f.text})
	}
	return docs
}
