package wordlist

import (
	"cmp"
	"slices"
)

// A Named is a value, mostly a function, that a table holds under a name.
type Named[V any] struct {
	Name  string
	Value V
}

// Find returns the value of a name, the zero value if there is none. The table is in
// the order of names: a map would be made at every start of the program, the
// compiler lays out a table.
func Find[V any](table []Named[V], name string) (value V) {
	at, found := slices.BinarySearchFunc(table, name, func(n Named[V], name string) int { return cmp.Compare(n.Name, name) })
	if found {
		value = table[at].Value
	}
	return value
}
