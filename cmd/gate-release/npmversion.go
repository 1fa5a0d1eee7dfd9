package main

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

var leadingZeros = regexp.MustCompile(`^0+([0-9]+)$`)

// npmVersion is the release's name as a version of npm's packages (semver 2.0.0). It has no
// sign for what comes after a number, so that becomes a pre-release of the next one: three
// commits after v1.2.0 are 1.2.1-dev.3.gabc1234.
func (r *Release) npmVersion() (string, error) {
	v := r.packageVersion()
	words := strings.Split(v.number, ".")
	if len(words) > 3 {
		return "", fmt.Errorf("version %q: npm's versions have three numbers", r.Version)
	}
	var numbers [3]uint64
	for i, word := range words {
		n, err := strconv.ParseUint(word, 10, 52) // JavaScript's integers end at 2^53
		if err != nil {
			return "", fmt.Errorf("version %q: %s is too large for npm", r.Version, word)
		}
		numbers[i] = n
	}
	parts := []string{v.before}
	if len(v.after) > 0 {
		if v.before == "" {
			numbers[2]++
		}
		parts = append(parts, "dev")
		if v.after[0] == "dirty" {
			parts = append(parts, "0") // commits since the tag
		}
		parts = append(parts, v.after...)
	}
	parts = slices.DeleteFunc(strings.Split(strings.Join(parts, "."), "."), func(part string) bool { return part == "" })
	for i, part := range parts {
		parts[i] = leadingZeros.ReplaceAllString(part, "$1")
	}
	version := fmt.Sprintf("%d.%d.%d", numbers[0], numbers[1], numbers[2])
	if len(parts) > 0 {
		version += "-" + strings.Join(parts, ".")
	}
	return version, nil
}
