package facts

import (
	"strings"

	"gate/facts/wordlist"
)

// A sqlStatement is one statement for a database.
type sqlStatement struct {
	verb   string // lower case: drop table, truncate, delete, update, insert, select, copy program, flushall …
	access string // read, write or delete
	object string // the table, database, file or command it is about; "" when there is none or it is not known
	where  bool   // a condition limits it; "where true" is none
}

// Limits on a script of statements.
const (
	maxSQLNesting    = 3    // scripts inside scripts: do $$ … $$
	maxSQLStatements = 5000 // further ones are left out, after one that says so
	maxSQLCommon     = 50   // that change something within one "with"
)

// inspectSQL lists the statements of a script in SQL of any dialect, with the
// meta commands of psql, mysql and sqlite3. A statement that is not known
// counts as one that writes.
func inspectSQL(text string) []sqlStatement {
	out := sqlScript(text, false, 0)
	if strings.Contains(text, `\'`) || strings.Contains(text, `\"`) {
		// Only some dialects escape quotes with a backslash, so that either
		// reading may be the one that runs.
		seen := map[sqlStatement]bool{}
		for _, s := range out {
			seen[s] = true
		}
		for _, s := range sqlScript(text, true, 0) {
			if !seen[s] {
				seen[s] = true
				out = append(out, s)
			}
		}
	}
	return out
}

// sqlHole stands in a statement for what is not known of it.
const sqlHole = "gate_unknown"

