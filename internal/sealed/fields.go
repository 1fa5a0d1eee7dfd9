package sealed

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"
)

// fields reads a closed JSON object: every key is asked for by its type, and
// done reports all mistakes at once, unknown keys among them.
type fields struct {
	at    string // where the object stands, for messages
	left  map[string]any
	known []string
	Errs  []error
}

func NewFields(at string, object map[string]any) *fields {
	return &fields{at: at, left: maps.Clone(object)}
}

func (f *fields) fail(key, format string, args ...any) {
	where := key
	if f.at != "" {
		where = f.at + "." + key
	}
	f.Errs = append(f.Errs, fmt.Errorf("%s: %w", where, fmt.Errorf(format, args...)))
}

// take returns a value and marks its key as known.
func (f *fields) take(key string) (any, bool) {
	v, ok := f.left[key]
	delete(f.left, key)
	f.known = append(f.known, key)
	return v, ok
}

func read[T any](f *fields, key, what string) (value T, given bool) {
	v, ok := f.take(key)
	if !ok {
		return value, false
	}
	value, ok = v.(T)
	if !ok {
		f.fail(key, "%s is wanted", what)
	}
	return value, ok
}

func (f *fields) Text(key string) string {
	s, _ := read[string](f, key, "a text")
	return s
}

func (f *fields) flag(key string) bool {
	b, _ := read[bool](f, key, "true or false")
	return b
}

func (f *fields) Object(key string) map[string]any {
	m, _ := read[map[string]any](f, key, "an object")
	return m
}

// number is a whole number that every reader of JSON understands alike; 0 when
// the key is not there.
func (f *fields) Number(key string, most int64) int64 {
	n, given := read[json.Number](f, key, "a number")
	if !given {
		return 0
	}
	i, err := strconv.ParseInt(string(n), 10, 64)
	if err != nil || i < 0 || i > most {
		f.fail(key, "a whole number from 0 to %d is wanted", most)
		return 0
	}
	return i
}

// maxInteger is the largest number that readers with 64-bit floats know exactly.
const MaxInteger = 1<<53 - 1

// maxTexts bounds a list of texts. What a stranger wrote is read before its
// signature is checked.
const maxTexts = 1000

func (f *fields) Texts(key string) []string {
	list, _ := read[[]any](f, key, "a list of texts")
	if len(list) > maxTexts {
		f.fail(key, "more than %d texts", maxTexts)
		return nil
	}
	var texts []string
	for _, v := range list {
		s, ok := v.(string)
		if !ok || s == "" {
			f.fail(key, "a list of texts is wanted")
			return nil
		}
		if slices.Contains(texts, s) {
			f.fail(key, "%s is there twice", Shown(s))
		}
		texts = append(texts, s)
	}
	return texts
}

// moment is a time; the zero time when the key is not there.
func (f *fields) Moment(key string) time.Time {
	s, given := read[string](f, key, "a time such as 2027-01-31T00:00:00Z")
	if !given {
		return time.Time{}
	}
	t, err := time.Parse(time.RFC3339, s)
	if err != nil || t.IsZero() {
		f.fail(key, "a time such as 2027-01-31T00:00:00Z is wanted")
	}
	return t
}

// digest is "sha256:" and 64 hexadecimal digits; "" when the key is not there.
func (f *fields) digest(key string) string {
	s, given := read[string](f, key, "a digest")
	if given && !IsDigest(s) {
		f.fail(key, "a digest such as sha256:0123… is wanted")
	}
	return s
}

// done returns every mistake; of very many the first ones and their number.
func (f *fields) Done() error {
	for _, key := range slices.Sorted(maps.Keys(f.left)) {
		f.fail(Shown(key), "unknown key; known are %v", f.known)
		if len(f.Errs) > maxMistakes {
			break // nobody reads a hundred thousand of them
		}
	}
	return FirstAndCount(f.Errs)
}

const maxMistakes = 100
