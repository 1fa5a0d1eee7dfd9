package commands

import (
	"slices"
	"testing"
)

// TestGroups holds that help shows each command in a group, but for what is about gate itself.
func TestGroups(t *testing.T) {
	for _, cmd := range Tree().Commands() {
		alone := []string{"version", "help", "completion"}
		if cmd.GroupID == "" && !cmd.IsAdditionalHelpTopicCommand() && !cmd.Hidden && !slices.Contains(alone, cmd.Name()) {
			t.Errorf("%s stands in no group", cmd.Name())
		}
	}
}
