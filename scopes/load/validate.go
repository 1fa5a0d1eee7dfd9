package load

import (
	"embed"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"gate/strictjson"
)

// schemas say which keys a file of ours has and of which types they are. What
// values mean is checked by whoever reads them.
//
//go:embed schema/*.json
var schemas embed.FS

// A schema is compiled, together with its text, which says what is known where
// something unknown was found.
type schema struct {
	*jsonschema.Schema
	texts map[string]any // by URL
}

// The schemas are compiled when the first file of their kind is read: a
// machine without settings does not pay for them.
var (
	settingsSchema = sync.OnceValues(func() (*schema, error) { return compile("settings.json") })
	hooksSchema    = sync.OnceValues(func() (*schema, error) { return compile("hooks.json") })
)

const schemaBase = "mem://gate/"

func compile(name string) (*schema, error) {
	s := &schema{texts: map[string]any{}}
	c := jsonschema.NewCompiler()
	c.LoadURL = func(url string) (io.ReadCloser, error) { return nil, fmt.Errorf("no schema %s", url) }
	entries, err := schemas.ReadDir("schema")
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		text, err := schemas.ReadFile("schema/" + e.Name())
		if err != nil {
			return nil, err
		}
		if s.texts[schemaBase+e.Name()], err = strictjson.Decode(text, strictjson.Limits{}); err != nil {
			return nil, err
		}
		if err := c.AddResource(schemaBase+e.Name(), strings.NewReader(string(text))); err != nil {
			return nil, err
		}
	}
	s.Schema, err = c.Compile(schemaBase + name)
	return s, err
}

// validate returns every mistake in a document that the schema finds, with
// hints where a key is misspelt.
func (d *document) validate(get func() (*schema, error)) []error {
	s, err := get()
	if err != nil {
		return []error{fmt.Errorf("%s: %w", d.file, err)}
	}
	var invalid *jsonschema.ValidationError
	switch err := s.Validate(d.value); {
	case err == nil:
		return nil
	case !errors.As(err, &invalid):
		return []error{fmt.Errorf("%s: %w", d.file, err)}
	}
	return d.mistakes(s, invalid)
}

func (d *document) mistakes(s *schema, e *jsonschema.ValidationError) (errs []error) {
	for _, c := range e.Causes {
		errs = append(errs, d.mistakes(s, c)...)
	}
	if len(e.Causes) > 0 {
		return errs
	}
	keyword := e.AbsoluteKeywordLocation[strings.LastIndexByte(e.AbsoluteKeywordLocation, '/')+1:]
	add := func(pointer, format string, args ...any) { errs = append(errs, d.errorf(pointer, format, args...)) }
	at := e.InstanceLocation
	if plain, err := url.PathUnescape(at); err == nil {
		at = plain
	}
	where := dotted(at)
	switch keyword {
	case "additionalProperties":
		known := s.properties(e.AbsoluteKeywordLocation)
		object, _ := lookup(d.value, at).(map[string]any)
		for _, key := range slices.Sorted(maps.Keys(object)) {
			if slices.Contains(known, key) {
				continue
			}
			meant := settingAlias[key]
			if !slices.Contains(known, meant) {
				meant = ""
			}
			add(below(at, key), "unknown key %s%s", dotted(below(at, key)), didYouMean(key, meant, known))
		}
	case "required":
		add(at, "%s: %s", where, strings.Replace(e.Message, "missing properties:", "it lacks", 1))
	case "propertyNames", "pattern":
		add(at, "%s: it %s", where, e.Message)
	default:
		add(at, "%s: %s", where, e.Message)
	}
	return errs
}

// settingAlias are spellings of other systems and habits.
var settingAlias = map[string]string{
	"rules": "policies", "policy": "policies", "levels": "policies", "parameters": "params", "param": "params", "disabled": "disableAllHooks",
	"disableHooks": "disableAllHooks", "managedHooksOnly": "allowManagedHooksOnly", "exemptions": "exceptions",
	"expires": "until", "expiry": "until", "event": "events", "name": "id", "onFault": "on_fault", "run": "command",
	"tool_matcher": "matcher", "timeout_sec": "timeout", "condition": "if", "cmd": "command", "enabledPlugins": "plugins",
}

// properties returns the keys that the schema object around a keyword knows.
func (s *schema) properties(location string) []string {
	base, pointer, _ := strings.Cut(location, "#")
	parent := pointer[:max(strings.LastIndexByte(pointer, '/'), 0)]
	object, _ := lookup(s.texts[base], parent).(map[string]any)
	known, _ := object["properties"].(map[string]any)
	return slices.Sorted(maps.Keys(known))
}

// lookup follows a JSON pointer.
func lookup(v any, pointer string) any {
	unescape := strings.NewReplacer("~1", "/", "~0", "~")
	for _, part := range strings.Split(pointer, "/")[1:] {
		part = unescape.Replace(part)
		switch t := v.(type) {
		case map[string]any:
			v = t[part]
		case []any:
			i := 0
			if _, err := fmt.Sscan(part, &i); err != nil || i < 0 || i >= len(t) {
				return nil
			}
			v = t[i]
		default:
			return nil
		}
	}
	return v
}

// dotted writes a JSON pointer as people do: exceptions[0].until.
func dotted(pointer string) string {
	unescape := strings.NewReplacer("~1", "/", "~0", "~")
	text := ""
	for _, part := range strings.Split(pointer, "/")[1:] {
		part = unescape.Replace(part)
		switch {
		case part != "" && strings.Trim(part, "0123456789") == "":
			text += "[" + part + "]"
		case text == "":
			text = part
		default:
			text += "." + part
		}
	}
	if text == "" {
		return "the file"
	}
	return text
}
