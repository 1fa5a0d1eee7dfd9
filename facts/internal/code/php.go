package code

import (
	"strings"
	"sync"
)

func phpLanguage() *language {
	return &language{
		name: "php",
		syntax: syntax{
			lineComments:  []string{"//", "#"},
			blockComments: [][2]string{{"/*", "*/"}},
			double:        quoting{kind: textToken, interp: '$'},
			single:        quoting{kind: textToken, raw: true},
			back:          quoting{kind: commandToken, interp: '$'},
			openers:       " return echo print ",
			sigils:        "$",
			heredoc:       "<<<",
			tags:          true,
		},
		table:     phpTable,
		concat:    " . ",
		members:   " -> :: ?-> ",
		prefixes:  " return new clone throw static global var public private protected const final abstract else do try finally ",
		env:       []string{"$_ENV", "$_SERVER"},
		strip:     []string{"\\"},
		statement: phpStatement,
		word:      phpWord,
		colonArgs: true, nameCalls: true,
	}
}

// phpStatement reads loops and definitions.
func phpStatement(p *parser, t token) bool {
	switch t.text {
	case "foreach":
		p.next()
		if !p.accept("(") {
			return true
		}
		v := p.expr()
		var names []string
		for !p.done() && !p.at(")") {
			if w := p.next(); w.kind == wordToken && w.text != "as" {
				names = append(names, w.text)
			}
		}
		p.accept(")")
		if len(names) == 2 {
			p.forget(names[0])
			names = names[1:]
		}
		p.bind(names, v)
		p.branch = true
		return true
	case "if", "while", "for", "switch", "elseif", "catch":
		p.branch = true
	case "function":
		if p.ahead(1).kind == wordToken {
			p.next()
			p.define(strings.ToLower(p.next().text))
			return true
		}
	case "class", "interface", "trait", "namespace", "use":
		p.next()
		p.next()
		return true
	}
	return false
}

// phpWord reads constructs that take an argument without parentheses.
func phpWord(p *parser, t token) (value, bool) {
	switch t.text {
	case "echo", "print", "include", "include_once", "require", "require_once", "exit", "die":
		if next := p.peek(); next.is(";") || next.kind == endToken {
			return value{}, true
		}
		use := use{name: t.text, action: p.table[t.text], offset: int(t.offset)}
		use.args.pos = append(use.args.pos, p.expr())
		for t.text == "echo" && p.accept(",") {
			use.args.pos = append(use.args.pos, p.expr())
		}
		return p.perform(use), true
	case "function", "fn":
		p.accept("&")
		p.define("")
		if p.accept("=>") {
			p.expr()
		}
		return named("closure"), true
	case "__DIR__":
		return textValue("."), true
	case "array":
		if open := p.pos; p.accept("(") {
			return p.listOf(p.list(")", open)), true
		}
	}
	return value{}, false
}

// listOf is a list, or a map where the items have names.
func (p *parser) listOf(args arguments) value {
	if len(args.pos) == 0 && len(args.names) > 0 {
		return value{kind: mapValue, keys: args.names, items: args.named}
	}
	return value{kind: listValue, items: args.pos}
}

var phpTable = sync.OnceValue(func() table { return parseTable(phpRows) })

const phpRows = `
system exec shell_exec passthru popen = shell 0/command
proc_open = !popen 0
pcntl_exec = !spawn 0 1
dl ffi.cdef = !suspect loads native code
unlink rmdir = delete 0
rename = delete 0; write 1
copy = !readurl 0; write 1
move_uploaded_file = write 1
link symlink = link 0 1
file_put_contents touch mkdir = write 0; !print
file_get_contents readfile file parse_ini_file show_source highlight_file simplexml_load_file = !readurl 0
fopen = !rubyopen
opendir dir = list 0
scandir = list 0; =names
glob = =glob 0
chmod = !chmod 0 1
touch = write? 0
chown chgrp lchown = permissions 0
posix_kill = !kill 0 1
posix_getppid = =is $PPID
pcntl_setpriority = !parent 1
eval assert create_function = !phpeval
preg_replace = !preg
include include_once require require_once = !source 0
getenv = =env 0
sys_get_temp_dir = =is /tmp
tempnam tmpfile = =is /tmp/tmp
getcwd = =is .
dirname = =dir 0
basename = =base 0
realpath strval escapeshellarg escapeshellcmd trim array_values array_filter = =text 0
strtolower = =lower 0
strtoupper = =upper 0
strrev = =reverse 0
chr = =chr 0
base64_decode = =base64 0
hex2bin = =hex 0
gzinflate gzuncompress gzdecode str_rot13 convert_uudecode openssl_decrypt unserialize = =decoder
implode join = !joinlist
sprintf = =format *
count strlen isset empty is_file file_exists is_dir array_keys in_array define = =drop
call_user_func call_user_func_array array_map array_walk register_shutdown_function = =drop
fsockopen pfsockopen = connect 0 1
stream_socket_client = connect 0
socket_create = =net
socket_connect = connect 1 2
stream_socket_server socket_bind = listen 0 1
curl_init = !maybeurl fetch 0
curl_setopt = !curlopt
mail = send 0
echo print print_r var_dump var_export printf exit die fwrite fputs error_log = !print
phpinfo = environment
time getmypid uniqid rand mt_rand = =digits
mysqli_query pg_query *.query *.exec = !sql 0
`
