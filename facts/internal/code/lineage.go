package code

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"gate/internal/wordlist"
)

// Lineage says of a text in any language whether it deletes or sends what it finds in the
// home directory, deletes far from the project, runs code that it fetches, or sends all of
// its environment, "" where it seems to do none of these. It knows no syntax: names that stand
// before an assignment take over what stands behind it, statement by statement. So it is a
// reason to ask about a text, and none to refuse it.
//
// It asks afford before it goes through the text, with the steps that this takes: about one
// for each byte that it looks at. Where that says no, known is false and nothing was found.
func Lineage(text string, afford func(steps int) bool) (why string, known bool) {
	if len(text) > maxLineage {
		return "", true
	}
	if !afford(len(text)) {
		return "", false
	}
	text = joinsTexts(text)
	if strings.Contains(text, "@ARGV") { // of perl: the files in it are what <> reads
		text = strings.NewReplacer("<>", "read(ARGV)", "<ARGV>", "read(ARGV)").Replace(text)
	}
	if strings.Contains(text, "open") && (strings.Contains(text, "|-") || strings.Contains(text, `"|`) || strings.Contains(text, "'|")) {
		text = opensPipe().ReplaceAllString(text, "$1 = connect ")
	}
	if strings.Contains(text, "open") && (strings.Contains(text, "'<") || strings.Contains(text, `"<`)) { // open my $f, '<', $name
		text = opensHandle().ReplaceAllString(text, "$1 = open ")
	}
	if mayRunDownload(text) {
		list := statementsOf(text)
		if !afford(matchSteps * len(text)) {
			return "", false
		}
		if runsDownload(list) {
			return "runs a program that it fetches", true
		}
	}
	if strings.Contains(text, "buildScan") { // what such a report carries goes to its server
		text = strings.NewReplacer(" value(", " upload(", ".value(", ".upload(", "{value(", "{upload(", " tag(", " upload(", ".tag(", ".upload(", " value ", " upload ").Replace(text)
	}
	has := marksOf(text)
	if has&environmentMark != 0 {
		list := statementsOf(text)
		if !afford(costOf(list, environmentMark)) {
			return "", false
		}
		if sendsEnvironment(list) {
			return "sends all of its environment", true
		}
	}
	runs := has&evalMark != 0 && strings.Contains(text, "://")
	hand := mayHand(text)
	if has&homeMark == 0 && (namesHome(text) || namesCache(text) || strings.Contains(text, "HOME") && pickedHome().MatchString(text)) {
		has |= homeMark
	}
	if !runs && !hand && has&(homeMark|fileMark|awayMark) == 0 && has&(keyMark|lookupMark) != keyMark|lookupMark {
		return "", true
	}
	if strings.Contains(text, "HOME") {
		text = pickedHome().ReplaceAllString(text, "HOME $1 $2 = process.env.HOME")
	}
	list := statementsOf(attribute().ReplaceAllString(withoutAlias(text), "$1 = "))
	for _, s := range list { // what a block binds that stands in one line
		if found := boundWithin().FindStringSubmatch(s); found != nil {
			list = append(list, " "+found[1])
		}
	}
	if !afford(costOf(list, cacheMark)) {
		return "", false
	}
	return lineageOf(list, runs, hand, has&postMark != 0), true
}

// opensHandle finds what binds a file to a handle of Perl, and opensPipe what binds one to a program
// that hands on what it is told.
var (
	opensHandle = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?:\b(?:if|unless|while)\s*\(\s*)?\bopen\s*\(?\s*(?:my |our |local )?\s*(\$?\w+)\s*,\s*["']<[^"',]*["']\s*,`)
	})
	opensPipe = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?:\b(?:if|unless|while)\s*\(\s*)?\bopen\s*\(?\s*(?:my |our |local )?\s*(\$?\w+)\s*,\s*["']\|-?\s*(?:["']\s*,\s*["'])?[\w/]*\b(?:sendmail|mail|mailx|msmtp|mutt|curl|nc|ncat|netcat|ssh|telnet|socat|openssl)\b`)
	})
)

