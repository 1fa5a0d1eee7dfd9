package pipeline

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"gate/facts"
	"gate/hook"
	"gate/matcher"
)

// A rule is one entry of a permission list.
type rule struct {
	text      string
	tool      string // the name before the pattern
	whole     bool   // it has no pattern: any call of the tool
	condition matcher.Condition
}

type rules struct{ allow, ask, deny []rule }

// compileRules reads the lists and reports every mistake in them.
func compileRules(allow, ask, deny []string) (r rules, err error) {
	var errs []error
	for _, list := range []struct {
		name  string
		texts []string
		into  *[]rule
	}{{"Allow", allow, &r.allow}, {"Ask", ask, &r.ask}, {"Deny", deny, &r.deny}} {
		for i, text := range list.texts {
			one, err := compileRule(text)
			if err == nil && list.name == "Allow" && (one.tool == "effect" || one.tool == "unknown") {
				err = fmt.Errorf("%q: what is allowed is named by words, paths or hosts, not by what it does", text)
			}
			if err != nil {
				errs = append(errs, fmt.Errorf("%s[%d]: %w", list.name, i, err))
			}
			*list.into = append(*list.into, one)
		}
	}
	return r, errors.Join(errs...)
}

func compileRule(text string) (rule, error) {
	name, inner, _ := strings.Cut(strings.TrimSpace(text), "(")
	inner = strings.TrimSpace(strings.TrimSuffix(inner, ")"))
	c, err := matcher.ParseCondition(text)
	return rule{text: text, tool: name, whole: inner == "" || inner == "*", condition: c}, err
}

// A permission is what the lists say about a call.
type permission struct {
	effect hook.Effect
	rule   string // the one that says it, "" if none does
	why    string // for the model and the person
}

// judge judges a call with its facts. A Pass is a question unless a hook allowed
// the call: there are rules that allow, and none means it.
func (r *rules) judge(ev *hook.Event) permission {
	if strange(ev) {
		seen := *ev.Facts
		seen.Opaque, seen.Unknown = false, nil
		plain := *ev
		plain.Facts = &seen
		ev = &plain
	}
	for _, list := range []struct {
		effect hook.Effect
		rules  []rule
	}{{hook.Deny, r.deny}, {hook.Ask, r.ask}} {
		for _, one := range list.rules {
			switch one.condition.Match(ev) {
			case matcher.Yes:
				return permission{list.effect, one.text, "the permission rule " + one.text}
			case matcher.Unsure: // enough to tighten
				return permission{list.effect, one.text, "the permission rule " + one.text + ", which this may be, as far as it was understood,"}
			}
		}
	}
	if text, ok := r.allows(ev); ok {
		return permission{effect: hook.Allow, rule: text}
	}
	if len(r.allow) > 0 {
		return permission{effect: hook.Pass, why: "no rule of the Allow list means all of this call"}
	}
	return permission{effect: hook.Allow}
}

// strange reports a tool that gate does not know, when that is all it does not
// know of the call. What such a tool does with its input nobody can tell; but it
// is one of the program's own, and a rule that names it means it.
func strange(ev *hook.Event) bool {
	f := ev.Facts
	return f != nil && len(f.Unknown) == 1 && f.Unknown[0].Kind == "tool" && !facts.KnowsTool(ev.Tool())
}

// allows reports whether the list allows the whole call: by a rule that names
// the tool alone, or by patterns that cover each part of it. A shell line is
// covered by rules about commands only: a file that may be read may not be run.
// Of tools that gate does not know, the fields it guesses cover nothing.
func (r *rules) allows(ev *hook.Event) (string, bool) {
	if ev.Facts == nil || ev.Facts.Opaque {
		return "", false
	}
	known := facts.KnowsTool(ev.Tool())
	var used []string
	var conditions []matcher.Condition
	for _, one := range r.allow {
		switch {
		case one.whole && one.condition.Match(ev) == matcher.Yes:
			return one.text, true
		case one.whole || !known:
		case ev.Facts.Shell != nil && !slices.Contains([]string{"Bash", "PowerShell"}, one.tool):
		default:
			conditions, used = append(conditions, one.condition), append(used, one.text)
		}
	}
	return strings.Join(used, ", "), len(conditions) > 0 && matcher.Covers(conditions, ev)
}
