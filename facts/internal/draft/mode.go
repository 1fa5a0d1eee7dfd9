package draft

import "strings"

// worldWritable reads chmod's mode.
func worldWritable(mode string) bool {
	if n := len(mode); n >= 3 && strings.Trim(mode, "01234567") == "" {
		return (mode[n-1]-'0')&2 != 0
	}
	for _, clause := range strings.Split(mode, ",") {
		who, what, ok := strings.Cut(clause, "+")
		if !ok {
			who, what, ok = strings.Cut(clause, "=")
		}
		if ok && strings.Contains(what, "w") && strings.ContainsAny(who, "oa") {
			return true
		}
	}
	return false
}

func setuid(mode string) bool {
	if len(mode) == 4 && strings.Trim(mode, "01234567") == "" {
		return (mode[0]-'0')&6 != 0
	}
	for _, clause := range strings.Split(mode, ",") {
		if i := strings.IndexAny(clause, "+="); i >= 0 && strings.Contains(clause[i:], "s") {
			return true
		}
	}
	return false
}
