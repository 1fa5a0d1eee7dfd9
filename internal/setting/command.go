package setting

import "strings"

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
