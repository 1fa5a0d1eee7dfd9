package setting

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"runtime"
	"strings"

	"gate/hook"
)

// Unrunnable says why the file that a command hook names as its program cannot run,
// and what to do; "" if it can, or if only a shell or the search path can tell. stat
// looks at a file: of the hook's source, by its name within that, or by an absolute
// path.
func Unrunnable(h *hook.Hook, stat func(name string) (fs.FileInfo, error)) (why, remedy string) {
	if h.Kind != hook.Command {
		return "", ""
	}
	word, _ := h.Config["command"].(string)
	if _, exact := h.Config["args"]; !exact {
		word, _ = CommandWord(word)
	}
	name := path.Clean(word)
	if strings.Contains(word, "$") || word == "" || !filepath.IsAbs(word) && !fs.ValidPath(name) {
		return "", ""
	}
	switch info, err := stat(name); {
	case errors.Is(err, fs.ErrNotExist) && strings.Contains(word, "/") && !filepath.IsAbs(word):
		return fmt.Sprintf("there is no %s here", name), "put the program there, or name it by its whole path"
	case err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 == 0 && runtime.GOOS != "windows":
		return fmt.Sprintf("the file %s may not be executed", name), "chmod +x " + name
	}
	return "", ""
}

// CommandWord splits the first word off a shell line, if every shell reads it as it
// stands: what runs. Else the word is "".
func CommandWord(line string) (word, rest string) {
	line = strings.TrimLeft(line, " \t\n")
	end := strings.IndexFunc(line, func(r rune) bool {
		return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("._-/+", r))
	})
	if end < 0 {
		return line, ""
	}
	if !strings.ContainsRune(" \t\n;|&<>", rune(line[end])) {
		return "", line
	}
	return line[:end], line[end:]
}
