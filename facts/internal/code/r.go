package code

import "sync"

func rLanguage() *language {
	return &language{
		name: "r",
		syntax: syntax{
			lineComments: []string{"#"},
			double:       quoting{kind: textToken},
			single:       quoting{kind: textToken},
			wordBytes:    ".",
			lines:        true, rawStrings: true,
		},
		table:       rTable,
		members:     " :: $ @ ",
		prefixes:    " return if else while repeat next break ",
		modules:     " base ",
		strip:       []string{"base.", "utils.", ":"},
		statement:   rStatement,
		word:        rWord,
		arrowAssign: true, keywordArgs: true, inStops: true,
	}
}

func rStatement(p *parser, t token) bool {
	switch t.text {
	case "for":
		p.next()
		if p.accept("(") {
			p.loop()
			p.accept(")")
		}
		p.branch = true
		return true
	case "if", "while", "else":
		p.branch = true
	}
	return false
}

func rWord(p *parser, t token) (value, bool) {
	switch t.text {
	case "function":
		name := p.naming
		p.define(name)
		if name != "" {
			return named(definedPrefix + name), true
		}
		return named("closure"), true
	case "T":
		return textValue("true"), true
	case "F":
		return textValue("false"), true
	}
	return value{}, false
}

var rTable = sync.OnceValue(func() table { return parseTable(rRows) })

const rRows = `
system shell shell.exec pipe = shell 0/command
system2 processx.run processx::run sys.exec_wait = !spawn 0/command 1/args
unlink = delete+recursive 0/x
file.remove fs.file_delete = delete *
fs.dir_delete = delete+r 0
file.rename = delete 0; write 1
file.copy = read 0; write 1
file.create dir.create file.symlink file.append = write 0
writeLines = write 1/con
write write.csv write.table saveRDS readr.write_csv = write 1/file
save sink = write 0/file
cat = write? 9/file; !print
readLines readRDS read.csv read.table read.delim scan readr.read_csv = !readurl 0/file/con
source sys.source = !source 0/file
eval = !softeval
evalq = =drop
parse = =text 9/text
str2lang str2expression = =text 0
do.call = !docall
download.file = fetch 0/url; write 1/destfile
httr.GET httr::GET curl.curl_fetch_memory = fetch 0/url
httr.POST httr.PUT = !post 0/url
url = =text 0
socketConnection = connect 0/host 1/port
Sys.getenv = =env 0/x
Sys.chmod = !chmod 0/paths 1/mode
Sys.glob = =glob 0
list.files dir = list 0/path; =names
path.expand normalizePath as.character invisible shQuote = =text 0
c list = =list *
file.path = =append *
paste0 = =concat *
paste = !paste
getwd = =is .
tempdir = =is /tmp
tempfile = =is /tmp/tmp
print message = !print
tools.pskill = !kill 0 1
`
