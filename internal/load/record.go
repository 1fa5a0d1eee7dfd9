package load

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/open-policy-agent/opa/v1/ast"
)

// OPA has nothing of what gate itself puts below data.gate: the library, and the
// values of parameters. So a packed bundle holds a copy of both, and its files refer
// to the copy. It stands below the bundle's own name, so that OPA loads several
// bundles side by side. gate reads such files as their author wrote them.

// Parts of data.gate that a packed bundle holds a copy of.
const (
	RecordedLib    = "lib"
	RecordedProof  = "proof"
	RecordedParams = "params"
)

// RecordKey is where the copy stands among what a bundle says below its name.
const RecordKey = "recorded"

// RecordRef is the path of what a packed bundle holds for OPA.
func RecordRef(bundle string) ast.Ref {
	return ast.MustParseRef("data.gate.bundles").Append(ast.StringTerm(bundle)).Append(ast.StringTerm(RecordKey))
}

// Recorded returns a Rego file that refers to the bundle's copy where its author
// wrote data.gate, and the parts of the copy that it needs, sorted. A reference that
// cannot be written so is an error.
func Recorded(bundle, name, text string) (packed string, parts []string, err error) {
	m, err := parse(file{name, text})
	if err != nil || m == nil {
		return text, nil, err
	}
	at := map[int]string{} // the parts, by the offset of the reference
	look := func(r ast.Ref) bool {
		part, one := partOf(r, text)
		switch {
		case one == nil && part != "":
			at[r[0].Location.Offset] = part
		case one != nil && err == nil:
			err = fmt.Errorf("%s:%d: %w", name, r[0].Location.Row, one)
		}
		return false
	}
	for _, i := range m.Imports {
		ast.WalkRefs(i, look)
	}
	for _, r := range m.Rules {
		ast.WalkRefs(r, look)
	}
	if err != nil {
		return text, nil, err
	}
	var b strings.Builder
	end := 0
	for _, offset := range slices.Sorted(maps.Keys(at)) {
		part := at[offset]
		b.WriteString(text[end:offset] + RecordRef(bundle).String() + "." + part)
		end = offset + len(ofGate) + len(part)
	}
	b.WriteString(text[end:])
	return b.String(), slices.Compact(slices.Sorted(maps.Values(at))), nil
}

const ofGate = "data.gate."

// partOf returns the part of data.gate that a reference reads, "" if it has no copy.
// The error is about one that is written in an unusual way.
func partOf(r ast.Ref, text string) (string, error) {
	if len(r) < 2 || !r[0].Equal(ast.DefaultRootDocument) || !r[1].Equal(ast.StringTerm("gate")) {
		return "", nil
	}
	part := ""
	if len(r) > 2 {
		key, isText := r[2].Value.(ast.String)
		if isText && !slices.Contains([]ast.String{RecordedLib, RecordedProof, RecordedParams}, key) {
			return "", nil
		}
		part = string(key)
	}
	if part == "" || !strings.HasPrefix(text[r[0].Location.Offset:], ofGate+part) {
		return "", fmt.Errorf("%s: write %s%s, %s%s or %s%s", r, ofGate, RecordedLib, ofGate, RecordedProof, ofGate, RecordedParams)
	}
	return part, nil
}

// Unrecorded returns the text of a Rego file as its author wrote it, before
// [Recorded].
func Unrecorded(text string) string {
	if !strings.Contains(text, "."+RecordKey+".") {
		return text
	}
	return recorded().ReplaceAllString(text, ofGate+"$1")
}

// recorded is a reference to the copy of a bundle.
var recorded = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\bdata\.gate\.bundles(?:\.\w+|\["[\w-]+"\])\.` + RecordKey + `\.(` + RecordedLib + `|` + RecordedProof + `|` + RecordedParams + `)\b`)
})
