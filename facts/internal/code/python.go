package code

import "sync"

func pythonLanguage() *language {
	return &language{
		name: "python",
		syntax: syntax{
			lineComments: []string{"#"},
			double:       quoting{kind: textToken, keep: true},
			single:       quoting{kind: textToken, keep: true},
			openers:      " return in not and or if else lambda ",
			braces:       true, lines: true, oneLine: true, prefixes: true, triple: true,
		},
		table:     pythonTable,
		concat:    " + ",
		members:   " . ",
		prefixes:  " await not lambda: yield from return del raise assert async global nonlocal ",
		env:       []string{"os.environ", "os.environb"},
		itself:    "sys.executable",
		modules:   " os sys subprocess shutil builtins __builtins__ globals locals importlib ",
		strip:     []string{"builtins.", "__builtins__.", "__builtin__."},
		statement: pythonStatement,
		word:      pythonWord,
		adjacent:  true, as: true, comprehensions: true, keywordArgs: true, pathDivide: true, percentFormat: true, tuples: true,
	}
}

// pythonStatement reads what the parser of expressions does not: imports,
// loops, definitions.
func pythonStatement(p *parser, t token) bool {
	switch t.text {
	case "import":
		p.next()
		for {
			name := p.dotted()
			if p.atWord("as") {
				p.next()
				p.vars[p.next().text] = named(name)
			}
			if !p.accept(",") {
				return true
			}
		}
	case "from":
		p.next()
		p.importFrom(p.dotted())
		return true
	case "for":
		p.next()
		p.loop()
		p.branch = true
		return true
	case "if", "elif", "else", "while", "try", "except", "finally":
		p.branch = true
	case "def":
		p.next()
		name := p.next().text
		if first := p.ahead(1); !first.word("self") && !first.word("cls") {
			p.defineFunction(name)
		}
		p.define(name)
		return true
	case "async":
		p.next()
		return true
	case "class":
		p.next()
		p.next()
		return true
	case "exec", "print":
		if p.ahead(1).kind == textToken { // Python 2
			p.next()
			use := use{name: t.text, action: p.table[t.text], offset: int(t.offset)}
			use.args.pos = []value{p.expr()}
			p.perform(use)
			return true
		}
	}
	if t.text == "if" || t.text == "elif" || t.text == "while" || t.text == "with" {
		p.next()
		p.sequence()
		return true
	}
	return false
}

// dotted reads a.b.c.
func (p *parser) dotted() string {
	name := ""
	for p.peek().kind == wordToken || p.at(".") {
		if name += p.next().text; len(name) > maxName {
			return ""
		}
		if p.atWord("import") || p.atWord("as") {
			break
		}
	}
	return name
}

// importFrom reads "import a as b, c" behind a module.
func (p *parser) importFrom(module string) {
	if !p.atWord("import") {
		return
	}
	p.next()
	p.accept("(")
	for !p.done() {
		t := p.next()
		switch {
		case t.is("*"):
			if len(p.opened) < 16 {
				p.opened = append(p.opened, module)
			}
		case t.kind == wordToken:
			name := t.text
			if p.atWord("as") {
				p.next()
				name = p.next().text
			}
			p.vars[name] = named(module + "." + t.text)
		}
		if !p.accept(",") {
			p.accept(")")
			return
		}
	}
}

func pythonWord(p *parser, t token) (value, bool) {
	switch t.text {
	case "lambda":
		for !p.done() && !p.at(":") && p.peek().kind != lineToken {
			if w := p.next(); w.kind == wordToken {
				p.vars[w.text] = p.element
			}
		}
		p.accept(":")
		p.expr()
		return value{}, true
	case "print":
		if p.at(">>") {
			p.next()
		}
	}
	return value{}, false
}

var pythonTable = sync.OnceValue(func() table { return parseTable(pythonRows) })

