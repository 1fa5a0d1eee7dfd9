package attack

import (
	_ "embed"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

//go:embed disguises.txt
var disguises string

//go:embed mentions.txt
var mentions string

// Disguises returns the templates that run the line in their place.
func Disguises() []string { return templates(disguises) }

// Mentions returns the templates that only mention the line in their place.
func Mentions() []string { return templates(mentions) }

// templates returns the lines of a file, with ⏎ for a line break within one.
// Comments begin with ##, because a shell's own begin with #.
func templates(file string) []string {
	var list []string
	for line := range strings.Lines(file) {
		line = strings.TrimSuffix(line, "\n")
		if line != "" && !strings.HasPrefix(line, "## ") {
			list = append(list, strings.ReplaceAll(line, "⏎", "\n"))
		}
	}
	return list
}

// Fill puts a line into a template. The head of disguises.txt says how the places
// of a template are written.
func Fill(template, line string) string {
	backwards := []rune(line)
	slices.Reverse(backwards)
	// Text of another language stands within single quotes of the shell there.
	inner := func(s string) string { return strings.ReplaceAll(s, "'", `'\''`) }
	if strings.Contains(template, "<<'EOF'") {
		inner = func(s string) string { return s }
	}
	python := `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(line) + `"`
	js := strconv.Quote(line)
	switch {
	case strings.HasPrefix(template, "perl"): // its strings name variables
		js = strings.NewReplacer("$", `\$`, "@", `\@`).Replace(python)
	case strings.HasPrefix(template, "php"):
		python = strings.ReplaceAll(python, "$", `\$`)
	}
	return strings.NewReplacer(
		"{}", line,
		"{sq}", single(line),
		"{dq}", `"`+inDouble(line)+`"`,
		"{sq:dq}", inDouble(single(line)),
		"{sq:!}", single("!"+line),
		"{$}", strings.ReplaceAll(line, "$", "$$"),
		"{py}", inner(python),
		"{js}", inner(js),
		"{b64}", base64.StdEncoding.EncodeToString([]byte(line)),
		"{hex}", hex.EncodeToString([]byte(line)),
		"{ansi}", ansi(line),
		"{rev}", single(string(backwards)),
	).Replace(template)
}

// single quotes s for a shell.
func single(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// inDouble is s as it stands between double quotes.
func inDouble(s string) string {
	return strings.NewReplacer(`\`, `\\`, `"`, `\"`, "`", "\\`", "$", `\$`).Replace(s)
}

// ansi writes each byte of s as a number, as bash reads it in $'…'.
func ansi(s string) string {
	var escapes strings.Builder
	for i := range len(s) {
		fmt.Fprintf(&escapes, `\x%02x`, s[i])
	}
	return "$'" + escapes.String() + "'"
}
