package program

import (
	"io/fs"
	"iter"
	"path"
	"slices"
	"strconv"
	"strings"

	"gate/facts/internal/draft"
	"gate/facts/internal/flow"
	"gate/facts/internal/glob"
	"gate/hook"
	"gate/internal/origin"
	"gate/internal/wordlist"
)

// carriesOver notes that the files which the program writes hold what it reads, where that
// has an origin. since is how many effects there were before it.
func (u *use) carriesOver(since int) {
	if u.ID == 0 || u.at().Remote || wordlist.Has(" copy tee dd tar scp rsync compress diff ", u.row.Special) {
		return // they say for each file what goes where
	}
	var files []string
	if u.text != "" {
		files = u.archivesNamed()
	}
	for _, e := range u.Facts.Effects[since:] {
		w, ok := e.Is.(*hook.FSWrite)
		if ok && e.Command == u.ID && w.Path != nil && !wordlist.Has(" move link create ", w.How) && !slices.Contains(files, *w.Path) {
			files = append(files, *w.Path)
		}
	}
	if len(files) == 0 {
		return
	}
	taken := u.takenIn(since)
	if slices.ContainsFunc(files, archived) {
		for _, e := range u.Facts.Effects[since:] {
			if is, ok := e.Is.(*hook.FSRead); ok && e.Command == u.ID && is.Path != nil {
				taken = append(taken, u.left(u.namedBelow(*is.Path))...)
			}
		}
	}
	for _, file := range files {
		if st, known := u.Files[file]; !known || st.Text == nil && st.Taint.Secret == "" && !st.Taint.Remote {
			u.receives(file, taken, false)
		}
	}
}

// strangeOutput notes what a program without a row may have written: what it was given with
// an origin goes to the file behind an option that says so, otherwise to each word that names a
// file of the project or a temporary one and is not there yet.
func (u *use) strangeOutput(since int) {
	if u.at().Remote {
		return
	}
	args := u.Given()
	taken := u.takenIn(since)
	taken = append(taken, u.withOrigin(args)...)
	if !slices.ContainsFunc(taken, func(s *draft.Source) bool { return s.Taint.Secret != "" }) {
		return
	}
	told, others := []flow.Word(nil), []flow.Word(nil)
	for i, w := range args {
		option, value, given := w.Cut("=")
		switch {
		case given && draft.Writes(option):
			told = append(told, value)
		case i > 0 && draft.Writes(args[i-1].Text()):
			told = append(told, w)
		case strings.ContainsAny(w.Text(), "./") && !strings.HasPrefix(w.Text(), "-") && !strings.ContainsAny(w.Text(), ": \n"):
			others = append(others, w)
		}
	}
	sure := len(told) > 0
	if !sure {
		told = others
	}
	for _, w := range told {
		for _, t := range u.targets(w) {
			if wordlist.Has(" project temp ", t.Area) && !t.Glob && (sure || !u.World.Exists(t.Path)) && u.Holds(t.Path).Secret == "" {
				u.receives(t.Path, taken, false)
			}
		}
	}
}

// takenIn are the files with an origin that the program has read.
func (u *use) takenIn(since int) (list []*draft.Source) {
	if u.has("@") { // zip -@ takes names from its input
		for _, f := range u.namesFrom(u.Stdin) {
			u.touch(f, draft.Access{Kind: "read", Recursive: u.recurse, Shown: true})
		}
	}
	for _, e := range slices.Clone(u.Facts.Effects[since:]) {
		if e.Command != u.ID {
			continue
		}
		switch is := e.Is.(type) {
		case *hook.FSRead:
			list = append(list, u.originsOf(is.Path)...)
		case *hook.FSDelete:
			if u.text != "" { // shutil.move
				list = append(list, u.originsOf(is.Path)...)
			}
		case *hook.SecretRead:
			if is.Shown && !(is.Path != nil && u.keepsNames()) {
				list = append(list, &draft.Source{Path: flow.Text(is.Path), Taint: flow.Taint{Secret: is.What, From: flow.Text(is.Path)}})
			}
		}
	}
	if t := u.Stdin.Taint; t.Secret != "" && !u.encrypts() {
		list = append(list, &draft.Source{Path: t.From, Taint: t})
	}
	if u.text != "" {
		for name := range u.namesInCode() {
			if u.wroteSecret(name) {
				list = append(list, u.originsOf(&name)...)
			}
		}
	}
	if t := flow.Join(u.rest).Taint(); t.Secret != "" && drawsText(u.name) {
		list = append(list, &draft.Source{Path: t.From, Taint: t})
	}
	list = append(list, u.decrypted()...)
	known := map[string]bool{}
	return slices.DeleteFunc(list, func(s *draft.Source) bool {
		again := known[s.Path]
		known[s.Path] = true
		return again
	})
}

