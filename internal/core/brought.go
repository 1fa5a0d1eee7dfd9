package core

import (
	"maps"
	"path"
	"slices"
	"strings"

	"gate/hook"
	"gate/internal/origin"
	"gate/internal/seen"
	"gate/internal/wordlist"
)

// brought adds to facts what only untrusted text named and what no single effect shows:
// copies between places elsewhere, hosts that take the place of others in a file, and
// programs out of a repository.
func (g *Gate) brought(f *hook.Facts, ev *hook.Event, kept *seen.Seen) {
	if f == nil || !kept.Untrusted() {
		return
	}
	for i := range f.Hosts {
		g.reached(f, kept, &f.Hosts[i])
	}
	for i := range f.Effects {
		g.feeds(f, ev, kept, &f.Effects[i])
	}
	g.replaced(f, ev, kept)
	g.sinks(f, kept)
	g.handedOver(f, ev, kept)
	g.foreign(f, ev, kept)
	g.trusted(f, ev, kept)
	g.obeyed(f, ev, kept)
	g.clones(f, ev, kept)
}

// reached adds a host that gets a copy of what lies elsewhere, such as one bucket of
// another (nothing of this machine is sent), and one from where packages come after this.
func (g *Gate) reached(f *hook.Facts, kept *seen.Seen, h *hook.Host) {
	switch {
	case h.Host == nil:
	case h.Access == "send" && !sendsTo(f, h):
		addHit(f, kept.Only(*h.Host), "", "net.send", h.Command, nil)
	case h.Access == "fetch" && g.addsSource(commandOf(f, h.Command)):
		source(f, kept, *h.Host, "net.fetch", h.Command)
	}
}

// addsSource reports a command that makes an address one from which later installs come.
func (g *Gate) addsSource(c *hook.ShellCommand) bool {
	if c == nil || c.Program == nil {
		return false
	}
	name := *c.Program
	if c.Subcommand != nil {
		name += " " + *c.Subcommand
	}
	row, known := g.catalogue().Lookup(name)
	return known && row.Sources
}

// feeds adds the hosts from which an effect has packages, images or manifests come.
func (g *Gate) feeds(f *hook.Facts, ev *hook.Event, kept *seen.Seen, e *hook.FactEffect) {
	text := ""
	switch is := e.Is.(type) {
	case *hook.Environment:
		if is.Value != nil && (is.Runs == true || is.Runs == "packages") {
			text = *is.Value
		}
	case *hook.Container:
		if is.Image.Text != nil {
			if host, _, ok := strings.Cut(*is.Image.Text, "/"); ok {
				text = "oci://" + host
			}
		}
	case *hook.Kubernetes:
		if is.Access == "write" && f.Shell != nil && e.Command > 0 && e.Command <= len(f.Shell.Commands) {
			for _, w := range f.Shell.Commands[e.Command-1].Words {
				if w.Value != nil && strings.Contains(*w.Value, "://") {
					text += *w.Value + " "
				}
			}
		}
	}
	if text == "" {
		return
	}
	for _, h := range seen.Hosts(text) {
		if kept.Only(h.Host) == nil && g.lockedBefore(ev, h.Host) {
			continue // what others keep, or a sub-agent says, is what the project has
		}
		source(f, kept, h.Host, e.Kind(), e.Command)
	}
}

// lockedBefore reports a host that a lock file or settings of the project name, less those
// that an agent wrote: it could put there what a log told it.
func (g *Gate) lockedBefore(ev *hook.Event, host string) bool {
	ledger, known := g.origins()
	if !known {
		return false
	}
	written, err := ledger.Open(keyOf(ev)).Written()
	return err == nil && g.locked(path.Join(ev.Text("cwd"), "-"), host, written...)
}

// source adds a host as one from which packages come, unless a prompt names its site.
func source(f *hook.Facts, kept *seen.Seen, host, effect string, command int) {
	if hit := kept.Source(host); hit != nil && hit.What == "host" {
		addOnce(f, hit, packageSource, effect, command, nil)
	}
}

// commandOf is a command of a call by its number, nil for none.
func commandOf(f *hook.Facts, number int) *hook.ShellCommand {
	if f.Shell == nil || number < 1 || number > len(f.Shell.Commands) {
		return nil
	}
	return &f.Shell.Commands[number-1]
}

func sendsTo(f *hook.Facts, h *hook.Host) bool {
	return slices.ContainsFunc(f.Effects, func(e hook.FactEffect) bool {
		send, ok := e.Is.(*hook.NetSend)
		return ok && e.Command == h.Command && (send.Host == nil || *send.Host == *h.Host)
	})
}

