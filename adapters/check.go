package adapters

import (
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"

	"gate/hook"
	"gate/internal/moment"
	"gate/internal/strictjson"
)

// A demand says which fields of a known tool's input have to be there.
type demand uint8

const (
	whole    demand = iota // what the tool's own schema demands
	shellsOf               // the command line of a shell: agents differ in the rest
	nothing                // no schema has seen the input
)

// check holds doc against the tables. strict demands what the agent always
// sends, too.
func check(doc map[string]any, strict bool) error { return checkEvent(doc, strict, whole) }

// checkForeign holds an event against the tables that was said in gate's words.
func checkForeign(doc map[string]any) error { return checkEvent(doc, false, shellsOf) }

// called are the fields of each call of a batch.
var called = [...]moment.Field{{Name: "tool_name", Need: moment.Must}, {Name: "tool_input", Type: moment.Object, Need: moment.Must}}

func checkEvent(doc map[string]any, strict bool, of demand) error {
	if err := checkFields(doc, moment.CommonFields(), strict, ""); err != nil {
		return err
	}
	name, _ := doc["hook_event_name"].(string)
	if name == "" {
		return fmt.Errorf("hook_event_name is empty")
	}
	if err := checkFields(doc, hook.Name(name).Moment().Fields, strict, ""); err != nil {
		return err
	}
	if err := lookAlikes(doc, topKeys, "", false); err != nil {
		return err
	}
	if err := checkCall(doc, "", of, strict); err != nil {
		return err
	}
	calls, _ := doc["tool_calls"].([]any)
	for i, c := range calls {
		at := fmt.Sprintf("tool_calls[%d].", i)
		call, ok := c.(map[string]any)
		if !ok {
			return fmt.Errorf("%s: %s where an object is wanted", strings.TrimSuffix(at, "."), strictjson.TypeName(c))
		}
		if err := checkFields(call, called[:], strict, at); err != nil {
			return err
		}
		// The batch has the input as the model wrote it, which no schema
		// has seen.
		if err := checkCall(call, at, nothing, strict); err != nil {
			return err
		}
	}
	return nil
}

// CheckInput holds a rewritten tool input against what is known of the tool's
// schema: the required fields are there and the known ones have their types. It
// returns nil for tools that are not in the table; the client checks those, and
// fields that no policy reads, against its own schema.
func CheckInput(tool string, input map[string]any) error {
	return checkCall(map[string]any{"tool_name": tool, "tool_input": input}, "", whole, true)
}

// checkCall checks the tool call in doc, if there is one. A strict caller's tools
// are all known by name.
func checkCall(doc map[string]any, at string, of demand, strict bool) error {
	tool, named := doc["tool_name"].(string)
	if !named {
		return nil
	}
	if tool == "" {
		return fmt.Errorf("%stool_name is empty", at)
	}
	input, ok := doc["tool_input"].(map[string]any)
	if !ok {
		return nil
	}
	at += "tool_input."
	known := slices.Values(inputKeys[:])
	// A tool of an MCP server may well call its own argument URL.
	foreign := !strict || strings.HasPrefix(tool, "mcp__")
	if fields := fieldsOf(tool); fields != nil {
		known, foreign = names(fields), false
		if err := checkFields(input, demanded(fields, of), true, at); err != nil {
			return err
		}
	}
	return lookAlikes(input, known, at, foreign)
}

// fieldsOf returns the fields of a known tool's input, else nil.
func fieldsOf(tool string) []moment.Field {
	for i := range tools {
		if tools[i].name == tool {
			return tools[i].fields
		}
	}
	return nil
}

// demanded returns fields with what of leaves of their needs.
func demanded(fields []moment.Field, of demand) []moment.Field {
	if of == whole {
		return fields
	}
	if of == nothing {
		return nil
	}
	fields = slices.Clone(fields)
	for i := range fields {
		if fields[i].Name != "command" {
			fields[i].Need = moment.Maybe
		}
	}
	return fields
}

func checkFields(doc map[string]any, fields []moment.Field, strict bool, at string) error {
	for _, f := range fields {
		v, ok := doc[f.Name]
		wanted := typeNames[f.Type]
		switch {
		case !ok && (f.Need == moment.Must || f.Need == moment.Sent && strict):
			return fmt.Errorf("%s%s is missing", at, f.Name)
		case !ok, v == nil && f.Need == moment.OrNull, f.Type == moment.Anything, strictjson.TypeName(v) == wanted:
		default:
			return fmt.Errorf("%s%s: %s where %s is wanted", at, f.Name, strictjson.TypeName(v), wanted)
		}
	}
	return nil
}

// typeNames are the types of fields in the words of [strictjson.TypeName].
var typeNames = [...]string{
	moment.Text: "a string", moment.Number: "a number", moment.Boolean: "a boolean", moment.Object: "an object",
	moment.List: "an array", moment.Texts: "an array", moment.Anything: "a value",
}

// topKeys yields every name that a top-level field of an event may have.
func topKeys(yield func(string) bool) {
	all := moment.CommonFields()
	for _, m := range moment.Every() {
		all = append(all, m.Fields...)
	}
	names(all)(yield)
}

// names yields the names of fields.
func names(fields []moment.Field) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, f := range fields {
			if !yield(f.Name) {
				return
			}
		}
	}
}

// lookAlikes refuses a key that is not one of known but that a lenient reader
// or a person could take for one. Keys of the protocol are
// ASCII, so any other is refused without a list of twins. The keys of a foreign
// tool are its own: there only the list counts, and the case of ASCII letters
// may differ.
func lookAlikes(doc map[string]any, known iter.Seq[string], at string, foreign bool) error {
	var first string // of the offending keys, so that the message does not vary
	var err error
	for key := range doc {
		if err == nil || key < first {
			if e := lookAlike(key, known, foreign); e != nil {
				first, err = key, fmt.Errorf("%skey %w", at, e)
			}
		}
	}
	return err
}

func lookAlike(key string, known iter.Seq[string], foreign bool) error {
	fold := strictjson.Fold(key)
	ascii := isASCII(key)
	switch {
	case fold == key, foreign && ascii:
		return nil
	case !foreign && !ascii:
		return fmt.Errorf("%s is not plain ASCII", quote(key))
	}
	for name := range known {
		if fold == name {
			return fmt.Errorf("%s looks like %q", quote(key), name)
		}
	}
	return nil
}

// quote shows a stranger's text in a message of one short line.
func quote(s string) string { return strconv.QuoteToASCII(shorten(s, 80)) }

// isASCII reports whether s has characters from U+0020 to U+007E only.
func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] < 0x20 || s[i] > 0x7E {
			return false
		}
	}
	return true
}
