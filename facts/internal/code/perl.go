package code

import "sync"

func perlLanguage() *language {
	return &language{
		name: "perl",
		syntax: syntax{
			lineComments: []string{"#"},
			double:       quoting{kind: textToken, interp: '$'},
			single:       quoting{kind: textToken, raw: true},
			back:         quoting{kind: commandToken, interp: '$'},
			openers:      " and or not if unless while until return x lt gt le ge eq ne cmp split grep map join push unshift print printf die ",
			sigils:       "$@%&",
			heredoc:      "<<",
			podEnd:       "=cut",
			colons:       true, commands: true, perl: true, pod: true, regex: true,
		},
		table:     perlTable,
		concat:    " . + ",
		members:   " -> ",
		prefixes:  " my our local return not state new ",
		reserved:  " if unless while until for foreach and or not xor x eq ne lt gt le ge cmp else elsif do ",
		env:       []string{"%ENV", "$ENV"},
		strip:     []string{"CORE::GLOBAL::", "CORE::", "main::", "&", "POSIX::"},
		statement: perlStatement,
		word:      perlWord,
		commands:  true, curlyIndex: true, listOperators: true, nameCalls: true,
	}
}

// perlStatement reads loops, definitions and the modules that are used.
func perlStatement(p *parser, t token) bool {
	switch t.text {
	case "use", "no", "require":
		p.next()
		if m := p.peek(); m.kind == wordToken {
			p.next()
			if len(p.opened) < 16 {
				p.opened = append(p.opened, m.text)
			}
			return true
		}
		return true
	case "for", "foreach":
		p.next()
		name := "$_"
		for p.peek().kind == wordToken {
			name = p.next().text
		}
		if open := p.pos; p.accept("(") {
			args := p.list(")", open)
			items := value{kind: listValue, items: args.pos}
			if len(args.pos) == 1 {
				items = args.pos[0]
			}
			p.bind([]string{name}, items)
		}
		p.branch = true
		return true
	case "sub", "package":
		p.next()
		if p.peek().kind == wordToken {
			p.next()
		}
		return true
	case "if", "unless", "while", "until", "elsif", "else", "BEGIN", "END":
		p.next()
		p.branch = true
		return true
	case "print", "printf", "say":
		if h := p.ahead(1); h.kind == wordToken && (h.text == "STDERR" || h.text == "STDOUT") {
			p.next()
			p.next()
			p.perform(use{name: t.text, action: "!print", args: p.commandArgs(), offset: int(t.offset)})
			return true
		}
	}
	return false
}

func perlWord(p *parser, t token) (value, bool) {
	switch t.text {
	case "map", "grep", "sort":
		open := p.at("(")
		if open {
			p.next()
		}
		if !p.accept("{") {
			if open {
				args := p.list(")", p.pos-1)
				return flagged(args.flags()), true
			}
			return flagged(p.expr().all()), true
		}
		p.block++
		v := p.expr()
		p.statements("}")
		p.block--
		p.accept(",")
		list := p.expr()
		if open {
			p.accept(")")
		}
		return flagged(v.all() | list.all()), true
	case "exec", "system":
		if open := p.at("("); p.at("{") || open && p.ahead(1).is("{") {
			return p.indirect(t, open), true
		}
		return value{}, false
	case "unlink", "rmdir":
		next := p.peek()
		if next.is("(") || p.beginsArgument(next) {
			return value{}, false
		}
		use := use{name: t.text, action: "delete 0", offset: int(t.offset), args: arguments{pos: []value{p.vars["$_"]}}}
		if next.word("for") || next.word("foreach") {
			p.next()
			use.args.pos = []value{p.expr().element()}
		}
		p.perform(use)
		return value{}, true
	case "find", "finddepth", "File::Find::find", "File::Find::finddepth":
		p.perlFind()
	case "sub":
		return named("closure"), true
	case "do", "eval":
		if p.at("{") {
			return value{}, true
		}
	case "shift", "pop", "__FILE__", "STDIN", "STDERR", "STDOUT":
		return value{}, true
	}
	return value{}, false
}

