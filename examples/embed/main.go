// Command embed decides about one call of a tool, with the policies that gate brings.
package main

import (
	"context"
	"fmt"
	"os"

	"gate"
)

func main() {
	g, err := gate.New(gate.Options{Home: "/home/dev", Account: "dev"})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	d := g.Decide(context.Background(), gate.ToolCall("/home/dev/project", "Bash", map[string]any{"command": "rm -rf ~"}))
	fmt.Println(d.Result(false), d.Reason())
}
