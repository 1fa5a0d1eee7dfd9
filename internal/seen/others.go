package seen

import (
	"path"
	"strings"

	"gate/hook"
	"gate/internal/wordlist"
)

// keptByOthers reports a call that reads a log, or files that others wrote and the project only
// keeps: strangers decide about what stands there.
func keptByOthers(f *hook.Facts) bool {
	for i := range f.Paths {
		p := &f.Paths[i]
		if i == maxPlaces {
			break
		}
		if p.Access == "read" && p.Path != nil && (ofOthers(*p.Path) || forReaders(*p.Path)) {
			return true
		}
	}
	if f.Shell == nil {
		return false
	}
	for i := range f.Shell.Commands {
		c := &f.Shell.Commands[i]
		first, rest, _ := strings.Cut(text(c.Subcommand), " ")
		switch program := text(c.Program); {
		case program == "kubectl" || program == "oc":
			if first == "get" {
				for _, o := range c.Operands {
					if wordlist.Has(" events event ev ", text(o)) {
						return true
					}
				}
			}
			if first == "logs" || first == "describe" || first == "events" {
				return true
			}
		case wordlist.Has(" docker podman nerdctl docker-compose heroku fly flyctl vercel nomad pm2 wrangler ", program):
			if first == "logs" || rest == "logs" || first == "tail" {
				return true
			}
		case wordlist.Has(" journalctl stern adb dmesg idevicesyslog kubetail ", program):
			return true
		}
	}
	return false
}

// forReaders reports a text for people. Its author may have copied it, addresses included.
func forReaders(file string) bool {
	return wordlist.Has(" .md .mdx .rst .adoc .txt .html .htm .ipynb .qmd .rmd .org ", strings.ToLower(path.Ext(file)))
}

// ofOthers reports a file of a log, or in a directory for what others wrote.
func ofOthers(file string) bool {
	file = strings.ToLower(file)
	base := path.Base(file)
	if strings.HasSuffix(base, ".log") || strings.Contains(base, ".log.") || strings.HasSuffix(base, ".trace") || strings.HasSuffix(base, ".stderr") {
		return true
	}
	for _, part := range strings.Split(path.Dir(file), "/") {
		if wordlist.Has(" vendor vendored third_party third-party thirdparty 3rdparty external externals extern upstream node_modules site-packages dist-packages bower_components pods carthage logs ", part) {
			return true
		}
	}
	for _, place := range [...]string{"/pkg/mod/", "/.cargo/registry/", "/.cargo/git/", "/.m2/repository/", "/.gradle/caches/", "/gems/", "/.pub-cache/", "/.nuget/packages/", "/.build/checkouts/", "/deps/", "/.terraform/", "/ansible_collections/", "/.ansible/roles/", "/.cache/huggingface/", "/downloads/"} {
		if strings.Contains(file, place) {
			return true
		}
	}
	return false
}

// ofUser stands before the name of a user, a role or an account that a text has.
const ofUser = "who "

// maxUsers is how many of those names one text has.
const maxUsers = 128

// users adds the words that a text has for a user, a role or an account.
func (l *lexer) users(s string) {
	left, names := maxUsers, 0
	eachWord(s, func(w string) bool {
		w = strings.ToLower(strings.Trim(w, ":.=!?*_#[]"))
		switch {
		case w == "" || names > 0 && wordlist.Has(" called named with the name a an the id ", w):
		case wordlist.Has(" user users login role account serviceaccount member principal collaborator maintainer assignee subject username author bot reviewer grantee ", w):
			names = 2
		case names > 0 && len(w) > 2:
			l.add(kindWord, ofUser+w)
			names, left = 0, left-1
		default:
			names--
		}
		return left > 0
	})
}

// eachWord calls f for the words of a text, as long as it wants more.
func eachWord(s string, f func(string) bool) {
	for w := range strings.FieldsFuncSeq(s, func(r rune) bool { return r < 0x80 && parts[byte(r)] == gap }) {
		if !f(w) {
			return
		}
	}
}

