package setting

import "gate/matcher"

// matchers are compiled once for all hooks that share them: most of a set name
// the same few tools.
type Matchers struct {
	Backtracker matcher.Backtracker
	known       map[string]*matcher.Matcher
}

func (m *Matchers) compile(text string) (*matcher.Matcher, error) {
	if c := m.known[text]; c != nil {
		return c, nil
	}
	c, err := matcher.Compile(text, m.Backtracker)
	if err != nil {
		return nil, err
	}
	if m.known == nil {
		m.known = map[string]*matcher.Matcher{}
	}
	m.known[text] = c
	return c, nil
}
