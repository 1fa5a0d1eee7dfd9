// Package builtin holds OPA's builtins for compiled policies: functions of values
// to a value, by the names that OPA gives them.
//
// A program lists the builtins that it calls; package internal/plan asks [Lookup]
// for them when it opens the program. What is not here is known when policies
// are compiled, and those that need it stay with OPA. It is not for deciding who
// may call what: internal/rego grants builtins by authority.
package builtin

import (
	"errors"
	"fmt"
	"strings"
	"sync"

	"gate/internal/plan/pattern"
	"gate/internal/plan/value"
)

// A Func is one builtin. It gets as many arguments as the builtin declares, none
// of them nil, and must neither change them nor keep args. A nil value without an error means
// undefined. A relation, which is walk only, returns the array of its results.
//
// An error is one of the call: a [*TypeError] for an operand of a wrong type, a
// [*Halt] for what ends the whole evaluation, any other for what the builtin
// cannot do with its operands. Its text does not name the builtin; the machine
// puts that in front.
type Func func(ctx *Context, args []value.Value) (value.Value, error)

// A TypeError is an operand of a wrong type.
type TypeError struct{ Message string }

func (e *TypeError) Error() string { return e.Message }

// Operand returns the error for operand n, counted from 1, that is not one of
// the wanted types.
func Operand(n int, got value.Value, wanted ...string) error {
	if len(wanted) == 1 {
		return &TypeError{fmt.Sprintf("operand %d must be %s but got %s", n, wanted[0], value.KindOf(got))}
	}
	return &TypeError{fmt.Sprintf("operand %d must be one of {%s} but got %s", n, strings.Join(wanted, ", "), value.KindOf(got))}
}

// A Halt ends the evaluation, whatever is made of other errors.
type Halt struct{ Err error }

func (h *Halt) Error() string { return h.Err.Error() }
func (h *Halt) Unwrap() error { return h.Err }

// The ends of a budget. [Context.Spend] and [Context.Alloc] return them in a
// [*Halt].
var (
	ErrSteps  = errors.New("the policy takes too many steps")
	ErrMemory = errors.New("the policy needs too much memory")
)

// A Context is what builtins know beyond their arguments. It belongs to one
// evaluation and is not safe for concurrent use. The zero value has no limits
// and is at the epoch.
type Context struct {
	// Now is the event's time in nanoseconds since 1970.
	Now int64
	// Steps and Memory are what is left: a step is about the work of comparing
	// two small values, memory is in bytes and is not given back. Nothing is
	// limited while Limited is false.
	Steps, Memory int64
	Limited       bool
	// Check is asked now and then whether to go on; nil means always.
	Check func() error
	// Cache holds what patterns were compiled to; nil keeps nothing.
	Cache *Cache
	// Patterns returns what was compiled of a pattern before; nil: nothing was.
	Patterns func(text string) Patterns

	scratch   pattern.Scratch
	split     splitText // the last one
	unchecked int64
	failed    error
}

// maxAtOnce is how many steps may be taken at once where steps are limited:
// nothing looks at the clock meanwhile. It is some tenths of a second.
const maxAtOnce = 1 << 26

// checkEvery is how many steps pass between two checks.
const checkEvery = 4096

// Spend takes n steps off the budget. A builtin whose work is more than a small
// multiple of its arguments' [value.Weight], which the machine takes by itself,
// calls it before or while it works. After the first error it never returns nil
// again.
func (c *Context) Spend(n int) error {
	if n > maxAtOnce && c.Limited && c.failed == nil {
		c.failed = &Halt{ErrSteps}
	}
	c.unchecked += int64(n)
	c.Steps -= int64(n)
	if c.unchecked < checkEvery && (c.Steps >= 0 || !c.Limited) {
		return c.failed
	}
	return c.check()
}

func (c *Context) check() error {
	c.unchecked = 0
	switch {
	case c.failed != nil:
	case c.Limited && c.Steps < 0:
		c.failed = &Halt{ErrSteps}
	case c.Check != nil:
		if err := c.Check(); err != nil {
			c.failed = &Halt{err}
		}
	}
	return c.failed
}

// Alloc takes bytes off the memory. A builtin calls it before it makes more than
// its arguments could explain; the machine takes what results weigh by itself.
func (c *Context) Alloc(bytes int) error {
	c.Memory -= int64(bytes)
	if c.Limited && (bytes < 0 || c.Memory < 0) && c.failed == nil {
		c.failed = &Halt{ErrMemory}
	}
	return c.failed
}

// Cached returns what key stands for, from the cache or made by build. Kind
// tells keys of different builtins apart. Errors are not kept.
func (c *Context) Cached(kind, key string, build func() (any, error)) (any, error) {
	if v, ok := c.Cache.get(kind, key); ok {
		return v, nil
	}
	v, err := build()
	if err == nil {
		c.Cache.put(kind, key, v)
	}
	return v, err
}

// Patterns are what a text is compiled to as an expression and as a glob. One that
// there is no program of may be a pattern all the same.
type Patterns struct{ Regex, Glob pattern.Program }

// A Cache keeps compiled patterns, at most a few thousand of moderate length. It
// is safe for concurrent use; nil is an empty one that keeps nothing. It must not
// be shared by policies that must not know of each other.
type Cache struct {
	mu      sync.RWMutex
	entries map[cacheKey]any
}

type cacheKey struct{ kind, key string }

const (
	maxCached    = 4096
	maxCachedKey = 4096
)

func (c *Cache) get(kind, key string) (any, bool) {
	if c == nil {
		return nil, false
	}
	c.mu.RLock()
	defer c.mu.RUnlock()
	v, ok := c.entries[cacheKey{kind, key}]
	return v, ok
}

func (c *Cache) put(kind, key string, v any) {
	if c == nil || len(key) > maxCachedKey {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.entries == nil || len(c.entries) >= maxCached {
		c.entries = map[cacheKey]any{}
	}
	c.entries[cacheKey{kind, key}] = v
}
