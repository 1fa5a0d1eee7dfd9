package commands

import (
	"testing"

	"github.com/spf13/cobra"
)

// TestBothSpellings holds that every command which prints for programs knows
// --format json and --json.
func TestBothSpellings(t *testing.T) {
	found := 0
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		for _, below := range cmd.Commands() {
			walk(below)
		}
		format, short := cmd.Flags().Lookup("format"), cmd.Flags().Lookup("json")
		if format == nil && short == nil || cmd.Name() == "import" {
			return
		}
		found++
		if format == nil || short == nil {
			t.Fatalf("%s lacks one of --format and --json", cmd.CommandPath())
		}
		for _, spell := range []struct {
			set, to string
			wants   bool
		}{{"format", "json", true}, {"format", format.DefValue, false}, {"json", "true", true}, {"json", "false", false}} {
			if err := cmd.Flags().Set(spell.set, spell.to); err != nil {
				t.Fatalf("%s: %v", cmd.CommandPath(), err)
			}
			if got := format.Value.String() == "json"; got != spell.wants || short.Value.String() == "true" != spell.wants {
				t.Errorf("%s --%s=%s: %s, %s", cmd.CommandPath(), spell.set, spell.to, format.Value, short.Value)
			}
		}
	}
	walk(newRoot(process{}))
	if found < 20 {
		t.Errorf("only %d commands print for programs", found)
	}
}
