package mark_test

import (
	"maps"
	"testing"

	"gate/internal/mark"
)

func TestSeen(t *testing.T) {
	all := mark.Marks{
		All: []mark.Mark{
			{Name: "a", Value: "user's", Source: "user"},
			{Name: "b", Value: "user's", Source: "user"},
			{Name: "c", Value: "project's", Source: "project"},
			{Name: "a", Value: "managed", Source: "managed", Policy: true},
			{Name: "d", Value: "first bundle's", Source: "managed:one", Policy: true},
			{Name: "d", Value: "second bundle's", Source: "managed:two", Policy: true},
			{Name: "a", Value: "trial's", Source: "trial:one", Policy: true, Trial: true},
		},
		Full: []string{"project"},
	}
	for source, want := range map[string]map[string]string{
		"user":        {"a": "managed", "b": "user's", "d": "second bundle's"},
		"project":     {"a": "managed", "c": "project's", "d": "second bundle's"},
		"managed":     {"a": "managed", "d": "second bundle's"},
		"managed:one": {"a": "managed", "d": "first bundle's"},
		"trial:one":   {"a": "trial's", "d": "second bundle's"},
		"other":       {"a": "managed", "d": "second bundle's"},
	} {
		policyScope := source != "user" && source != "project" && source != "other"
		got, full := all.Seen(source, policyScope)
		if !maps.Equal(got, want) || full != (source == "project") {
			t.Errorf("%s sees %v (full %v), want %v", source, got, full, want)
		}
	}
}
