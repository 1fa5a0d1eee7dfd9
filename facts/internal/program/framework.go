package program

import (
	"path"
	"slices"
	"strings"

	"gate/facts/internal/flow"
)

// framework judges the code that a web framework's own command runs within the
// application: rails runner, manage.py shell -c, artisan tinker --execute.
func (u *use) framework() {
	u.module()
	words := u.rest
	if u.name != "rails" && u.name != "rake" {
		if len(words) < 2 {
			return
		}
		switch path.Base(words[0].Text()) {
		case "manage.py", "artisan", "console":
		default:
			return
		}
		words = words[1:]
	}
	if len(words) == 0 {
		return
	}
	switch verb := words[0].Text(); {
	case u.name == "rails" && (verb == "runner" || verb == "r") && len(words) > 1 && !strings.HasSuffix(words[1].Text(), ".rb"):
		u.code("ruby", words[1], "inline")
	case u.Stdin.Text != nil && slices.Contains([]string{"console", "c", "shell", "shell_plus", "tinker"}, verb):
		language := "python"
		if u.name == "rails" {
			language = "ruby"
		} else if verb == "tinker" {
			language = "php"
		}
		u.code(language, flow.Literal(*u.Stdin.Text), "stdin")
	case u.Stdin.Text != nil && slices.Contains([]string{"dbshell", "dbconsole", "db"}, verb):
		u.sql(flow.Literal(*u.Stdin.Text))
	case verb == "shell" || verb == "shell_plus" || verb == "tinker":
		for i, f := range words[1:] {
			if code, ok := strings.CutPrefix(f.Text(), "--execute="); ok {
				u.code("php", flow.Literal(code), "inline")
			} else if code, ok := strings.CutPrefix(f.Text(), "--command="); ok {
				u.code("python", flow.Literal(code), "inline")
			} else if f.Text() == "-c" && i+2 < len(words) {
				u.code("python", words[i+2], "inline")
			} else if f.Text() == "--execute" && i+2 < len(words) {
				u.code("php", words[i+2], "inline")
			}
		}
	}
}

// phpServer judges php by itself: its server, and the framework it starts.
func (u *use) phpServer() {
	u.offers()
	u.phpSettings()
	u.framework()
}