// attribute finds what gives an attribute of a module of Elixir its value: @name value.
var attribute = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^\s*@(\w+) +`) })

// boundWithin finds what is bound behind the brace that opens a block.
var boundWithin = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`[{>]\s*((?:(?:const|let|var|val|final|auto|my|local|String|byte\[\])\s+[\w$]+|[\w$]+\s*:)\s*(?::[^=]{1,40})?=[^=>].*)$`)
})

// pickedHome finds what takes the home directory out of the environment: { HOME } = process.env.
var pickedHome = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\{([^{}]*,)?\s*(?:HOME|USERPROFILE)\s*(?::\s*(\w+))?\s*(?:,[^{}]*)?\}\s*=\s*(?:\w+\.)*env\b`)
})

// costOf is how many steps it takes to go through statements. Those with marks of some kinds
// are matched with a pattern, which costs most.
func costOf(list []string, matched marks) (steps int) {
	for _, s := range list {
		steps += lineageSteps * (len(s) + lineageSteps)
		if marksOf(s)&matched != 0 {
			steps += matchSteps * len(s)
		}
	}
	return steps
}

// The steps that [Lineage] takes for each byte of a statement, and for matching a pattern.
const (
	lineageSteps = 16
	matchSteps   = 200
)

// A binding is a statement, and what of it depends on no other one.
type binding struct {
	text, names, from string

	has, hasFrom   marks // in all of it, and in what it binds its names to
	does, doesFrom words
	kept           string // from without the caches in the home directory
	ofHome         bool   // from names the home directory
	sends          bool
}

func bindingOf(text string, posts bool) binding {
	s := binding{text: text, has: marksOf(text), does: wordsOf(text)}
	s.names, s.from = takesOver(text)
	s.hasFrom, s.doesFrom = marksOf(s.from), wordsOf(s.from)
	s.kept = s.from
	home := s.hasFrom
	if home&cacheMark != 0 && !strings.Contains(s.from, "..") {
		s.kept = cacheOfHome().ReplaceAllString(s.from, "cache")
		home = marksOf(s.kept)
	}
	s.ofHome = home&homeMark != 0 || namesHome(s.kept) || home&fileMark != 0 && wordsOf(s.kept)&readWord != 0
	s.sends = s.does&sendWord != 0 || posts && requests(text, s.does)
	return s
}

// namesHome reports words that stand for the home directory in whatever language: getHomeDir,
// user_home, and HOME beside the environment.
func namesHome(s string) bool {
	if !strings.Contains(s, "ome") && !strings.Contains(s, "HOME") {
		return false
	}
	found := false
	environment := strings.Contains(s, "nv") || strings.Contains(s, "ENV")
	eachWord(s, func(w string) {
		switch {
		case found:
		case w == "HOME":
			found = environment
		case len(w) >= len("homedir"):
			w = strings.ToLower(strings.ReplaceAll(w, "_", ""))
			found = strings.Contains(w, "homedir") || strings.Contains(w, "userhome") || strings.Contains(w, "homefolder")
		}
	})
	return found
}

// namesCache reports a directory for caches, as functions for it name it.
func namesCache(s string) bool {
	return strings.Contains(s, "CacheDir(") || strings.Contains(s, "cache_dir(") || strings.Contains(s, "XDG_CACHE_HOME") || strings.Contains(s, "cachesDirectory")
}

// climbs reports a statement that takes the directory above.
func (s *binding) climbs() bool {
	return strings.Contains(s.from, "Dir(") && !strings.Contains(s.from, "CacheDir(") || strings.Contains(s.from, "dirname") || strings.Contains(s.from, ".parent") || strings.Contains(s.from, "..\"") || strings.Contains(s.from, "'..") ||
		strings.Contains(s.from, "getParent") || strings.Contains(s.from, "deletingLastPathComponent") || strings.Contains(s.from, "filepath.Dir(")
}

