// Package sql says what statements for a database do, of SQL in any dialect and of
// redis: text in, [Statement]s out. It is no parser: it knows which words of a
// statement decide, and takes what it does not know for a change. Start with
// Inspect; a text of which parts are not known goes through Fill first.
package sql

import (
	"strings"

	"gate/facts/wordlist"
)

// A Statement is one statement for a database.
type Statement struct {
	Verb   string // lower case: drop table, truncate, delete, update, insert, select, copy program, flushall …
	Access string // read, write or delete
	Object string // the table, database, file or command it is about; "" when there is none or it is not known
	Where  bool   // a condition limits it; "where true" is none
}

// Limits on a script of statements.
const (
	maxNesting    = 3    // scripts inside scripts: do $$ … $$
	maxStatements = 5000 // further ones are left out, after one that says so
	maxCommon     = 50   // that change something within one "with"
)

// Inspect lists the statements of a script in SQL of any dialect, with the
// meta commands of psql, mysql and sqlite3. A statement that is not known
// counts as one that writes.
func Inspect(text string) []Statement {
	out := script(text, false, 0)
	if strings.Contains(text, `\'`) || strings.Contains(text, `\"`) {
		// Only some dialects escape quotes with a backslash, so that either
		// reading may be the one that runs.
		seen := map[Statement]bool{}
		for _, s := range out {
			seen[s] = true
		}
		for _, s := range script(text, true, 0) {
			if !seen[s] {
				seen[s] = true
				out = append(out, s)
			}
		}
	}
	return out
}

// Unknown is what Fill puts in the place of a hole. It is no name of a table.
const Unknown = "gate_unknown"

