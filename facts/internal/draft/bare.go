package draft

import (
	"strings"

	"gate/facts/internal/flow"
	"gate/facts/internal/world"
	"gate/hook"
	"gate/internal/secret"
	"gate/internal/wordlist"
)

// maxBare is how many bytes a file of settings has whose content is looked at. They
// are small; what is longer stays a secret.
const maxBare = 16 << 10

// maxBareFiles is how many such files of an event are read.
const maxBareFiles = 8

// bareReaders are programs that read files, or change only those that the facts name: in
// a line of them a file holds what it held before, where no write names it. Whatever
// fetches, unpacks, or runs code is none.
const bareReaders = " cat head tail nl tac grep egrep fgrep sort uniq cut tr wc ls echo printf test [ true false : cd pwd diff cmp file stat cp touch mkdir chmod rm git "

// quietGit are verbs of git that leave the files of the work tree as they are.
const quietGit = " status diff log show ls-files check-ignore rev-parse branch add rm "

// Bare takes back that the event shows the secrets of files of settings that hold none:
// an .env.test without passwords, an .envrc that only says "use flake". gate reads them, as
// it reads scripts, only where a person would be asked otherwise. Anything in doubt stays.
func (d *Draft) Bare() {
	undisturbed, asked, files, spared, secrets := false, false, 0, 0, 0
	for i := range d.Facts.Effects {
		e := &d.Facts.Effects[i]
		read, ok := e.Is.(*hook.SecretRead)
		if ok {
			secrets++
		}
		if !ok || !read.Shown || read.Path == nil || !isSettings(read) || d.ofHistory(e.Command) {
			continue
		}
		if !asked {
			undisturbed, asked = d.undisturbed(), true
		}
		if files++; !undisturbed || files > maxBareFiles {
			return
		}
		if d.bareFile(*read.Path) {
			read.Shown = false
			spared++
		}
	}
	d.onlyBare = spared > 0 && spared == secrets
}

// isSettings reports a file of settings, by its kind.
func isSettings(read *hook.SecretRead) bool { return read.What == "environment file" }

// ofHistory reports a command that prints what git keeps of a file, and not the file.
func (d *Draft) ofHistory(command int) bool {
	return command > 0 && command <= len(d.Facts.Shell.Commands) && flow.Text(d.Facts.Shell.Commands[command-1].Program) == "git"
}

// undisturbed reports an event that changes no file but those that its facts name.
func (d *Draft) undisturbed() bool {
	if d.Facts.Opaque || len(d.Links) > 0 || len(d.Below) > 0 {
		return false
	}
	for i := range d.Facts.Effects {
		switch e := d.Facts.Effects[i].Is.(type) {
		case *hook.SecretRead, *hook.FSRead:
		case *hook.FSWrite:
			if e.Path == nil || e.How == "move" || e.How == "link" {
				return false
			}
		case *hook.FSDelete, *hook.FSPermissions:
		default:
			if d.Facts.Shell == nil {
				return false
			}
		}
	}
	if d.Facts.Shell == nil {
		return true
	}
	for i := range d.Facts.Shell.Commands {
		c := &d.Facts.Shell.Commands[i]
		name := flow.Text(c.Program)
		if len(c.Via) > 0 || !wordlist.Has(bareReaders, name) || name == "git" && !wordlist.Has(quietGit, flow.Text(c.Subcommand)) {
			return false
		}
	}
	return true
}

// bareFile reports a file of settings that the event does not write and that holds no
// secret, nor one that an earlier call left there.
func (d *Draft) bareFile(p string) bool {
	if !strings.HasPrefix(p, "/") || d.World.Files == nil {
		return false
	}
	for i := range d.Facts.Effects {
		if w, ok := d.Facts.Effects[i].Is.(*hook.FSWrite); ok && world.Below(p, flow.Text(w.Path)) {
			return false
		}
	}
	if _, now := d.Files[p]; now || d.Pieces[p] != "" || d.before(p).Secret != "" {
		return false
	}
	text, err := d.World.Read(p, maxBare)
	return err == nil && secret.Bare(text)
}
