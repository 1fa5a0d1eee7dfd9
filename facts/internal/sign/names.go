package sign

import (
	"slices"
	"strings"
	"unicode/utf8"

	"gate/internal/strictjson"
	"gate/internal/wordlist"
)

// lookalike is the kind of sign of a server that is called nearly as another one.
const lookalike = "lookalike"

// famous are servers that many people use, by the word that is left of their names.
const famous = " airtable anthropic asana atlassian azure bitbucket bravesearch chromedevtools cloudflare confluence context7 datadog discord docker dropbox elasticsearch everything figma filesystem firecrawl " +
	"github gitlab gmail googledrive googlemaps grafana heroku hubspot huggingface jetbrains kubernetes linear memory microsoft mongodb motion netlify notion openai paypal perplexity playwright postgres " +
	"postgresql puppeteer railway redis salesforce sentry sequentialthinking shopify slack snowflake sqlite square stripe supabase tavily telegram terraform trello twilio vercel whatsapp wordpress youtube zapier zendesk "

// Words in names of servers: kinds say only that it is one, promises want it taken for
// a better one.
const (
	kinds    = " mcp server servers tool tools plugin connector integration the for com io app "
	promises = " official verified trusted real original genuine authentic enterprise premium pro plus new latest fixed updated "
)

// shortest is how long a name is that one letter can be off.
const shortest = 5

// names looks whether a server is called nearly as another one, by the name that it has here
// and the one that it tells. others are the servers that a person uses.
func (l *look) names(here, told string, others []any) {
	l.Of, l.Name = "server", here
	for field, name := range map[string]string{"mcp_server_name": here, "serverInfo.name": told} {
		for _, o := range others {
			other, _ := o.(string)
			if other == "" || other == here {
				continue
			}
			if is, of := core(name), core(other); name != other && (is.base == of.base || near(is, of.base)) {
				l.add(lookalike, field, other)
			}
		}
		if other := imitated(core(name)); other != "" {
			l.add(lookalike, field, other)
		}
	}
}

// A called is a name of a server: what is left without words that say little, whether one of
// them was a promise, and whether letters only look Latin.
type called struct {
	base              string
	promises, foreign bool
}

func core(name string) called {
	c := called{foreign: strings.ContainsFunc(name, func(r rune) bool { return r >= utf8.RuneSelf })}
	var rest []string
	for w := range strings.FieldsFuncSeq(strictjson.Fold(parted(name)), func(r rune) bool { return r < utf8.RuneSelf && !(r >= '0' && r <= '9' || r >= 'a' && r <= 'z') }) {
		switch {
		case wordlist.Has(promises, w):
			c.promises = true
		case !wordlist.Has(kinds, w):
			rest = append(rest, w)
		}
	}
	c.base = strings.Join(rest, "")
	return c
}

// imitated is the famous server that a name imitates, "" if it imitates none.
func imitated(c called) string {
	if wordlist.Has(famous, c.base) {
		if c.promises || c.foreign {
			return c.base
		}
		return ""
	}
	for known := range strings.FieldsSeq(famous) {
		if near(c, known) {
			return known
		}
	}
	return ""
}

// ownWords are words for other things that are a letter away from a famous server.
const ownWords = " email sigma entry "

// near reports a name that differs from another one by a letter, or by digits in the place
// of letters that look like them.
func near(c called, other string) bool {
	if len(other) < shortest || len(c.base) < shortest || c.base == other || c.base == other+"s" || c.base+"s" == other {
		return false
	}
	if strings.TrimRight(c.base, "0123456789") == other || wordlist.Has(ownWords, c.base) { // a second copy, or a word of its own
		return false
	}
	return oneOff(c.base, other) || digits(c.base) == digits(other)
}

// digits puts letters in the place of digits and letters that look like them.
func digits(s string) string {
	return strings.NewReplacer("0", "o", "1", "l", "3", "e", "5", "s", "i", "l").Replace(s)
}

// oneOff reports two texts that differ by one letter, or by two that changed places.
func oneOff(a, b string) bool {
	x, y := []rune(a), []rune(b)
	if len(x) > len(y) {
		x, y = y, x
	}
	if len(y)-len(x) > 1 {
		return false
	}
	i := 0
	for i < len(x) && x[i] == y[i] {
		i++
	}
	if len(x) < len(y) {
		return slices.Equal(x[i:], y[i+1:])
	}
	return i == len(x) || slices.Equal(x[i+1:], y[i+1:]) || i+1 < len(x) && x[i] == y[i+1] && x[i+1] == y[i] && slices.Equal(x[i+2:], y[i+2:])
}
