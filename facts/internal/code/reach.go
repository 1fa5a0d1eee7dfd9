package code

import (
	"regexp"
	"strings"
	"sync"

	"gate/facts/internal/peer"
)

// Reaches are the peers that a text in any language reaches, as far as it names them in
// addresses or beside a connection: nobody on this machine or its network. It knows no
// syntax, so that it is of use only where something else tells that the text sends.
func Reaches(text string) (peers []peer.Peer) {
	if len(text) > maxLineage {
		text = text[:maxLineage]
	}
	words := addressInText().ReplaceAllString(text, " ") // http:// alone is no module
	connects := calls(words, socketWords) || calls(words, netWords)
	if !connects && !calls(words, sendWords) && !calls(words, requestWords) {
		return nil
	}
	known := map[string]bool{}
	add := func(address string, url bool) {
		p := peer.Parse(address, url)
		if p.Host == "" || p.Private || known[p.Host] || strings.ContainsAny(p.Host, "$%{}<>*") || namespace(p.Host) {
			return
		}
		known[p.Host] = true
		if peers = append(peers, p); !url {
			peers[len(peers)-1].URL = ""
		}
	}
	for _, found := range addressInText().FindAllString(text, maxReached) {
		add(found, true)
	}
	if connects {
		for _, found := range hostInQuotes().FindAllStringSubmatch(text, maxReached) {
			add(found[1], false)
		}
	}
	return peers[:min(len(peers), maxReached)]
}

// maxReached is how many addresses of a text are looked at, and how many peers it has.
const maxReached = 16

// netWords are modules and functions by which languages reach other machines, beside those
// that a request or a connection needs.
const netWords = " requests http https net dgram dns got ky superagent needle undici node-fetch WebSocket EventSource XMLHttpRequest sendBeacon " +
	"smtplib SMTP nodemailer socket Socket DatagramSocket InetAddress gethostbyname gethostbyname_ex getaddrinfo lookup resolve resolve4 resolveTxt LookupHost LookupTXT " +
	"URI URL HttpClient LWP UserAgent Net HTTP RestClient open-uri file_get_contents mail boto3 paramiko ftplib telnetlib dig nslookup nc host ping Invoke-WebRequest Invoke-RestMethod iwr irm "

// namespace reports a host that texts name for a format, and nobody reaches.
func namespace(host string) bool {
	for _, known := range []string{"w3.org", "xmlsoap.org", "maven.apache.org", "json-schema.org", "json.schemastore.org", "schemas.microsoft.com", "schemas.android.com", "java.sun.com",
		"opensource.org", "apache.org", "example.com", "example.org", "example.net", "localhost.localdomain"} {
		if host == known || strings.HasSuffix(host, "."+known) {
			return true
		}
	}
	return strings.HasSuffix(host, ".example") || strings.HasSuffix(host, ".test") || strings.HasSuffix(host, ".invalid") || strings.HasSuffix(host, ".localhost")
}

var (
	addressInText = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile("\\b(?:https?|wss?|ftps?|smtps?|tcp|udp)://[^\\s\"'`<>()\\\\,;]+")
	})
	hostInQuotes = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile("[\"'`]((?:[A-Za-z0-9-]+\\.)+(?:com|net|org|io|dev|app|co|me|info|biz|xyz|site|online|live|cloud|tech|top|club|eu|de|uk|fr|nl|ru|cn|in|us|ch|at|pl|se|no|fi|dk|it|es|pt|cz|br|jp|kr|au|ca|ai|to|cc|gg|sh|li|lol|link|store|space|page|website|pro|host)|(?:[0-9]{1,3}\\.){3}[0-9]{1,3})(?::[0-9]+)?[\"'`]")
	})
)
