package seen

import (
	"strings"

	"gate/hook"
)

const (
	maxNamed    = 256 // names of files of an output
	maxFileName = 512 // bytes of one
	maxDashes   = 4   // places in a line where a name may end before the number of the line
)

// Named are the names of files in the output of a call, as the programs print them that show
// parts of several files: before the line (grep), or on a line of their own (head, rg). Those
// come first that stand before a secret which the session was shown. Nobody knows whether
// there is such a file.
func (s *Seen) Named(ev *hook.Event) (names []string) {
	kept, err := s.open()
	if err != nil || kept.key == nil {
		return nil
	}
	f := kept.finder()
	if f == nil {
		return nil
	}
	f.again = true
	var rest []string
	had := map[string]bool{}
	outputs(ev, func(_, text string) {
		for line := range strings.Lines(text) {
			list := namesIn(strings.TrimRight(line, "\r\n"))
			if len(list) == 0 {
				continue
			}
			f.verified = f.verified[:0]
			f.text(line)
			for _, name := range list {
				switch {
				case len(f.verified) > 0 && len(names) < maxNamed:
					names = append(names, name)
				case !had[name] && len(rest) < maxNamed:
					rest = append(rest, name)
				}
				had[name] = true
			}
		}
	})
	return append(names, rest...)
}

// namesIn are what may be the name of the file that a line of an output comes from.
func namesIn(line string) (names []string) {
	add := func(name string) {
		if fileName(name) {
			names = append(names, name)
		}
	}
	name, _, isBefore := strings.Cut(line, ":")
	if isBefore {
		add(name)
	} else if len(line) <= maxFileName {
		add(strings.Trim(line, " \t=#*<>:-"))
	}
	for at, n := 0, 0; n < maxDashes; { // grep -C: name-12-text
		i := strings.IndexByte(line[at:], '-')
		if i < 0 || at+i > maxFileName {
			return names
		}
		at += i + 1
		rest := strings.TrimLeft(line[at:], "0123456789")
		if len(rest) < len(line)-at && strings.HasPrefix(rest, "-") {
			add(line[:at-1])
			n++
		}
	}
	return names
}

// fileName reports a text that may be the name of a file with an ending, or of one below a
// directory.
func fileName(name string) bool {
	return len(name) <= maxFileName && strings.ContainsAny(name, "./") && !strings.Contains(name, "//") && !strings.ContainsAny(name, "\x00\"'`$(){}<>|;,=")
}

// Sites are the hits of the hosts that a text has in addresses, as IPv4 addresses and behind the
// @ of addresses of mail, each host once.
func (s *Seen) Sites(text string) (hits []Hit) {
	kept, err := s.open()
	if err != nil || !kept.untrusted() {
		return nil
	}
	var l lexer
	l.text(text)
	had := map[string]bool{}
	for _, h := range kept.brought(&l) {
		if (h.What == kindHost.String() || h.What == kindMail.String()) && !had[h.Host] { // an address has its host, too
			had[h.Host] = true
			hits = append(hits, h)
		}
	}
	return hits
}