func (s *binding) deletes() bool { return s.does&deleteWord != 0 || s.has&deleteMark != 0 }

// lineageOf is [Lineage] of the statements of a text. runs says that the text may run code
// that it fetches, posts that it has a request that sends.
func lineageOf(texts []string, runs, hand, posts bool) (why string) {
	home, net, away, fetched, keys := map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]bool{}
	files, contents, read := map[string]bool{}, map[string]bool{}, map[string]bool{} // names of files that are secrets, of what they hold, and of what others in the home directory do
	list := make([]binding, len(texts))
	for i, text := range texts {
		list[i] = bindingOf(text, posts)
	}
	if hand {
		if why = hands(strings.Join(texts, "\n"), list); why != "" {
			return why
		}
	}
	deleters, senders := functionsOf(list)
	caches, stores := map[string]bool{}, map[string]bool{} // names of directories for caches, of what stores of keys hold
	start := map[string]bool{}                             // names of files that start by themselves
	for range 3 {                                          // a name may be used above its own assignment
		for i := range list {
			s := &list[i]
			if namesCache(s.from) || holds(s.from, caches) && !s.climbs() {
				take(caches, s.names)
			}
			if s.hasFrom&fileMark != 0 || holds(s.from, stores) {
				take(stores, s.names)
			}
			if s.hasFrom&fileMark != 0 || holds(s.from, files) && s.doesFrom&readWord == 0 {
				take(files, s.names)
			}
			reads := s.doesFrom&readWord != 0 || readsText().MatchString(s.from)
			if reads && (s.hasFrom&fileMark != 0 || holds(s.from, files)) || holds(s.from, contents) {
				take(contents, s.names)
			}
			if reads && (s.ofHome || holds(s.kept, home)) || holds(s.from, read) {
				take(read, s.names)
			}
			if s.ofHome || holds(s.kept, home) || s.climbs() && (namesCache(s.from) || holds(s.from, caches)) {
				take(home, s.names)
				if namesStart(s.text) {
					take(start, s.names)
				}
			}
			if s.sends || s.does&socketWord != 0 || strings.Contains(s.text, "openConnection") || strings.Contains(s.text, "Stream") && holds(s.from, net) {
				take(net, s.names)
			}
			if s.hasFrom&keyMark != 0 || holds(s.from, keys) {
				take(keys, s.names)
			}
			if s.hasFrom&awayMark != 0 || holds(s.from, away) {
				take(away, s.names)
			}
			if runs && (s.hasFrom&fetchMark != 0 || s.doesFrom&requestWord != 0 || holds(s.from, fetched)) {
				take(fetched, s.names)
			}
		}
	}
	for i := range list {
		s := &list[i]
		switch {
		case runs && s.has&evalMark != 0 && (s.has&fetchMark != 0 || holds(s.from, fetched)):
			return "runs code that it fetches"
		case s.deletes() && (s.hasFrom&awayMark != 0 || holds(s.from, away)):
			return "deletes far from the project"
		case s.has&lookupMark != 0 && (s.has&keyMark != 0 || holds(s.text, keys)):
			return "looks up names that it makes of a secret"
		}
		if (s.has&fileMark != 0 && s.ofHome || holds(s.text, stores)) && holds(s.text, senders) && !definesFunction().MatchString(s.text) {
			return "sends what is in the home directory"
		}
		if holds(s.text, contents) && asksWith(s) || holds(s.text, read) && strings.Contains(s.text, "://") {
			return "sends what is in the home directory"
		}
		if !s.ofHome && !holds(s.kept, home) {
			continue
		}
		writes := (s.has&outMark != 0 || s.has&homeMark == 0 && printsTo().MatchString(s.text)) && (s.does&socketWord != 0 || holds(s.text, net)) || strings.Contains(s.names, ".") && holds(s.names, net)
		switch {
		case s.deletes(), deletesFile().MatchString(s.text), holds(s.text, deleters) && !definesFunction().MatchString(s.text):
			return "deletes in the home directory"
		case writesStart(s.text, start):
			return "writes what starts by itself in the home directory"
		case s.sends || writes || pipesOut().MatchString(s.text) || s.has&lookupMark != 0 || s.has&encodeMark != 0 && strings.Contains(s.text, "://"):
			return "sends what is in the home directory"
		}
	}
	return ""
}

