// Package backtracking runs those regular expressions of matchers that Go's
// package regexp does not: they look around, refer back, or mean something else
// in Go's syntax.
//
// Backtracking can take forever over a short text, so each match has a time limit; a
// longer one is Unsure. A program that must start fast does without this package. Pass
// [Compile] to [matcher.Compile].
package backtracking

import (
	"fmt"
	"sync"
	"time"

	"github.com/dlclark/regexp2"

	"gate/matcher"
)

// limit bounds one match.
const limit = 20 * time.Millisecond

// Compile is a [matcher.Backtracker].
func Compile(pattern string) (match func(text string) matcher.Truth, err error) {
	re, err := compile(pattern)
	if err != nil {
		return nil, err
	}
	return func(text string) matcher.Truth { return run(re, text) }, nil
}

// fineClock makes regexp2's time limits fire: by default it looks at the clock
// every 100 ms, and a limit of 10 ms fires after 200. The
// setting belongs to the process and must be made before regexp2's clock first
// runs. This is gate's one place for it, on the way to the first pattern that
// needs regexp2, so that processes without one pay nothing.
var fineClock = sync.OnceFunc(func() { regexp2.SetTimeoutCheckPeriod(time.Millisecond) })

// compile turns a panic of the parser, which fuzzing has found before, into an
// error.
func compile(pattern string) (re *regexp2.Regexp, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%v", p)
		}
	}()
	fineClock()
	if re, err = regexp2.Compile(pattern, regexp2.ECMAScript); err != nil {
		return nil, err
	}
	re.MatchTimeout = limit
	return re, nil
}

// run is Unsure when the time is over, or when the engine fails.
func run(re *regexp2.Regexp, text string) (t matcher.Truth) {
	defer func() {
		if recover() != nil {
			t = matcher.Unsure
		}
	}()
	switch ok, err := re.MatchString(text); {
	case err != nil:
		return matcher.Unsure
	case ok:
		return matcher.Yes
	}
	return matcher.No
}
