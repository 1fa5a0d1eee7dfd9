package facts

import (
	"strings"

	"gate/facts/wordlist"
)

// sqlMetaCommand reads a line that the client program runs itself: \! of psql
// and mysql, .shell of sqlite3.
func sqlMetaCommand(line string) sqlStatement {
	name, rest, _ := strings.Cut(line, " ")
	rest = strings.TrimSpace(rest)
	if strings.HasPrefix(line, `\!`) {
		return sqlStatement{verb: "shell", access: "write", object: strings.TrimSpace(line[2:])}
	}
	file := strings.Trim(rest, `'"`)
	switch {
	case wordlist.Has(" .shell .system ", name):
		return sqlStatement{verb: "shell", access: "write", object: rest}
	case name == "\\copy":
		if _, program, ok := cutFold(rest, " program "); ok {
			return sqlStatement{verb: "copy program", access: "write", object: strings.Trim(strings.TrimSpace(program), `'`)}
		}
		if strings.Contains(strings.ToLower(rest), " to ") {
			return sqlStatement{verb: "copy", access: "read"}
		}
		return sqlStatement{verb: "copy", access: "write"}
	case wordlist.Has(" \\o \\w \\g \\gx \\s .output .once .backup .save .clone .excel .log .trace ", name):
		if strings.HasPrefix(file, "|") {
			return sqlStatement{verb: "shell", access: "write", object: strings.TrimSpace(file[1:])}
		}
		if file == "" || file == "stdout" || file == "off" {
			return sqlStatement{verb: name, access: "read"}
		}
		return sqlStatement{verb: "write file", access: "write", object: file}
	case wordlist.Has(" \\i \\ir \\include .read \\. ", name):
		if strings.HasPrefix(file, "|") {
			return sqlStatement{verb: "shell", access: "write", object: strings.TrimSpace(file[1:])}
		}
		return sqlStatement{verb: "source", access: "write", object: file}
	case name == ".load":
		return sqlStatement{verb: "load extension", access: "write", object: file}
	case wordlist.Has(" .import .restore .open .archive .ar \\gexec \\lo_import \\lo_export \\lo_unlink ", name):
		object, _, _ := strings.Cut(file, " ")
		if name == ".import" && strings.HasPrefix(file, "|") {
			return sqlStatement{verb: "shell", access: "write", object: strings.TrimSpace(file[1:])}
		}
		return sqlStatement{verb: strings.TrimLeft(name, `.\`), access: "write", object: object}
	}
	return sqlStatement{verb: name, access: "read"}
}

// inspectRedis says what a command of redis-cli does. It reports false when
// there is none.
func inspectRedis(words []string) (sqlStatement, bool) {
	if len(words) == 0 {
		return sqlStatement{}, false
	}
	verb := strings.ToLower(words[0])
	arg := func(i int) string {
		if i < len(words) {
			return words[i]
		}
		return ""
	}
	s := sqlStatement{verb: verb, access: "write", object: arg(1), where: true}
	sub := strings.ToLower(arg(1))
	switch {
	case wordlist.Has(" flushall flushdb swapdb ", verb):
		return sqlStatement{verb: verb, access: "delete"}, true
	case wordlist.Has(" del unlink getdel hdel srem zrem lrem xdel xtrim ltrim spop lpop rpop zpopmin zpopmax zremrangebyrank zremrangebyscore zremrangebylex json.del ft.dropindex ", verb):
		s.access = "delete"
	case wordlist.Has(" config acl client cluster script function module debug sentinel slowlog latency memory object command pubsub xinfo ", verb):
		s.verb, s.object = verb+" "+sub, arg(2)
		switch s.verb {
		case "module load", "module loadex":
			s.verb = "load extension"
		case "config set":
			if name := strings.ToLower(arg(2)); name == "dir" || name == "dbfilename" {
				s.verb = "write to a file" // the next save goes there
			}
		case "script flush", "function flush", "cluster reset", "cluster flushslots", "acl deluser", "function delete":
			s.access = "delete"
		case "config rewrite", "config resetstat", "acl setuser", "acl load", "acl save", "client kill", "client pause", "script load", "script kill", "function load",
			"function restore", "module unload", "debug sleep", "debug segfault", "debug reload", "cluster failover", "cluster forget", "cluster meet", "sentinel failover", "sentinel remove", "memory purge":
		default:
			s.access = "read"
		}
	case wordlist.Has(" get mget keys scan hscan sscan zscan exists ttl pttl type hget hmget hgetall hkeys hvals hlen hexists lrange llen lindex smembers scard sismember sinter sunion sdiff srandmember zrange zrevrange zrangebyscore zcard zscore zcount zrank strlen getrange getbit bitcount randomkey ping echo info dbsize time lastsave monitor subscribe psubscribe role select auth hello dump xrange xlen xread json.get wait quit help touch readonly ", verb):
		s.access = "read"
	case wordlist.Has(" shutdown save bgsave bgrewriteaof failover ", verb):
		s.object, s.where = "", false
	case wordlist.Has(" eval evalsha fcall ", verb):
		s.where = false
		if strings.Contains(strings.ToLower(s.object), "flush") {
			s.access = "delete"
		}
	}
	return s, true
}

// inspectMongo lists what a script for mongo or mongosh does with collections
// and databases.
func inspectMongo(text string) []sqlStatement {
	lang := nodeLanguage()
	run := &codeRun{lang: lang, vars: map[string]codeValue{}, work: maxCodeWork, tokens: maxCodeTokens, socket: -1}
	if len(text) > maxCodeBytes {
		return []sqlStatement{{verb: "too many statements", access: "write"}}
	}
	toks := run.lex(text)
	var out []sqlStatement
	at := func(i int) codeToken {
		if i >= 0 && i < len(toks) {
			return toks[i]
		}
		return codeToken{}
	}
	for i := range toks {
		named := toks[i].kind == codeText && at(i-1).is("[") && at(i+1).is("]") && at(i+2).is("(") // db["users"]["drop"]()
		if !named && (toks[i].kind != codeWord || !at(i+1).is("(")) {
			continue
		}
		s, ok := mongoMethod(toks[i].text, named || at(i-1).is("."))
		if !ok {
			continue
		}
		empty := at(i+2).is(")") || at(i+2).is("{") && at(i+3).is("}")
		switch {
		case at(i-2).kind == codeWord && at(i-2).text != "db":
			s.object = at(i - 2).text
		case at(i-2).is(")") && at(i-3).kind == codeText:
			s.object = at(i - 3).text
		case at(i-2).is("]") && at(i-3).kind == codeText:
			s.object = at(i - 3).text
		}
		s.where = !empty || s.verb == "delete one"
		if s.verb == "runcommand" || s.verb == "admincommand" {
			s = mongoCommand(s, at(i+3).text, at(i+5).text)
		}
		if s.verb == "drop collection" || s.verb == "drop database" {
			s.where = false
		}
		out = append(out, s)
		if len(out) > maxSQLStatements {
			return append(out, sqlStatement{verb: "too many statements", access: "write"})
		}
	}
	if run.unknown != "" {
		out = append(out, sqlStatement{verb: "unknown", access: "write"})
	}
	return out
}

// mongoCommand says what a command does that is handed over as a document, whose
// first key names it: {drop: "users"}.
func mongoCommand(s sqlStatement, name, object string) sqlStatement {
	switch name {
	case "dropDatabase":
		return sqlStatement{verb: "drop database", access: "delete"}
	case "drop":
		return sqlStatement{verb: "drop collection", access: "delete", object: object}
	case "dropAllUsersFromDatabase", "dropAllRolesFromDatabase", "dropUser", "dropRole", "dropIndexes":
		return sqlStatement{verb: strings.ToLower(name), access: "delete", object: object, where: true}
	case "find", "aggregate", "count", "distinct", "ping", "serverStatus", "dbStats", "collStats", "listCollections", "listDatabases", "hello", "buildInfo", "connectionStatus", "currentOp", "replSetGetStatus":
		return sqlStatement{verb: "select", access: "read"}
	}
	return s
}

// mongoMethod says what one method does. Functions of the shell have no
// receiver.
func mongoMethod(name string, member bool) (sqlStatement, bool) {
	if !member {
		switch name {
		case "load":
			return sqlStatement{verb: "source", access: "write"}, true
		case "run", "runProgram", "runMongoProgram":
			return sqlStatement{verb: "shell", access: "write"}, true
		case "eval", "Function":
			return sqlStatement{verb: "eval", access: "write"}, true
		}
		return sqlStatement{}, false
	}
	s := sqlStatement{access: "write"}
	switch {
	case name == "dropDatabase":
		s.verb, s.access = "drop database", "delete"
	case name == "drop":
		s.verb, s.access = "drop collection", "delete"
	case wordlist.Has(" deleteMany remove ", name):
		s.verb, s.access = "delete", "delete"
	case wordlist.Has(" deleteOne findOneAndDelete ", name):
		s.verb, s.access = "delete one", "delete"
	case wordlist.Has(" dropIndex dropIndexes dropUser dropAllUsers dropRole dropAllRoles ", name):
		s.verb, s.access = "drop "+strings.ToLower(strings.TrimPrefix(name, "drop")), "delete"
	case wordlist.Has(" updateMany update updateOne replaceOne findOneAndUpdate findOneAndReplace findAndModify bulkWrite ", name):
		s.verb = "update"
	case wordlist.Has(" insert insertOne insertMany save mapReduce ", name):
		s.verb = "insert"
	case name == "renameCollection":
		s.verb = "rename"
	case wordlist.Has(" createUser grantRolesToUser createRole updateUser changeUserPassword ", name):
		s.verb = "grant"
	case wordlist.Has(" createCollection createIndex createView createIndexes ", name):
		s.verb = "create"
	case wordlist.Has(" shutdownServer fsyncLock killOp adminCommand runCommand ", name):
		s.verb = strings.ToLower(name)
	case wordlist.Has(" find findOne aggregate count countDocuments estimatedDocumentCount distinct stats getIndexes ", name):
		s.verb, s.access = "select", "read"
	default:
		return sqlStatement{}, false
	}
	return s, true
}

// cutFold is strings.Cut with letters of either case.
func cutFold(s, sep string) (before, after string, found bool) {
	for i := range len(s) - len(sep) + 1 {
		if strings.EqualFold(s[i:i+len(sep)], sep) {
			return s[:i], s[i+len(sep):], true
		}
	}
	return s, "", false
}