// originsOf are the files with an origin that the path of an effect stands for.
func (u *use) originsOf(name *string) []*draft.Source {
	if name == nil {
		return nil
	}
	return u.left(u.SourcesOf(draft.Target{Path: *name, Glob: glob.Wild(*name)}))
}

var codeText = lazy(`"([^"\n]{1,200})"|'([^'\n]{1,200})'`)

// namesInCode yields the paths that texts in the program would be as names of files.
func (u *use) namesInCode() iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, found := range codeText().FindAllStringSubmatch(u.text, -1) {
			for _, t := range u.targets(flow.Literal(found[1] + found[2])) {
				if t.Path != "" && t.Path != u.World.Project && !yield(t.Path) {
					return
				}
			}
		}
	}
}

// archivesNamed are the archives that a program in another language makes, by the names
// in it.
func (u *use) archivesNamed() (files []string) {
	made := strings.Contains(u.text, "make_archive")
	if !made && !strings.Contains(u.text, "zipfile") && !strings.Contains(u.text, "tarfile") {
		return nil
	}
	for name := range u.namesInCode() {
		switch {
		case strings.Contains(path.Base(name), "."):
			if wordlist.Has(" .zip .tar .gz .tgz .bz2 .tbz2 .xz .txz ", path.Ext(name)) {
				files = append(files, name)
			}
		case made:
			files = append(files, name+".zip", name+".tar.gz", name+".tar")
		}
	}
	return files
}

// drawsText lists programs that put the words they are given into a picture.
func drawsText(name string) bool {
	return wordlist.Has(" qrencode convert magick barcode zint figlet toilet ", name)
}

// keepsNames reports that of the secret only names or keys come out.
func (u *use) keepsNames() bool { return u.keysOnly() || u.namesOnly() }

// receives notes that a file gets what was taken from others, as one text or as an archive.
// One that is written anew holds nothing more.
func (u *use) receives(file string, list []*draft.Source, anew bool) {
	var all flow.Taint
	for _, s := range list {
		all = all.Merge(s.Taint)
	}
	if all.Secret == "" && !all.Remote && !anew {
		return
	}
	all = flow.Taint{Secret: all.Secret, Remote: all.Remote, Host: all.Host, From: all.From, Coarse: all.Coarse}
	u.Written(file, flow.Stream{Some: true, Taint: all, From: u.ID})
	for _, old := range u.PartsOf(file) {
		u.Part(file, old.Below, flow.Taint{})
	}
	if len(list) < 2 {
		return // the file's own taint says all
	}
	for _, s := range list {
		u.Part(file, strings.TrimPrefix(s.Path, "/"), s.Taint)
	}
}

// left are the files that the program is not told to leave out.
func (u *use) left(list []*draft.Source) []*draft.Source {
	if len(list) == 0 {
		return nil
	}
	var out []flow.Word
	for _, name := range [...]string{"exclude", "exclude-dir", "x", "e", "ignore"} {
		out = append(out, u.opts[name]...)
	}
	if u.name == "zip" && u.has("exclude") { // -x takes all words up to the next option, or to @
		on := false
		for _, f := range u.Given() {
			if strings.HasPrefix(f.Text(), "-") || f.Text() == "@" {
				on = f.Text() == "-x" || f.Text() == "--exclude"
			} else if on {
				out = append(out, f)
			}
		}
	}
	list = slices.DeleteFunc(list, func(s *draft.Source) bool {
		name := path.Base(strings.TrimSuffix(s.Path, "/"+s.Below)) + "/" + s.Below
		return s.Below != "" && slices.ContainsFunc(out, func(f flow.Word) bool { return leavesOut(f.Text(), name) })
	})
	if slices.ContainsFunc([]string{"exclude-from", "filter", "files-from", "include", "include-from", "X"}, u.has) {
		for i := range list { // a list of names that nobody looks into
			list[i].Taint.Coarse = list[i].Taint.Coarse || list[i].Below != ""
		}
	}
	return list
}

