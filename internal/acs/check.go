package acs

import (
	"errors"
	"fmt"
	"strings"

	"gate/internal/moment"
)

// checkAnswer holds an answer against what its method and the standard allow.
func checkAnswer(doc map[string]any, legal moment.Legal) error {
	decision := textOf(doc, "decision")
	need := map[string]moment.Legal{
		"allow": 0, "deny": moment.MayDeny, "modify": moment.MayModify, "ask": moment.MayAsk, "defer": moment.MayDefer,
	}
	bit, known := need[decision]
	switch {
	case !known:
		return errors.New("there is no decision in it")
	case legal&bit != bit:
		return fmt.Errorf("the method does not take %q", decision)
	case decision != "allow" && strings.TrimSpace(textOf(doc, "reasoning")) == "":
		return errors.New("it gives no reason")
	}
	for _, part := range []struct{ decision, member string }{{"modify", "modifications"}, {"ask", "ask_details"}, {"defer", "defer_details"}} {
		details, given := doc[part.member].(map[string]any)
		if given != (decision == part.decision) || given && len(details) == 0 {
			return fmt.Errorf("%s does not go with %q", part.member, decision)
		}
	}
	changes, _ := doc["modifications"].(map[string]any)
	_, whole := changes["modified_content"]
	_, single := changes["parameter_overrides"]
	if whole && single {
		return errors.New("the modification is of two kinds at once")
	}
	return nil
}
