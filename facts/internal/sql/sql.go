// Package sql says what statements for a database do, of SQL in any dialect and of
// redis: text in, [Statement]s out. It is no parser: it knows which words of a
// statement decide, and takes what it does not know for a change. Start with
// Inspect; a text of which parts are not known goes through Fill first.
package sql

import (
	"strings"

	"gate/internal/wordlist"
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