// leavesOut reports that a pattern of names surely fits a file or a directory above it.
func leavesOut(pattern, file string) bool {
	pattern = strings.TrimSuffix(strings.TrimSuffix(strings.TrimLeft(pattern, "/"), "/**"), "/*")
	pattern = strings.TrimPrefix(strings.TrimSuffix(strings.TrimPrefix(pattern, "./"), "/"), "**/")
	if pattern == "" {
		return false
	}
	fits := func(name string) bool { return glob.Compile(pattern, glob.Syntax{}).Match(name) == glob.Yes }
	for at := file; ; at = path.Dir(at) {
		if at == "." || at == "/" {
			return false
		}
		if fits(at) || fits(path.Base(at)) {
			return true
		}
	}
}

// withOrigin are the files with an origin among those that words stand for, less those that
// the program leaves out.
func (u *use) withOrigin(words []flow.Word) (list []*draft.Source) {
	for _, f := range words {
		list = append(list, u.left(u.Sources(*u.at(), f))...)
	}
	return list
}

// copiesBelow notes the files with an origin that a copy of a directory, or of what a
// pattern matches, brings along.
func (u *use) copiesBelow(from, to flow.Word) {
	for _, s := range u.packedFrom(from) {
		if s.Taint.Secret == secretDirectory {
			u.Spreads(*u.at(), u.destination(from, to), s.Taint)
		}
	}
	for _, s := range u.left(u.Sources(*u.at(), from)) {
		if s.Below == "" {
			continue // the file itself, which the copy names
		}
		_, _, part := origin.CutPart(s.Path)
		if _, wild := from.Pattern(); !wild && !strings.HasSuffix(from.Text(), "/.") && !(u.row.Special == "rsync" && strings.HasSuffix(from.Text(), "/")) {
			u.arrives(within(u.destination(from, to), flow.Literal(s.Below)), s, part)
			continue
		}
		u.arrives(within(to, flow.Literal(s.Below)), s, part)
	}
}

// arrivesAll notes what a copy brings along, whether of a file or of more.
func (u *use) arrivesAll(from, to flow.Word) {
	if st := u.content(from); st.Taint.Secret != "" || st.Taint.Remote {
		u.remember(u.destination(from, to), st, false)
	}
	u.copiesBelow(from, to)
}

// arrives notes what a file holds that is a copy of another one.
func (u *use) arrives(to flow.Word, s *draft.Source, part bool) {
	switch {
	case part:
	case strings.HasSuffix(s.Path, "/"):
		u.Spreads(*u.at(), to, s.Taint)
	default:
		u.remember(to, flow.Stream{Some: true, Taint: s.Taint, From: u.ID}, false)
	}
}

// Endings that programs give to what they have packed.
const packed = " gzip=.gz pigz=.gz bzip2=.bz2 pbzip2=.bz2 lbzip2=.bz2 xz=.xz pixz=.xz zstd=.zst zstdmt=.zst lz4=.lz4 lzip=.lz plzip=.lz lzop=.lzo lzma=.lzma brotli=.br compress=.Z snzip=.sz lrzip=.lrz "

// compress notes the file that stands in the place of each one which the program packs or
// unpacks, or beside it.
func (u *use) compress() {
	for _, name := range [...]string{"stdout", "list", "test"} {
		if u.has(name) {
			return
		}
	}
	_, ending, _ := strings.Cut(packed, " "+u.name+"=")
	ending, _, _ = strings.Cut(ending, " ")
	if f, ok := u.opt("suffix"); ok && ending != "" {
		ending = "." + strings.TrimPrefix(f.Text(), ".")
	}
	if f, ok := u.opt("output"); ok && len(u.rest) == 0 {
		u.remember(f, flow.Stream{Some: true, Taint: u.Stdin.Taint, From: u.ID}, false)
	}
	for _, s := range u.withOrigin(u.rest) {
		to := strings.TrimSuffix(s.Path, path.Ext(s.Path))
		if ending != "" && !u.has("decompress") {
			to = s.Path + ending
		}
		if f, ok := u.opt("output"); ok {
			u.remember(f, flow.Stream{Some: true, Taint: s.Taint, From: u.ID}, false)
		} else if !strings.HasSuffix(s.Path, "/") {
			u.Written(to, flow.Stream{Some: true, Taint: s.Taint, From: u.ID})
		}
	}
}

