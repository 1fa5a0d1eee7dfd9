package load

import (
	"fmt"
	"maps"
	"slices"

	"gate/internal/framework"
	"gate/internal/spelling"
)

// serves reads the items of published lists that a policy is there for: by the name of a
// list, IDs. Items of lists that gate knows must be there. Any other name is that of the
// author's own list, unless it is a slip of one of those.
func serves(value any) ([]string, error) {
	lists, ok := value.(map[string]any)
	if !ok || len(lists) == 0 {
		return nil, fmt.Errorf("serves must be a mapping from lists to their items, such as {owasp-mcp: [MCP05]}")
	}
	var of []string
	for _, name := range slices.Sorted(maps.Keys(lists)) {
		items, ok := lists[name].([]any)
		if !ok || len(items) == 0 {
			return nil, fmt.Errorf("serves: %s must be a list with at least one item", name)
		}
		known, ours := framework.Named(name)
		if !ours {
			if meant := spelling.Nearest(name, framework.Names()); meant != "" || !framework.Word(name) {
				return nil, fmt.Errorf("serves: no list has the name %q%s", name, didYouMean(name, meant, framework.Names()))
			}
		}
		for _, item := range items {
			id, _ := item.(string)
			switch {
			case !framework.Word(id):
				return nil, fmt.Errorf("serves: %v is not the ID of an item; write letters, digits and -._", item)
			case ours && !known.Takes(id):
				return nil, fmt.Errorf("serves: %s has no item %q%s", name, id, itemMeant(known, id))
			case slices.Contains(of, framework.Join(name, id)):
				return nil, fmt.Errorf("serves: %s lists %s twice", name, id)
			}
			of = append(of, framework.Join(name, id))
		}
	}
	slices.Sort(of)
	return of, nil
}

// itemMeant ends the message about an item that a list does not have.
func itemMeant(list framework.Framework, id string) string {
	if list.Open {
		return "; its items look like " + list.Items[0].ID
	}
	return didYouMean(id, "", list.IDs())
}
