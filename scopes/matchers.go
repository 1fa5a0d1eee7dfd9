package scopes

import (
	"gate/internal/setting"
	"gate/matcher"
)

// An Option is something that [New] can do without.
type Option func(*setting.Matchers)

// WithBacktracking has matchers understand every regular expression. Without it
// some are a mistake in their source, [matcher.ErrBacktracks].
func WithBacktracking(b matcher.Backtracker) Option {
	return func(p *setting.Matchers) { p.Backtracker = b }
}