// maxPieces is how many of the files are noted into which a program cuts another one.
const maxPieces = 26

// cuts notes the files into which split and csplit cut one.
func (u *use) cuts() {
	st := u.taken()
	if st.Taint.Secret == "" && !st.Taint.Remote || u.has("filter") {
		return
	}
	prefix, digits := "x", u.has("d") || u.has("numeric-suffixes") || u.has("x") || u.has("hex-suffixes")
	switch f, ok := u.opt("prefix"); {
	case u.name == "csplit" && ok:
		prefix, digits = f.Text(), true
	case u.name == "csplit":
		prefix, digits = "xx", true
	case len(u.rest) > 1:
		prefix = u.rest[1].Text()
	}
	first, base := 0, 26
	if digits {
		base = 10
	}
	if u.has("x") || u.has("hex-suffixes") {
		base = 16
	}
	for _, name := range [...]string{"numeric-suffixes", "hex-suffixes"} {
		if n, err := strconv.ParseUint(flow.Text(u.optText(name)), base, 16); err == nil {
			first = int(n)
		}
	}
	for i := range maxPieces {
		name := prefix + u.suffix(first+i, base)
		u.remember(flow.Literal(name+flow.Text(u.optText("additional-suffix"))), flow.Stream{Some: true, Taint: st.Taint, From: u.ID}, false)
	}
}

// suffix is the end of the name of a piece, as long as the options have it.
func (u *use) suffix(n, base int) string {
	length := 2
	for _, name := range [...]string{"suffix-length", "digits"} {
		if l, err := strconv.Atoi(flow.Text(u.optText(name))); err == nil && l > 0 && l <= maxSuffix {
			length = l
		}
	}
	digit := "0123456789abcdef"
	if base > len(digit) {
		digit = "abcdefghijklmnopqrstuvwxyz"
	}
	text := make([]byte, length)
	for i := length - 1; i >= 0; i-- {
		text[i] = digit[n%base]
		n /= base
	}
	return string(text)
}

// maxSuffix bounds the length of such an end.
const maxSuffix = 16

// encrypts reports a program that hides what it reads from everybody without its key:
// that is how secrets are meant to be kept and handed on.
func (u *use) encrypts() bool {
	switch u.name {
	case "gpg", "gpg2":
		return !u.has("decrypt") && (u.has("encrypt") || u.has("symmetric") || u.has("recipient"))
	case "age", "rage", "sops":
		return !u.has("decrypt") && !(len(u.rest) > 0 && u.rest[0].Text() == "decrypt")
	case "ansible-vault":
		return len(u.verbs) > 0 && strings.HasPrefix(u.verbs[0], "encrypt")
	case "openssl":
		return u.has("encrypt")
	case "kubeseal", "git-crypt", "ccrypt", "ccencrypt", "minisign":
		return true
	}
	return false
}

// decrypted is the secret in a file that the program writes without showing it.
func (u *use) decrypted() []*draft.Source {
	var of flow.Word
	switch u.name {
	case "age", "rage":
		if !u.has("decrypt") || len(u.rest) == 0 {
			return nil
		}
		of = u.rest[0]
	case "sops":
		switch {
		case u.has("decrypt") && len(u.rest) > 0:
			of = u.rest[0]
		case len(u.rest) > 1 && u.rest[0].Text() == "decrypt":
			of = u.rest[1]
		default:
			return nil
		}
	case "gpg", "gpg2":
		if !u.has("decrypt") || len(u.rest) == 0 || !secretName().MatchString(u.rest[0].Text()) {
			return nil
		}
		of = u.rest[0]
	case "docker", "podman", "nerdctl", "docker-compose", "kubectl", "oc": // cp CONTAINER:/run/secrets/NAME .
		if len(u.rest) < 2 || len(u.verbs) == 0 || u.verbs[len(u.verbs)-1] != "cp" {
			return nil
		}
		_, name, inside := u.rest[0].Cut(":")
		for _, t := range u.targets(name) {
			if what, _ := u.Secret(t.Path); inside && what != "" && strings.HasPrefix(name.Text(), "/") {
				return []*draft.Source{{Path: t.Path, Taint: flow.Taint{Secret: what, From: t.Path}}}
			}
		}
		return nil
	case "openssl": // a private key in another form
		in, ok := u.opt("in")
		if !ok || len(u.verbs) == 0 || !wordlist.Has(" rsa ec dsa pkey pkcs8 pkcs12 ", u.verbs[0]) || slices.ContainsFunc([]string{"pubout", "pubin", "nokeys", "no-output"}, u.has) {
			return nil
		}
		return u.withOrigin([]flow.Word{in})
	default:
		return nil
	}
	for _, t := range u.targets(of) {
		return []*draft.Source{{Path: t.Path, Taint: flow.Taint{Secret: "credentials", From: t.Path}}}
	}
	return nil
}

