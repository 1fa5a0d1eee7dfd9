package sql

import (
	"slices"
	"strings"

	"gate/internal/wordlist"
)

// metaCommand reads a line that the client program runs itself: \! of psql
// and mysql, .shell of sqlite3.
func metaCommand(line string) Statement {
	name, rest := line, ""
	if i := strings.IndexAny(line, " \t|'`("); i > 0 {
		name, rest = line[:i], strings.TrimSpace(line[i:])
	}
	if strings.HasPrefix(line, `\!`) {
		return Statement{Verb: "shell", Access: "write", Object: strings.TrimSpace(line[2:])}
	}
	if program, ok := backquoted(rest); ok && line[0] == '\\' {
		return Statement{Verb: "shell", Access: "write", Object: program}
	}
	if _, after, ok := strings.Cut(rest, ")"); ok && rest[0] == '(' { // \g (format=csv) |program
		rest = strings.TrimSpace(after)
	}
	file := strings.Trim(rest, `'"`)
	switch {
	case slices.Contains([]string{".shell", ".system", ":!!", "host", "pager", `\P`}, name):
		return Statement{Verb: "shell", Access: "write", Object: rest}
	case name == "\\copy":
		if _, program, ok := cutFold(rest, " program "); ok {
			return Statement{Verb: "copy program", Access: "write", Object: strings.Trim(strings.TrimSpace(program), `'`)}
		}
		if strings.Contains(strings.ToLower(rest), " to ") {
			return Statement{Verb: "copy", Access: "read"}
		}
		return Statement{Verb: "copy", Access: "write"}
	case wordlist.Has(" \\o \\w \\g \\gx \\s .output .once .backup .save .clone .excel .log .trace ", name):
		if strings.HasPrefix(file, "|") {
			return Statement{Verb: "shell", Access: "write", Object: strings.TrimSpace(file[1:])}
		}
		if file == "" || file == "stdout" || file == "off" {
			return Statement{Verb: name, Access: "read"}
		}
		return Statement{Verb: "write file", Access: "write", Object: file}
	case slices.Contains([]string{"\\i", "\\ir", "\\include", "\\include_relative", ".read", "\\.", ":r", "@", "start"}, name):
		if strings.HasPrefix(file, "|") {
			return Statement{Verb: "shell", Access: "write", Object: strings.TrimSpace(file[1:])}
		}
		return Statement{Verb: "source", Access: "write", Object: file}
	case name == ".load":
		return Statement{Verb: "load extension", Access: "write", Object: file}
	case wordlist.Has(" .import .restore .open .archive .ar \\gexec \\lo_import \\lo_export \\lo_unlink ", name):
		object, _, _ := strings.Cut(file, " ")
		if name == ".import" && strings.HasPrefix(file, "|") {
			return Statement{Verb: "shell", Access: "write", Object: strings.TrimSpace(file[1:])}
		}
		return Statement{Verb: strings.TrimLeft(name, `.\`), Access: "write", Object: object}
	}
	return Statement{Verb: name, Access: "read"}
}

// backquoted is a command between backquotes: psql runs it for each of its own.
func backquoted(s string) (program string, ok bool) {
	_, rest, _ := strings.Cut(s, "`")
	program, _, ok = strings.Cut(rest, "`")
	return program, ok
}

// Redis says what a command of redis-cli does. It reports false when
// there is none.
func Redis(words []string) (Statement, bool) {
	if len(words) == 0 {
		return Statement{}, false
	}
	verb := strings.ToLower(words[0])
	arg := func(i int) string {
		if i < len(words) {
			return words[i]
		}
		return ""
	}
	s := Statement{Verb: verb, Access: "write", Object: arg(1), Where: true}
	sub := strings.ToLower(arg(1))
	switch {
	case slices.Contains([]string{"flushall", "flushdb", "swapdb"}, verb):
		return Statement{Verb: verb, Access: "delete"}, true
	case wordlist.Has(" del unlink getdel hdel srem zrem lrem xdel xtrim ltrim spop lpop rpop zpopmin zpopmax zremrangebyrank zremrangebyscore zremrangebylex json.del ft.dropindex ", verb):
		s.Access = "delete"
	case wordlist.Has(" config acl client cluster script function module debug sentinel slowlog latency memory object command pubsub xinfo ", verb):
		s.Verb, s.Object = verb+" "+sub, arg(2)
		switch s.Verb {
		case "module load", "module loadex":
			s.Verb = "load extension"
		case "config set":
			if name := strings.ToLower(arg(2)); name == "dir" || name == "dbfilename" {
				s.Verb = "write to a file" // the next save goes there
			}
		case "script flush", "function flush", "cluster reset", "cluster flushslots", "acl deluser", "function delete":
			s.Access = "delete"
		case "config rewrite", "config resetstat", "acl setuser", "acl load", "acl save", "client kill", "client pause", "script load", "script kill", "function load",
			"function restore", "module unload", "debug sleep", "debug segfault", "debug reload", "cluster failover", "cluster forget", "cluster meet", "sentinel failover", "sentinel remove", "memory purge":
		default:
			s.Access = "read"
		}
	case wordlist.Has(" get mget keys scan hscan sscan zscan exists ttl pttl type hget hmget hgetall hkeys hvals hlen hexists lrange llen lindex smembers scard sismember sinter sunion sdiff srandmember zrange zrevrange zrangebyscore zcard zscore zcount zrank strlen getrange getbit bitcount randomkey ping echo info dbsize time lastsave monitor subscribe psubscribe role select auth hello dump xrange xlen xread json.get wait quit help touch readonly ", verb):
		s.Access = "read"
	case slices.Contains([]string{"shutdown", "save", "bgsave", "bgrewriteaof", "failover"}, verb):
		s.Object, s.Where = "", false
	case slices.Contains([]string{"eval", "evalsha", "fcall"}, verb):
		s.Where = false
		if strings.Contains(strings.ToLower(s.Object), "flush") {
			s.Access = "delete"
		}
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