// OnlyUser is the hit of a user to whom a text gives rights and whom only untrusted text named,
// nil for none. A name in a prompt is asked for, also as a part.
func (s *Seen) OnlyUser(text string) (hit *Hit) {
	kept, err := s.open()
	if err != nil || kept.key == nil {
		return nil
	}
	left := 2 * maxWords
	eachWord(text, func(w string) bool {
		_, value, _ := strings.Cut(w, "=") // --user=name
		for _, name := range []string{w, value, w[strings.LastIndexByte(w, ':')+1:], w[strings.LastIndexByte(w, '/')+1:]} {
			name = strings.ToLower(strings.Trim(name, ":.=!?*_#[]@"))
			if len(name) < 3 || wordlist.Has(everybodys, name) || kept.namesAll(name) {
				continue
			}
			l := lexer{kept: true}
			l.add(kindWord, ofUser+name)
			if hits := kept.brought(&l); len(hits) > 0 {
				hits[0].Host = name
				hit = &hits[0]
				return false
			}
		}
		left--
		return left > 0
	})
	return hit
}

// OnlyUsers are the hits of the users whom a text names and whom only untrusted text named.
func (s *Seen) OnlyUsers(text string) (hits []Hit) {
	for w := range strings.FieldsSeq(text) {
		if hit := s.OnlyUser(w); hit != nil && len(hits) < maxWords {
			hits = append(hits, *hit)
		}
	}
	return hits
}

// everybodys are names of users and words of grants that say nothing of whose they are.
const everybodys = " admin admins administrator root postgres mysql public users default system service services owner owners all none superuser createdb createrole replication password grant create alter role user login " +
	"with for and the that has must should can may not password kind name namespace metadata subjects roleref clusterrole cluster-admin clusterrolebinding rolebinding serviceaccount group apigroup " +
	"app application database schema tables privileges sudo wheel docker github-actions ubuntu ec2-user deploy ci guest null true false "

// ofKey stands before a public key.
const ofKey = "key "

// keys adds the public keys of a text: by them signatures, logins and recipients are known.
func (l *lexer) keys(s string) {
	l.shortKeys(s)
	for _, mark := range [...]string{"AAAA", "age1"} { // of each form that ssh knows, and of age
		for at := 0; ; {
			i := strings.Index(s[at:], mark)
			if i < 0 {
				break
			}
			key := wordAt(s[at+i:])
			if at += i + len(key); len(key) >= leastKey {
				l.add(kindWord, ofKey+strings.TrimRight(key, "="))
			}
		}
	}
}

// shortKeys adds the public keys of 32 bytes in base64, as WireGuard, nix and minisign have them.
// Sums of files look alike, but say so before them.
func (l *lexer) shortKeys(s string) {
	for at := 0; ; {
		i := strings.IndexByte(s[at:], '=')
		if i < 0 {
			return
		}
		end := at + i
		at = end + 1
		begin := end
		for begin > 0 && end-begin < 44 && (inWindow(s[begin-1]) != 0 || s[begin-1] == '+' || s[begin-1] == '/') {
			begin--
		}
		if before := s[:begin]; end-begin == 43 && !strings.HasSuffix(before, "sha256-") && !strings.HasSuffix(before, "sha256:") && !strings.HasSuffix(before, "h1:") {
			l.add(kindWord, ofKey+s[begin:end])
		}
	}
}

// leastKey is how long a public key is at least, in characters of its text.
const leastKey = 58

// wordAt is the key that a text begins with.
func wordAt(s string) string {
	end := 0
	for end < len(s) && (inWindow(s[end]) != 0 || s[end] == '+' || s[end] == '/' || s[end] == '=') {
		end++
	}
	return s[:max(end, 1)]
}

// OnlyKey is the hit of a public key in a text that only untrusted text had, nil for none. Its
// host is the one that stands before the key, or the key's end.
func (s *Seen) OnlyKey(text string) *Hit {
	kept, err := s.open()
	if err != nil || kept.key == nil {
		return nil
	}
	l := lexer{kept: true}
	l.keys(text)
	hits := kept.brought(&l)
	if len(hits) == 0 {
		return nil
	}
	h := &hits[0]
	key := strings.TrimPrefix(h.Text, ofKey)
	h.Host = "…" + key[max(0, len(key)-8):]
	if at := strings.Index(text, key); at > 0 {
		line := text[strings.LastIndexByte(text[:at], '\n')+1 : at]
		if hosts := Hosts(line); len(hosts) > 0 && !strings.Contains(line, "@"+hosts[0].Host) {
			h.Host = hosts[0].Host
		}
	}
	return h
}