var secretName = lazy(`(?i)(pass|secret|token|cred|key|\.env|\.netrc|authinfo)`)

// secretDirectory is what stands for all files of a directory in which programs keep secrets.
const secretDirectory = "directory of secrets"

// packedFrom are the files with an origin in what goes into an archive. A home directory
// has secrets in it, and so have the directories that programs keep them in.
func (u *use) packedFrom(f flow.Word) (list []*draft.Source) {
	for _, t := range u.targets(f) {
		switch path.Base(t.Path) {
		case ".ssh", ".aws", ".gnupg", ".kube":
			list = append(list, &draft.Source{Path: t.Path, Taint: flow.Taint{Secret: secretDirectory, From: t.Path}})
		default:
			if t.Path != "" && u.World.Area(t.Path) == "home" {
				list = append(list, &draft.Source{Path: t.Path, Taint: flow.Taint{Secret: secretDirectory, From: t.Path}})
			} else if what, _ := u.Secret(t.Path); what != "" && t.Glob {
				list = append(list, &draft.Source{Path: t.Path, Named: true, Taint: flow.Taint{Secret: what, From: t.Path}})
			} else if t.Path != "" && !u.at().Remote {
				list = append(list, u.left(u.namedBelow(t.Path))...)
			}
		}
	}
	return append(list, u.withOrigin([]flow.Word{f})...)
}

// archived reports the name of an archive, into which directories go as a whole.
func archived(file string) bool {
	return wordlist.Has(" .zip .7z .tar .tgz .tbz .txz .gz .bz2 .xz .zst .jar .rar .iso .squashfs .sqfs .asar .cpio ", strings.ToLower(path.Ext(file)))
}

// These are the limits of what is looked at below a directory that goes into an archive.
const (
	maxPackedDirs  = 64
	maxPackedNames = 512 // of one directory; where there are more, none of it is looked at
)

// namedBelow are the files below a directory whose names tell of a secret. Directories that
// tools fill are passed over, and links are not followed.
func (u *use) namedBelow(dir string) (list []*draft.Source) {
	dirs := []string{dir}
	for at := 0; at < len(dirs); at++ {
		entries, err := u.World.List(dirs[at], maxPackedNames)
		if err != nil {
			continue
		}
		slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
		for _, e := range entries {
			full := path.Join(dirs[at], e.Name())
			if e.IsDir() {
				if len(dirs) < maxPackedDirs && !wordlist.Has(" .git node_modules vendor .venv venv target testdata fixtures ", e.Name()) {
					dirs = append(dirs, full)
				}
				continue
			}
			if what, _ := u.Secret(full); what != "" && e.Type().IsRegular() {
				list = append(list, &draft.Source{Path: full, Below: strings.TrimPrefix(full, dir+"/"), Named: true, Taint: flow.Taint{Secret: what, From: full}})
			}
		}
	}
	return list
}

// namesGiven are the files whose names the program takes from its input, or from what an
// option names.
func (u *use) namesGiven(option string) (names []flow.Word) {
	for _, f := range u.opts[option] {
		in := u.Stdin
		if len(f.Parts) > 0 && !isInput(f) {
			in = u.content(f)
		}
		names = append(names, u.namesFrom(in)...)
	}
	if strings.HasSuffix(u.name, "cpio") {
		names = append(names, u.namesFrom(u.Stdin)...)
	}
	return names
}

// namesFrom are the files that a list names, a line or a zero byte behind each.
func (u *use) namesFrom(in flow.Stream) (names []flow.Word) {
	if in.Text == nil {
		return in.Handed()
	}
	for _, name := range strings.FieldsFunc(*in.Text, func(r rune) bool { return r == 0 || r == '\n' || r == '\r' }) {
		names = append(names, flow.Literal(name))
	}
	return names
}
