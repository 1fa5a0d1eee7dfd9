// Fills the store of a collector with a fleet that does not exist, for measurements and
// looks at its page: go run ./.ci/fleet -database DIRECTORY|postgres://…
package main

import (
	"context"
	"flag"
	"fmt"
	"os"

	"gate/internal/collect/sample"
)

func main() {
	database := flag.String("database", "", "a `directory`, or postgres://…; no collector may use it")
	var f sample.Fleet
	flag.IntVar(&f.Machines, "machines", 0, "how many machines; 0: 5000")
	flag.IntVar(&f.Days, "days", 0, "how many days figures go back; 0: 30")
	flag.Int64Var(&f.Calls, "calls", 0, "calls in these days; 0: 50 million")
	odd := flag.String("odd", "", "a `file` with the names of one machine more")
	flag.Parse()
	if err := run(*database, *odd, f); err != nil {
		fmt.Fprintln(os.Stderr, "fleet: "+err.Error())
		os.Exit(1)
	}
}

func run(database, odd string, f sample.Fleet) error {
	if odd != "" {
		text, err := os.ReadFile(odd)
		if err != nil {
			return err
		}
		f.Odd = string(text)
	}
	return sample.Fill(context.Background(), database, f)
}
