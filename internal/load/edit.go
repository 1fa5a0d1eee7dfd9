package load

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"go.yaml.in/yaml/v3"

	"gate/hook"
	"gate/internal/setting"
	"gate/internal/strictjson"
)

// Edit returns the settings file data with one key set, or removed if value is
// nil; comments and everything else stay. file is its name, whose ending is the
// format, and data may be empty for a new file. key is the way to the value,
// such as policies, acme.push. a is whose settings they are: what it may not
// set, and what would leave a file with a mistake in it, is an error, and so is
// a file that cannot be edited without a risk; data is then to be left as it
// is.
func Edit(file string, data []byte, a hook.Authority, value any, key ...string) ([]byte, error) {
	if len(key) == 0 {
		return nil, errors.New("no key is named")
	}
	if why := setting.RightTo(key[0], a); why != "" {
		return nil, fmt.Errorf("%s: %s", key[0], why)
	}
	old := &document{file: file, value: map[string]any{}, lines: map[string]int{}}
	fresh := len(bytes.TrimSpace(data)) == 0
	if !fresh {
		var err error
		if old, err = decode(file, data); err != nil {
			return nil, err
		}
	}
	want, changed, err := with(old.value, value, key)
	if err != nil || !changed {
		return data, err
	}
	var out []byte
	switch ext := path.Ext(file); {
	case ext == ".json":
		out = editJSON(data, want, value, key)
	case ext == ".toml":
		out, err = editTOML(data, old.value, value, key)
	case ext == ".yaml" || ext == ".yml":
		out, err = editYAML(data, old.value, value, key)
	default:
		return nil, fmt.Errorf("%s: neither JSON nor TOML nor YAML by its name", file)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w; edit it by hand", file, err)
	}
	return old.checkEdit(out, a, want)
}

// checkEdit reads the new text of a document back: it must say what was wanted,
// and nothing that is a mistake. Mistakes that the document has are at their
// lines; those that are new have no line, for nobody will ever see that text.
func (d *document) checkEdit(out []byte, a hook.Authority, want map[string]any) ([]byte, error) {
	if len(want) == 0 && path.Ext(d.file) != ".json" {
		return nil, fmt.Errorf("%s: nothing would be left in it; remove the file", d.file)
	}
	edited, err := decode(d.file, out)
	if err != nil || !bytes.Equal(strictjson.Append(nil, edited.value), strictjson.Append(nil, want)) {
		return nil, fmt.Errorf("%s: the form it is written in cannot be edited safely; edit it by hand", d.file)
	}
	wrong := edited.settingsMistakes(a)
	if len(wrong) == 0 {
		return out, nil
	}
	there := map[string]error{}
	for _, err := range d.settingsMistakes(a) {
		there[withoutLine(err).Error()] = err
	}
	var old, fresh []error
	for _, err := range wrong {
		bare := withoutLine(err)
		if at, known := there[bare.Error()]; known {
			old = append(old, at)
		} else {
			fresh = append(fresh, bare)
		}
	}
	if len(fresh) > 0 {
		return nil, fmt.Errorf("%s stays as it is: %w", d.file, errors.Join(fresh...))
	}
	return nil, errors.Join(inOrder(old)...)
}

// settingsMistakes are what is wrong with a settings file, by line.
func (d *document) settingsMistakes(a hook.Authority) []error {
	errs := d.validate(settingsSchema)
	_, more := d.layer(a)
	return inOrder(append(errs, more...))
}

// with returns a copy of a tree with one value set or removed.
func with(tree map[string]any, value any, key []string) (out map[string]any, changed bool, err error) {
	out = make(map[string]any, len(tree)+1)
	maps.Copy(out, tree)
	old, there := out[key[0]]
	if len(key) == 1 {
		if value == nil {
			delete(out, key[0])
			return out, there, nil
		}
		same := there && bytes.Equal(strictjson.Append(nil, old), strictjson.Append(nil, value))
		out[key[0]] = value
		return out, !same, nil
	}
	inner, isObject := old.(map[string]any)
	if there && !isObject {
		return nil, false, fmt.Errorf("%s has no keys below it", key[0])
	}
	if !there && value == nil {
		return out, false, nil
	}
	inner, changed, err = with(inner, value, key[1:])
	out[key[0]] = inner
	return out, changed, err
}

