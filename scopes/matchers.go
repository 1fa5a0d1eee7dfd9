package scopes

import "gate/matcher"

// matchers are compiled once for all hooks that share them: most of a set name
// the same few tools.
type matchers struct {
	backtracker matcher.Backtracker
	known       map[string]*matcher.Matcher
}

func (m *matchers) compile(text string) (*matcher.Matcher, error) {
	if c := m.known[text]; c != nil {
		return c, nil
	}
	c, err := matcher.Compile(text, m.backtracker)
	if err != nil {
		return nil, err
	}
	if m.known == nil {
		m.known = map[string]*matcher.Matcher{}
	}
	m.known[text] = c
	return c, nil
}

// An Option is something that [New] can do without.
type Option func(*matchers)

// WithBacktracking has matchers understand every regular expression. Without it
// some are a mistake in their source, [matcher.ErrBacktracks].
func WithBacktracking(b matcher.Backtracker) Option {
	return func(p *matchers) { p.backtracker = b }
}
