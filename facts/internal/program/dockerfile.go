package program

import (
	"slices"
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

// mountedSecret is where an option of RUN puts a secret, "" where it puts none: --mount=type=secret,target=/x.
func mountedSecret(option string) string {
	if !strings.Contains(option, "type=secret") {
		return ""
	}
	id := ""
	for field := range strings.SplitSeq(strings.TrimPrefix(option, "--mount="), ",") {
		switch name, value, _ := strings.Cut(field, "="); name {
		case "target", "dst", "destination":
			return value
		case "id":
			id = "/run/secrets/" + value
		}
	}
	return id
}

// inImage reports an effect that a line of a build has on the image alone, where the build has
// nothing of this machine: its files, its
// services and its accounts are none of this machine's. What the line sends, fetches and
// runs counts.
func inImage(e hook.FactEffect) bool {
	switch e.Is.(type) {
	case *hook.FSRead, *hook.FSWrite, *hook.FSDelete, *hook.FSPermissions, *hook.Disk, *hook.Persistence, *hook.System, *hook.Process, *hook.Self:
		return true
	}
	return false
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
			var mounted []string
			open := u.has("volume") || u.has("v") || u.has("device") || u.has("privileged") // as podman and buildah give a build what this machine has
			for strings.HasPrefix(rest, "--") {
				var option string
				option, rest, _ = strings.Cut(rest, " ")
				open = open || strings.Contains(option, "insecure") // --security=insecure: all that root may
				if file := mountedSecret(option); file != "" {
					mounted = append(mounted, file)
				}
				rest = strings.TrimLeft(rest, " \t")
			}
			if strings.HasPrefix(rest, "[") {
				rest = yamlScalar(rest)
			}
			u.certainly(func() { // the image's builder knows what it installs there
				before := len(u.Facts.Effects)
				u.inside(func() { u.shell.Text(flow.Literal("docker run image sh -c "+bash.Quote(rest)), flow.Stream{}) })
				for _, e := range u.Facts.Effects[before:] {
					if is, ok := e.Is.(*hook.NetSend); ok && is.Secret == nil && slices.Contains(mounted, flow.Text(is.Path)) {
						is.Secret = new("mounted secret")
					}
				}
				if !open {
					u.Facts.Effects = append(u.Facts.Effects[:before], slices.DeleteFunc(u.Facts.Effects[before:], inImage)...)
				}
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
