package program

import (
	"path"
	"slices"
	"strings"

	"gate/facts/internal/code"
	"gate/facts/internal/flow"
	"gate/facts/internal/peer"
	"gate/facts/internal/sql"
	"gate/hook"
	"gate/internal/wordlist"
)

// statementFiles judges the files of statements that a client of a database reads: those
// that its words name, its input, and those that these take in.
func (u *use) statementFiles() {
	if u.at().Remote && !u.fromHere() {
		return
	}
	read := map[string]bool{}
	for _, w := range u.Given() {
		text := w.Prefix()
		if strings.HasPrefix(text, "-") {
			_, value, ok := w.Cut("=")
			if !ok {
				continue
			}
			w = value
		}
		if strings.HasPrefix(text, "@") { // of sqlplus
			w = w.From(len(text) - len(strings.TrimLeft(text, "@")))
		}
		if !u.at().Remote && !strings.ContainsAny(w.Text(), " \n") {
			u.statementFile(w, read)
		}
	}
	u.eachInput(func(w flow.Word) { u.statementFile(w, read) })
}

// fromHere reports input that comes from a file of this machine, whatever reads it.
func (u *use) fromHere() bool {
	return u.Input != nil && (u.Input.From == "file" || u.Input.From == "pipe")
}

// eachInput hands on the files that come in as the program's input: by a redirection, or
// through a pipe from cat and its like.
func (u *use) eachInput(judge func(flow.Word)) {
	in := u.Input
	switch {
	case in == nil || u.Stdin.Text != nil:
	case in.From == "file" && in.Path != nil:
		judge(u.fromDirectory(u.World.Dir, *in.Path))
	case in.From == "pipe" && in.Command > 0 && in.Command <= len(u.Commands()):
		cmd := u.Commands()[in.Command-1]
		if cmd.Program == nil || !wordlist.Has(" cat sed envsubst tac head tail grep bat ", *cmd.Program) {
			return
		}
		if cmd.Stdin != nil && cmd.Stdin.From == "file" && cmd.Stdin.Path != nil {
			judge(u.fromDirectory(flow.Text(cmd.Dir), *cmd.Stdin.Path))
		}
		for _, name := range cmd.Operands {
			if name != nil {
				judge(u.fromDirectory(flow.Text(cmd.Dir), *name))
			}
		}
	}
}

// fromDirectory is the word of a file in the directory of another command.
func (u *use) fromDirectory(dir, name string) flow.Word {
	if u.at().Remote && dir != "" && !strings.HasPrefix(name, "/") && !strings.HasPrefix(name, "~") {
		name = path.Join(dir, name)
	}
	return flow.Literal(name)
}

// statementFile judges a file of statements by its name.
func (u *use) statementFile(f flow.Word, read map[string]bool) {
	for _, t := range u.targets(f) {
		if t.Path != "" && !t.Glob && !t.Contents {
			u.statementsIn(t.Path, read)
		}
	}
}

// statementsIn judges what statements in a file reach beyond the database, where an agent
// wrote it, and the files that it takes in whoever wrote it, each once: those that were
// judged for this client are in read.
func (u *use) statementsIn(file string, read map[string]bool) {
	if _, now := u.Files[file]; now || read[file] {
		return // the line's own text is judged as a whole
	}
	read[file] = true
	st, byAgent := u.AuthoredText(file)
	text := flow.Text(st.Text)
	if !byAgent {
		if !wordlist.Has(" .sql .psql .ddl .pgsql .mysql .hql .cql .duckdb ", path.Ext(file)) {
			return
		}
		text, _ = u.World.Read(file, maxScript)
	} else if st.Text == nil && u.World.Exists(file) {
		u.asksAbout("an agent wrote " + path.Base(file) + ", of which gate reads no more than 64 KiB")
	}
	if text == "" {
		return
	}
	if !u.Afford(recipeSteps * len(text)) {
		if byAgent {
			u.asksAbout(tooMuchCode)
		}
		return
	}
	list := sql.Inspect(text)
	for _, one := range list {
		if one.Verb == "source" {
			u.takesStatements(file, one.Object, read)
		}
	}
	if byAgent {
		u.dropsFar(list)
		if strings.Contains(text, "gexec") && code.DropsFound(text) {
			u.asksAbout(dropsFound)
		}
		u.shell.Enter("recipe "+file, func() { u.asWritten(func() { u.reaches(text, list) }) })
	}
}

// takesStatements judges a file that another one takes in: by its name there, or from the
// directory of the client.
func (u *use) takesStatements(file, name string, read map[string]bool) {
	name = strings.Trim(strings.TrimSuffix(strings.TrimSpace(name), ";"), `'" `)
	if p, ok := u.takes(file, name); ok && name != "" && p != file {
		if _, written := u.AuthoredText(p); written || u.World.Exists(p) {
			u.statementsIn(p, read)
			return
		}
		u.statementFile(flow.Literal(name), read)
	}
}

// reaches judges what statements that an agent wrote do outside of the database: the
// programs that they start, the files that they write, and the peers that they copy to.
// What they do to tables is the work that seeds and schemas are written for.
func (u *use) reaches(text string, list []sql.Statement) {
	lines := 0
	for _, st := range list {
		before := len(u.Facts.Effects)
		if st.Verb == "shell" || st.Verb == "copy program" {
			if lines++; lines > maxQuoted {
				u.Limit(tooManyLines)
				break
			}
		}
		switch st.Verb {
		case "shell":
			u.inside(func() { u.shell.Text(flow.Literal(st.Object), flow.Stream{Some: true, From: u.ID}) })
		case "copy program":
			u.hiddenShell("program", st.Object)
		case "write file", "select into outfile", "select into dumpfile":
			if !strings.Contains(st.Object, "://") {
				u.databaseFile(st)
			}
		}
		if slices.ContainsFunc(u.Facts.Effects[before:], func(e hook.FactEffect) bool { return e.Kind() == "net.send" }) {
			u.asksAbout("a statement that an agent wrote hands data to a program that sends it")
		}
	}
	if copiesOut().MatchString(text) {
		u.asksAbout("a statement that an agent wrote copies data out of the database")
	}
}

// dropsFar judges statements that throw data away where the line names a host outside of this
// network: no seed of a developer's own database goes there.
func (u *use) dropsFar(list []sql.Statement) {
	far := func(name string) bool {
		p := peer.Parse(name, true)
		return p.Host != "" && strings.Contains(p.Host, ".") && !p.Private && !localHost(p.Host)
	}
	if !slices.ContainsFunc(u.opts["host"], func(w flow.Word) bool { return far(w.Text()) }) && !slices.ContainsFunc(u.Given(), func(w flow.Word) bool {
		return strings.Contains(w.Text(), "://") && far(w.Text())
	}) {
		return
	}
	for _, st := range list {
		if st.Access == "delete" && !st.Where {
			u.effect(&hook.Database{Tool: u.name, Verb: new(st.Verb), Access: st.Access, Object: flow.Known(st.Object)})
		}
	}
}

// asksAbout has a person asked about a text that an agent wrote.
func (u *use) asksAbout(why string) {
	u.OfAgent(func() { u.unknown("code", why, nil) })
}