// editJSON replaces the text of a value, or, where a key comes or goes, writes
// the file anew: JSON has no comments to lose.
func editJSON(data []byte, want map[string]any, value any, key []string) []byte {
	pointer := ""
	for _, k := range key {
		pointer = below(pointer, k)
	}
	dec := jsontext.NewDecoder(bytes.NewReader(data))
	for value != nil {
		if _, err := dec.ReadToken(); err != nil {
			break
		}
		if string(dec.StackPointer()) != pointer {
			continue
		}
		if _, err := dec.ReadValue(); err != nil {
			break
		}
		end := int(dec.InputOffset())
		start := valueStart(data, pointer)
		return slices.Concat(data[:start], []byte(strictjson.Indent(value)), data[end:])
	}
	return append(bytes.TrimRight([]byte(strictjson.Indent(want)), "\n"), '\n')
}

// valueStart returns where the value of a key begins.
func valueStart(data []byte, pointer string) int {
	dec := jsontext.NewDecoder(bytes.NewReader(data))
	for {
		if _, err := dec.ReadToken(); err != nil {
			return len(data)
		}
		if string(dec.StackPointer()) == pointer {
			at := int(dec.InputOffset())
			for at < len(data) && strings.IndexByte(" \t\r\n:", data[at]) >= 0 {
				at++
			}
			return at
		}
	}
}

// appended returns what a value adds to the end of the list that a file has at the top,
// which then stays as it is written. It is false where the file has none.
func appended(old map[string]any, value any, key []string) ([]any, bool) {
	was, had := old[key[0]].([]any)
	is, isList := value.([]any)
	if len(key) > 1 || !had || !isList || len(is) <= len(was) || !bytes.Equal(strictjson.Append(nil, was), strictjson.Append(nil, is[:len(was)])) {
		return nil, false
	}
	return is[len(was):], true
}

func editYAML(data []byte, old map[string]any, value any, key []string) ([]byte, error) {
	var root yaml.Node
	if len(bytes.TrimSpace(data)) > 0 {
		if err := yaml.Unmarshal(data, &root); err != nil {
			return nil, err
		}
	}
	if len(root.Content) == 0 {
		root = yaml.Node{Kind: yaml.DocumentNode, Content: []*yaml.Node{{Kind: yaml.MappingNode}}}
	}
	n := root.Content[0]
	for i, k := range key {
		at := -1
		for j := 0; j+1 < len(n.Content); j += 2 {
			if n.Content[j].Value == k {
				at = j
			}
		}
		last := i == len(key)-1
		switch {
		case last && value == nil:
			n.Content = slices.Delete(n.Content, at, at+2)
		case last:
			var v yaml.Node
			if err := v.Encode(plainTree(value)); err != nil {
				return nil, err
			}
			if more, ok := appended(old, value, key); ok {
				n.Content[at+1].Content = append(n.Content[at+1].Content, v.Content[len(v.Content)-len(more):]...)
				continue
			}
			if at < 0 {
				n.Content = append(n.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: k}, &v)
				continue
			}
			v.HeadComment, v.LineComment, v.FootComment = n.Content[at+1].HeadComment, n.Content[at+1].LineComment, n.Content[at+1].FootComment
			n.Content[at+1] = &v
		case at < 0:
			next := &yaml.Node{Kind: yaml.MappingNode}
			n.Content = append(n.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: k}, next)
			n = next
		default:
			n = n.Content[at+1]
		}
	}
	var b bytes.Buffer
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(2)
	if err := enc.Encode(&root); err != nil {
		return nil, err
	}
	return b.Bytes(), enc.Close()
}

// plainTree turns a JSON tree into what encoders of other formats take.
func plainTree(v any) any {
	switch v := v.(type) {
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return n
		}
		f, _ := v.Float64()
		return f
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = plainTree(e)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, e := range v {
			out[k] = plainTree(e)
		}
		return out
	}
	return v
}

// Said returns what the text of a settings file says, by the keys of [scopes.Change].
// Of a file without a text, and of one that cannot be decoded, that is nothing.
func Said(file string, data []byte, a hook.Authority) map[string]any {
	if len(bytes.TrimSpace(data)) == 0 {
		return nil
	}
	d, err := decode(file, data)
	if err != nil {
		return nil
	}
	l, _ := d.layer(a)
	said := l.Said()
	if hooks := d.value["hooks"]; hooks != nil {
		said["hooks"] = hooks
	}
	return said
}
