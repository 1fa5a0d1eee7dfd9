package program

import (
	"strings"

	"gate/facts/internal/bash"
	"gate/facts/internal/draft"
	"gate/facts/internal/flow"
	"gate/hook"
)

// remote records that a program runs what it takes from a host.
func (u *use) remote(host, url string) {
	u.effect(&hook.ExecRemote{Host: &host, URL: &url, Via: "package"})
}

// dockerfile judges what building an image runs in a container, and the secrets that it
// puts into the image.
func (u *use) dockerfile(text string) {
	if len(u.verbs) == 0 || !strings.Contains(" build buildx image compose up bud ", " "+u.verbs[0]+" ") {
		return
	}
	for line := range strings.Lines(strings.ReplaceAll(text, "\\\n", " ")) {
		verb, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		rest = strings.TrimSpace(rest)
		switch strings.ToUpper(verb) {
		case "RUN":
			for strings.HasPrefix(rest, "--") {
				_, rest, _ = strings.Cut(rest, " ")
			}
			if strings.HasPrefix(rest, "[") {
				rest = yamlScalar(rest)
			}
			u.certainly(func() { // the image's builder knows what it installs there
				u.inside(func() { u.shell.Text(flow.Literal("docker run image sh -c "+bash.Quote(rest)), flow.Stream{}) })
			})
		case "ADD", "COPY":
			words := strings.Fields(strings.NewReplacer("[", " ", "]", " ", `"`, " ", ",", " ").Replace(rest))
			if len(words) < 2 || strings.Contains(rest, "--from=") {
				continue
			}
			for _, word := range words[:len(words)-1] {
				if !strings.HasPrefix(word, "--") && !strings.Contains(word, "://") {
					u.touch(flow.Literal(word), draft.Access{Kind: "use"})
				}
			}
		}
	}
}
