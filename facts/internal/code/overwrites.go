package code

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// ForcesPush reports a text in any language that has git push commits over those of others,
// however it puts the words of git together: as a list, as the arguments of a function, or as a
// call of a library. A branch for pages is made anew by each deploy.
func ForcesPush(text string) bool {
	if !strings.Contains(text, "push") || !strings.Contains(strings.ToLower(text), "git") {
		return false
	}
	for _, found := range forcedPush().FindAllString(text, 16) {
		if !strings.Contains(found, "with-lease") && !strings.Contains(found, "pages") {
			return true
		}
	}
	return false
}

var forcedPush = sync.OnceValue(func() *regexp.Regexp {
	forces := "(?:--force\\b(?:-with-lease)?|[\"'`\\s]-f[\"'`\\s]|--mirror\\b|[\"'`\\s(]\\+(?:refs/|[\"'`]|HEAD|\\w+:|\\$\\{|#\\{|\\{|%)|\\bforce\\s*(?:=>|[:=])\\s*:?(?:True|true|TRUE)|setForce\\(true)"
	return regexp.MustCompile("(?:[\"'`\\s(\\[]push[\"'`]?[\\s,]|(?i:git|repo|remote|origin)\\w*(?:\\(\\))?\\s*(?:\\.|->)\\s*push\\w*\\s*\\(?)[^\\n;]{0,200}?" + forces + "[^\\n;]{0,80}")
})

// DropsAll reports a text in any language that empties or drops a whole database, schema or table.
func DropsAll(text string) bool {
	lower := strings.ToLower(text)
	return slices.ContainsFunc(dropWords, func(w string) bool { return strings.Contains(lower, w) }) && dropsWhole().MatchString(text)
}

// dropWords are what a text has one of that [dropsWhole] matches: most have none, and to look for
// them costs a hundredth.
var dropWords = strings.Fields("drop truncate delete flush destroy_all db:reset db:purge db:schema migrate reset sync( databasecleaner flyway dbremovetable")

var dropsWhole = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\bdrop\s+(?:database|schema|owned|keyspace|table|user)\b|(?-i:\bTRUNCATE\b)|\btruncate\s+table\b|\btruncate\s+[\w."]+\s*(?:;|,|cascade\b|restart\b)|\btruncate\s+(?:["'` + "`" + `]?\s*\+|[#%{])|(?:query|execute|exec|raw|sql)\w*\(?[^\n]{0,20}\btruncate\s|(?:->|::|\.)truncate\(\s*[){]|\btruncate\(\s*:|\bdropDatabase\b|\bdrop_database\b|\bdrop_all\b|\bdropSchema\b|\bdropAllSchemas\b|\bdrop_collection\b|\bdelete\s+from\s+[\w."]+\s*["'` + "`" + `;)]|\bflush(?:all|db)\b|` +
		`\bdelete_?many\(\s*\{\s*\}\s*[,)]|\bdestroy_all\b|\bdelete_all\b|\bdb:(?:drop|reset|purge|schema:load)\b|\bmigrate:(?:fresh|reset|refresh)\b|\bmigrate\s+reset\b|\becto\.(?:drop|reset)\b|\bsync\([^)\n]{0,80}\bforce:\s*true\b|\bDatabaseCleaner\b|\bdeleteAllNodes\b|\bdetach\s+delete\b|\bindices\.delete\b|\bdeleteIndex\b|\bclean\(\s*\)\s*\.?\s*migrate|flyway.{0,20}clean|\bdbRemoveTable\b|\bdelete_index\b`)
})

// SecretInAddress reports a text in any language or format that puts a password or a private key into
// the path or the query of an address. Keys of interfaces and tokens stand there by custom, and a login
// before the host is for it.
func SecretInAddress(text string) bool {
	if !strings.Contains(text, "://") {
		return false
	}
	for _, found := range secretInAddress().FindAllStringSubmatch(text, 16) {
		name := strings.ToLower(found[2] + found[3])
		if !localAddress().MatchString(found[1]) && !nameOfSecret().MatchString(name) {
			return true
		}
	}
	return false
}

var (
	secretInAddress = sync.OnceValue(func() *regexp.Regexp {
		name := `[\w.\[\]"'():]*?(?i:password|passwd|passphrase|private_?key|secret|signing|credential)\w*`
		return regexp.MustCompile(`(https?://[\w.:\-{}$#]+)[/?][^\s"'` + "`" + `]*?(?:[$#%]?\{\{?[^{}\n]{0,60}?(` + name + `)[^{}\n]{0,60}\}|%\(\w*?(?i:password|passwd|secret)\w*\)s|["'` + "`" + `]\s*(?:\+|\.\.|\.|<>|~|\|\||&)\s*[^\n]{0,60}?(` + name + `))`)
	})
	localAddress = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^https?://(?:localhost|127\.|\[::1\]|10\.|192\.168\.|host\.docker\.internal|[\w-]+(?::|$)|example\.|\w+\.example)`)
	})
	// nameOfSecret finds an identifier of what only names a secret, or stands in the link of a mail by which
	// somebody gets a new one.
	nameOfSecret = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?:name|_?id|arn|path|ref|url|uri|version|reset|manager)$|reset|forgot|recovery`)
	})
)

// RunsFetched reports a statement in any language that fetches a text and runs it at once.
func RunsFetched(text string) bool {
	return strings.Contains(text, "://") && runsFetched().MatchString(text)
}

var runsFetched = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\b(?:exec|eval|instance_eval|loadstring|load-string|Function|runInThisContext|Invoke-Expression|iex)\b\s*\(?[^\n;]{0,80}?(?:urlopen|requests?\.get|httpx?\.get|fetch\(|URI\.open|open-uri|LWP|Net::HTTP|file_get_contents\(\s*["']https?|DownloadString|slurp|HTTP\.get|read_url|curl |wget )`)
})