// asksWith reports a statement that makes a request, or says what each request has from then on.
func asksWith(s *binding) bool {
	return s.does&(requestWord|sendWord|socketWord|pushWord) != 0 || s.has&(fetchMark|lookupMark) != 0 || strings.Contains(s.text, "://") || ofRequest().MatchString(s.text)
}

// deletesFile finds a function of a module for files that deletes.
var deletesFile = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i:file|fs|dir|path|folder|disk)\w*(?:\.|::|:|->)(?:delete|remove|erase|trash|unlink|rm)\w*[!?]?[\s(]`)
})

// printsTo finds what prints to a handle of its own.
var printsTo = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\b(?:print|printf|say|syswrite)\b[\s({]+\$?\w+[}\s,]`)
})

// pipesOut finds a line of a shell whose output goes to somebody.
var pipesOut = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\|\s*(?:mail|mailx|mutt|sendmail|msmtp|nc|ncat|curl|wget|ssh|telnet|socat|openssl s_client|xargs (?:curl|wget))\b`)
})

// readsText finds what reads a file as a text, as attributes have it.
var readsText = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\.(?:text|readText|mkString|bytes|readAll\w*|getText|contents)\b|\bfromFile\(|:read\(|\breadLines\(|\bload_file\(|\bfs\.read|io\.lines\(`)
})

