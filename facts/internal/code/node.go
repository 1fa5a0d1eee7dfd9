package code

import (
	"strings"
	"sync"
)

func nodeLanguage() *language {
	return &language{
		texts: map[string]string{"process.ppid": Parent, "Deno.ppid": Parent},
		name:  "node",
		syntax: syntax{
			lineComments:  []string{"//"},
			blockComments: [][2]string{{"/*", "*/"}},
			double:        quoting{kind: textToken},
			single:        quoting{kind: textToken},
			back:          quoting{kind: textToken, interp: 'j'},
			openers:       " return typeof case in of delete void throw new else do instanceof await yield ",
			wordBytes:     "$#",
			classes:       true, dots: true, lines: true, oneLine: true, regex: true,
		},
		table:     nodeTable,
		concat:    " + ",
		members:   " . ?. ",
		prefixes:  " await new return typeof void throw yield delete async let const var export default case else do static ",
		env:       []string{"process.env", "Deno.env", "Bun.env", "import.meta.env"},
		modules:   " fs fs.promises child_process global globalThis process require Deno Bun ",
		strip:     []string{"globalThis.", "global.", "window.", "self.", "process.mainModule.", "module.", "$."},
		statement: nodeStatement,
		word:      nodeWord,
		arrows:    true,
	}
}

// nodeStatement reads imports, destructuring, loops and classes.
func nodeStatement(p *parser, t token) bool {
	next := p.ahead(1)
	switch t.text {
	case "import":
		if next.is("(") || next.is(".") {
			return false
		}
		p.next()
		p.importNames()
		return true
	case "const", "let", "var":
		if next.is("{") {
			p.next()
			p.next()
			p.destructure()
			return true
		}
	case "for":
		p.next()
		if p.atWord("await") {
			p.next()
		}
		if p.accept("(") {
			p.forClause()
		}
		p.branch = true
		return true
	case "if", "else", "while", "try", "catch", "switch":
		p.branch = true
		if t.text == "else" || t.text == "try" {
			p.next()
			return true
		}
	case "class":
		p.next()
		p.next()
		return true
	}
	return false
}

// importNames reads an import up to its module and binds the names.
func (p *parser) importNames() {
	type name struct{ from, to string }
	var names []name
	for !p.done() && p.peek().kind != textToken && !p.at(";") {
		t := p.next()
		switch {
		case t.word("from") && p.peek().kind == textToken, t.word("type"):
		case t.is("*") && p.atWord("as"):
			p.next()
			names = append(names, name{"", p.next().text})
		case t.kind == wordToken && p.atWord("as"):
			p.next()
			names = append(names, name{t.text, p.next().text})
		case t.kind == wordToken && !p.toks[p.pos-2].is("{") && !p.toks[p.pos-2].is(","):
			names = append(names, name{"", t.text}) // the default
		case t.kind == wordToken:
			names = append(names, name{t.text, t.text})
		}
	}
	if p.peek().kind != textToken {
		return
	}
	module := moduleName(p.next().text)
	if len(module) > maxName {
		return
	}
	for _, n := range names {
		if n.from == "" || n.from == "default" {
			p.vars[n.to] = named(module)
		} else {
			p.vars[n.to] = named(module + "." + n.from)
		}
	}
}

// destructure reads "a, b: c } = value".
func (p *parser) destructure() {
	var keys, names []string
	depth := 1
	for !p.done() && depth > 0 {
		t := p.next()
		switch {
		case t.is("{"):
			depth++
		case t.is("}"):
			depth--
		case t.kind == wordToken && p.at(":") && p.ahead(1).kind == wordToken:
			p.next()
			keys, names = append(keys, t.text), append(names, p.next().text)
		case t.kind == wordToken:
			keys, names = append(keys, t.text), append(names, t.text)
		}
	}
	if !p.accept("=") {
		return
	}
	v := p.expr()
	for i, name := range names {
		item, ok := v.get(keys[i])
		switch {
		case ok:
			p.vars[name] = item
		case v.kind == nameValue && v.flags&fromEnvironment != 0:
			p.vars[name] = p.environment(keys[i])
		case v.kind == nameValue:
			p.vars[name] = p.known(v.text + "." + keys[i])
		default:
			p.vars[name] = flagged(v.all())
		}
	}
}