// addHit adds one flow for an effect of a command, nothing for no hit. Another kind than
// that of the hit may be given.
func addHit(f *hook.Facts, hit *seen.Hit, what, effect string, command int, file *string) {
	if hit == nil {
		return
	}
	if what == "" {
		what = hit.What
	}
	flow := hook.Flow{Effect: effect, Command: command, Origin: hit.Origin, What: &what, Path: file, Via: []string{}, How: hit.How}
	if hit.Host != "" {
		flow.Host = &hit.Host
	}
	if hit.Call != "" {
		flow.Call = &hit.Call
	}
	f.Flow = append(f.Flow, flow)
}

// maxReplaced is how many files of one call are compared with what they held.
const maxReplaced = 16

// The kinds of flows that [Gate.brought] adds, beside those of package seen.
const (
	packageSource = "package source"
	replacedHost  = "replaced host"
	clonedCode    = "cloned code"
	foreignCode   = "foreign code"
	pageCode      = "page code"
	peer          = "peer"
	grantee       = "grantee"
	foreignKey    = "foreign key"
)

// replaced adds the hosts that a call puts into a file where another one stood. A file that
// people read is none: a program that gets its host from there is what matters.
func (g *Gate) replaced(f *hook.Facts, ev *hook.Event, kept *seen.Seen) {
	left := maxReplaced
	told := map[string]bool{}
	for i := range f.Effects {
		e := &f.Effects[i]
		write, ok := e.Is.(*hook.FSWrite)
		if !ok || write.Path == nil || write.How == "append" || write.How == "move" || write.How == "link" || forPeople(*write.Path) || told[*write.Path] || left == 0 {
			continue
		}
		left--
		told[*write.Path] = true
		for _, host := range g.newHosts(f, ev, e.Command, *write.Path) {
			if hit := kept.Only(host); hit != nil && kept.Unrelated(host) {
				addHit(f, hit, replacedHost, e.Kind(), e.Command, write.Path)
			}
		}
	}
}

// newHosts are the hosts that a call puts in the place of others in a file.
func (g *Gate) newHosts(f *hook.Facts, ev *hook.Event, command int, file string) (list []string) {
	at := slices.IndexFunc(f.Wrote, func(w origin.Text) bool { return w.Path == file })
	if at < 0 { // sed -i and its like: the line has both
		old := g.text(file)
		if old == "" || f.Shell == nil || command < 1 || command > len(f.Shell.Commands) {
			return nil
		}
		for _, w := range f.Shell.Commands[command-1].Words {
			if w.Value != nil {
				list = append(list, swapped(substituted(*w.Value), old)...)
			}
		}
		return list
	}
	text := f.Wrote[at].Text // all of it, or the new pieces
	if list = exchanged(g.text(file), text); len(list) == 0 {
		list = exchanged(replacedText(ev.ToolInput()), text)
	}
	return list
}

