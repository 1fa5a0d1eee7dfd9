package code

import (
	"regexp"
	"strings"
	"sync"

	"gate/internal/wordlist"
)

// hands says of the statements of a text whether they hand a shell to another machine, run
// what one tells them, or write what gives rights, "" for none of these.
func hands(text string, list []binding) (why string) {
	if givesRights(list) {
		return "writes what gives rights or starts by itself"
	}
	if !startsProgram(text) || !calls(text, connectionWords) {
		return ""
	}
	if turnsInput().MatchString(text) && namesShell(text) {
		return "hands a shell to another machine"
	}
	conns, data, shells := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for range 3 { // a name may be used above its own assignment
		for i := range list {
			s := &list[i]
			if calls(s.from, connectionWords) && !calls(s.from, databaseWords) || holds(s.from, conns) && !calls(s.from, recvWords) {
				take(conns, s.names)
			}
			onData := holds(s.text, conns) && (strings.Contains(s.text, `"data"`) || strings.Contains(s.text, `'data'`))
			if onData {
				for _, found := range oneParameter().FindAllStringSubmatch(s.text, maxSaved) {
					take(data, found[1]+found[2])
				}
			}
			if holds(s.from, conns) && (calls(s.from, recvWords) || strings.HasPrefix(strings.TrimLeft(s.text, " "), "for ")) || holds(s.from, data) {
				take(data, s.names)
			}
			if namesShell(s.from) && startsProgram(s.from) || holds(s.from, shells) {
				take(shells, s.names)
			}
		}
	}
	for i := range list {
		s := &list[i]
		connected := holds(s.text, conns)
		switch {
		case connected && strings.Contains(s.text, "dup2"),
			connected && (holds(s.text, shells) || namesShell(s.text) && startsProgram(s.text)) && passesOn(s.text):
			return "hands a shell to another machine"
		case startsProgram(s.text) && holds(afterStart(s.text), data):
			return "runs what another machine tells it"
		}
	}
	return ""
}

// mayHand reports a text in which [hands] may find something.
func mayHand(text string) bool {
	return strings.Contains(text, "/etc/") || strings.Contains(text, "NOPASSWD") || strings.Contains(text, "/var/spool/cron") || strings.Contains(text, "LaunchDaemons") ||
		startsProgram(text) && calls(text, connectionWords)
}

// connectionWords open a connection that is no request, recvWords read from it, and
// databaseWords tell that it leads to a database.
const (
	connectionWords = " socket socketpair tcp create_connection createConnection connect dial Dial DialTimeout DialTCP gen_tcp Socket TCPSocket UDPSocket TcpStream TcpClient UdpClient SSLSocket SocketChannel NWConnection fsockopen " +
		"stream_socket_client AF_INET connectTo openSocket tcpConnectToHost TCPClient INET IO::Socket ServerSocket TcpListener createServer listen WebSocket ClientWebSocket "
	recvWords     = " recv receive read readline readLine readLines gets getline recvfrom ReadString ReadLine Scan nextLine lines fgets stream_get_contents hGetLine readuntil read_line receive_line input_line recv_string each_line chomp "
	databaseWords = " sqlite3 duckdb psycopg psycopg2 pymysql mysql mysql2 pg mongo mongodb mongoose redis Redis postgres sql sqlx amqp kafka DriverManager asyncpg pymongo JDBC PDO mysqli DBI Sequel ActiveRecord grpc "
	startWords    = " popen system execSync execFile execFileSync spawn spawnSync Popen check_output check_call getoutput shell_exec passthru proc_open ProcessBuilder callCommand readProcess createProcess shell exec execCommand Open3 capture2e capture3 " +
		"execv execve execvp execl startProcess execCmd execCmdEx execProcess getRuntime os.execute subprocess Command run-program inferior-shell executeShell pipeProcess spawnProcess spawnShell osproc "
)

func startsProgram(s string) bool {
	return calls(s, startWords) || strings.Contains(s, "os.execute") || strings.Contains(s, ":os.cmd") || strings.Contains(s, "os:cmd") || strings.Contains(s, "Process.Start") || strings.Contains(s, "open_port") ||
		strings.Contains(s, "].execute(") || strings.Contains(s, `".execute(`) || strings.Contains(s, "'.execute(") // of Groovy
}

// afterStart is what stands behind the first word of a statement that starts a program.
func afterStart(s string) string {
	if at := startWord().FindStringIndex(s); at != nil {
		return s[at[1]:]
	}
	return ""
}

var startWord = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\b(?:os\.execute|:?os[.:]cmd|Process\.Start|` + strings.ReplaceAll(strings.TrimSpace(startWords), " ", "|") + `)\b`)
})

// oneParameter finds the name that a function without one of its own takes: d => …, (d) => …,
// function (d) {…}.
var oneParameter = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?:\(\s*(\w+)[^()]{0,40}\)|\b(\w+))\s*(?:=>|\{)`)
})

var shellName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile("[\"'`(\\s](?:/(?:usr/)?bin/)?(?:ba|z|da|k|a)?sh(?:\\s+-\\w+)?[\"'`\\\\]|cmd\\.exe|[\"'`](?:powershell|pwsh)(?:\\.exe)?[\"'`]")
})

// turnsInput finds what makes a connection the input of the program itself.
var turnsInput = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`open\(STDIN,\s*\\?["']?[<>+]+&|STDIN->fdopen|\$stdin\.reopen|STDIN\.reopen|dup2\(\w*(?:sock|conn|client|fd)\w*\s*,\s*0\)`)
})

func namesShell(s string) bool { return shellName().MatchString(s) }

