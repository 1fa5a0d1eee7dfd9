package main

import (
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"gate/cmd/internal/commands"
)

// TestManuals holds that each command has a page with its words and flags as the command
// prints them, and the date of the commit.
func TestManuals(t *testing.T) {
	r := Release{Version: "v1.2.3", Time: time.Date(2031, 5, 6, 7, 8, 9, 0, time.UTC)}
	list, err := r.described()
	if err != nil {
		t.Fatal(err)
	}
	pages := map[string]string{}
	for _, f := range list {
		if f.Kind == Manual {
			if i := strings.IndexFunc(string(f.Data), func(c rune) bool { return c > 126 }); i >= 0 {
				t.Errorf("%s is not plain at byte %d", f.Path, i)
			}
			pages[f.Path] = shown(string(f.Data))
			if !strings.Contains(string(f.Data), `"1" "May 2031" "gate v1.2.3" "gate"`) {
				t.Errorf("%s has another date or source:\n%.200s", f.Path, f.Data)
			}
		}
	}
	var visit func(*cobra.Command)
	visit = func(c *cobra.Command) {
		name := "man/man1/" + strings.ReplaceAll(c.CommandPath(), " ", "-") + ".1"
		page, ok := pages[name]
		if !ok {
			t.Errorf("%s is missing", name)
			return
		}
		texts := []string{c.Short, c.Long, c.Example}
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden && f.Deprecated == "" {
				texts = append(texts, "--"+f.Name, f.Usage)
			}
		})
		for _, text := range texts {
			if !strings.Contains(page, shown(text)) {
				t.Errorf("%s is without %q", name, text)
			}
		}
		for _, below := range c.Commands() {
			if below.IsAvailableCommand() && !below.IsAdditionalHelpTopicCommand() {
				visit(below)
			}
		}
	}
	visit(commands.Tree())
	if len(pages) < 60 || pages["man/man1/gate-server.1"] == "" || pages["man/man1/gate-run.1"] == "" {
		t.Errorf("only %d pages", len(pages))
	}
}

// shown is a page's text on one line, as somebody reads it.
func shown(page string) string {
	page = regexp.MustCompile(`\\\[u([0-9A-F]{4,6})\]`).ReplaceAllStringFunc(page, func(name string) string {
		c, _ := strconv.ParseUint(name[3:len(name)-1], 16, 32)
		return string(rune(c))
	})
	plain := strings.NewReplacer(`\fB`, "", `\fP`, "", `\fI`, "", `\fR`, "", `\-`, "-", `\e`, `\`, `\&`, "", `\~`, " ", "\\\\", "\\").Replace(page)
	return strings.Join(strings.Fields(regexp.MustCompile(`(?m)^\.(PP|EX|EE|nf|fi|RS|RE)$`).ReplaceAllString(plain, "")), " ")
}

// TestCompletions holds that each shell gets its script, which asks gate for words.
func TestCompletions(t *testing.T) {
	list, err := completions(commands.Tree())
	if err != nil {
		t.Fatal(err)
	}
	for i, path := range []string{"bash/gate", "zsh/_gate", "fish/gate.fish", "powershell/gate.ps1"} {
		if f := list[i]; f.Kind != Completion || f.Path != "completions/"+path || !strings.Contains(string(f.Data), "__complete") {
			t.Errorf("%s: %.100s", f.Path, f.Data)
		}
	}
}
