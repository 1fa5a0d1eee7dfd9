package flow_test

import (
	"fmt"

	"gate/facts/internal/flow"
)

func ExampleWord_Value() {
	dir := flow.Unknown(&flow.Hole{Why: "set on one way only", Alts: []string{"a", "b"}})
	path := flow.Append(dir, flow.Literal("/x"))
	fmt.Println(path.Value() == nil)
	fmt.Println(path.Variants())
	fmt.Println(*flow.Literal("a/x").Value())
	// Output:
	// true
	// [a/x b/x] true
	// a/x
}

func ExamplePrintf() {
	name := flow.Unknown(&flow.Hole{Why: "$NAME is not set in this line"})
	fmt.Println(flow.Printf([]flow.Word{flow.Literal("rm %s/*"), name}).Written())
	// Output: rm …/*
}