// passesOn reports a statement that hands what one side says to the other.
func passesOn(s string) bool {
	for _, piece := range []string{"tdin", "tdout", "StdIn", "pipe", "write", "send", "Stream", "copy", "Copy", "dup2", "reopen", "StandardInput", "redirect", "puts", "print"} {
		if strings.Contains(s, piece) {
			return true
		}
	}
	return false
}

// rightsPlaces are files of the machine by which rights are given or programs start by themselves.
var rightsPlaces = [...]string{"/etc/sudoers", "NOPASSWD", "/etc/cron", "/var/spool/cron", "/etc/ld.so.preload", "/etc/profile.d", "/etc/rc.local", "/etc/passwd", "/etc/shadow", "/etc/pam.d", "/etc/systemd/system", "LaunchDaemons", "/etc/hosts.equiv"}

func namesRights(s string) bool {
	for _, place := range rightsPlaces {
		at := strings.Index(s, place)
		if at < 0 {
			continue
		}
		before := strings.TrimRight(s[:at], " ")
		if place[0] != '/' || before == "" || strings.IndexByte("\"'`(=>:@", before[len(before)-1]) >= 0 { // not within a sentence
			return true
		}
	}
	return false
}

// givesRights reports a statement that writes one of these.
func givesRights(list []binding) bool {
	names := map[string]bool{}
	for range 2 {
		for i := range list {
			if s := &list[i]; (namesRights(s.from) || holds(s.from, names)) && (s.doesFrom&readWord == 0 || opensToWrite(s.from)) {
				take(names, s.names)
			}
		}
	}
	for i := range list {
		s := &list[i]
		if (namesRights(s.text) || holds(s.text, names)) && (calls(s.text, writeWords) || calls(s.text, moreWriteWords) || writesInShell().MatchString(s.text)) {
			return true
		}
	}
	return false
}

func opensToWrite(s string) bool {
	for _, mode := range []string{`"w`, `'w`, `"a`, `'a`} {
		if strings.Contains(s, mode) {
			return true
		}
	}
	return false
}

const moreWriteWords = " writeFileString WriteAllText appendFile writelines writeAll spurt spit open-output-file with-open-file write-string file_append puts file.write copyFile renameSync rename CopyFile put_contents createFile "

// writesInShell finds a redirection or a copy to such a file within a line of a shell.
var writesInShell = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\.(?:text|bytes)\s*=|<<\s|>>?\s*["']?(?:\S*/)?etc/|>>?\s*["']?/var/spool/cron|\btee\s+(?:-a\s+)?\S*/etc/|\b(?:cp|mv|ln|install)\s[^;&|]*\s\S*/etc/`)
})

// DropsFound reports a text in any language that looks up which tables, schemas or databases
// there are, and drops those that it finds.
func DropsFound(text string) bool {
	return foundObjects().MatchString(text) && dropsComputed().MatchString(text)
}

var (
	foundObjects = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)\bschema_names\b|\bpg_database\b|information_schema|\bpg_tables\b|\bpg_namespace\b|\bpg_class\b|\bshow\s+(?:databases|tables|schemas)\b|\bsqlite_master\b|get_table_names|get_schema_names|listDatabases|list_database_names|sys\.(?:databases|tables|schemas)\b|` +
			`connection\.(?:tables|data_sources)|\bschemata\b|listCollections|list_collection_names|showAllTables|\ball_tables\b|\buser_tables\b|getTables\(|table_names\(|listTableNames|all_dbs|cat\.indices|get_alias`)
	})
	dropsComputed = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)\bdrop\s+(?:schema|database|table|view|owned|role|user|index|keyspace)\s+(?:if\s+exists\s+)?["'` + "`" + `\\\[(]*(?:#\{|\$\{|\{|%[sI]|"?\s*\+|'?\s*\|\||\$\w|"?\s*\.\s*\$|"\s*<>|"\s*\^|["']?\s*~)|\bdropDatabase\(|\bdrop_database\(|\bdropSchema\(|\bdrop_collection\(|\bdrop_all\(|\bdrop_table\(\s*[a-z]\w*\b|\bdropTable\(\s*[a-z]\w*\b|indices\.delete\(|\.dropTable\(`)
	})
)

// functionsOf are the names of functions by their statements: those that delete, and those
// that send.
func functionsOf(list []binding) (deleters, senders map[string]bool) {
	deleters, senders = map[string]bool{}, map[string]bool{}
	name := ""
	for i := range list {
		s := &list[i]
		if found := definesFunction().FindStringSubmatch(s.text); found != nil {
			name = found[1] + found[2] + found[3]
		}
		switch {
		case name == "" || len(deleters)+len(senders) >= maxCodeFunctions || wordlist.Has(" main Main run new init setUp tearDown ", name):
		case s.deletes():
			deleters[name] = true
		case s.sends || s.does&socketWord != 0:
			senders[name] = true
		}
	}
	return deleters, senders
}

var definesFunction = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\(?\b(?:defn-?|defun|defmethod|defp|define|def|function|func|fn|fun|sub|proc|let rec|method|private|public|static|void|local function)\s+(?:\([^()]*\)\s*)?\(?(?:\w+\s+){0,2}?([A-Za-z_][\w-]*[?!]?)\s*(?:[\[({<=:]|\s[\w(\[{\[])|` +
		`\b(?:const|let|var|val)\s+(\w+)\s*=\s*(?:async\s*)?(?:\([^()]*\)|\w+)\s*=>|^\s*(\w+)\s*(?:<-|=)\s*(?:function|fun|lambda)\b`)
})
