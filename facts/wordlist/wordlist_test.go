package wordlist_test

import (
	"fmt"

	"gate/facts/wordlist"
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