// perlFind binds what the function of find(sub { … }, DIRECTORY) is called
// with, which stands before the directory.
func (p *parser) perlFind() {
	if !p.at("(") || p.seeking {
		return
	}
	from, depth, last := p.pos, 0, -1
	for i := from; i < len(p.toks); i++ {
		switch t := p.toks[i]; {
		case t.is("("), t.is("{"), t.is("["):
			depth++
		case t.is(")"), t.is("}"), t.is("]"):
			depth--
		case t.is(",") && depth == 1:
			last = i
		}
		if depth == 0 {
			break
		}
		if !p.spend(1) {
			return
		}
	}
	if last < 0 {
		return
	}
	p.pos, p.seeking = last+1, true
	found := p.joinPath(p.expr(), textValue("*"))
	p.pos, p.seeking = from, false
	for _, name := range []string{"$_", "$File::Find::name"} {
		p.vars[name] = found
	}
}

// indirect reads exec {PROGRAM} LIST: the list's first word is only the name that the
// program sees.
func (p *parser) indirect(t token, open bool) value {
	if open {
		p.next()
	}
	p.next()
	program := p.expr()
	if p.accept("=") {
		program = p.expr()
	}
	p.block++
	p.statements("}")
	p.block--
	args := p.commandArgs()
	if open {
		p.accept(")")
	}
	var words []value
	for _, v := range args.pos {
		words = append(words, flatten(v)...)
	}
	if len(words) == 0 {
		words = []value{{}}
	}
	if program.kind == knownValue {
		words[0] = program
	}
	p.record(Call{Name: t.text, Does: "argv", Offset: int(t.offset)}, words)
	return value{}
}

var perlTable = sync.OnceValue(func() table { return parseTable(perlRows) })

const perlRows = `
system exec = !system
syscall = !suspect calls the kernel by number
unlink rmdir = delete *
File::Path::rmtree rmtree File::Path::remove_tree remove_tree File::Remove::remove = delete+r *
*.remove_tree *.rmtree = delete+r self
*.remove *.unlink = delete? self
*.spew *.spew_utf8 *.touch *.append = write? self
*.slurp *.slurp_utf8 *.lines = read? self
rename File::Copy::move move = delete 0; write 1
File::Copy::copy copy File::Copy::cp = read 0; write 1
link symlink = link 0 1
truncate = write 0
mkdir make_path mkpath File::Path::make_path = write 0
open = !perlopen
sysopen = write 1
opendir = list 1
IO::File.new = !open 0 1
chmod = !chmod 1.. 0
utime = write? 2..
chown = permissions 2..
kill = !kill 1 0
getppid POSIX::getppid = =is $PPID
setpriority = !parent 1
ioctl = !typing 1
eval = !eval 0
do = !source 0
glob File::Glob::bsd_glob = =glob 0
path Path::Tiny::path file dir = =append *
File::Spec.catfile File::Spec.catdir catfile catdir = =append *
File::Spec.tmpdir = =is /tmp
File::Temp::tempdir tempdir File::Temp::tempfile tempfile = =is /tmp/tmp
File::HomeDir.my_home File::HomeDir::home = =is ~
cwd getcwd Cwd::cwd Cwd::getcwd Cwd.cwd = =is .
*.child = =append self *
*.stringify = =text self
lc = =lower 0
uc = =upper 0
chr = =chr 0
scalar quotemeta abs_path Cwd::abs_path File::Spec.rel2abs = =text 0
reverse = =reverse 0
join = !joinlist
sprintf = =format *
keys length exists defined delete values each wantarray ref time localtime = =drop
die warn print printf say = !print
decode_base64 MIME::Base64::decode_base64 MIME::Base64::decode = =base64 0
pack = !pack
unpack uncompress Compress::Zlib::memGunzip = =decoder
IO::Socket::INET.new IO::Socket::SSL.new IO::Socket.new IO::Socket::INET6.new IO::Socket::IP.new = !connect 0
socket = =net
connect = connect 1; =net
bind = listen 1
inet_aton inet_pton Socket::inet_aton = =text 0
sockaddr_in pack_sockaddr_in Socket::sockaddr_in = =list 1 0
dup2 = !dup
get getprint LWP::Simple::get LWP::Simple.getprint LWP::Simple.get LWP::Simple::getprint = !maybeurl fetch 0
getstore LWP::Simple::getstore = fetch 0; write 1
*.get *.mirror = !maybeurl fetch 0
*.post *.put = !maybeurl send 0
DBI.connect = =drop
*.do = !sql 0
`
