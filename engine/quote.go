package engine

import (
	"errors"
	"fmt"
	"strings"
)

// A quoting is how texts are written in a place of a line.
type quoting struct {
	dialect    string // of the shell, as facts name it
	nested     bool   // in a command inside another one
	assignment bool   // NAME=value may assign there
}

// word writes text as one word that stands for itself.
func (q quoting) word(text string) (string, error) {
	switch q.dialect {
	case "bash":
	case "powershell":
		return quotePowerShell(text)
	default:
		return "", errors.New("the shell is not known, so no text can be quoted for it")
	}
	name, value := "", text
	if n := assigned(text); q.assignment && n > 0 {
		name, value = text[:n], text[n:]
	}
	word, err := quoteWord(value)
	if err != nil {
		return "", err
	}
	if q.nested && word != value && strings.ContainsAny(value, "`$\\\"") {
		// Backquotes read these once more before the quotes count.
		return "", fmt.Errorf("%q cannot be quoted inside a nested command", text)
	}
	return name + word, nil
}

// assigned is the length of the NAME= that text begins with, 0 if it does not.
func assigned(text string) int {
	for i := range len(text) {
		switch c := text[i]; {
		case c == '=':
			if i == 0 {
				return 0
			}
			return i + 1
		case c == '_', 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9' && i > 0:
		default:
			return 0
		}
	}
	return 0
}

// quotePowerShell writes text as one word of PowerShell, which takes four characters
// for a single quote, and loses double ones on the way to programs.
func quotePowerShell(text string) (string, error) {
	if strings.ContainsAny(text, "\x00\"\n\r\u2018\u2019\u201a\u201b") {
		return "", fmt.Errorf("%q cannot be quoted for PowerShell", text)
	}
	plain := func(r rune) bool {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("-_./:=\\", r)
	}
	if strings.TrimFunc(text, plain) == "" {
		return text, nil
	}
	return "'" + strings.ReplaceAll(text, "'", "''") + "'", nil
}

// quoteWord writes text as one word of a POSIX shell that stands for itself.
func quoteWord(text string) (string, error) {
	if strings.ContainsRune(text, 0) {
		return "", errors.New("the text of an edit has a NUL character")
	}
	if plainWord(text) {
		return text, nil
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'", nil
}

func plainWord(text string) bool {
	for i := range len(text) {
		c := text[i]
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', strings.IndexByte("_-+./:,@%", c) >= 0:
		case c == '=' && text[0] == '-': // not an assignment
		default:
			return false
		}
	}
	switch text {
	case "if", "then", "else", "elif", "fi", "for", "in", "do", "done", "while", "until", "case", "esac",
		"select", "function", "time", "coproc":
		return false
	}
	return true
}