// substituted is a word of sed with its parts on lines of their own, and without what keeps a
// sign from being one of the pattern.
func substituted(word string) string {
	if i := strings.IndexByte(word, 's'); i >= 0 && (i == 0 || word[i-1] < 'a' || word[i-1] > 'z') && i+1 < len(word) && strings.IndexByte("/#|,!~@%:", word[i+1]) >= 0 {
		mark := word[i+1 : i+2]
		word = strings.ReplaceAll(strings.ReplaceAll(word, `\`+mark, "\x00"), mark, "\n")
		word = strings.ReplaceAll(word, "\x00", mark)
	}
	return strings.ReplaceAll(word, `\`, "")
}

// replacedText is what the input of a tool says that it takes away.
func replacedText(input map[string]any) string {
	var out strings.Builder
	for _, name := range slices.Sorted(maps.Keys(input)) {
		switch v := input[name].(type) {
		case string:
			if wordlist.Has(" old_string old_str oldString oldText old_text search ", name) {
				out.WriteString(v + "\n")
			}
			if !strings.HasPrefix(v, "*** Begin Patch") {
				continue
			}
			for line := range strings.Lines(v) {
				if strings.HasPrefix(line, "-") {
					out.WriteString(line[1:])
				}
			}
		case []any:
			for _, e := range v {
				if m, ok := e.(map[string]any); ok {
					out.WriteString(replacedText(m))
				}
			}
		}
	}
	return out.String()
}

// A place is a host in a text, and what stands before it in its line, without the scheme.
type place struct{ before, host string }

// exchanged are the hosts of a new text that stand where the old one had another, which the new
// one has no more.
func exchanged(old, text string) (list []string) {
	were := placesOf(old)
	if len(were) == 0 {
		return nil
	}
	gone := map[string][]place{} // by what stood before them
	for _, w := range were {
		if !strings.Contains(text, w.host) && !nobodys(w.host) {
			gone[w.before] = append(gone[w.before], w)
		}
	}
	had := map[string]bool{}
	for _, p := range placesOf(text) {
		if had[p.host] || len(gone[p.before]) == 0 || strings.Contains(old, p.host) {
			continue
		}
		had[p.host] = slices.ContainsFunc(gone[p.before], func(w place) bool { return !seen.SameSite(w.host, p.host) })
		if had[p.host] {
			list = append(list, p.host)
		}
	}
	return list
}

// swapped are the hosts of the word of a program that edits files, behind one that the file has.
func swapped(word, old string) (list []string) {
	had := ""
	for _, p := range placesOf(word) {
		switch {
		case strings.Contains(old, p.host):
			had = p.host
		case had != "" && !nobodys(had) && !seen.SameSite(had, p.host):
			list = append(list, p.host)
		}
	}
	return list
}

// placesOf are the hosts of a text, line by line.
func placesOf(text string) (list []place) {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if len(line) > maxLine {
			continue
		}
		for _, w := range seen.Hosts(line) {
			before := withoutUser(line[:w.At])
			if i := strings.LastIndex(before, "://"); i >= 0 && i+3 == len(before) {
				before = strings.TrimRight(before[:i], "abcdefghijklmnopqrstuvwxyz+")
			}
			if list = append(list, place{before, w.Host}); len(list) == maxPlaces {
				return list
			}
		}
	}
	return list
}

// withoutUser is what stands before a host without the login or the key of an address.
func withoutUser(before string) string {
	if at := strings.LastIndex(before, "://"); at >= 0 && strings.HasSuffix(before, "@") && !strings.ContainsAny(before[at:], " \t\"'") {
		return before[:at+3]
	}
	return before
}

// maxPlaces is how many hosts of a text are compared: what has more is a list of hosts.
const maxPlaces = 256

// maxLine is how long a line is whose hosts are compared: no line of people is longer.
const maxLine = 4096

// nobodys reports a host that stands for another one until somebody says which.
func nobodys(host string) bool {
	return near(host) || strings.HasPrefix(host, "127.") || strings.HasPrefix(host, "169.254.") || host == "0.0.0.0" || wordlist.Has(" example.com example.org example.net ", host) ||
		slices.ContainsFunc(strings.Fields(".example .example.com .example.org .test .invalid .local .localhost .internal"), func(end string) bool { return strings.HasSuffix(host, end) })
}

// forPeople reports a file that people read, or a tool writes.
func forPeople(file string) bool {
	return wordlist.Has(" .md .mdx .markdown .rst .txt .adoc .org .html .htm .css .scss .svg .csv .tsv .lock .sum .log .po ", strings.ToLower(path.Ext(file))) ||
		strings.HasSuffix(file, "-lock.json") || strings.HasSuffix(file, "-lock.yaml")
}

// clones adds the commands that run what a repository or a download has whose host only
// untrusted text named.
func (g *Gate) clones(f *hook.Facts, ev *hook.Event, kept *seen.Seen) {
	ledger, known := g.origins()
	if !known || f.Shell == nil {
		return
	}
	var left origin.Ledger
	for i := range f.Shell.Commands {
		c := &f.Shell.Commands[i]
		for _, file := range loadsCode(c) {
			if left == nil {
				left = ledger.Open(keyOf(ev))
			}
			move, _ := left.Of(file) // an error closes what facts make of it
			if move.Host == "" || move.Host == "?" || !kept.Unrelated(move.Host) {
				continue
			}
			if hit := kept.Only(move.Host); hit != nil && hit.What == "host" {
				addOnce(f, hit, clonedCode, "exec.code", c.ID, &file)
				break
			}
		}
		for _, file := range runs(f, c) {
			if left == nil {
				left = ledger.Open(keyOf(ev))
			}
			move, _ := left.Of(file) // an error closes what facts make of it
			if move.Host == "" || move.Host == "?" {
				continue
			}
			if hit := kept.Only(move.Host); hit != nil {
				addHit(f, hit, clonedCode, "exec.code", c.ID, &file)
				break
			}
		}
	}
}

// loadsCode are the files that hold code, by their endings, and that the words of a command name: it
// loads them, or puts them on a device. Programs that only look at files, pack or move them do not,
// but for a copy to a device.
func loadsCode(c *hook.ShellCommand) (list []string) {
	if c.Program == nil || c.Dir == nil || !path.IsAbs(*c.Dir) {
		return nil
	}
	device := slices.ContainsFunc(c.Words, func(w hook.Word) bool {
		return w.Value != nil && slices.ContainsFunc(strings.Fields("/media/ /run/media/ /Volumes/ /mnt/ /dev/ of=/dev/"), func(place string) bool { return strings.HasPrefix(*w.Value, place) })
	})
	if !device && wordlist.Has(lookers+handlers, *c.Program) {
		return nil
	}
	for i, w := range c.Words {
		if w.Value == nil || i == 0 || len(*w.Value) > maxLine || strings.Contains(*w.Value, "://") {
			continue
		}
		for name := range strings.FieldsFuncSeq(*w.Value, func(r rune) bool { return strings.ContainsRune(" \t\n,;=:\"'()", r) }) {
			if wordlist.Has(codeEnds, strings.ToLower(path.Ext(name))) && len(list) < maxRuns {
				list = append(list, absolute(*c.Dir, name))
			}
		}
	}
	return list
}

// handlers are programs that look at files of any kind, pack or move them, or fetch or send them,
// beside those of lookers.
const handlers = " sha1sum sha224sum sha256sum sha384sum sha512sum md5sum shasum b2sum cksum xxd hexdump od strings objdump readelf size nm unzip zip zipinfo 7z 7za tar gzip gunzip xz zstd bzip2 binwalk minisign cosign exiftool ar bsdtar cpio " +
	"install rsync scp sftp dd split truncate shred base64 clamscan yara srec_info du df wget2 axel aws gsutil gcloud rclone file "

// codeEnds are the endings of files that devices, systems and interpreters take for programs.
const codeEnds = " .hex .ihex .bin .uf2 .elf .axf .dfu .fw .rom .srec .s19 .mot .img .iso .wic .pt .pth .ckpt .pkl .pickle .joblib .dill .sav .npy .h5 .jar .war .ear .wasm .so .dll .dylib .node .pyd .pyc .apk .aab .ipa .vsix .xpi .crx .deb .rpm .apk .pkg .msi .exe .whl .gem .appimage .snap .flatpak .kext .ko .efi .cap "

// maxRuns is how many files of one command are looked up.
const maxRuns = 16

// runs are the files and directories by which a command knows what it runs.
func runs(f *hook.Facts, c *hook.ShellCommand) (list []string) {
	if c.Dir == nil || !path.IsAbs(*c.Dir) {
		return nil
	}
	add := func(name string) {
		if !path.IsAbs(name) {
			name = path.Join(*c.Dir, name)
		}
		if name = path.Clean(name); len(list) < maxRuns && !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	if c.Path != nil && strings.Contains(*c.Path, "/") {
		add(*c.Path)
	}
	for i := range f.Paths {
		if p := &f.Paths[i]; p.Command == c.ID && p.Access == "execute" && p.Path != nil {
			add(*p.Path)
		}
	}
	if c.Program != nil && wordlist.Has(trusters, *c.Program) {
		for _, o := range c.Operands {
			if o != nil && *o != "" && len(*o) < 1024 && !strings.Contains(*o, "://") {
				add(*o)
			}
		}
		for _, values := range c.Options {
			for _, v := range values {
				if s, ok := v.(string); ok && s != "" && len(s) < 1024 && !strings.Contains(s, "://") {
					add(s)
				}
			}
		}
	}
	if c.Program == nil || !wordlist.Has(builders, *c.Program) {
		return list
	}
	add(path.Join(*c.Dir, "x")) // of a directory the files count
	for _, o := range c.Operands {
		if o != nil && *o != "" && !strings.Contains(*o, "://") && len(*o) < 1024 {
			add(path.Join(*o, "x"))
		}
	}
	for _, values := range c.Options {
		for _, v := range values {
			if s, ok := v.(string); ok && s != "" && len(s) < 1024 && !strings.Contains(s, "://") {
				add(path.Join(s, "x"))
			}
		}
	}
	return list
}

// trusters are programs by which a file becomes trusted, as a key, a certificate or an extension.
const trusters = " keytool certutil security trust gpg gpg2 apt-key rpm rpmkeys pacman-key cosign dpkg alien adb code codium cursor install-cert certmgr mkcert firefox chrome "

// builders are programs that run what the files of a directory say.
const builders = " make gmake ninja cmake meson just task rake npm npx pnpm yarn bun deno pip pip3 uv pipx poetry pdm tox nox pytest cargo go gradle gradlew mvn mvnw ant sbt bundle gem composer " +
	"dotnet swift zig mix dune bazel docker docker-compose podman terraform ansible-playbook vagrant nix setup.py brew helm kubectl "
