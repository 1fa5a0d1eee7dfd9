package load

import (
	"encoding/json"
	"maps"
	"strconv"

	"gate/internal/setting"
)

// SettingsSchema returns the JSON Schema of settings files, made of the table of
// settings.
func SettingsSchema() (map[string]any, error) {
	hooks, err := readSchema("hooks.json")
	if err != nil {
		return nil, err
	}
	all := setting.Type{Kind: setting.Object}
	other := map[string]any{}
	for _, s := range setting.Table() {
		all.Fields = append(all.Fields, s.Field)
		if s.Alias != "" {
			other[s.Alias] = typeSchema(s.Type)
		}
	}
	out := typeSchema(&all).(map[string]any)
	maps.Copy(out["properties"].(map[string]any), other)
	maps.Copy(out, map[string]any{
		"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": schemaBase + "settings.json",
		"title": "Settings: settings.json, settings.toml or settings.yaml", "$defs": hooks.texts[hooks.root]["$defs"],
	})
	return out, nil
}

// typeSchema is the JSON Schema of a type; true takes anything.
func typeSchema(t *setting.Type) any {
	out := map[string]any{}
	number := func(n int) any { return json.Number(strconv.Itoa(n)) }
	notEmpty := map[string]any{"type": "string", "minLength": number(1)}
	switch t.Kind {
	case setting.Switched:
		out["type"] = "boolean"
	case setting.Text:
		out["type"] = "string"
		if t.Pattern != "" {
			out["pattern"] = t.Pattern
		}
		if t.Min >= 0 {
			out["minLength"] = number(1)
		}
	case setting.Word:
		out["enum"] = anys(t.Words)
	case setting.Whole:
		out["type"], out["minimum"], out["maximum"] = "integer", number(t.Min), number(t.Max)
	case setting.Span:
		out["type"] = []any{"string", "number"}
	case setting.Moment:
		out["type"] = "string"
	case setting.Texts:
		out["type"], out["minLength"], out["minItems"], out["items"] = []any{"string", "array"}, number(1), number(1), notEmpty
	case setting.SwitchedText:
		out["type"], out["minLength"] = []any{"boolean", "string"}, number(1)
	case setting.Free:
		out["type"] = []any{"object", "string", "array"}
	case setting.List:
		out["type"], out["items"] = "array", typeSchema(t.Of)
	case setting.Map:
		out["type"], out["additionalProperties"] = "object", typeSchema(t.Of)
		if t.Pattern != "" {
			out["propertyNames"] = map[string]any{"pattern": t.Pattern}
		}
	case setting.Object:
		properties, required := map[string]any{}, []any{}
		for _, f := range t.Fields {
			properties[f.Key] = typeSchema(f.Type)
			if m, ok := properties[f.Key].(map[string]any); ok && f.Says != "" {
				m["description"] = f.Says
			}
			if f.Required {
				required = append(required, f.Key)
			}
		}
		out["type"], out["properties"], out["additionalProperties"] = "object", properties, false
		if len(required) > 0 {
			out["required"] = required
		}
	case setting.Version:
		out["const"] = number(1)
	case setting.Hooks:
		out["$ref"] = "#/$defs/hooks"
	default:
		return true
	}
	return out
}
