// Package gitconfig reads git's configuration as git does. It takes texts: which
// files there are, and what a command line sets besides, package facts knows. Start
// with an empty [Settings], and [Settings.Parse] each text in git's order.
package gitconfig

import "strings"

// Settings are values of git's configuration by key, section and name in
// lower case, the last one counting.
type Settings map[string][]string

// Last returns the value of a key that counts, "" where there is none.
func (g Settings) Last(key string) string {
	if v := g[key]; len(v) > 0 {
		return v[len(v)-1]
	}
	return ""
}

// Set adds a value. Only section and name of a key ignore case, not what is
// between; a key without a section is none.
func (g Settings) Set(key, value string) {
	first, last := strings.IndexByte(key, '.'), strings.LastIndexByte(key, '.')
	if first < 0 {
		return
	}
	key = strings.ToLower(key[:first]) + key[first:last] + strings.ToLower(key[last:])
	g[key] = append(g[key], value)
}

// True reports a value that git takes for true.
func True(value string) bool {
	switch strings.ToLower(value) {
	case "", "false", "no", "off", "0":
		return false
	}
	return true
}