// forClause reads what is behind "for (".
func (p *parser) forClause() {
	for i := range 12 {
		if t := p.ahead(i); t.word("of") || t.word("in") {
			p.loop()
			p.accept(")")
			return
		} else if t.is(";") || t.is(")") || t.kind == endToken {
			break
		}
	}
	p.list(")", p.pos-1)
}

func nodeWord(p *parser, t token) (value, bool) {
	switch t.text {
	case "function":
		p.accept("*")
		if p.peek().kind == wordToken {
			p.naming = p.next().text
			p.defineFunction(p.naming)
		}
		name := p.naming
		open := p.pos
		if p.accept("(") {
			p.list(")", open)
		}
		p.naming = name
		return p.function(p.toks[min(open, len(p.toks)):min(p.pos, len(p.toks))]), true
	case "$": // of zx and bun: $`ls`
		if p.peek().kind == textToken {
			p.record(Call{Name: "$", Does: "shell", Offset: int(t.offset)}, []value{p.shellTemplate(p.next())})
			return value{}, true
		}
	case "__dirname":
		return textValue("."), true
	case "String":
		if p.at(".") && p.ahead(1).word("raw") && p.ahead(2).kind == textToken {
			p.next()
			p.next()
			return p.textOf(p.next()), true
		}
	case "require", "Function", "eval":
		if _, ok := p.vars[t.text]; !ok {
			return named(t.text), true
		}
	}
	return value{}, false
}

// shellTemplate is the line of a template that a shell runs: what nobody knows of it is one
// word there.
func (p *parser) shellTemplate(t token) value {
	if t.parts == nil {
		return textValue(t.text)
	}
	var b strings.Builder
	for _, part := range t.parts {
		b.WriteString(part.text)
		if part.code == nil {
			continue
		}
		if v := p.embedded(part.code); v.kind == knownValue {
			b.WriteString(v.text)
		} else {
			b.WriteString(`"$value"`)
		}
	}
	return textValue(b.String())
}

var nodeTable = sync.OnceValue(func() table {
	return parseTable(nodeRows + nodeFiles("fs") + nodeFiles("fs.promises"))
})

// nodeFiles returns the rows of the file system module, whose functions exist
// with callbacks, with promises and in a synchronous form.
func nodeFiles(module string) string {
	var rows strings.Builder
	for line := range strings.Lines(nodeFileRows) {
		names, action, _ := strings.Cut(line, "= ")
		for name := range strings.FieldsSeq(names) {
			rows.WriteString(module + "." + name + " " + module + "." + name + "Sync ")
			if module == "fs" {
				rows.WriteString("*." + name + "Sync ")
			}
		}
		rows.WriteString("= " + action)
	}
	return rows.String()
}

const nodeFileRows = `rm rmdir = delete+recursive 0
unlink = delete 0
remove emptyDir = delete+r 0
rename move = delete 0; write 1
copyFile cp copy = read 0; write 1
writeFile createWriteStream outputFile writeJson truncate mkdir mkdirp ensureDir ensureFile = write 0; !print
link symlink = link 0 1
appendFile = append 0; !print
readFile createReadStream readJson = read 0
open = !open 0 1
chmod lchmod = !chmod 0 1
utimes lutimes = write? 0
chown lchown = permissions 0
readdir opendir = list 0; =names
stat lstat = list 0
realpath mkdtemp = =text 0
exists = =drop
`

