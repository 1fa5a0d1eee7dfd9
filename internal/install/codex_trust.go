package install

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// Codex runs a hook of a user or a project only if config.toml has a person's
// trust in it: below hooks.state, a table whose name is the hook's place, with a
// hash of what it says. That is how Codex 0.169.0 has it, as its app-server
// reports both (hooks/list), for all events. What it does not know for trusted it
// skips, so a Codex that counts otherwise is no danger but an open door, which
// gate status says.

// A codexHook is a hook of gate's as Codex trusts it.
type codexHook struct {
	event, key, hash string
}

// codexHooks are gate's hooks of a file, in the order of the text.
func codexHooks(t *table, m Machine, path string, text []byte) ([]codexHook, error) {
	f := jsonHooks{}
	d, err := f.parse(t, path, text)
	if err != nil {
		return nil, err
	}
	var out []codexHook
	for _, x := range f.find(t, d) {
		var group struct{ Matcher *string }
		var handler struct {
			Type, Command string
			Timeout       *int
			Async         bool
		}
		if json.Unmarshal(d.text[x.item.start:x.item.end], &group) != nil || json.Unmarshal(d.text[x.handler.start:x.handler.end], &handler) != nil {
			continue // of no form that Codex would run
		}
		event := snakeCase(string(x.event))
		wait := 600
		if handler.Timeout != nil {
			wait = *handler.Timeout
		}
		says := map[string]any{"event_name": event, "hooks": []any{
			map[string]any{"type": handler.Type, "command": handler.Command, "timeout": wait, "async": handler.Async},
		}}
		switch event {
		case "user_prompt_submit", "stop", "interrupt": // they match nothing, and their matcher is not looked at
		default:
			if group.Matcher != nil {
				says["matcher"] = *group.Matcher
			}
		}
		out = append(out, codexHook{string(x.event), codexKey(m, path, event, x.nth, x.at), codexHash(says)})
	}
	return out, nil
}

// codexKey is the place of a hook: links are followed to the file's directory,
// and the file's own name stays.
func codexKey(m Machine, path, event string, group, handler int) string {
	if dir, err := m.real(filepath.Dir(path)); err == nil {
		path = filepath.Join(dir, filepath.Base(path))
	}
	return path + ":" + event + ":" + strconv.Itoa(group) + ":" + strconv.Itoa(handler)
}

// codexHash is the hash of a hook: of its JSON with sorted keys and no blanks.
func codexHash(says map[string]any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(says) != nil {
		return ""
	}
	sum := sha256.Sum256(bytes.TrimRight(b.Bytes(), "\n"))
	return "sha256:" + hex.EncodeToString(sum[:])
}

func snakeCase(name string) string {
	var b strings.Builder
	for i, r := range name {
		if unicode.IsUpper(r) && i > 0 {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// trustState says what config.toml has of a hook: "" for nothing.
func (h codexHook) trustState(doc map[string]any) string {
	state, there := lookupTOML(doc, []string{"hooks", "state", h.key})
	record, _ := state.(map[string]any)
	switch hash, _ := record["trusted_hash"].(string); {
	case !there || hash == "":
		return ""
	case record["enabled"] == false:
		return "off"
	case hash != h.hash:
		return "changed"
	}
	return "trusted"
}

// trustCodex returns config.toml with a person's trust in gate's hooks of a file
// that has this text, or without what gate wrote of it where text is nil.
func trustCodex(t *table, m Machine, hooksFile string, text []byte, path string, old []byte) ([]byte, error) {
	prefix := "[hooks.state." + strings.TrimSuffix(jsonText(strings.TrimSuffix(codexKey(m, hooksFile, "", 0, 0), ":0:0")), `"`)
	base := withoutTrust(old, prefix)
	created := old == nil || len(base) == 0 && bytes.HasPrefix(old, []byte(prefix)) // the file came with gate
	switch {
	case text == nil && created:
		return nil, nil
	case text == nil:
		return base, nil
	}
	doc, err := readTOML(path, base)
	if err != nil {
		return nil, err
	}
	hooks, err := codexHooks(t, m, hooksFile, text)
	if err != nil {
		return nil, err
	}
	out, block := bytes.Clone(base), ""
	for _, h := range hooks {
		switch h.trustState(doc) {
		case "trusted":
		case "":
			block += "[hooks.state." + jsonText(h.key) + "]" + tomlMark + "trusted_hash = " + jsonText(h.hash) + tomlMark + "enabled = true" + tomlMark
		default:
			return nil, fmt.Errorf("%s: it has something else about gate's hook for %s, which a person decided; trust it in Codex (/hooks), or remove %s there",
				path, h.event, "[hooks.state."+jsonText(h.key)+"]")
		}
	}
	if block == "" {
		return out, nil
	}
	if !created {
		out = append(out, '\n') // ends a last line that has no end, and is gate's own in any case
	}
	out = append(out, block...)
	after, err := readTOML(path, out)
	if err != nil || !includes(after, doc) {
		return nil, fmt.Errorf("%s: gate's trust does not fit the file; trust the hooks in Codex (/hooks)", path)
	}
	return out, nil
}

// withoutTrust takes out the tables of trust in hooks of one file, whose headers
// begin so, that gate wrote and that nobody has touched since.
func withoutTrust(text []byte, prefix string) []byte {
	lines := slices.Collect(bytes.Lines(text))
	mark := []byte(tomlMark)
	out := []byte{}
	for at := 0; at < len(lines); {
		end := at
		for end < len(lines) && bytes.HasPrefix(lines[end], []byte(prefix)) && bytes.HasSuffix(lines[end], mark) {
			next := end + 1
			for next < len(lines) && lines[next][0] != '[' && bytes.HasSuffix(lines[next], mark) {
				next++
			}
			if next < len(lines) && strings.IndexByte("[#\r\n", lines[next][0]) < 0 {
				break // somebody added to it
			}
			end = next
		}
		if end == at {
			out = append(out, lines[at]...)
			at++
			continue
		}
		// The line end before the tables came with them, unless something else has to begin a line there.
		if n := len(out); n > 0 && (end == len(lines) || n > 1 && out[n-2] == '\n') {
			out = out[:n-1]
		}
		at = end
	}
	return out
}
