package draft

import (
	"fmt"
	"io/fs"
	"regexp"
	"strings"

	"gate/examples"
	"gate/internal/load"
	"gate/internal/spelling"
	"gate/internal/strictjson"
)

// Examples are the names of the policies that [From] begins with.
func Examples() []string {
	dirs, err := fs.ReadDir(examples.FS(), ".")
	if err != nil {
		return nil
	}
	var names []string
	for _, d := range dirs {
		names = append(names, d.Name())
	}
	return names
}

// From returns the files of an example as those of a policy of another name.
func From(example, id string) ([]File, error) {
	files, err := fs.ReadDir(examples.FS(), example)
	if err != nil || !fs.ValidPath(example) || example == "." || strings.Contains(example, "/") {
		hint := ""
		if right := spelling.Nearest(example, Examples()); right != "" {
			hint = "; did you mean " + right + "?"
		}
		return nil, fmt.Errorf("there is no example %s%s", strictjson.Quoted(example), hint)
	}
	what := map[string]string{".rego": "the rule", "_test.rego": "its Rego tests", "_cases.yaml": "its event cases"}
	var out []File
	for _, f := range files {
		file := File{}
		if suffix, own := strings.CutPrefix(f.Name(), example); own && what[suffix] != "" {
			file.Suffix, file.What = suffix, what[suffix]
		} else if load.IsDataFile(f.Name()) {
			file.Name, file.What = f.Name(), "its data"
		} else {
			continue
		}
		text, err := fs.ReadFile(examples.FS(), example+"/"+f.Name())
		if err != nil {
			return nil, err
		}
		file.Text = renamed(string(text), example, id)
		out = append(out, file)
	}
	return out, nil
}

// renamed puts the package of a policy in the place of an example's. Tests go on calling
// it by the example's name.
func renamed(text, example, id string) string {
	own := regexp.MustCompile(`\b` + examples.Company + `\.` + regexp.QuoteMeta(example) + `(_test)?\b`)
	text = own.ReplaceAllString(text, id+"$1")
	if last := id[strings.LastIndexByte(id, '.')+1:]; last != example {
		text = strings.ReplaceAll(text, "import data."+id+"\n", "import data."+id+" as "+example+"\n")
	}
	return text
}
