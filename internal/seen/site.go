package seen

import (
	"strings"

	"gate/internal/wordlist"
)

// siteOf is the part of a host's name that somebody registered, such as example.co.uk, and
// the label that they chose for it.
func siteOf(host string) (domain, label string) {
	labels := strings.Split(host, ".")
	n := len(labels)
	if n < 2 || strings.Trim(host, "0123456789.:[]") == "" {
		return host, host
	}
	own := 2
	switch {
	case n > 3 && wordlist.Has(rented, strings.Join(labels[n-3:], ".")):
		own = 4
	case n > 2 && wordlist.Has(rented, strings.Join(labels[n-2:], ".")),
		n > 2 && len(labels[n-1]) == 2 && wordlist.Has(" co com net org gov ac edu or ne go gob nom ", labels[n-2]):
		own = 3
	}
	return strings.Join(labels[n-own:], "."), labels[n-own]
}

// rented are the domains below which anybody gets a name.
const rented = " github.io gitlab.io pages.dev workers.dev vercel.app netlify.app herokuapp.com web.app firebaseapp.com onrender.com fly.dev azurewebsites.net readthedocs.io blogspot.com " +
	"ngrok.io ngrok.app ngrok-free.app surge.sh glitch.me repl.co replit.app deno.dev cloudfront.net appspot.com run.app amazonaws.com trycloudflare.com s3.amazonaws.com core.windows.net "

// Where a word stood that is kept, before that word. No word has a blank.
const (
	inPrompt   = ""
	inAddress  = "at "          // of the host of a page that the agent opened, or of the path where it names a package
	inPath     = "path "        // of the path of another page
	inQuery    = "sought "      // what the agent asked a search or a server for
	ofSite     = "site "        // a label of the host of such a page, or a part of its path, whole
	service    = "service "     // of a prompt, a service that is to be used
	contactsAt = "contacts at " // the domain of such an address whose owner a prompt names
	contact    = "contact "     // an address of mail or a number that stood as somebody's own
)

// around are what stands before or behind a name in the label of its site.
var around = [...]string{"app", "hq", "io", "api", "cdn", "dev", "labs", "cloud", "inc", "ai", "js", "sdk", "status", "mail", "usercontent", "get", "use", "try"}

// wants reports a host whose site a prompt names, or what the agent looked for: the label,
// or each word of it.
func (c *content) wants(host string, places ...string) bool {
	_, label := siteOf(host)
	whole := plainOf(label)
	forms := []string{whole}
	for _, part := range around {
		if name := strings.TrimPrefix(strings.TrimSuffix(whole, part), part); name != whole && len(name) > 2 && !wordlist.Has(nouns, name) {
			forms = append(forms, name)
		}
	}
	if c.named(places, forms...) {
		return true
	}
	words := strings.FieldsFunc(label, func(r rune) bool { return r == '-' || r == '_' })
	for _, w := range words {
		if !c.named(places, w) {
			return false
		}
	}
	return len(words) > 1
}

// service reports the host of the interface of a service that a prompt wants used: of
// "with DeepL" api.deepl.com and api-free.deepl.com. A host of another name or another
// domain is none, nor is a page, a place for answers of somebody (hooks.slack.com) or the domain itself.
func (c *content) service(host string) bool {
	label, ok := strings.CutSuffix(host, ".com")
	first, label, dotted := strings.Cut(label, ".")
	return ok && dotted && !strings.Contains(label, ".") && wordlist.Has(" api api-free api-eu api-us ", first) &&
		!wordlist.Has(common, label) && c.named([]string{service}, label)
}

// nouns are words of many tasks that name nobody's site: a cachecloud is none that a prompt names
// which is about a cache.
const nouns = " cache proxy mirror registry index log logs data database mail build deploy docs pkg package packages status backup payment payments login auth sso test tests metric queue search image images token key keys secret secrets "

// common are words that stand behind "with" in many tasks.
const common = " metrics telemetry collector analytics backup upload updates update status support security monitoring report reports results build deploy internal staging " +
	"release package packages plugin account login token webhook server service client cloud email download assets static config "

// Unrelated reports a host that neither a prompt nor the agent's own search names, and that is no site
// whose page the agent opened.
func (s *Seen) Unrelated(host string) bool {
	kept, err := s.open()
	if err != nil {
		return false
	}
	_, label := siteOf(hostOf(host))
	return !kept.wants(hostOf(host), inPrompt, inQuery) && !kept.named([]string{ofSite}, plainOf(label))
}

// Asked reports a host whose site a prompt names.
func (s *Seen) Asked(host string) bool {
	kept, err := s.open()
	return err == nil && kept.wants(hostOf(host), inPrompt)
}

// SameSite reports two hosts whose names have one owner.
func SameSite(a, b string) bool {
	one, _ := siteOf(hostOf(a))
	other, _ := siteOf(hostOf(b))
	return one == other
}

// Only is the hit of a host that only untrusted text named, nil for another one.
func (s *Seen) Only(host string) *Hit { return s.only(host, false) }

// Source is [Seen.Only] of a host from which code, or to which data is to come from now on.
// There a log, or a file of others in the project, counts as untrusted text, too.
func (s *Seen) Source(host string) *Hit { return s.only(host, true) }

// OnlyPackage is the hit of a package that only untrusted text named, nil for another one.
func (s *Seen) OnlyPackage(name string) *Hit {
	kept, err := s.open()
	if err != nil || kept.key == nil {
		return nil
	}
	var l lexer
	l.add(kindPackage, packageOf(name))
	if hits := kept.brought(&l); len(hits) > 0 {
		return &hits[0]
	}
	return nil
}

func (s *Seen) only(host string, near bool) *Hit {
	kept, err := s.open()
	if err != nil || kept.key == nil {
		return nil
	}
	l := lexer{kept: near}
	l.add(kindHost, hostOf(host))
	if hits := kept.brought(&l); len(hits) > 0 {
		return &hits[0]
	}
	return nil
}

// plainOf is a label or a part of a path without signs, in lower case.
func plainOf(label string) string {
	return strings.Map(func(r rune) rune {
		if r < '0' || r > '9' && r < 'a' || r > 'z' && r < 0x80 {
			return -1
		}
		return r
	}, strings.ToLower(label))
}
