package hook_test

import (
	"fmt"

	"gate/hook"
)

func ExampleDecision_Result() {
	asked := hook.Decision{Effect: hook.Ask}
	fmt.Println(asked.Result(true), asked.Result(false))

	changed := hook.Decision{Rewrite: map[string]any{"command": "rm -i old"}}
	fmt.Println(changed.Result(true))

	var nothing hook.Decision
	fmt.Println(nothing.Result(false))
	// Output:
	// continue reject
	// modify_input
	// continue
}
