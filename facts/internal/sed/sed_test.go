package sed_test

import (
	"fmt"
	"strings"
	"testing"

	"gate/facts/internal/sed"
)

func ExampleScript_Next() {
	s := sed.New("1,5{s|a|b\x00|ew out\x00\n/x/!r in\n};e date")
	for c, ok := s.Next(); ok; c, ok = s.Next() {
		fmt.Printf("%c %t %q %q %d\n", c.Name, c.Runs, c.Value.Text, c.File.Text, c.File.Holes)
	}
	// Output:
	// { false "" "" 0
	// s true "b\x00" "out\x00" 1
	// r false "" "in" 2
	// e true "date" "" 0
}

// FuzzNext holds that commands come to an end, and that pieces of a script have the
// holes that they say.
func FuzzNext(f *testing.F) {
	for _, text := range []string{"s/a/b/", "s\x00a\x00b\x00w x", "y/abc/d\\/f/", "a\\\ntext\\\n", "/x/,\\|y|{p;d}", "$!N;s/\\n/ /e", "#n\nr \x00", "s", "\\", "w\x00\ne\x00"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		all := strings.Count(text, string(sed.Hole))
		s := sed.New(text)
		for n := 0; ; n++ {
			c, ok := s.Next()
			if !ok {
				return
			}
			for _, piece := range []sed.Text{c.Value, c.File} {
				if piece.Text != "" && piece.Holes+strings.Count(piece.Text, string(sed.Hole)) > all {
					t.Fatalf("%q: %+v of %d holes", text, piece, all)
				}
			}
			if n > len(text) {
				t.Fatalf("%q: more commands than bytes", text)
			}
		}
	})
}