const pythonRows = `
os.remove os.unlink os.rmdir posix.unlink posix.remove posix.rmdir nt.remove = delete 0/path
os.removedirs = delete 0/name
shutil.rmtree = delete+r 0/path
shutil.move os.rename os.renames os.replace = delete 0/src; write 1/dst
sqlite3.connect = read 0/database
shutil.copy shutil.copy2 shutil.copyfile shutil.copytree = read 0/src; write 1/dst
os.link os.symlink = link 0/src 1/dst
os.truncate = write 0/path
send2trash.send2trash send2trash = delete+r 0
setuptools.distutils.dir_util.remove_tree distutils.dir_util.remove_tree = delete+r 0
*.unlink *.rmdir = delete self
*.rmtree = delete+r self|0
*.write_text *.write_bytes = write self
*.read_text *.read_bytes = read self
*.touch *.mkdir *.symlink_to *.hardlink_to = write? self
*.chmod = !chmod self 0/mode
*.rename = delete? self; write? 0/target
*.iterdir = =within self
*.glob = =glob 0
*.rglob = =glob 0
*.joinpath = =join self 0..
*.expanduser *.resolve *.absolute *.as_posix *.__str__ = =text self
*.with_suffix *.with_name = =drop
*:parent = =dir self
*:name *:stem *:suffix = =drop
*.open = !openself
open io.open codecs.open builtins.open = !open 0/file 1/mode
os.open = read 0
fileinput.input = read 0
os.mkdir os.makedirs os.mknod os.mkfifo = write 0/name
os.chmod os.lchmod = !chmod 0/path 1/mode
os.utime = write? 0/path
os.chown shutil.chown os.lchown = permissions 0/path
os.listdir = list 0/path; =names
os.scandir = list 0/path; =within 0/path
os.walk os.fwalk = =walk 0/top
os.stat os.path.getsize = list 0/path
glob.glob glob.iglob = =glob 0/pathname
os.system os.popen os.popen2 os.popen3 commands.getoutput commands.getstatusoutput popen2.popen2 popen2.popen3 posix.system nt.system platform.popen = shell 0/command/cmd
subprocess.getoutput subprocess.getstatusoutput = shell 0/cmd
subprocess.run subprocess.call subprocess.check_call subprocess.check_output subprocess.Popen = !process 0/args
asyncio.create_subprocess_shell = shell 0/cmd
asyncio.create_subprocess_exec = argv *
os.execl os.execlp os.execle os.execlpe = argv 1..
os.execv os.execvp os.execve os.execvpe = argv 1
os.spawnl os.spawnlp os.spawnle os.spawnlpe = argv 2..
os.spawnv os.spawnvp os.spawnve os.spawnvpe os.posix_spawn os.posix_spawnp = argv 2 
os.startfile webbrowser.open = !print
pty.spawn = !pty 0/argv
pexpect.spawn pexpect.run = shell 0/command
os.dup2 = !dup
os.kill os.killpg = !kill 0/pid 1/sig
os.chdir = chdir 0/path
os.abort os._exit sys.exit = =drop
eval exec builtins.exec builtins.eval = !eval 0
compile = =text 0/source
execfile runpy.run_path = !source 0
code.interact pdb.set_trace = =drop
pickle.loads cPickle.loads marshal.loads dill.loads = =decoder
ctypes.CDLL ctypes.cdll.LoadLibrary ctypes.PyDLL = !suspect calls native code
getattr = !getattr 0 1
vars = =dict 0
platform.system = =drop
*.system *.popen = shell? 0
__import__ importlib.import_module importlib.__import__ = =name 0/name
keyboard.record keyboard.hook keyboard.on_press keyboard.on_release keyboard.read_key keyboard.read_event pynput.keyboard.Listener pynput.mouse.Listener = argv 'showkey'
ImageGrab.grab PIL.ImageGrab.grab pyautogui.screenshot mss.mss pyscreenshot.grab = argv 'scrot'
print pprint.pprint pprint logging.info logging.debug logging.warning logging.error sys.stdout.write sys.stderr.write = !print
*.write *.writelines = !print
os.getenv os.environ.get os.environ.pop os.environ.__getitem__ os.getenvb = =env 0/key
os.environ.items os.environ.values os.environ.copy = =environment
os.environ.keys os.environ.setdefault os.environ.update len bool type isinstance hash any all sum min max id = =drop
os.path.expanduser os.path.abspath os.path.realpath os.path.normpath os.fspath os.fsencode os.fsdecode os.path.expandvars = =text 0
os.path.join posixpath.join = =join *
os.path.dirname = =dir 0
os.path.basename = =base 0
os.path.exists os.path.isfile os.path.isdir os.path.islink = =drop
pathlib.Path pathlib.PurePath pathlib.PosixPath Path pathlib.PurePosixPath = =join *
pathlib.Path.home Path.home = =is ~
pathlib.Path.cwd Path.cwd os.getcwd os.getcwdb = =is .
pathlib.Path.unlink Path.unlink pathlib.Path.rmdir Path.rmdir = delete 0
pathlib.Path.write_text Path.write_text = write 0
tempfile.mkdtemp tempfile.mktemp tempfile.mkstemp tempfile.TemporaryDirectory tempfile.NamedTemporaryFile = =is /tmp/tmp
tempfile.gettempdir = =is /tmp
os.getppid = =is $PPID
os.getpgid psutil.Process = =text 0
os.setpriority = !parent 1/who
resource.prlimit os.sched_setaffinity os.sched_setscheduler = !parent 0/pid
*.suspend *.send_signal *.terminate *.cpu_affinity *.nice *.ionice *.rlimit = !parent self
fcntl.ioctl = !typing 1/request
os.getpid time.time uuid.uuid4 random.randint os.getuid = =digits
bytes bytearray = !bytes
str int list tuple set sorted iter next dict repr frozenset str.encode = =text 0
reversed = =reverse 0
map filter = =drop
chr unichr = =chr 0
*.encode *.decode *.format_map *.rstrip *.lstrip = =text self
*.strip = =strip self
*.lower = =lower self
*.upper = =upper self
*.join = !join self 0
*.format = !format self
*.replace = !replace
*.execute *.executescript *.executemany = !sql 0
sqlalchemy.text sqlalchemy.sql.text psycopg2.sql.SQL psycopg.sql.SQL = =text 0
*.flushall *.flushdb = !statement truncate
*.drop_database *.drop_all sqlalchemy_utils.drop_database = !statement drop database
*.delete_many = !unlimited 0
django.core.management.call_command = argv 'django-admin' *
*.exec_command = shell? 0
invoke.run fabric.Connection.run fabric.Connection.sudo = shell 0
fabric.Connection = =made
*.extractall = write? 0/path
shutil.unpack_archive = write? 1/extract_dir
dotenv.dotenv_values = =environment
keyring.get_password = =secret
*.read = read? 0
base64.b64decode base64.urlsafe_b64decode base64.standard_b64decode base64.decodebytes base64.decodestring binascii.a2b_base64 = =base64 0
bytes.fromhex bytearray.fromhex binascii.unhexlify binascii.a2b_hex = =hex 0
zlib.decompress gzip.decompress bz2.decompress lzma.decompress codecs.decode base64.b32decode base64.b85decode base64.a85decode = =decoder
*.from_parquet *.from_csv *.from_json *.from_text *.read_parquet *.read_csv *.read_json *.read_excel *.scan_csv *.scan_parquet = read? 0
*.to_parquet *.to_csv *.to_json *.to_excel *.to_feather *.write_csv *.write_parquet *.save_to_disk = write? 0
*.push_to_hub = send 'https://huggingface.co'
*.upload_folder *.upload_large_folder = send 'https://huggingface.co'
requests.get requests.head requests.options httpx.get httpx.stream aiohttp.request = !fetch 0/url
requests.post requests.put requests.patch requests.delete httpx.post httpx.put = !post 0/url
requests.request httpx.request = !request 0/method 1/url
urllib.request.urlopen urllib2.urlopen urllib.urlopen = !urlopen 0/url 1/data
urllib.request.Request urllib2.Request = !url 0/url 1/data
urllib.request.urlretrieve urllib.urlretrieve wget.download = fetch 0/url; write 1/filename
http.client.HTTPSConnection http.client.HTTPConnection httplib.HTTPConnection httplib.HTTPSConnection = connect 0/host 1/port
ftplib.FTP smtplib.SMTP smtplib.SMTP_SSL telnetlib.Telnet paramiko.Transport = connect 0/host 1/port
socket.socket ssl.wrap_socket = =net
socket.create_connection = !connect 0
asyncio.open_connection = !connect 0/host 1/port
*.connect = !connectto 0
*.bind = !listen 0
socket.create_server http.server.HTTPServer socketserver.TCPServer = !listen 0
os.environ.clear = =drop
`
