package scopes

import "gate/matcher"

// patterns are compiled once for all hooks that share them: most of a set name
// the same few tools.
type patterns struct {
	backtracker matcher.Backtracker
	matchers    map[string]*matcher.Matcher
	conditions  map[string]*matcher.Condition
}

func (p *patterns) matcher(text string) (*matcher.Matcher, error) {
	return once(&p.matchers, text, func(text string) (*matcher.Matcher, error) { return matcher.Compile(text, p.backtracker) })
}

func (p *patterns) condition(text string) (*matcher.Condition, error) {
	return once(&p.conditions, text, matcher.ParseCondition)
}

func once[T any](known *map[string]*T, text string, compile func(string) (*T, error)) (*T, error) {
	if c := (*known)[text]; c != nil {
		return c, nil
	}
	c, err := compile(text)
	if err != nil {
		return c, err
	}
	if *known == nil {
		*known = make(map[string]*T, 16)
	}
	(*known)[text] = c
	return c, nil
}
