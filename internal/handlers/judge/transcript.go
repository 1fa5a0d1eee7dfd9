package judge

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"gate/internal/audit"
	"gate/internal/hostfs"
	"gate/internal/strictjson"
)

// Limits of what is shown of a conversation.
const (
	maxTail     = 1 << 20  // bytes of the file that are looked at, from its end
	maxTold     = 32 << 10 // bytes that are shown
	maxSaid     = 4 << 10  // of one message
	maxMessages = 20
)

// transcript returns the end of a conversation as lines of JSON, the oldest
// first. A conversation that has not begun, or an agent that writes none, is a
// line that says so.
func transcript(path string, m *audit.Masker) (string, error) {
	if path == "" {
		return `{"note":"the agent names no transcript"}`, nil
	}
	tail, err := readTail(path, maxTail)
	if errors.Is(err, fs.ErrNotExist) {
		return `{"note":"there is no transcript yet"}`, nil
	}
	if err != nil {
		return "", err
	}
	var told []string
	size := 0
	lines := bytes.Split(tail, []byte("\n"))
	for _, line := range slices.Backward(lines) {
		who, said := messageOf(line, m)
		if said == "" {
			continue
		}
		text := shownMessage(who, said)
		if size += len(text); size > maxTold || len(told) == maxMessages {
			break
		}
		told = append(told, text)
	}
	if len(told) == 0 {
		return `{"note":"nothing was said yet"}`, nil
	}
	slices.Reverse(told)
	return strings.Join(told, "\n"), nil
}

// search finds the messages of a whole conversation that an expression fits, the newest
// first, each as a line of JSON.
func search(ctx context.Context, path string, re *regexp.Regexp, m *audit.Masker) (string, error) {
	data, err := readTail(path, maxScanned)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	found := 0
	for len(data) > 0 && ctx.Err() == nil {
		from := bytes.LastIndexByte(data, '\n') + 1
		who, said := messageOf(data[from:], m)
		data = data[:max(from-1, 0)]
		at := re.FindStringIndex(said)
		if said == "" || at == nil {
			continue
		}
		b.WriteString(shownMessage(who, around(said, at[0])) + "\n")
		if found++; found == maxFound || b.Len() > maxResult-2*maxSaid {
			return searched(&b, errEnough)
		}
	}
	return searched(&b, ctx.Err())
}

// around leaves out the beginning of a message that is long before the place that fits.
func around(said string, at int) string {
	from := at - maxSaid/2
	if from <= 0 {
		return said
	}
	for !utf8.RuneStart(said[from]) {
		from++
	}
	return "…" + said[from:]
}

// readTail reads the whole lines at the end of a regular file, and waits for
// nothing else.
func readTail(path string, most int64) ([]byte, error) {
	if !filepath.IsAbs(path) {
		return nil, errors.New("its path is not absolute")
	}
	f, err := os.OpenFile(path, os.O_RDONLY|hostfs.OpenFlags, 0)
	if err != nil {
		return nil, hostfs.Reason(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, hostfs.Reason(err)
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("it is no regular file")
	}
	from := max(info.Size()-most, 0)
	data, err := io.ReadAll(io.NewSectionReader(f, from, most))
	if err != nil {
		return nil, hostfs.Reason(err)
	}
	if from > 0 {
		_, data, _ = bytes.Cut(data, []byte("\n"))
	}
	return data, nil
}

// messageOf is what one entry says, without secrets, and who says it; "" for what is no
// message.
func messageOf(line []byte, m *audit.Masker) (who, said string) {
	entry, err := strictjson.Object(line, limits(maxTail))
	if err != nil {
		return "", ""
	}
	who, _ = entry["type"].(string)
	message, _ := entry["message"].(map[string]any)
	if message == nil {
		message = entry
		if role, ok := entry["role"].(string); ok {
			who = role
		}
	}
	if who != "user" && who != "assistant" {
		return "", ""
	}
	var texts []string
	if s, ok := message["content"].(string); ok {
		texts = append(texts, s)
	}
	blocks, _ := message["content"].([]any)
	for _, b := range blocks {
		block, _ := b.(map[string]any)
		if s := blockText(block, m); s != "" {
			texts = append(texts, s)
		}
	}
	return who, m.Text(strings.Join(texts, "\n"))
}

// shownMessage is a message as a model is shown it: a line of JSON.
func shownMessage(who, said string) string {
	return string(strictjson.Append(nil, map[string]any{"from": who, "said": clip(said, maxSaid)}))
}

// blockText is one part of a message: what was said, a use of a tool or its
// result.
func blockText(block map[string]any, m *audit.Masker) string {
	switch block["type"] {
	case "text":
		s, _ := block["text"].(string)
		return s
	case "tool_use":
		name, _ := block["name"].(string)
		if strictjson.Check(block["input"]) != nil {
			return ""
		}
		return "uses " + name + " " + string(strictjson.Append(nil, m.Value(block["input"])))
	case "tool_result":
		return "got " + resultText(block["content"])
	}
	return ""
}

func resultText(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	list, _ := v.([]any)
	var texts []string
	for _, e := range list {
		if b, _ := e.(map[string]any); b["type"] == "text" {
			s, _ := b["text"].(string)
			texts = append(texts, s)
		}
	}
	return strings.Join(texts, "\n")
}