// ofRequest finds the names of what goes along with a request, beside its address.
var ofRequest = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)user.?agent|\bagent\b|\bheaders?\b|\bcookies?\b|\breferr?er\b|\bparams\b|\bquery\b|x-[a-z]+-[a-z]+|\.(?:get|head|put|patch|options)\(\s*(?:["'f$]|url|uri)`)
})

// goesOn reports a line that begins with what goes on with the one above.
func goesOn(line string) bool {
	return len(line) > 2 && (line[0] == '.' && line[1] != '.' && line[1] != '/' || strings.HasPrefix(line, "|>") || strings.HasPrefix(line, "%>%") || strings.HasPrefix(line, "?.") || strings.HasPrefix(line, "<fileset") || strings.HasPrefix(line, "<dirset"))
}

// maxChain bounds how long a statement grows by the lines below it.
const maxChain = 1000

// Away marks in a text for [Lineage] a directory outside of the project.
const Away = "\x00"

// Key marks in a text for [Lineage] the name of a file that is a secret.
const Key = "\x02"

// maxLineage bounds the texts that Lineage reads.
const maxLineage = 64 << 10

// homeMarks are how languages name the home directory, fileMarks files of secrets that only
// count where they are read, as tests hand such paths to servers. postMarks are how languages
// tell a request that sends, and outMarks the methods of an open connection. awayMarks are
// directories far from any project, evalMarks run a text, and fetchMarks fetch one.
const (
	homeMarks = "~/|\"~\"|'~'|homedir()|homedir,|expanduser(|Path.home()|user.home|$HOME|${HOME}|Dir.home|home_dir()|UserHomeDir()|env.HOME|environ[\"HOME|environ['HOME|environ.get(\"HOME|environ.get('HOME|" +
		"getenv(\"HOME|getenv('HOME|ENV[\"HOME|ENV['HOME|ENV.fetch(\"HOME|ENV.fetch('HOME|env::var(\"HOME|var_os(\"HOME|Getenv(\"HOME|get_env(\"HOME|env.get(\"HOME|env('HOME|user_home|env['HOME|env[\"HOME|environment[\"HOME|_SERVER['HOME|_SERVER[\"HOME|_ENV['HOME|ENV{HOME}|" +
		"NSHomeDirectory()|homeDirectoryForCurrentUser|SpecialFolder.UserProfile|userInfo().homedir|USERPROFILE|userconfig|" +
		"$(HOME)|$ENV{HOME}|$*HOME|ENV<HOME>|env(HOME)|getenv :HOME|getenv \"HOME|getenv 'HOME|/getenv \"HOME|getEnv \"HOME|env.HOME|get_environment_variable(\"HOME|Environment_Variables.Value (\"HOME|.os.environ.get(\"HOME|" +
		"getHomeDirectory|getHomeDir|HomeDirectory|user-homedir|home-dir|homedir|home_directory|pw_dir|getpwuid(|getpwnam(|Path.home|HomeDirPath|path_expand(\"~|os.home|.HomeDir|.homeDir|homePath|HomePath|dirs::home|UserConfigDir()|XDG_CONFIG_HOME|XDG_DATA_HOME|path.expand(\"~"
	fileMarks  = "/etc/passwd|/etc/shadow|/.ssh/|/.aws/|/.gnupg/|/.kube/config|/.netrc|/.git-credentials|/.docker/config.json|/.config/gcloud/|/.config/gh/|\".ssh|'.ssh|\".aws|'.aws|\".docker|'.docker|\".gnupg|'.gnupg|\".netrc|'.netrc|\".kube|'.kube|/.pgpass|\".pgpass|/.my.cnf|/.npmrc|/.pypirc|/.Renviron|/.gradle/gradle.properties|/.m2/settings|/.ivy2/.credentials|/.cargo/credentials|/.gem/credentials|/.vault-token|/.password-store|cookies.sqlite|Login Data|/.terraform.d/|/.databrickscfg|/.snowsql/|/.boto|/.s3cfg|/.azure/"
	cacheMarks = "/.cache|\".cache\"|'.cache'|Library/Caches|_cacache"
	postMarks  = "POST|PUT|PATCH|body|data=|data:|-d|-F|-T|--data|--upload"
	awayMarks  = Away + "|\"/mnt/|'/mnt/|\"/srv/|'/srv/|\"/media/|'/media/|\"/Volumes/|'/Volumes/|\"/var/lib/|'/var/lib/|\"/var/www/|'/var/www/"
	evalMarks  = " eval(|(eval(|=eval(|\neval(|;eval(|\nexec(|;exec(|loadstring(|assert(load(|Code.eval|load-string|Invoke-Expression|eval(parse|EVAL |evalfile(| exec(|eval_string(|compile_string(|instance_eval|class_eval|new Function(|runInThisContext(|runInNewContext(|import_from_git("
	fetchMarks = "import_from_git(|requests.get(|urlopen(|URI.open(|Net::HTTP|:httpc.|file_get_contents(\"http|file_get_contents('http|http.get(|https.get(|get('http|get(\"http|getstore(|LWP::|HTTP.get|httpc:request|readLines(url|readLines(\"http|slurp \"http|http.request(|Req.get|HTTPoison.get|Invoke-WebRequest|DownloadString"
	// encodeMarks make what was read fit for an address.
	encodeMarks = "base64|b64encode|encodeURI|urlencode|quote(|hex(|percentEncod|CGI.escape(|encode_www|dumps(|JSON.stringify(|to_json"
	outMarks    = ".outputStream|.end(|.write(|.send(|.pipe(|.sendall(|write_all(|.print(|.puts(|.write_line(|fwrite(|fputs(|curl_setopt(|.put(|.storbinary(|.sendmail(|.send_message(|Files.copy(|.transferTo(|.communicate(|.copyTo(|.CopyTo(|io.Copy(|.copyfileobj(|copyStream(|pipeline("
)

// deleteWords are functions that delete, and sendWords those that send whatever they are
// told; requestWords do so where the text has a request that sends. socketWords open a
// connection that its methods write to.
const (
	deleteWords = " rmtree rmSync rmdirSync unlinkSync rimraf rm_rf rm_r rmtree remove_entry RemoveAll remove_dir_all remove_file deleteDir deleteRecursively deleteDirectory deleteRecursive removeSync emptyDirSync emptyDir rm rmdir unlink remove_tree remove_all removeItem deleteIfExists " +
		"del_dir_r del_dir removeDirectoryRecursive removePathForcibly removeDirectory removeFile rmDir removeDir removeTree deleteTree deleteTreeAbsolute deleteDirAbsolute deleteFileAbsolute rmdirRecurse rmdir_all remove_recursive " +
		"delete_dir delete_dir_all delete_directory delete_tree cleanDirectory forceDelete forceDeleteOnExit RemoveDirectory DeleteFile nftw unlinkat deleteDirectoryStream rmtree_safe deleteRecursivelyQuietly delete_recursive rm_tree rm_all "
	deleteMarks = "Directory.Delete(|File.Delete(|Files.delete(|File.delete(|Dir.delete|.delete()|.delete(recursive|.delete f)|.delete file)|deleteSync(|delete-directory|delete-file|remove-directory|delete-tree|os.remove(|os.Remove(|Sys.remove|filesystem::remove|Remove-Item|" +
		"_deleteDir|_cleanDir|cleanDir|DeleteTree|deleteTree|deltree|sh.rm(|shred -| -delete|-exec rm|<delete|remove.all|.remove()|Deno.remove(|->remove(|fs.remove(|fse.remove("
	sendWords    = " post sendmail msmtp sendall sendto urlretrieve sendBeacon send_file upload uploadFile postForm post_form PostForm Post post_json put_object PostAsync PutAsync PostAsJsonAsync UploadFile UploadData UploadString uploadTask scp rclone ncat socat sftp http_post httpPost wp_remote_post wp_remote_request HttpPost postJson PostJson send_request request_raw "
	requestWords = " request urlopen fetch curl wget urllib axios reqwest ureq HttpClient HttpURLConnection openConnection HTTPSConnection HTTPConnection create_connection createConnection connect httpx Faraday HTTParty Req HTTPoison " +
		"URLSession URLRequest HttpRequest HttpPost OkHttpClient RestTemplate WebClient WebRequest curl_init SendAsync "
	// pushWords open or set up a request in a way of their own.
	pushWords   = " setContext setExtras addCustomAttributes setAttributes set_context set_extras set_attributes add_custom_attributes getOutputStream WebSocket EventSource stream_context_create curl_setopt_array "
	socketWords = " TcpStream UdpSocket TCPSocket UDPSocket TcpClient UdpClient NWConnection fsockopen stream_socket_client create_connection createConnection connect DialTimeout Dial gen_tcp Socket SSLSocket SocketChannel ServerProxy SMTP SMTP_SSL FTP FTP_TLS Telnet "
	readWords   = " open read readFile readFileSync read_text read_bytes read_to_string ReadFile readAllBytes readString readAllLines readText file_get_contents slurp get_file_as_bytes get_file_as_string get_buffer load_bytes contentsOfFile contentsOf binread readlines cat ReadAllText ReadAllBytes "
)

// cacheOfHome finds an expression of a cache: homedir(), ".cache" and ~/.cache/x.
var cacheOfHome = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?:~|\$HOME|\$\{HOME\}|expanduser\(["']~["']\)|\w*(?i:environ|env|getenv)\W{1,3}HOME["'\])]*|[\w.$:]+(?:\(\))?)\s*[,+/]?\s*["'` + "`" + `]?/?(?:\.cache\b|_cacache\b|Library/Caches\b)[^"'` + "`" + `,)\s]*`)
})

// calls reports a word of the list in a statement, also within a text: as an argument it may
// be the program that runs.
//
//go:noinline
func calls(s, words string) bool {
	found := false
	eachWord(s, func(w string) { found = found || wordlist.Has(words, w) })
	return found
}

//go:noinline
func holds(s string, names map[string]bool) bool {
	if len(names) == 0 {
		return false
	}
	found := false
	eachWord(s, func(w string) {
		if i := strings.LastIndexByte(w, '$'); i > 0 { // "\n$text"
			found = found || names[w[i:]] || names[w[i+1:]]
		}
		found = found || names[w] || w[0] == '$' && names[w[1:]]
	})
	return found
}

// take marks the names that a pattern binds.
//
//go:noinline
func take(names map[string]bool, bound string) {
	if words := strings.FieldsFunc(bound, func(r rune) bool { return strings.ContainsRune(" \t,:()", r) }); len(words) > 1 && !strings.ContainsAny(bound, "[{\"'") { // String c; c, err; if c, err
		if wordlist.Has(" if while guard switch elif unless ", words[0]) {
			words = words[1:]
		}
		for _, w := range []string{words[0], words[len(words)-1]} {
			if len(w) == 1 && w != "_" {
				names[w] = true
			}
		}
	}
	declares := wordlist.Has(" const let var local my val auto def final ", firstWord(bound)) || len(strings.TrimSpace(bound)) == 1
	eachWord(bound, func(w string) {
		if len(names) < maxCodeFunctions && (!wordlist.Has(bindingWords, w) || declares && len(w) == 1) {
			names[w] = true
		}
	})
}

func firstWord(s string) string {
	s, _, _ = strings.Cut(strings.TrimLeft(s, " "), " ")
	return s
}

// bindingWords stand beside a name that is bound, or are too common to be one name.
const bindingWords = " const let var val def for await async mut my our local export auto final String File Path str self this use with if in of string do each map os fs path return it t c while guard case Ok Some Err try "

//go:noinline
func eachWord(s string, do func(w string)) {
	for w := range strings.FieldsFuncSeq(s, func(r rune) bool {
		return r != '_' && r != '$' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	}) {
		do(w)
	}
}

// takesOver tells what a statement binds from what it binds it to: x = y, for x in y,
// y.each { |x| …, with y as x. Without a binding all of it is the latter.
func takesOver(s string) (names, from string) {
	for _, between := range []string{" in ", " of "} {
		if i := strings.Index(s, between); i >= 0 && strings.Contains(s[:i], "for") {
			return s[strings.LastIndex(s[:i], "for")+3 : i], s[i:]
		}
	}
	if i := strings.LastIndex(s, " as "); i >= 0 && !strings.Contains(s[:i], " = ") { // and no cast
		return s[i+4:], s[:i]
	}
	if before, rest, ok := strings.Cut(s, "|"); ok && !strings.HasPrefix(rest, "|") {
		if bound, _, ok := strings.Cut(rest, "|"); ok && len(bound) < 40 && !strings.ContainsAny(bound, "\"'/(") {
			return bound, before + rest
		}
	}
	if found := filledIn().FindStringSubmatch(s); found != nil {
		return found[1] + found[2], s
	}
	if strings.Contains(s, "<-") || strings.Contains(s, "(") || strings.Contains(s, "set ") {
		if found := otherBinding().FindStringSubmatchIndex(s); found != nil {
			for g := 2; g+1 < len(found); g += 2 {
				if found[g] >= 0 {
					return s[found[g]:found[g+1]], s[found[g+1]:]
				}
			}
		}
	}
	for _, opens := range []string{"try (", "using (", "with ("} { // x = y) {
		s = strings.TrimPrefix(strings.TrimLeft(s, " "), opens)
	}
	called, binds := false, bindsPattern(s)
	for i := 1; i+1 < len(s); i++ {
		if called = called || strings.IndexByte("(\"'", s[i-1]) >= 0; called && (!binds || i > maxPattern) {
			break // what stands before a binding has no texts and calls
		}
		if s[i] != '=' {
			continue
		}
		if s[i+1] == '=' || s[i+1] == '>' || s[i+1] == '~' {
			i++
			continue
		}
		if strings.IndexByte("=!<>", s[i-1]) < 0 && (!called || isPattern(s[:i])) {
			return s[:i], s[i:]
		}
	}
	return "", s
}

// filledIn finds the name of what a function writes its result to: snprintf(path, n, "%s/x", home).
var filledIn = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\b(?:sn?printf|str(?:n|l)?c(?:py|at)|asprintf|stpcpy|GetEnvironmentVariable[AW]?|SHGetFolderPath[AW]?)\(\s*&?(\w+)|(?i:get_environment_variable)\s*\(\s*["']\w+["']\s*,\s*(\w+)`)
})

