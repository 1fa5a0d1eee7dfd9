package code

import "sync"

func luaLanguage() *language {
	return &language{
		name: "lua",
		syntax: syntax{
			lineComments:  []string{"--"},
			blockComments: [][2]string{{"--[[", "]]"}, {"--[=[", "]=]"}},
			double:        quoting{kind: textToken},
			single:        quoting{kind: textToken},
			openers:       " return and or not in then do else ",
			decimals:      true, long: true, lines: true, oneLine: true,
		},
		table:     luaTable,
		concat:    " .. ",
		members:   " . : ",
		prefixes:  " local return not then do else end repeat if while until elseif ",
		reserved:  " and or then do end in else return local ",
		modules:   " os io _G package.loaded ",
		strip:     []string{"_G.", "_ENV.", "package.loaded."},
		statement: luaStatement,
		word:      luaWord,
		textCalls: true,
	}
}

func luaStatement(p *parser, t token) bool {
	switch t.text {
	case "for":
		p.next()
		if p.ahead(1).is("=") {
			p.forget(p.next().text)
			p.next()
			return true
		}
		p.loop()
		p.branch = true
		return true
	case "if", "while", "elseif", "else":
		p.branch = true
	}
	return false
}

func luaWord(p *parser, t token) (value, bool) {
	if t.text != "function" {
		return value{}, false
	}
	name := ""
	if p.peek().kind == wordToken {
		name = p.dotted()
		p.defineFunction(name)
	}
	p.define(name)
	return named("closure"), true
}

var luaTable = sync.OnceValue(func() table { return parseTable(luaRows) })

const luaRows = `
os.execute io.popen vim.fn.system vim.fn.systemlist = shell 0
posix.unistd.exec posix.exec = argv *
os.remove lfs.rmdir posix.unlink posix.rmdir = delete 0
vim.fn.delete vim.fs.rm vim.uv.fs_unlink vim.uv.fs_rmdir vim.loop.fs_unlink vim.loop.fs_rmdir = delete 0
vim.fn.writefile = write 1
vim.fn.mkdir = write 0
vim.fn.readfile = read 0
vim.fn.expand vim.fs.normalize vim.fn.fnamemodify = =text 0
vim.uv.os_homedir vim.loop.os_homedir = =is ~
os.rename = delete 0; write 1
io.open = !open 0 1
io.lines loadfile = read 0
io.output lfs.mkdir = write 0
dofile = !source 0
load loadstring = !eval 0
require = =name 0
package.loadlib = !suspect loads native code
os.getenv = =env 0
os.tmpname = =is /tmp/tmp
lfs.currentdir = =is .
string.char = !chars
string.reverse = =reverse 0
string.lower = =lower 0
string.upper = =upper 0
string.format = =format *
tostring ipairs = =text 0
pairs = =text 0
table.concat = !luaconcat
os.time os.clock math.random = =digits
print io.write = !print
socket.tcp socket.udp = =net
socket.connect = connect 0 1
socket.bind = listen 0 1
*.connect = !socketconnect
socket.http.request http.request = !maybeurl fetch 0
`
