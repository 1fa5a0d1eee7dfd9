package program

import (
	"slices"
	"strings"

	"gate/facts/internal/flow"
	"gate/facts/internal/gitconfig"
	"gate/hook"
	"gate/internal/wordlist"
)

// gitPeers finds the addresses that fetch, pull or push talks to, by all that settings
// may mean. It reports false where nobody knows them.
func (u *use) gitPeers(is *hook.Repository, r repository, settings gitconfig.Settings) bool {
	names, ok := u.gitRemoteNames(settings)
	if !ok {
		return false
	}
	for _, name := range names {
		if strings.ContainsAny(name, "/\\") && !strings.Contains(name, ":") {
			return false // a path
		}
		if len(settings["remotes."+name]) > 0 || u.World.Exists(r.common+"/remotes/"+name) || u.World.Exists(r.common+"/branches/"+name) {
			return false // several of them, or one in an older form
		}
		urls := append(append([]string{}, settings["remote."+name+".url"]...), settings["remote."+name+".pushurl"]...)
		if len(urls) == 0 {
			urls = []string{name}
		}
		for _, url := range urls {
			for _, led := range instead(settings, url) {
				is.Remotes = append(is.Remotes, gitAddress(led))
			}
		}
	}
	return true
}

// gitRemoteNames are the names, or addresses, of the remotes that the command may mean.
func (u *use) gitRemoteNames(settings gitconfig.Settings) (names []string, ok bool) {
	if u.has("repo") || u.has("all") || u.has("multiple") {
		return nil, false
	}
	if len(u.rest) > 0 {
		name := flow.Text(u.rest[0].Value())
		return []string{name}, name != ""
	}
	for _, head := range u.headBranches() {
		keys := []string{"branch." + head + ".remote"}
		if u.verbs[0] == "push" {
			keys = []string{"branch." + head + ".pushremote", "remote.pushdefault", "branch." + head + ".remote"}
		}
		name := onlyRemote(settings)
		for _, key := range keys {
			if v := settings.Last(key); v != "" {
				name = v
				break
			}
		}
		if head == "" {
			return nil, false
		}
		names = append(names, name)
	}
	return names, len(names) > 0
}

// gitPushesBranches notes the branches of a push that are merged with one of another name,
// to which git may push them. It reports false where a name is none of a local branch
// alone: git takes it for a tag, a remote's branch or a name such as FETCH_HEAD, too.
func (u *use) gitPushesBranches(is *hook.Repository, r repository, settings gitconfig.Settings) bool {
	var names []string
	for _, f := range u.rest[min(1, len(u.rest)):] {
		name := flow.Text(f.Value())
		switch {
		case name == "HEAD":
			names = append(names, u.headBranches()...)
		case !u.onlyBranch(r, name):
			return false
		default:
			names = append(names, name)
		}
	}
	if len(u.rest) < 2 {
		names = u.headBranches()
	}
	for _, name := range names {
		key := "branch." + name + ".merge"
		if slices.ContainsFunc(settings[key], func(merge string) bool { return merge != "refs/heads/"+name }) {
			is.Starts = append(is.Starts, key)
		}
	}
	return true
}

// onlyBranch reports the name of a local branch that means nothing more to git.
func (u *use) onlyBranch(r repository, name string) bool {
	if name == "" || strings.Contains(name, "..") || strings.Trim(name, "/") != name || strings.ContainsAny(name, ":+*?[\\@^~ ") {
		return false
	}
	packed, err := u.World.Read(r.common+"/packed-refs", maxPackedRefs)
	if err != nil && u.World.Exists(r.common+"/packed-refs") {
		return false
	}
	for _, ref := range []string{name, "refs/" + name, "refs/tags/" + name, "refs/remotes/" + name} {
		if u.World.Exists(r.git+"/"+ref) || u.World.Exists(r.common+"/"+ref) || strings.Contains(packed, " "+ref+"\n") {
			return false
		}
	}
	_, err = u.World.Read(r.common+"/refs/heads/"+name, 4096)
	return err == nil || strings.Contains(packed, " refs/heads/"+name+"\n")
}

// maxPackedRefs is more than the names of references take in most repositories, in bytes.
const maxPackedRefs = 1 << 20

// onlyRemote is the remote that git takes where nothing names one.
func onlyRemote(settings gitconfig.Settings) (name string) {
	for key := range settings {
		if section, n, ok := gitRemoteKey(key); ok && section == "remote" && n != name {
			if name != "" {
				return "origin"
			}
			name = n
		}
	}
	if name == "" {
		return "origin"
	}
	return name
}

// instead are the addresses that git may take in place of one, and the one itself. An
// address for pushes alone replaces nothing that is fetched, and an include may not hold
// here.
func instead(settings gitconfig.Settings, url string) []string {
	list := []string{url}
	for key, values := range settings {
		base, ok := strings.CutPrefix(key, "url.")
		if at := strings.LastIndexByte(base, '.'); ok && at > 0 && (base[at:] == ".insteadof" || base[at:] == ".pushinsteadof") {
			for _, value := range values {
				if rest, ok := strings.CutPrefix(url, value); ok {
					list = append(list, base[:at]+rest)
				}
			}
		}
	}
	return list
}

// gitAddress is an address of a repository without user and password, in the form
// scheme://host/path also where it was written as host:path. A text that is no address,
// or that programs read in several ways, stays as it is.
func gitAddress(url string) string {
	scheme, rest, ok := strings.Cut(url, "://")
	if !ok {
		host, name, colon := strings.Cut(url, ":")
		if !colon || strings.ContainsAny(host, "/\\") || strings.HasPrefix(name, ":") {
			return url
		}
		scheme, rest = "ssh", host+"/"+strings.TrimPrefix(name, "/")
	}
	host, name, _ := strings.Cut(rest, "/")
	user, host, named := cutUser(host)
	if strings.Trim(host, hostLetters) != "" || host == "" || host[0] == '-' || named && (user == "" || user[0] == '-' || strings.Trim(user, hostLetters+"_~%+") != "") {
		return url
	}
	return strings.ToLower(scheme) + "://" + strings.ToLower(host) + "/" + name
}

// hostLetters are what a host, a port and the colon between them are made of.
const hostLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-:"

// cutUser parts user and password from a host. With several signs nobody knows which is
// the one.
func cutUser(authority string) (user, host string, named bool) {
	if user, host, named = strings.Cut(authority, "@"); !named {
		return "", authority, false
	}
	return user, host, true
}

// credentialStarts are the helpers for passwords that git starts for addresses of the web,
// but for its own and the one of a code host.
func credentialStarts(settings gitconfig.Settings, remotes []string) (list []string) {
	if !slices.ContainsFunc(remotes, func(address string) bool { return !strings.HasPrefix(address, "ssh://") }) {
		return nil
	}
	for key, values := range settings {
		if strings.HasPrefix(key, "credential.") && strings.HasSuffix(key, "helper") && slices.ContainsFunc(values, helperStarts) {
			list = append(list, key)
		}
	}
	return list
}

// helperStarts reports a helper for passwords that is another program.
func helperStarts(value string) bool {
	if program, ok := strings.CutSuffix(value, " auth git-credential"); ok && wordlist.Has(" !gh !/usr/bin/gh !/usr/local/bin/gh !/opt/homebrew/bin/gh ", program) {
		return false
	}
	runs, _ := gitRuns("credential.helper", flow.Literal(value))
	return runs || len(strings.Fields(value)) > 1
}
