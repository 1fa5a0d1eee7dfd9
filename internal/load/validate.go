package load

import (
	"embed"
	"fmt"
	"slices"
	"strings"
	"sync"

	"gate/internal/strictjson"
)

// schemas say which keys a file of ours has and of which types they are; that of
// settings is made of their table. What values mean is checked by whoever reads
// them.
//
//go:embed schema/*.json
var schemas embed.FS

// The schemas are read when the first file of their kind is: a machine without
// settings does not pay for them.
var (
	settingsSchema = sync.OnceValues(readSettingsSchema)
	hooksSchema    = sync.OnceValues(func() (*schema, error) { return readSchema("hooks.json") })
)

func readSettingsSchema() (*schema, error) {
	text, err := SettingsSchema()
	return &schema{root: schemaBase + "settings.json", texts: map[string]map[string]any{schemaBase + "settings.json": text}}, err
}

func readSchema(name string) (*schema, error) {
	s := &schema{root: schemaBase + name, texts: map[string]map[string]any{}}
	entries, err := schemas.ReadDir("schema")
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		text, err := schemas.ReadFile("schema/" + e.Name())
		if err != nil {
			return nil, err
		}
		if s.texts[schemaBase+e.Name()], err = strictjson.Object(text, strictjson.Limits{}); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// validate returns every mistake in a document that the schema finds, with
// hints where a key is misspelt.
func (d *document) validate(get func() (*schema, error)) (errs []error) {
	s, err := get()
	if err != nil {
		return []error{fmt.Errorf("%s: %w", d.file, err)}
	}
	s.check(d.value, func(v violation) {
		add := func(pointer, format string, args ...any) { errs = append(errs, d.errorf(pointer, format, args...)) }
		where := dotted(v.at)
		switch v.keyword {
		case "additionalProperties":
			at := below(v.at, v.key)
			add(at, "unknown key %s%s", dotted(at), didYouMean(v.key, keyMeant(v.key, v.known), v.known))
		case "propertyNames", "pattern":
			add(v.at, "%s: it %s", where, v.message)
		default:
			add(v.at, "%s: %s", where, v.message)
		}
	})
	return errs
}

// keyMeant returns the key that somebody with other habits means, "" if it is none
// of those that are known.
func keyMeant(key string, known []string) string {
	if right := settingAlias[key]; slices.Contains(known, right) {
		return right
	}
	return ""
}

// settingAlias are spellings of other systems and habits.
var settingAlias = map[string]string{
	"rules": "policies", "policy": "policies", "levels": "policies", "parameters": "params", "param": "params", "disabled": "disableAllHooks",
	"disableHooks": "disableAllHooks", "managedHooksOnly": "allowManagedHooksOnly", "exemptions": "exceptions",
	"expires": "until", "expiry": "until", "event": "events", "name": "id", "onFault": "on_fault", "run": "command",
	"tool_matcher": "matcher", "timeout_sec": "timeout", "condition": "if", "cmd": "command", "enabledPlugins": "plugins",
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
