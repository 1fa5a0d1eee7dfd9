package program

import (
	"strings"

	"gate/internal/wordlist"
)

// yamlKeys are keys whose value is a line of a shell, or a list of such lines.
const yamlKeys = " run cmd cmds command commands script scripts shell entry init before before_script after_script prebuild postinstall sh preconditions raw hooks baseCommand ansible.builtin.shell ansible.builtin.command "

// yamlLines are the lines of a shell in a document of YAML: the values of some keys. It
// reads the common forms only: scalars, blocks, and lists of both.
func yamlLines(text string) (lines []string) {
	all := strings.Split(text, "\n")
	for i := 0; i < len(all); i++ {
		depth, key, value, ok := yamlPair(all[i])
		if !ok || !wordlist.Has(yamlKeys, key) {
			continue
		}
		if value != "" && value[0] != '|' && value[0] != '>' {
			lines = append(lines, yamlScalar(value))
			continue
		}
		var block []string
		for i+1 < len(all) && (strings.TrimSpace(all[i+1]) == "" || indentOf(all[i+1]) > depth || value == "" && indentOf(all[i+1]) == depth && strings.HasPrefix(strings.TrimSpace(all[i+1]), "- ")) {
			if value == "" {
				if _, k, v, ok := yamlPair(all[i+1]); ok && k != "" {
					if len(block) == 0 && !strings.HasPrefix(strings.TrimSpace(all[i+1]), "- ") || v != "" && (v[0] == '|' || v[0] == '>') {
						break // a mapping goes on with keys of its own
					}
					if i++; v != "" && wordlist.Has(yamlKeys, k) {
						block = append(block, "- "+v)
					} else {
						block = append(block, "")
					}
					continue
				}
			}
			i++
			block = append(block, strings.TrimSpace(all[i]))
		}
		if value != "" {
			lines = append(lines, strings.Join(block, "\n"))
			continue
		}
		for _, item := range block {
			if item, ok := strings.CutPrefix(item, "- "); ok {
				lines = append(lines, yamlScalar(item))
			}
		}
	}
	return lines
}

func indentOf(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }

// yamlPair takes "key: value" apart, with or without a dash of a list before it.
func yamlPair(line string) (depth int, key, value string, ok bool) {
	bare := strings.TrimLeft(line, " ")
	depth = len(line) - len(bare)
	for {
		rest, dash := strings.CutPrefix(bare, "- ")
		if !dash {
			break
		}
		bare = strings.TrimLeft(rest, " ")
	}
	key, value, ok = strings.Cut(bare, ":")
	if !ok || key == "" || strings.ContainsAny(key, " \"'{[(") || value != "" && value[0] != ' ' {
		return depth, "", "", false
	}
	return depth, key, strings.TrimSpace(value), true
}

// yamlScalar is the text of a scalar, or of a list of words in brackets.
func yamlScalar(s string) string {
	s = strings.TrimSpace(s)
	if list, ok := strings.CutPrefix(s, "["); ok {
		var words []string
		for item := range strings.SplitSeq(strings.TrimSuffix(list, "]"), ",") {
			words = append(words, strings.Trim(strings.TrimSpace(item), `"'`))
		}
		return strings.Join(words, " ")
	}
	if len(s) > 1 && (s[0] == '"' || s[0] == '\'') && s[len(s)-1] == s[0] {
		return strings.ReplaceAll(s[1:len(s)-1], `\"`, `"`)
	}
	return s
}
