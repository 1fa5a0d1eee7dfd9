package code

import "sync"

func rubyLanguage() *language {
	return &language{
		name: "ruby",
		syntax: syntax{
			lineComments: []string{"#"},
			double:       quoting{kind: textToken, interp: '#'},
			single:       quoting{kind: textToken, raw: true},
			back:         quoting{kind: commandToken, interp: '#'},
			openers:      " and or not if unless while until return when case in then do else elsif puts print p ",
			sigils:       "$@",
			heredoc:      "<<",
			podEnd:       "=end",
			bang:         true, commands: true, dots: true, lines: true, percent: true, pod: true, regex: true, symbols: true,
		},
		table:     rubyTable,
		concat:    " + << ",
		members:   " . &. :: ",
		prefixes:  " return not and or if unless while until elsif else case when then begin ensure rescue yield end in loop ",
		reserved:  " if unless while until and or not then do rescue end else elsif when in ensure ",
		env:       []string{"ENV"},
		strip:     []string{"Kernel.", "Object.", "::"},
		statement: rubyStatement,
		word:      rubyWord,
		adjacent:  true, blocks: true, colonArgs: true, commands: true, percentFormat: true, tuples: true,
	}
}

// rubyStatement reads loops and definitions.
func rubyStatement(p *parser, t token) bool {
	switch t.text {
	case "for":
		p.next()
		p.loop()
		p.branch = true
		return true
	case "if", "unless", "while", "until", "else", "elsif", "when", "rescue":
		p.branch = true
	case "def":
		p.next()
		for !p.done() && p.peek().kind != lineToken && !p.at(";") {
			if w := p.next(); w.kind == wordToken {
				p.forget(w.text)
			}
			if p.at("=") && p.ahead(1).kind != wordToken {
				break
			}
		}
		return true
	case "class", "module", "require", "require_relative", "gem":
		p.next()
		p.next()
		return true
	case "include", "extend":
		p.next()
		if m := p.peek(); m.kind == wordToken && len(p.opened) < 16 {
			p.opened = append(p.opened, m.text)
		}
		return true
	}
	return false
}

func rubyWord(_ *parser, t token) (value, bool) {
	if t.text == "__dir__" {
		return textValue("."), true
	}
	return value{}, false
}

var rubyTable = sync.OnceValue(func() table { return parseTable(rubyRows) })

const rubyRows = `
system exec spawn sh Process.spawn Process.exec Open3.capture2 Open3.capture2e Open3.capture3 Open3.popen3 Open3.popen2 Open3.popen2e Open3.pipeline PTY.spawn = !system
IO.popen = !popen 0
syscall = !suspect calls the kernel by number
FileUtils.rm FileUtils.rm_f FileUtils.remove FileUtils.remove_file FileUtils.safe_unlink FileUtils.rmdir = delete 0
FileUtils.rm_r FileUtils.rm_rf FileUtils.rmtree FileUtils.remove_dir FileUtils.remove_entry FileUtils.remove_entry_secure = delete+r 0
FileUtils.mv FileUtils.move File.rename = delete 0; write 1
FileUtils.cp FileUtils.cp_r FileUtils.copy FileUtils.copy_file FileUtils.install = read 0; write 1
FileUtils.ln FileUtils.ln_s FileUtils.ln_sf File.symlink File.link = link 0 1
FileUtils.touch FileUtils.mkdir FileUtils.mkdir_p FileUtils.makedirs Dir.mkdir File.truncate = write 0
FileUtils.chmod FileUtils.chmod_R = !chmod 1 0
FileUtils.chown FileUtils.chown_R = permissions 2
File.delete File.unlink Dir.rmdir Dir.delete Dir.unlink = delete *
File.chmod = !chmod 1.. 0
File.utime File.lutime = write? 2..
File.write IO.write File.binwrite IO.binwrite = write 0
File.read IO.read File.readlines IO.readlines File.foreach IO.foreach File.binread YAML.load_file JSON.load_file = !readurl 0
File.open File.new = !open 0 1
open Kernel.open URI.open = !rubyopen
Dir.glob = =glob 0
Dir.[] = =glob *
Dir.children Dir.entries Dir.each_child = list 0; =names
Dir.home = =is ~
Dir.pwd Dir.getwd = =is .
Dir.tmpdir = =is /tmp
Dir.mktmpdir Tempfile.new Tempfile.create = =is /tmp/tmp
File.join = =append *
File.expand_path File.absolute_path File.realpath Shellwords.escape URI URI.parse URI.join Array String = =text 0
File.dirname = =dir 0
File.basename = =base 0
Pathname Pathname.new = =join *
*.rmtree = delete+r self
*.unlink = delete self
*.delete = !deleteself
*.join = !rubyjoin
ENV.fetch ENV.[] ENV.delete = =env 0
ENV.to_h ENV.to_a ENV.each ENV.map ENV.inspect ENV.to_hash ENV.each_pair ENV.sort = =environment
ENV.key? ENV.keys = =drop
eval instance_eval class_eval module_eval Kernel.eval *.instance_eval *.class_eval binding.eval = !rubyeval 0
load = !source 0
send __send__ public_send = !getattr 9 0
*.send *.public_send *.__send__ = !getattr self 0
method const_get Object.const_get Kernel.const_get = =name 0
Marshal.load Zlib.inflate Zlib.Inflate.inflate = =decoder
Base64.decode64 Base64.strict_decode64 Base64.urlsafe_decode64 = =base64 0
*.unpack *.unpack1 = !unpack
*.pack = !rubypack
*.reverse = !jsreverse
*.chr = =chr self
*.downcase = =lower self
*.strip *.chomp = =strip self
*.to_s *.to_str *.expand_path *.realpath *.freeze *.dup *.to_sym = =text self
*.sub *.gsub = !replace
Process.kill = !kill 1 0
Process.ppid = =is $PPID
Process.setpriority = !parent 1
*.ioctl = !typing 0
TCPSocket.new TCPSocket.open UDPSocket.connect Socket.tcp = connect 0 1
TCPServer.new TCPServer.open WEBrick.HTTPServer.new = listen 0 1
Net.HTTP.get Net.HTTP.get_response Net.HTTP.get_print HTTParty.get RestClient.get Faraday.get Excon.get = fetch 0
Net.HTTP.post Net.HTTP.post_form HTTParty.post RestClient.post RestClient.put Faraday.post = !post 0
Net.HTTP.start Net.HTTP.new = connect 0 1
puts print p pp warn printf $stdout.puts $stderr.puts STDOUT.puts $stdout.write = !print
format sprintf = =format *
Process.pid Time.now rand SecureRandom.hex SecureRandom.uuid = =digits
*.execute *.exec_query *.exec *.exec_params *.async_exec *.query = !sql 0
*.exec! = shell? 0
`