// otherBinding finds the name that is bound by x <- y, (let [x y, (define x y, (doseq [x y and set x y.
var otherBinding = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\s*(?:val |let )?([A-Za-z_][\w.']*)\s*<-\s|\((?:let\*?|when-let|if-let|doseq|dolist|for|for-each|for/list|loop|def|define|defparameter|defvar|defonce|setq|setf|set!)\s*[\[(]{0,2}([A-Za-z_*][\w*?!-]*)\s|^\s*(?:global |local |my )?set ([A-Za-z_]\w*) |^\s*foreach (\w+) `)
})

// maxPattern bounds what stands before the sign in if let (Ok(a), Some(b)) = …
const maxPattern = 200

// bindsPattern reports a statement that begins like if let (Ok(a), Some(b)) = …, or like
// (a, b) = …
func bindsPattern(s string) bool {
	s = strings.TrimSpace(s)
	return slices.ContainsFunc([]string{"if let ", "while let ", "let ", "guard let ", "if case ", "const ", "var ", "("}, func(word string) bool { return strings.HasPrefix(s, word) })
}

// isPattern reports that what stands before the sign of such a statement is a pattern.
func isPattern(s string) bool {
	return bindsPattern(s) && !strings.ContainsAny(s, "\"'{") && strings.Count(s, "(") == strings.Count(s, ")")
}