// Fill puts Unknown in the place of each hole in text, and reports whether each of
// them is a value or a name, of statements that are plain whatever it is.
func Fill(text string, hole byte) (filled string, plain bool) {
	for i := range len(text) {
		if text[i] != hole {
			continue
		}
		before := strings.TrimRight(text[:i], " \t\n")
		word := strings.ToLower(before[strings.LastIndexAny(before, " \t\n(;")+1:])
		switch {
		case len(before) == i && word != "" && strings.IndexByte(",)", before[i-1]) < 0: // a part of a word
		case !wordlist.Has(" from join into update table database schema user role exists limit offset and or like to = < > ", word):
			return "", false
		}
	}
	filled = strings.ReplaceAll(text, string(rune(hole)), Unknown)
	for _, s := range Inspect(filled) {
		meta := strings.HasPrefix(s.Verb, `\`) && s.Access == "read"
		if !meta && !wordlist.Has(" select values show describe desc begin start commit rollback end insert replace update create ", s.Verb) {
			return "", false
		}
	}
	return filled, true
}

func script(text string, escapes bool, depth int) []Statement {
	if depth > maxNesting {
		return []Statement{{Verb: "execute", Access: "write"}}
	}
	l := &lexer{text: text, escapes: escapes}
	var out []Statement
	for {
		toks, more := l.statement()
		for _, part := range toks.split(depth > 0) {
			out = append(out, read(part, escapes, depth)...)
		}
		if !more {
			return out
		}
		if len(out) > maxStatements {
			return append(out, Statement{Verb: "too many statements", Access: "write"})
		}
	}
}

// split takes apart what stands in one statement without semicolons: in blocks
// of code, and in the dialect of SQL Server.
func (t tokens) split(block bool) []tokens {
	switch t.word(0) {
	case "select", "insert", "update", "if", "begin", "else", "while", "use", "set", "go", "print", "declare", "end", "exec", "return":
	default:
		if !block {
			return []tokens{t}
		}
	}
	if block && t.word(0) == "begin" {
		t = t[1:]
	}
	var parts []tokens
	start := 0
	for i := 1; i < len(t); i++ {
		next := t.word(i + 1)
		switch t.word(i) {
		case "drop":
			if next != "table" && next != "database" && next != "schema" && next != "view" && next != "user" {
				continue
			}
		case "truncate":
			if next != "table" {
				continue
			}
		case "delete":
			if next != "from" || t.at(i-1).is("(") {
				continue
			}
		case "begin", "then", "loop", "else":
			if !block && t.word(start) != "if" && t.word(start) != "while" {
				continue
			}
			parts = append(parts, t[start:i])
			start = i + 1
			continue
		default:
			continue
		}
		parts = append(parts, t[start:i])
		start = i
	}
	return append(parts, t[min(start, len(t)):])
}

// read says what one statement does.
func read(toks tokens, escapes bool, depth int) []Statement {
	if len(toks) == 0 {
		return nil
	}
	if toks[0].kind == metaToken {
		return []Statement{metaCommand(toks[0].text)}
	}
	for len(toks) > 0 && toks[0].is("(") {
		toks = toks[1:]
	}
	verb := toks.word(0)
	switch verb {
	case "":
		return nil
	case "explain":
		if i := toks.find("analyze", "analyse"); i == 1 || i == 2 {
			return read(toks[i+1:], escapes, depth)
		}
		return []Statement{{Verb: verb, Access: "read"}}
	case "with":
		return toks.common()
	case "do", "execute", "exec", "prepare", "immediate":
		return toks.nested(verb, escapes, depth)
	}
	if depth > 0 && toks.at(1).is(":") && toks.at(2).is("=") {
		return nil // an assignment
	}
	return []Statement{toks.simple(verb)}
}

// nested reads statements that are texts of other statements.
func (t tokens) nested(verb string, escapes bool, depth int) []Statement {
	if i := t.find("xp_cmdshell", "sp_oacreate"); i >= 0 {
		return []Statement{{Verb: "shell", Access: "write", Object: t.firstText(i)}}
	}
	var out []Statement
	for _, tok := range t {
		if tok.kind == textToken {
			out = append(out, script(tok.text, escapes, depth+1)...)
		}
	}
	if len(out) == 0 {
		out = append(out, Statement{Verb: verb, Access: "write", Object: t.name(1)})
	}
	return out
}

// common reads "with … as (…) verb": any part may change something.
func (t tokens) common() []Statement {
	var out []Statement
	for i := 1; i < len(t); i++ {
		if !t[i-1].is("(") && !t[i-1].is(")") {
			continue
		}
		switch verb := t.word(i); verb {
		case "delete", "update", "insert", "merge":
			out = append(out, t[i:t.close(i)].simple(verb))
			if len(out) > maxCommon {
				return append(out, Statement{Verb: "too many statements", Access: "write"})
			}
		}
	}
	if len(out) == 0 {
		out = append(out, t.query("select"))
	}
	return out
}

// simple reads a statement by its first word.
func (t tokens) simple(verb string) Statement {
	s := Statement{Verb: verb, Access: "write"}
	switch {
	case wordlist.Has(" select values table ", verb):
		return t.query(verb)
	case verb == "drop":
		kind, at := t.kind(1)
		return Statement{Verb: "drop " + kind, Access: "delete", Object: t.name(at)}
	case verb == "truncate":
		return Statement{Verb: verb, Access: "delete", Object: t.name(t.skip(1, "table", "only", "if", "exists"))}
	case verb == "delete":
		return Statement{Verb: verb, Access: "delete", Object: t.name(t.skip(1, "from", "only", "low_priority", "quick", "ignore")), Where: t.limited()}
	case verb == "update":
		s.Object, s.Where = t.name(t.skip(1, "only", "low_priority", "ignore", "or", "rollback", "abort", "replace", "fail")), t.limited()
	case wordlist.Has(" insert replace merge upsert ", verb):
		s.Object, s.Where = t.name(t.skip(1, "into", "or", "ignore", "replace", "overwrite", "table", "low_priority", "delayed", "rollback", "abort", "fail")), true
	case verb == "alter", verb == "create":
		kind, at := t.kind(1)
		if t.find("superuser") > 0 && (kind == "user" || kind == "role") {
			s.Verb = "superuser"
		}
		if s.Object = t.name(at); kind == "system" {
			s.Object = ""
		}
		if i := t.find("delete"); verb == "alter" && (t.find("drop") > 0 || i > 0 && t.word(i-1) != "on") {
			s.Access = "delete" // as ClickHouse deletes rows
		}
		if t.find("c", "plpythonu", "plpython3u", "plperlu", "plsh", "soname") > 0 && t.find("function") > 0 {
			s.Verb = "load extension"
		}
	case verb == "copy":
		return t.copy()
	case wordlist.Has(" attach load install ", verb):
		return t.load(verb)
	case wordlist.Has(" purge reset ", verb):
		s.Access = "delete"
	case wordlist.Has(" grant revoke ", verb):
		if i := t.find("on"); i > 0 {
			s.Object = t.name(i + 1)
			if verb == "grant" && t.word(1) == "all" && t.at(i+1).is("*") {
				s.Verb = "superuser" // of every database: ON *.*
			}
		}
	case wordlist.Has(" kill shutdown rename call comment refresh restore backup import flush lock cluster optimize repair security reassign ", verb):
		s.Object = t.name(t.skip(1, "table", "tables", "database", "role", "view", "materialized"))
	case verb == "set":
		if t.word(1) != "global" && t.word(1) != "persist" && !strings.HasPrefix(t.word(1), "@@global") {
			s.Access = "read"
		}
	case verb == "vacuum":
		if i := t.find("into"); i > 0 {
			s.Object = t.firstText(i)
		} else {
			s.Access = "read"
		}
	case wordlist.Has(" system source ", verb):
		return Statement{Verb: map[string]string{"system": "shell", "source": "source"}[verb], Access: "write", Object: t.rest()}
	case wordlist.Has(" begin start commit rollback end savepoint release show describe desc use pragma analyze analyse reindex check checksum help declare fetch close open deallocate discard listen unlisten notify print go status detach unlock handler connect perform raise exception loop for while elsif elseif when case assert null quit exit abort xa tables list summarize if else return ", verb):
		s.Access = "read"
	}
	return s
}

// query reads a select: it may still write a file or load code.
func (t tokens) query(verb string) Statement {
	s := Statement{Verb: verb, Access: "read", Where: true}
	if i := t.find("from"); i >= 0 {
		s.Object = t.name(i + 1)
		s.Where = t.limited()
	}
	for i := range t {
		switch w := t.word(i); w {
		case "outfile", "dumpfile":
			return Statement{Verb: "select into " + w, Access: "write", Object: t.firstText(i)}
		case "load_extension":
			return Statement{Verb: "load extension", Access: "write", Object: t.firstText(i)}
		case "sys_exec", "sys_eval", "xp_cmdshell":
			return Statement{Verb: "shell", Access: "write", Object: t.firstText(i)}
		case "load_file", "pg_read_file", "pg_read_binary_file", "readfile", "pg_ls_dir", "lo_import":
			if s.Verb != "read file" {
				s.Verb, s.Object = "read file", t.firstText(i)
			}
		case "lo_export", "writefile", "pg_file_write":
			return Statement{Verb: "write file", Access: "write", Object: t.firstText(i)}
		case "pg_terminate_backend", "pg_cancel_backend", "pg_reload_conf", "pg_rotate_logfile", "setval", "pg_drop_replication_slot", "drop_chunks", "dblink_exec":
			if t.at(i + 1).is("(") {
				s.Verb, s.Access = w, "write"
			}
		case "into":
			if s.Access == "read" && i > 0 && !t.at(i+1).is("@") && !strings.HasPrefix(t.word(i+1), "@") && t.at(i+1).kind != textToken {
				s.Verb, s.Access, s.Object = "select into", "write", t.name(i+1)
			}
		}
	}
	return s
}

// copy reads PostgreSQL's copy, which may run a program.
func (t tokens) copy() Statement {
	s := Statement{Verb: "copy", Access: "write", Object: t.name(1)}
	if i := t.find("program"); i > 0 {
		return Statement{Verb: "copy program", Access: "write", Object: t.firstText(i)}
	}
	if i := t.find("to"); i > 0 {
		s.Object = t.firstText(i)
		switch w := t.word(i + 1); {
		case w == "stdout":
			s.Access, s.Object = "read", t.name(1)
		case t.at(i+1).kind == textToken:
			s.Verb = "write file"
		}
	}
	return s
}

// load reads what brings in files or code.
func (t tokens) load(verb string) Statement {
	switch {
	case verb == "attach":
		return Statement{Verb: "attach", Access: "write", Object: t.firstText(0)}
	case verb == "load" && (t.word(1) == "data" || t.word(1) == "xml"):
		return Statement{Verb: "load data", Access: "write", Object: t.firstText(1)}
	}
	s := Statement{Verb: "load extension", Access: "write", Object: t.firstText(0)}
	if s.Object == "" {
		s.Object = t.name(1)
	}
	return s
}

// limited reports whether a condition or a limit narrows the statement.
func (t tokens) limited() bool {
	depth := 0
	for i := range t {
		switch {
		case t[i].is("("):
			depth++
		case t[i].is(")"):
			depth--
		case depth == 0 && t[i].kind == wordToken && (t[i].text == "limit" || t[i].text == "top" && i == 1):
			return true
		case depth == 0 && t[i].kind == wordToken && t[i].text == "where":
			return !t[i+1:].always()
		}
	}
	return false
}

// always reports whether a condition holds for every row: it names no column,
// compares something with itself, or offers an alternative that does.
func (t tokens) always() bool {
	columns, start := false, 0
	for i := 0; i <= len(t); i++ {
		w := t.word(i)
		if i < len(t) && w != "or" && w != "order" && w != "returning" && w != "limit" {
			columns = columns || t[i].kind == nameToken || t[i].kind == wordToken && !strings.Contains(" true not and false is null ", " "+w+" ")
			continue
		}
		part := t[start:i]
		if w := part.word(len(part) - 1); len(part) > 0 && (!columns && w != "false" && w != "null" || len(part) == 3 && part[1].is("=") && part[0] == part[2]) {
			return true
		}
		if i < len(t) && w != "or" {
			return false
		}
		columns, start = false, i+1
	}
	return false
}
