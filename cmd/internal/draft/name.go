package draft

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"gate/internal/strictjson"
)

// policyName is a package whose parts are also names of directories on every
// system.
var policyName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)*$`) })

// reservedParts mean something else in Rego.
var reservedParts = []string{
	"as", "contains", "data", "default", "else", "every", "false", "if", "import", "in", "input", "not", "null", "package",
	"rego", "some", "true", "with",
}

// CheckName reports why a name is none for a policy. Names below gate are the
// product's own.
func CheckName(id string) error {
	switch {
	case len(id) > 100:
		return errors.New("the name is longer than 100 characters")
	case policyName().MatchString(strings.ToLower(strings.ReplaceAll(id, "-", "_"))) && !policyName().MatchString(id):
		return fmt.Errorf("%s is no name of a package; did you mean %s?", strictjson.Quoted(id), strings.ToLower(strings.ReplaceAll(id, "-", "_")))
	case !policyName().MatchString(id):
		return fmt.Errorf("%s is no name of a package; use small letters, digits and underscores, and dots between parts, as in acme.push_protected", strictjson.Quoted(id))
	case id == "gate", strings.HasPrefix(id, "gate."):
		return errors.New("packages below gate are the product's own; begin with your company's name, as in acme.push_protected")
	}
	for _, part := range strings.Split(id, ".") {
		if slices.Contains(reservedParts, part) || part == "gate" {
			return fmt.Errorf("%s means something else in Rego; choose another name", strictjson.Quoted(part))
		}
	}
	if strings.HasSuffix(id, "_test") {
		return errors.New("files that end in _test.rego are tests; choose another name")
	}
	return nil
}
