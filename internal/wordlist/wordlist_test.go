package wordlist_test

import (
	"fmt"
	"slices"
	"testing"

	"gate/internal/wordlist"
)

func ExampleHas() {
	const deletes = " rm rmdir unlink "
	fmt.Println(wordlist.Has(deletes, "rm"), wordlist.Has(deletes, "rm rmdir"), wordlist.Has(deletes, "link"), wordlist.Has(deletes, ""))
	// Output: true true false false
}

func ExampleOfName() {
	fmt.Println(wordlist.OfName("mcp__fs__writeFile"))
	// Output: [mcp fs write file]
}

// BenchmarkHas compares the ways to write a short list down, for the last word of a
// list and for one that is not in it.
func BenchmarkHas(b *testing.B) {
	ways := map[string]func(string) bool{
		"text": func(w string) bool { return wordlist.Has(" rm rmdir unlink shred srm wipe truncate trash ", w) },
		"slice": func(w string) bool {
			return slices.Contains([]string{"rm", "rmdir", "unlink", "shred", "srm", "wipe", "truncate", "trash"}, w)
		},
		"switch": func(w string) bool {
			switch w {
			case "rm", "rmdir", "unlink", "shred", "srm", "wipe", "truncate", "trash":
				return true
			}
			return false
		},
	}
	for _, way := range []string{"text", "slice", "switch"} {
		for _, word := range []string{"trash", "terraform"} {
			b.Run(way+"/"+word, func(b *testing.B) {
				for b.Loop() {
					ways[way](word)
				}
			})
		}
	}
}
