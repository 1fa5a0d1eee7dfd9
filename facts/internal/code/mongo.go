package code

import (
	"slices"
	"strings"

	"gate/facts/internal/sql"
	"gate/internal/wordlist"
)

// Mongo lists what a script for mongo or mongosh does with collections
// and databases.
func Mongo(text string) []sql.Statement {
	lang := nodeLanguage()
	run := &inspection{lang: lang, vars: map[string]value{}, work: maxWork, tokens: maxTokens, socket: -1}
	if len(text) > maxBytes {
		return []sql.Statement{{Verb: "too many statements", Access: "write"}}
	}
	toks := run.lex(text)
	var out []sql.Statement
	at := func(i int) token {
		if i >= 0 && i < len(toks) {
			return toks[i]
		}
		return token{}
	}
	for i := range toks {
		named := toks[i].kind == textToken && at(i-1).is("[") && at(i+1).is("]") && at(i+2).is("(") // db["users"]["drop"]()
		if !named && (toks[i].kind != wordToken || !at(i+1).is("(")) {
			continue
		}
		s, ok := mongoMethod(toks[i].text, named || at(i-1).is("."))
		if !ok {
			continue
		}
		empty := at(i+2).is(")") || at(i+2).is("{") && at(i+3).is("}")
		switch {
		case at(i-2).kind == wordToken && at(i-2).text != "db":
			s.Object = at(i - 2).text
		case at(i-2).is(")") && at(i-3).kind == textToken:
			s.Object = at(i - 3).text
		case at(i-2).is("]") && at(i-3).kind == textToken:
			s.Object = at(i - 3).text
		}
		s.Where = !empty || s.Verb == "delete one"
		if s.Verb == "runcommand" || s.Verb == "admincommand" {
			s = mongoCommand(s, at(i+3).text, at(i+5).text)
		}
		if s.Verb == "drop collection" || s.Verb == "drop database" {
			s.Where = false
		}
		out = append(out, s)
		if len(out) > maxStatements {
			return append(out, sql.Statement{Verb: "too many statements", Access: "write"})
		}
	}
	if run.unknown != "" {
		out = append(out, sql.Statement{Verb: "unknown", Access: "write"})
	}
	return out
}

// mongoCommand says what a command does that is handed over as a document, whose
// first key names it: {drop: "users"}.
func mongoCommand(s sql.Statement, name, object string) sql.Statement {
	switch name {
	case "dropDatabase":
		return sql.Statement{Verb: "drop database", Access: "delete"}
	case "drop":
		return sql.Statement{Verb: "drop collection", Access: "delete", Object: object}
	case "dropAllUsersFromDatabase", "dropAllRolesFromDatabase", "dropUser", "dropRole", "dropIndexes":
		return sql.Statement{Verb: strings.ToLower(name), Access: "delete", Object: object, Where: true}
	case "find", "aggregate", "count", "distinct", "ping", "serverStatus", "dbStats", "collStats", "listCollections", "listDatabases", "hello", "buildInfo", "connectionStatus", "currentOp", "replSetGetStatus":
		return sql.Statement{Verb: "select", Access: "read"}
	}
	return s
}

// mongoMethod says what one method does. Functions of the shell have no
// receiver.
func mongoMethod(name string, member bool) (sql.Statement, bool) {
	if !member {
		switch name {
		case "load":
			return sql.Statement{Verb: "source", Access: "write"}, true
		case "run", "runProgram", "runMongoProgram":
			return sql.Statement{Verb: "shell", Access: "write"}, true
		case "eval", "Function":
			return sql.Statement{Verb: "eval", Access: "write"}, true
		}
		return sql.Statement{}, false
	}
	s := sql.Statement{Access: "write"}
	switch {
	case name == "dropDatabase":
		s.Verb, s.Access = "drop database", "delete"
	case name == "drop":
		s.Verb, s.Access = "drop collection", "delete"
	case slices.Contains([]string{"deleteMany", "remove"}, name):
		s.Verb, s.Access = "delete", "delete"
	case slices.Contains([]string{"deleteOne", "findOneAndDelete"}, name):
		s.Verb, s.Access = "delete one", "delete"
	case slices.Contains([]string{"dropIndex", "dropIndexes", "dropUser", "dropAllUsers", "dropRole", "dropAllRoles"}, name):
		s.Verb, s.Access = "drop "+strings.ToLower(strings.TrimPrefix(name, "drop")), "delete"
	case wordlist.Has(" updateMany update updateOne replaceOne findOneAndUpdate findOneAndReplace findAndModify bulkWrite ", name):
		s.Verb = "update"
	case slices.Contains([]string{"insert", "insertOne", "insertMany", "save", "mapReduce"}, name):
		s.Verb = "insert"
	case name == "renameCollection":
		s.Verb = "rename"
	case slices.Contains([]string{"createUser", "grantRolesToUser", "createRole", "updateUser", "changeUserPassword"}, name):
		s.Verb = "grant"
	case slices.Contains([]string{"createCollection", "createIndex", "createView", "createIndexes"}, name):
		s.Verb = "create"
	case slices.Contains([]string{"shutdownServer", "fsyncLock", "killOp", "adminCommand", "runCommand"}, name):
		s.Verb = strings.ToLower(name)
	case wordlist.Has(" find findOne aggregate count countDocuments estimatedDocumentCount distinct stats getIndexes ", name):
		s.Verb, s.Access = "select", "read"
	default:
		return sql.Statement{}, false
	}
	return s, true
}
