package adapters

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"gate/hook"
)

// patchTool is the name of calls whose patch touches several files, or does
// what no file tool does: deletes and moves.
const patchTool = "apply_patch"

// A patchStep is what a patch does to one file.
type patchStep struct {
	verb  string // Add, Update or Delete
	file  string
	to    string // where an updated file goes, "" if it stays
	lines []string
	hunks []hunk
}

// A hunk replaces one text of a file by another.
type hunk struct{ old, new []string }

// openPatch makes a patch of one file the call of a file tool: a new file is
// Write, a changed one Edit or MultiEdit. Others stay what they are. Relative
// names are below the agent's directory.
func openPatch(input map[string]any, dir string) (string, map[string]any, error) {
	text, ok := input["command"].(string)
	if !ok {
		return "", nil, fmt.Errorf("the text of the patch is missing")
	}
	steps := patchSteps(text)
	if len(steps) != 1 {
		return patchTool, input, nil
	}
	tool, own := steps[0].call(dir)
	if tool == "" {
		return patchTool, input, nil
	}
	return tool, own, nil
}

// partsOf are the calls of file tools that a patch of several files amounts to.
func partsOf(text, dir string) []hook.Call {
	var parts []hook.Call
	steps := patchSteps(text)
	for i := range steps {
		stays := steps[i]
		stays.to = ""
		if tool, input := stays.call(dir); tool != "" {
			parts = append(parts, hook.Call{Tool: tool, Input: input})
		}
		if to := steps[i].to; to != "" {
			parts = append(parts, hook.Call{Tool: "Write", Input: map[string]any{"file_path": below(dir, to), "content": ""}})
		}
	}
	return parts
}

// call is the call of a file tool that a step amounts to, "" for one that none
// can do.
func (s *patchStep) call(dir string) (string, map[string]any) {
	file := below(dir, s.file)
	switch {
	case s.verb == "Add":
		content := strings.Join(s.lines, "\n")
		if len(s.lines) > 0 {
			content += "\n"
		}
		return "Write", map[string]any{"file_path": file, "content": content}
	case s.verb == "Delete", s.to != "", len(s.hunks) == 0:
		return "", nil
	case len(s.hunks) == 1:
		edit := s.hunks[0].edit()
		edit["file_path"] = file
		return "Edit", edit
	}
	edits := make([]any, len(s.hunks))
	for i, h := range s.hunks {
		edits[i] = h.edit()
	}
	return "MultiEdit", map[string]any{"file_path": file, "edits": edits}
}

func (h hunk) edit() map[string]any {
	return map[string]any{"old_string": strings.Join(h.old, "\n"), "new_string": strings.Join(h.new, "\n")}
}

// below is a file as file tools name it: with its whole path. Home and drives
// are left to whoever knows them.
func below(dir, file string) string {
	if !path.IsAbs(dir) || path.IsAbs(file) || file == "" || strings.HasPrefix(file, "~") || strings.ContainsAny(file, `\:`) {
		return file
	}
	return path.Join(dir, file)
}

// patchSteps reads a patch as clients do: blanks before a marker count for
// nothing, except between the lines of a changed file, where they mark a line
// that stays.
func patchSteps(text string) []patchStep {
	var steps []patchStep
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		var s *patchStep
		if len(steps) > 0 {
			s = &steps[len(steps)-1]
		}
		marker := line
		if s == nil || s.verb != "Update" {
			marker = strings.TrimLeft(line, " \t")
		}
		if verb, file, ok := patchMarker(marker); ok {
			if verb == "Move" {
				if s != nil {
					s.to = file
				}
				continue
			}
			steps = append(steps, patchStep{verb: verb, file: file})
			continue
		}
		if s != nil {
			s.add(line)
		}
	}
	return steps
}

// patchMarker reads a line that says what follows is about.
func patchMarker(line string) (verb, file string, ok bool) {
	for _, m := range [...]struct{ prefix, verb string }{
		{"*** Add File:", "Add"}, {"*** Update File:", "Update"}, {"*** Delete File:", "Delete"}, {"*** Move to:", "Move"},
	} {
		if rest, ok := strings.CutPrefix(line, m.prefix); ok {
			return m.verb, strings.TrimSpace(rest), true
		}
	}
	return "", "", false
}

