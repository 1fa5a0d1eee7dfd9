package scopes

import (
	"gate/hook"
)

// Sources of managed authority are ranked: the machine's own files, then the
// bundles in force in their order. Whoever signs a later bundle, a team's, may
// be somebody else than whoever signs an earlier one, the company's: what stands
// there, a later one may make stricter and nothing else.

func ordersOf(sources []Source) map[string]int {
	orders := map[string]int{}
	for _, src := range sources {
		if src.Authority == hook.Managed && !src.Library {
			orders[src.Name] = src.Order
		}
	}
	return orders
}
