package session

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"gate/hook"
)

// Limits of what waits for one session.
const (
	MaxText      = 8 << 10  // bytes of one text
	MaxWaiting   = 64       // texts
	maxTextTotal = 64 << 10 // bytes of all of them
	maxMatcher   = 1 << 10
)

// An Injection is a text that somebody outside has for a running agent.
type Injection struct {
	Text     string        // at most MaxText bytes of UTF-8
	Matcher  string        // which tool's call brings it; "" is any
	Strategy hook.Strategy // "" is hook.ToolResult
	Expires  time.Time     // not delivered from then on; zero: never
	Sequence int           // set by Inject: counts from 1, in order of arrival
	Created  time.Time     // set by Inject
}

// Inject adds a text behind those that wait already and returns its number.
// The caller has checked the matcher.
func (m *Memory) Inject(in Injection, now time.Time) (sequence int, err error) {
	m.drop(now)
	size := len(in.Text)
	for _, w := range m.Injections {
		size += len(w.Text)
	}
	if in.Strategy == "" {
		in.Strategy = hook.ToolResult
	}
	switch {
	case strings.TrimSpace(in.Text) == "":
		return 0, errors.New("there is no text")
	case len(in.Text) > MaxText:
		return 0, fmt.Errorf("the text has more than %d bytes", MaxText)
	case !utf8.ValidString(in.Text) || !utf8.ValidString(in.Matcher):
		return 0, errors.New("it is not UTF-8")
	case len(in.Matcher) > maxMatcher:
		return 0, fmt.Errorf("the matcher has more than %d bytes", maxMatcher)
	case in.Strategy != hook.ToolResult && in.Strategy != hook.UserMessage:
		return 0, fmt.Errorf("the strategy must be %s or %s", hook.ToolResult, hook.UserMessage)
	case len(m.Injections) >= MaxWaiting || size > maxTextTotal:
		return 0, errors.New("too much waits for this session already")
	case !in.Expires.IsZero() && !in.Expires.After(now):
		return 0, errors.New("it has expired already")
	}
	m.Sequence++
	in.Sequence, in.Created = m.Sequence, now.UTC().Truncate(time.Millisecond)
	in.Expires = in.Expires.UTC().Truncate(time.Millisecond)
	m.Injections = append(m.Injections, in)
	return m.Sequence, nil
}

// Take removes the texts that matches holds for and returns them in order: at
// most bytes of text; one that does not fit waits, and so do those behind it.
// What has expired is gone without being returned. Nobody gets a text twice
// whose Take was kept by [Store.Update].
func (m *Memory) Take(now time.Time, bytes int, matches func(*Injection) bool) []Injection {
	m.drop(now)
	var taken, left []Injection
	full := false
	for _, in := range m.Injections {
		wanted := matches(&in)
		full = full || wanted && len(in.Text) > bytes
		if full || !wanted {
			left = append(left, in)
			continue
		}
		taken = append(taken, in)
		bytes -= len(in.Text)
	}
	m.Injections = left
	return taken
}

// drop removes what has expired.
func (m *Memory) drop(now time.Time) {
	if now.Before(m.Latest) {
		now = m.Latest
	}
	m.Injections = slices.DeleteFunc(m.Injections, func(in Injection) bool {
		return !in.Expires.IsZero() && !in.Expires.After(now)
	})
}