// Joined is a text with the pieces joined that a program puts together.
func Joined(text string) string { return joinsTexts(text) }

// joinsTexts makes one text of those that a program puts together: "a" + "b", "a" .. "b",
// concat!("a", "b").
func joinsTexts(text string) string {
	if !strings.Contains(text, `" `) && !strings.Contains(text, `' `) && !strings.Contains(text, `"+`) && !strings.Contains(text, `'+`) && !strings.Contains(text, "concat!") {
		return text
	}
	return betweenTexts().ReplaceAllString(concatenation().ReplaceAllStringFunc(text, func(s string) string {
		return `"` + strings.Join(strings.FieldsFunc(s[len("concat!("):len(s)-1], func(r rune) bool { return strings.ContainsRune("\", \t\n", r) }), "") + `"`
	}), "")
}

var (
	concatenation = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`concat!\((?:\s*"[^"\s,\\]*"\s*,?)+\)`)
	})
	betweenTexts = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`"\s?(?:\+|\.\.|<>|\+\+|~|&)\s?"|'\s?(?:\+|\.\.|~)\s?'`)
	})
)

// statementsOf splits a text at line ends and semicolons, but not within brackets that
// stay open over some lines.
func statementsOf(text string) (list []string) {
	var b strings.Builder
	depth, lines := 0, 0
	flush := func() {
		if b.Len() > 0 {
			list = append(list, b.String())
		}
		b.Reset()
		depth, lines = 0, 0
	}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' || strings.HasPrefix(line, "//") || strings.HasPrefix(line, "*") {
			continue
		}
		if n := len(list); n > 0 && b.Len() == 0 && goesOn(line) && len(list[n-1]) < maxChain { // a chain of calls
			b.WriteString(list[n-1])
			list = list[:n-1]
		}
		for part := range strings.SplitSeq(line, ";") {
			b.WriteString(" " + part)
			depth += strings.Count(part, "(") - strings.Count(part, ")") + strings.Count(part, "[") - strings.Count(part, "]")
			if depth <= 0 {
				flush()
			}
		}
		if lines++; lines > 8 || strings.HasSuffix(line, "{") || strings.HasSuffix(line, "do") || strings.HasSuffix(line, ":") || strings.HasSuffix(line, "|") {
			flush()
		}
	}
	flush()
	return list
}