// add takes one line of the body of a step.
func (s *patchStep) add(line string) {
	if s.verb == "Add" {
		if rest, ok := strings.CutPrefix(line, "+"); ok {
			s.lines = append(s.lines, rest)
		}
		return
	}
	if s.verb != "Update" || strings.HasPrefix(line, "***") {
		return
	}
	if strings.HasPrefix(line, "@@") || len(s.hunks) == 0 {
		s.hunks = append(s.hunks, hunk{})
		if strings.HasPrefix(line, "@@") {
			return
		}
	}
	h := &s.hunks[len(s.hunks)-1]
	mark, rest := " ", ""
	if line != "" {
		mark, rest = line[:1], line[1:]
	}
	if mark != "+" {
		h.old = append(h.old, rest)
	}
	if mark != "-" {
		h.new = append(h.new, rest)
	}
}

// shutPatch makes a patch of a changed call again.
func shutPatch(c changedCall) (map[string]any, bool) {
	if c.tool == patchTool {
		return sameFields(c, "command")
	}
	file, _ := c.after["file_path"].(string)
	if file == c.before["file_path"] { // by the name that the patch has for it
		text, _ := c.was[patchKey(c.was)].(string)
		if steps := patchSteps(text); len(steps) == 1 {
			file = steps[0].file
		}
	}
	if file == "" || strings.ContainsAny(file, "\r\n") || file != strings.TrimSpace(file) {
		return nil, false
	}
	body := ""
	switch c.tool {
	case "Write":
		content, ok := c.after["content"].(string)
		if !ok || len(c.after) != 2 {
			return nil, false
		}
		body = "*** Add File: " + file + "\n" + marked("+", strings.TrimSuffix(content, "\n"))
	case "Edit":
		was, ok1 := c.after["old_string"].(string)
		now, ok2 := c.after["new_string"].(string)
		if !ok1 || !ok2 || len(c.after) != 3 {
			return nil, false
		}
		body = "*** Update File: " + file + "\n@@\n" + marked("-", was) + marked("+", now)
	default:
		return nil, false
	}
	return map[string]any{patchKey(c.was): "*** Begin Patch\n" + body + "*** End Patch\n"}, true
}

// patchKey is the agent's name for the text of a patch.
func patchKey(was map[string]any) string {
	for _, key := range []string{"command", "input", "patch", "patchText"} {
		if _, ok := was[key].(string); ok {
			return key
		}
	}
	return "command"
}

// sameFields takes a changed input of one text over as it is.
func sameFields(c changedCall, key string) (map[string]any, bool) {
	text, ok := c.after[key].(string)
	return map[string]any{patchKey(c.was): text}, ok && len(c.after) == 1
}

// marked begins each line of text with a mark.
func marked(mark, text string) string {
	return mark + strings.ReplaceAll(text, "\n", "\n"+mark) + "\n"
}

// openWords makes a command line of the words of one. What a shell is given
// with -c is the line itself.
func openWords(input map[string]any, _ string) (string, map[string]any, error) {
	list, ok := input["command"].([]any)
	if !ok {
		return "Bash", input, nil // a line already, or refused later
	}
	words := make([]string, len(list))
	for i, w := range list {
		if words[i], ok = w.(string); !ok {
			return "", nil, fmt.Errorf("command: a word that is no text")
		}
	}
	line := ""
	if len(words) == 3 && (words[1] == "-c" || words[1] == "-lc") && isShell(words[0]) {
		line = words[2]
	} else {
		line = lineOf(words)
	}
	input["command"] = line
	return "Bash", input, nil
}

// lineOf makes a command line of words, all of them quoted.
func lineOf(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
	}
	return strings.Join(quoted, " ")
}

func isShell(word string) bool {
	return slices.Contains([]string{"sh", "bash", "zsh", "dash"}, path.Base(word))
}