// sqlValues reports whether whatever stands for codeHole in text is a value or a
// name, of statements that are plain whatever it is.
func sqlValues(text string) bool {
	for i := range len(text) {
		if text[i] != codeHole {
			continue
		}
		before := strings.TrimRight(text[:i], " \t\n")
		word := strings.ToLower(before[strings.LastIndexAny(before, " \t\n(;")+1:])
		switch {
		case len(before) == i && word != "" && strings.IndexByte(",)", before[i-1]) < 0: // a part of a word
		case !wordlist.Has(" from join into update table database schema user role exists limit offset and or like to = < > ", word):
			return false
		}
	}
	for _, s := range inspectSQL(strings.ReplaceAll(text, string(codeHole), sqlHole)) {
		meta := strings.HasPrefix(s.verb, `\`) && s.access == "read"
		if !meta && !wordlist.Has(" select values show describe desc begin start commit rollback end insert replace update create ", s.verb) {
			return false
		}
	}
	return true
}

func sqlScript(text string, escapes bool, depth int) []sqlStatement {
	if depth > maxSQLNesting {
		return []sqlStatement{{verb: "execute", access: "write"}}
	}
	l := &sqlLexer{text: text, escapes: escapes}
	var out []sqlStatement
	for {
		toks, more := l.statement()
		for _, part := range toks.split(depth > 0) {
			out = append(out, sqlRead(part, escapes, depth)...)
		}
		if !more {
			return out
		}
		if len(out) > maxSQLStatements {
			return append(out, sqlStatement{verb: "too many statements", access: "write"})
		}
	}
}

// split takes apart what stands in one statement without semicolons: in blocks
// of code, and in the dialect of SQL Server.
func (t sqlTokens) split(block bool) []sqlTokens {
	switch t.word(0) {
	case "select", "insert", "update", "if", "begin", "else", "while", "use", "set", "go", "print", "declare", "end", "exec", "return":
	default:
		if !block {
			return []sqlTokens{t}
		}
	}
	if block && t.word(0) == "begin" {
		t = t[1:]
	}
	var parts []sqlTokens
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

// sqlRead says what one statement does.
func sqlRead(toks sqlTokens, escapes bool, depth int) []sqlStatement {
	if len(toks) == 0 {
		return nil
	}
	if toks[0].kind == sqlMeta {
		return []sqlStatement{sqlMetaCommand(toks[0].text)}
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
			return sqlRead(toks[i+1:], escapes, depth)
		}
		return []sqlStatement{{verb: verb, access: "read"}}
	case "with":
		return toks.common()
	case "do", "execute", "exec", "prepare", "immediate":
		return toks.nested(verb, escapes, depth)
	}
	if depth > 0 && toks.at(1).is(":") && toks.at(2).is("=") {
		return nil // an assignment
	}
	return []sqlStatement{toks.simple(verb)}
}

// nested reads statements that are texts of other statements.
func (t sqlTokens) nested(verb string, escapes bool, depth int) []sqlStatement {
	if i := t.find("xp_cmdshell", "sp_oacreate"); i >= 0 {
		return []sqlStatement{{verb: "shell", access: "write", object: t.firstText(i)}}
	}
	var out []sqlStatement
	for _, tok := range t {
		if tok.kind == sqlText {
			out = append(out, sqlScript(tok.text, escapes, depth+1)...)
		}
	}
	if len(out) == 0 {
		out = append(out, sqlStatement{verb: verb, access: "write", object: t.name(1)})
	}
	return out
}

// common reads "with … as (…) verb": any part may change something.
func (t sqlTokens) common() []sqlStatement {
	var out []sqlStatement
	for i := 1; i < len(t); i++ {
		if !t[i-1].is("(") && !t[i-1].is(")") {
			continue
		}
		switch verb := t.word(i); verb {
		case "delete", "update", "insert", "merge":
			out = append(out, t[i:t.close(i)].simple(verb))
			if len(out) > maxSQLCommon {
				return append(out, sqlStatement{verb: "too many statements", access: "write"})
			}
		}
	}
	if len(out) == 0 {
		out = append(out, t.query("select"))
	}
	return out
}

// simple reads a statement by its first word.
func (t sqlTokens) simple(verb string) sqlStatement {
	s := sqlStatement{verb: verb, access: "write"}
	switch {
	case wordlist.Has(" select values table ", verb):
		return t.query(verb)
	case verb == "drop":
		kind, at := t.kind(1)
		return sqlStatement{verb: "drop " + kind, access: "delete", object: t.name(at)}
	case verb == "truncate":
		return sqlStatement{verb: verb, access: "delete", object: t.name(t.skip(1, "table", "only", "if", "exists"))}
	case verb == "delete":
		return sqlStatement{verb: verb, access: "delete", object: t.name(t.skip(1, "from", "only", "low_priority", "quick", "ignore")), where: t.limited()}
	case verb == "update":
		s.object, s.where = t.name(t.skip(1, "only", "low_priority", "ignore", "or", "rollback", "abort", "replace", "fail")), t.limited()
	case wordlist.Has(" insert replace merge upsert ", verb):
		s.object, s.where = t.name(t.skip(1, "into", "or", "ignore", "replace", "overwrite", "table", "low_priority", "delayed", "rollback", "abort", "fail")), true
	case verb == "alter":
		kind, at := t.kind(1)
		if t.find("superuser") > 0 && (kind == "user" || kind == "role") {
			s.verb = "superuser"
		}
		if s.object = t.name(at); kind == "system" {
			s.object = ""
		}
		if t.find("drop") > 0 {
			s.access = "delete"
		}
	case verb == "create":
		_, at := t.kind(1)
		s.object = t.name(at)
		if t.find("c", "plpythonu", "plpython3u", "plperlu", "plsh", "soname") > 0 && t.find("function") > 0 {
			s.verb = "load extension"
		}
	case verb == "copy":
		return t.copy()
	case wordlist.Has(" attach load install ", verb):
		return t.load(verb)
	case wordlist.Has(" purge reset ", verb):
		s.access = "delete"
	case wordlist.Has(" grant revoke ", verb):
		if i := t.find("on"); i > 0 {
			s.object = t.name(i + 1)
		}
	case wordlist.Has(" kill shutdown rename call comment refresh restore backup import flush lock cluster optimize repair security reassign ", verb):
		s.object = t.name(t.skip(1, "table", "tables", "database", "role", "view", "materialized"))
	case verb == "set":
		if t.word(1) != "global" && t.word(1) != "persist" && !strings.HasPrefix(t.word(1), "@@global") {
			s.access = "read"
		}
	case verb == "vacuum":
		if i := t.find("into"); i > 0 {
			s.object = t.firstText(i)
		} else {
			s.access = "read"
		}
	case wordlist.Has(" system source ", verb):
		return sqlStatement{verb: map[string]string{"system": "shell", "source": "source"}[verb], access: "write", object: t.rest()}
	case wordlist.Has(" begin start commit rollback end savepoint release show describe desc use pragma analyze analyse reindex check checksum help declare fetch close open deallocate discard listen unlisten notify print go status detach unlock handler connect perform raise exception loop for while elsif elseif when case assert null quit exit abort xa tables list summarize if else return ", verb):
		s.access = "read"
	}
	return s
}

// query reads a select: it may still write a file or load code.
func (t sqlTokens) query(verb string) sqlStatement {
	s := sqlStatement{verb: verb, access: "read", where: true}
	if i := t.find("from"); i >= 0 {
		s.object = t.name(i + 1)
		s.where = t.limited()
	}
	for i := range t {
		switch w := t.word(i); w {
		case "outfile", "dumpfile":
			return sqlStatement{verb: "select into " + w, access: "write", object: t.firstText(i)}
		case "load_extension":
			return sqlStatement{verb: "load extension", access: "write", object: t.firstText(i)}
		case "sys_exec", "sys_eval", "xp_cmdshell":
			return sqlStatement{verb: "shell", access: "write", object: t.firstText(i)}
		case "load_file", "pg_read_file", "pg_read_binary_file", "readfile", "pg_ls_dir", "lo_import":
			if s.verb != "read file" {
				s.verb, s.object = "read file", t.firstText(i)
			}
		case "lo_export", "writefile", "pg_file_write":
			return sqlStatement{verb: "write file", access: "write", object: t.firstText(i)}
		case "pg_terminate_backend", "pg_cancel_backend", "pg_reload_conf", "pg_rotate_logfile", "setval", "pg_drop_replication_slot", "drop_chunks", "dblink_exec":
			if t.at(i + 1).is("(") {
				s.verb, s.access = w, "write"
			}
		case "into":
			if s.access == "read" && i > 0 && !t.at(i+1).is("@") && !strings.HasPrefix(t.word(i+1), "@") && t.at(i+1).kind != sqlText {
				s.verb, s.access, s.object = "select into", "write", t.name(i+1)
			}
		}
	}
	return s
}

// copy reads PostgreSQL's copy, which may run a program.
func (t sqlTokens) copy() sqlStatement {
	s := sqlStatement{verb: "copy", access: "write", object: t.name(1)}
	if i := t.find("program"); i > 0 {
		return sqlStatement{verb: "copy program", access: "write", object: t.firstText(i)}
	}
	if i := t.find("to"); i > 0 {
		s.object = t.firstText(i)
		switch w := t.word(i + 1); {
		case w == "stdout":
			s.access, s.object = "read", t.name(1)
		case t.at(i+1).kind == sqlText:
			s.verb = "write file"
		}
	}
	return s
}

// load reads what brings in files or code.
func (t sqlTokens) load(verb string) sqlStatement {
	switch {
	case verb == "attach":
		return sqlStatement{verb: "attach", access: "write", object: t.firstText(0)}
	case verb == "load" && (t.word(1) == "data" || t.word(1) == "xml"):
		return sqlStatement{verb: "load data", access: "write", object: t.firstText(1)}
	}
	s := sqlStatement{verb: "load extension", access: "write", object: t.firstText(0)}
	if s.object == "" {
		s.object = t.name(1)
	}
	return s
}

// limited reports whether a condition or a limit narrows the statement.
func (t sqlTokens) limited() bool {
	depth := 0
	for i := range t {
		switch {
		case t[i].is("("):
			depth++
		case t[i].is(")"):
			depth--
		case depth == 0 && t[i].kind == sqlWord && (t[i].text == "limit" || t[i].text == "top" && i == 1):
			return true
		case depth == 0 && t[i].kind == sqlWord && t[i].text == "where":
			return !t[i+1:].always()
		}
	}
	return false
}

// always reports whether a condition holds for every row: it names no column,
// compares something with itself, or offers an alternative that does.
func (t sqlTokens) always() bool {
	columns, start := false, 0
	for i := 0; i <= len(t); i++ {
		w := t.word(i)
		if i < len(t) && w != "or" && w != "order" && w != "returning" && w != "limit" {
			columns = columns || t[i].kind == sqlName || t[i].kind == sqlWord && !strings.Contains(" true not and false is null ", " "+w+" ")
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
