package core

import (
	"path"
	"strings"

	"gate/hook"
	"gate/internal/secret"
	"gate/internal/seen"
	"gate/internal/wordlist"
)

// These are the limits of what a call reads of the files that it sends.
const (
	maxSentFiles = 32        // of all its directories together
	maxSentFile  = 256 << 10 // bytes of one; of a longer file nothing is looked at
)

// looksSecret is the kind of a text that may be a secret: a name that promises one has it.
const looksSecret = "what looks like a secret"

// sent adds to facts the secrets that stand in a file which the call sends, though nothing
// else tells of them: neither its name nor an earlier call. Nobody needs to have seen them.
func (g *Gate) sent(f *hook.Facts, tool string) {
	if f == nil {
		return
	}
	left := maxSentFiles
	g.handed(f, tool, &left)
	for i := range f.Effects {
		e := &f.Effects[i]
		send, ok := e.Is.(*hook.NetSend)
		if !ok || send.Path == nil || send.Secret != nil || send.Private || known(f, e) {
			continue
		}
		host := ""
		if send.Host != nil {
			host = *send.Host
		}
		alone := !g.isDir(*send.Path)
		look := func(name string) bool {
			left--
			what, certain := g.inside(name, host)
			if what != "" && !certain && !alone { // builds and fixtures have much that only looks so
				what = ""
			}
			if what != "" {
				f.Flow = append(f.Flow, hook.Flow{
					Effect: e.Kind(), Command: e.Command, Origin: seen.Secret, What: &what, Path: &name, Via: []string{}, How: "file", Coarse: !certain,
				})
			}
			return what == "" && left > 0
		}
		if left > 0 && alone {
			look(*send.Path)
		} else if left > 0 && send.Source == "file" && !leavesOut(commandOf(f, e.Command)) {
			g.listed(*send.Path, "", look)
		}
	}
}

// handed adds the secrets and the rows about people that stand in a file which a tool of a server
// hands to somebody.
func (g *Gate) handed(f *hook.Facts, tool string, left *int) {
	if !hands(tool) {
		return
	}
	for i := range f.Paths {
		p := &f.Paths[i]
		if p.Path == nil || p.Access != "read" && p.Access != "list" && p.Access != "use" || *left == 0 {
			continue
		}
		*left--
		what, certain := g.inside(*p.Path, "")
		if what == "" && seen.HasPeople(g.textOf(*p.Path, maxSentFile)) && !tried(*p.Path) {
			what, certain = seen.People, true
		}
		if what != "" {
			f.Flow = append(f.Flow, hook.Flow{Effect: "tool", Origin: seen.Secret, What: &what, Path: p.Path, Via: []string{}, How: "file", Coarse: !certain})
		}
	}
}

// rowsSent adds the rows about people of a file that code of a command reads which sends something.
func rowsSent(f *hook.Facts, kept *seen.Seen) {
	if f == nil || kept.Rows == nil {
		return
	}
	sends := map[int]bool{}
	for i := range f.Effects {
		if send, ok := f.Effects[i].Is.(*hook.NetSend); ok && !send.Private && send.Path == nil {
			sends[f.Effects[i].Command] = true
		}
	}
	for i := range f.Paths {
		if p := &f.Paths[i]; p.Access == "read" && p.Path != nil && sends[p.Command] && kept.Rows(*p.Path) {
			what := seen.People
			f.Flow = append(f.Flow, hook.Flow{Effect: "net.send", Command: p.Command, Origin: seen.Secret, What: &what, Path: p.Path, Via: []string{}, How: "file"})
			delete(sends, p.Command)
		}
	}
}

// hands reports a tool by which people or places get what it is given, by its name.
func hands(tool string) bool {
	if !strings.HasPrefix(tool, "mcp__") {
		return false
	}
	words := wordlist.OfName(tool[strings.LastIndex(tool, "__")+2:])
	return len(words) > 0 && !wordlist.Has(" read get list search view open load parse extract convert summarize describe download find ", words[0]) &&
		wordlist.HasAny(" upload attach attachment attachments send share post publish reply email mail message forward deliver comment issue ticket page paste gist chat dm notify broadcast submit document draft import ", words)
}

// known reports an effect of which a flow tells already that a secret goes along.
func known(f *hook.Facts, e *hook.FactEffect) bool {
	for i := range f.Flow {
		if flow := &f.Flow[i]; flow.Origin == seen.Secret && flow.Command == e.Command && flow.Effect == e.Kind() && flow.How != "sequence" {
			return true
		}
	}
	return false
}

// leavesOut reports a command that may leave out files of the directories which it sends.
// Facts know which of them hold a secret by their names.
func leavesOut(c *hook.ShellCommand) bool {
	if c == nil {
		return false
	}
	for _, name := range []string{"exclude", "exclude-from", "filter", "files-from", "include", "include-from"} {
		if c.Options[name] != nil {
			return true
		}
	}
	return false
}

// inside is the kind of secret that a file holds, "" for none. certain is false where only
// the name before a value tells. Files of sums and what builds make are passed over then.
func (g *Gate) inside(name, host string) (what string, certain bool) {
	if g.Reader.Secret(name) != "" {
		return g.Reader.Secret(name), true
	}
	text := g.textOf(name, maxSentFile)
	if text == "" || strings.IndexByte(text[:min(len(text), 512)], 0) >= 0 {
		return "", false
	}
	if what = secret.Sent(text, host); what != "" {
		return what, true
	}
	if !wordlist.Has(" .css .svg .lock .sum .po .js .mjs .map .wasm .ipynb ", strings.ToLower(path.Ext(name))) && !strings.HasSuffix(name, "-lock.json") && seen.Shows(text) {
		return looksSecret, false
	}
	return "", false
}
