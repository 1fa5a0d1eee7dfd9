package code

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"gate/internal/wordlist"
)

// runsDownload reports statements that have a program save what it fetched under a name, and
// start that name as a program or hand it to a shell.
func runsDownload(list []string) bool {
	saved := map[string]bool{}
	for _, s := range list {
		for _, found := range savedTo().FindAllStringSubmatch(s, maxSaved) {
			if name := found[1] + found[2]; !wordlist.Has(bindingWords, name) {
				saved[name] = true
			}
		}
		if len(saved) > maxSaved {
			return true // whoever wrote so many names chose what is looked at
		}
	}
	if len(saved) == 0 {
		return false
	}
	for _, s := range list {
		for _, found := range startsName().FindAllStringSubmatch(s, maxSaved) {
			if saved[found[1]+found[2]] {
				return true
			}
		}
	}
	return false
}

// maxSaved bounds the names of a text, and those of a statement.
const maxSaved = 64

// savedTo finds the name that a download is saved under: behind the option -o of a program that
// fetches, or as the second argument of a function that downloads.
var savedTo = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`["'](?:curl|wget)["'].{0,400}?["']-{1,2}[A-Za-z-]{0,12}(?:[oO]|output|output-document)["']\s*,\s*[&$]?([A-Za-z_]\w*)|` +
		`\b(?:urlretrieve|[Dd]ownload_?[Ff]ile(?:Async|TaskAsync)?|[Dd]ownload_?[Tt]o|DownloadFileAsync)\(\s*[^,()]{1,300},\s*[&$]?([A-Za-z_]\w*)`)
})

// startsName finds the name of what a function starts as a program, or a shell as a script.
var startsName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\b(?:Command::new|exec\.Command|Process\.Start|ProcessBuilder|execFile|execFileSync|spawn|spawnSync|execSync|exec|system|Popen|call|check_call|check_output|run|startfile)\(\s*[\[{]?\s*[&$]?([A-Za-z_]\w*)\s*[,\])}]|` +
		`["'](?:/bin/)?(?:sh|bash|python3?|node|perl|ruby|pwsh)["']\)?\s*(?:\.args?\()?,?\s*[\[&]{0,2}\s*[&$]?([A-Za-z_]\w*)\s*[,\])}]`)
})

// mayRunDownload reports a text in which [runsDownload] may find something.
func mayRunDownload(text string) bool {
	return strings.Contains(text, "://") && slices.ContainsFunc([]string{`"curl"`, `'curl'`, `"wget"`, `'wget'`, "urlretrieve", "ownload"}, func(word string) bool {
		return strings.Contains(text, word)
	})
}