const nodeRows = `
require import module.require createRequire = =name 0
module.createRequire = =name 'require'
process.binding process.dlopen = !suspect reaches into the runtime
Function = !function
Worker worker_threads.Worker *.Worker = !worker
eval vm.runInThisContext vm.runInNewContext vm.runInContext globalThis.eval = !eval 0
vm.Script vm.compileFunction setTimeout.constructor = !eval 0
child_process.exec child_process.execSync *.execSync shelljs.exec = shell 0
child_process.spawn child_process.spawnSync child_process.execFile child_process.execFileSync *.spawnSync *.execFileSync cross-spawn cross-spawn.sync = !spawn 0 1
child_process.fork = =drop
execa execa.execa execa.sync execa.execaSync = !spawn 0 1
execa.command execa.commandSync *.doShellScript = shell 0
Bun.spawn Bun.spawnSync = argv 0
Deno.run = !denorun
Deno.Command = !denocommand
Deno.remove Deno.removeSync = delete+recursive 0
Deno.writeTextFile Deno.writeTextFileSync Deno.writeFile Deno.writeFileSync Deno.create Deno.mkdir Deno.mkdirSync Bun.write = write 0
Deno.readTextFile Deno.readTextFileSync Deno.readFile Deno.readFileSync Deno.open Bun.file = read 0
Deno.rename Deno.renameSync = delete 0; write 1
Deno.chmod Deno.chmodSync = !chmod 0 1
Deno.utime Deno.utimeSync = write? 0
Deno.connect = !connect *
Deno.listen Bun.serve Deno.serve = =drop
Deno.kill = !kill 0 1
Deno.env.get = =env 0
Deno.env.toObject = =environment
Deno.cwd process.cwd = =is .
rimraf rimraf.sync rimraf.rimraf rimraf.rimrafSync del del.sync del.deleteAsync del.deleteSync trash = delete+r 0
shelljs.rm = delete+r *
path.join path.posix.join = =append *
path.resolve path.posix.resolve = =join *
path.normalize path.posix.normalize = =clean 0
path.dirname = =dir 0
path.basename = =base 0
os.homedir = =is ~
os.tmpdir = =is /tmp
url.fileURLToPath = =file 0
process.kill = !kill 0 1
os.setPriority = !parent 0
process.exit process.on = =drop
fetch axios axios.default got node-fetch undici.fetch undici.request = !fetch 0
axios.get got.get superagent.get needle.get http.get https.get axios.head = !fetch 0
http.request https.request = !fetch 0
axios.post axios.put axios.patch axios.delete got.post got.put superagent.post needle.post navigator.sendBeacon = !post 0
net.connect net.createConnection tls.connect = !connect *
net.Socket tls.TLSSocket = =net
*.connect = !socketconnect
dgram.createSocket WebSocket ws = connect 0
process.chdir Deno.chdir = chdir 0
net.createServer http.createServer https.createServer = =drop
*.listen = =drop
atob = =base64 0
Buffer.from = !buffer
Buffer = !buffer
btoa encodeURIComponent encodeURI JSON.parse JSON.stringify String Object.assign Object.entries Object.values Array.from Promise.resolve structuredClone util.inspect util.promisify = =text 0
Object.keys Array.isArray Number parseInt Boolean = =drop
decodeURIComponent decodeURI unescape = =text 0
zlib.gunzipSync zlib.inflateSync zlib.brotliDecompressSync zlib.unzipSync = =decoder
String.fromCharCode String.fromCodePoint = !chars
Date.now Math.random Math.floor process.hrtime crypto.randomUUID Date = =digits
console.log console.error console.info console.warn console.table console.dir console.debug process.stdout.write process.stderr.write alert print = !print
*.write *.end *.send = !print
*.toString *.trim *.normalize *.valueOf *.flat = =text self
*.toLowerCase = =lower self
*.toUpperCase = =upper self
*.join = !jsjoin
*.reverse = !jsreverse
*.split = !jssplit
*.replace *.replaceAll = !replace
*.concat = =concat self 0..
*.then *.catch *.finally = =pass
*.constructor = !constructor
app.doShellScript *.doShellScript = shell 0
*.query = !sql 0
*.$executeRawUnsafe *.$queryRawUnsafe = !sql 0
*.deleteMany = !unlimited 0
*.dropTable *.dropTableIfExists *.dropSchema = !statement drop table
*.sync = !unlimited force
*.flushAll *.flushall *.flushDb *.flushdb = !statement truncate
*.raw = !sql 0
*.dropDatabase = !statement drop database
`
