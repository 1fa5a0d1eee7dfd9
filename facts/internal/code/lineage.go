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
func Lineage(text string) string {
	if len(text) > maxLineage {
		return ""
	}
	if marked(text, environmentMarks) && sendsEnvironment(statementsOf(text)) {
		return "sends all of its environment"
	}
	runs := strings.Contains(text, "://") && marked(text, evalMarks)
	if !runs && !marked(text, homeMarks) && !marked(text, fileMarks) && !marked(text, awayMarks) {
		return ""
	}
	text = ofProject().ReplaceAllString(text, "$1./")
	home, net, away, fetched := map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]bool{}
	posts := marked(text, postMarks)
	list := statementsOf(text)
	for range 3 { // a name may be used above its own assignment
		for _, s := range list {
			names, from := takesOver(s)
			if ofHome(from, home) {
				take(home, names)
			}
			if sends(s, posts) || calls(s, socketWords) {
				take(net, names)
			}
			if marked(from, awayMarks) || holds(from, away) {
				take(away, names)
			}
			if runs && (marked(from, fetchMarks) || calls(from, requestWords) || holds(from, fetched)) {
				take(fetched, names)
			}
		}
	}
	for _, s := range list {
		names, from := takesOver(s)
		switch {
		case runs && marked(s, evalMarks) && (marked(s, fetchMarks) || holds(from, fetched)):
			return "runs code that it fetches"
		case deletes(s) && (marked(from, awayMarks) || holds(from, away)):
			return "deletes far from the project"
		}
		if !ofHome(from, home) {
			continue
		}
		writes := marked(s, outMarks) && (holds(s, net) || calls(s, socketWords)) || strings.Contains(names, ".") && holds(names, net)
		switch {
		case deletes(s):
			return "deletes in the home directory"
		case sends(s, posts) || writes || strings.Contains(s, "://") && marked(s, encodeMarks):
			return "sends what is in the home directory"
		}
	}
	return ""
}

// Away marks in a text for [Lineage] a directory outside of the project.
const Away = "\x00"

// maxLineage bounds the texts that Lineage reads.
const maxLineage = 64 << 10

// homeMarks are how languages name the home directory, fileMarks files of secrets that only
// count where they are read, as tests hand such paths to servers. postMarks are how languages
// tell a request that sends, and outMarks the methods of an open connection. awayMarks are
// directories far from any project, evalMarks run a text, and fetchMarks fetch one.
const (
	homeMarks = "~/|\"~\"|'~'|homedir()|homedir,|expanduser(|Path.home()|user.home|$HOME|${HOME}|Dir.home|home_dir()|UserHomeDir()|env.HOME|environ[\"HOME|environ['HOME|environ.get(\"HOME|environ.get('HOME|" +
		"getenv(\"HOME|getenv('HOME|ENV[\"HOME|ENV['HOME|ENV.fetch(\"HOME|ENV.fetch('HOME|env::var(\"HOME|var_os(\"HOME|Getenv(\"HOME|get_env(\"HOME|env.get(\"HOME|env('HOME|user_home|env['HOME|env[\"HOME|environment[\"HOME|_SERVER['HOME|_SERVER[\"HOME|_ENV['HOME|ENV{HOME}|" +
		"NSHomeDirectory()|homeDirectoryForCurrentUser|SpecialFolder.UserProfile|userInfo().homedir|USERPROFILE"
	fileMarks  = "/etc/passwd|/etc/shadow|/.ssh/|/.aws/|/.gnupg/|/.kube/config|/.netrc|/.git-credentials|/.docker/config.json|/.config/gcloud/|/.config/gh/"
	cacheMarks = "/.cache|\".cache\"|'.cache'|Library/Caches|_cacache"
	postMarks  = "POST|PUT|PATCH|body|data=|data:|-d|-F|-T|--data|--upload"
	awayMarks  = Away + "|\"/mnt/|'/mnt/|\"/srv/|'/srv/|\"/media/|'/media/|\"/Volumes/|'/Volumes/|\"/var/lib/|'/var/lib/|\"/var/www/|'/var/www/"
	evalMarks  = " eval(|(eval(|=eval(| exec(|eval_string(|compile_string(|instance_eval|class_eval|new Function(|runInThisContext(|runInNewContext(|import_from_git("
	fetchMarks = "import_from_git(|requests.get(|urlopen(|URI.open(|Net::HTTP|:httpc.|file_get_contents(\"http|file_get_contents('http|http.get(|https.get("
	// encodeMarks make what was read fit for an address.
	encodeMarks = "base64|b64encode|encodeURI|urlencode|quote(|hex(|percentEncod|CGI.escape(|encode_www"
	outMarks    = ".end(|.write(|.send(|.pipe(|.sendall(|write_all(|.print(|.puts(|.write_line(|fwrite(|fputs(|curl_setopt("
)

// marked, calls, holds, take and eachWord are marked go:noinline, as small functions of package
// flow are.
//
//go:noinline
func marked(text, marks string) bool {
	for mark := range strings.SplitSeq(marks, "|") {
		if strings.Contains(text, mark) {
			return true
		}
	}
	return false
}

// deleteWords are functions that delete, and sendWords those that send whatever they are
// told; requestWords do so where the text has a request that sends. socketWords open a
// connection that its methods write to.
const (
	deleteWords  = " rmtree rmSync rmdirSync unlinkSync rimraf rm_rf rm_r rmtree remove_entry RemoveAll remove_dir_all remove_file deleteDir deleteRecursively deleteDirectory deleteRecursive removeSync emptyDirSync emptyDir rm rmdir unlink remove_tree remove_all removeItem deleteIfExists "
	deleteMarks  = "Directory.Delete(|File.Delete(|Files.delete("
	sendWords    = " post sendall sendto urlretrieve sendBeacon send_file upload uploadFile postForm post_form PostForm Post post_json put_object PostAsync PutAsync PostAsJsonAsync UploadFile UploadData UploadString uploadTask scp rclone ncat socat sftp "
	requestWords = " request urlopen fetch curl wget urllib axios reqwest ureq HttpClient HttpURLConnection openConnection HTTPSConnection HTTPConnection create_connection createConnection connect httpx Faraday HTTParty Req HTTPoison " +
		"URLSession URLRequest HttpRequest HttpPost OkHttpClient RestTemplate WebClient WebRequest curl_init SendAsync "
	socketWords = " TcpStream UdpSocket TCPSocket UDPSocket TcpClient UdpClient NWConnection fsockopen stream_socket_client create_connection createConnection connect DialTimeout Dial gen_tcp "
	readWords   = " open read readFile readFileSync read_text read_bytes read_to_string ReadFile readAllBytes readString readAllLines readText file_get_contents slurp contentsOfFile contentsOf binread readlines cat ReadAllText ReadAllBytes "
)

// ofHome reports a text that names the home directory, or something that was made of it.
// The caches there are nobody's work: programs make them again. Only the very expression of
// one is left out, for a text may name a cache beside something else.
func ofHome(s string, home map[string]bool) bool {
	if marked(s, cacheMarks) && !strings.Contains(s, "..") {
		s = cacheOfHome().ReplaceAllString(s, "cache")
	}
	return marked(s, homeMarks) || holds(s, home) || marked(s, fileMarks) && calls(s, readWords)
}

// cacheOfHome finds an expression of a cache: homedir(), ".cache" and ~/.cache/x.
var cacheOfHome = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?:~|\$HOME|\$\{HOME\}|expanduser\(["']~["']\)|\w*(?i:environ|env|getenv)\W{1,3}HOME["'\])]*|[\w.$:]+(?:\(\))?)\s*[,+/]?\s*["'` + "`" + `]?/?(?:\.cache\b|_cacache\b|Library/Caches\b)[^"'` + "`" + `,)\s]*`)
})

//go:noinline
func deletes(s string) bool { return calls(s, deleteWords) || marked(s, deleteMarks) }

//go:noinline
func sends(s string, posts bool) bool {
	return calls(s, sendWords) || posts && calls(strings.NewReplacer("sqlite3.connect", "", "duckdb.connect", "").Replace(s), requestWords)
}

// ofProject finds names of modules that begin with ~/, as bundlers have it for the
// directory of the sources.
var ofProject = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile("((?:\\bfrom|\\bimport|\\bimport\\(|\\brequire\\(|\\bmock\\(|\\bresolve\\()\\s*[\"'`])~/")
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
	found := false
	eachWord(s, func(w string) { found = found || names[w] })
	return found
}

// take marks the names that a pattern binds.
//
//go:noinline
func take(names map[string]bool, bound string) {
	eachWord(bound, func(w string) {
		if len(names) < maxCodeFunctions && !wordlist.Has(bindingWords, w) {
			names[w] = true
		}
	})
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
	if i := strings.LastIndex(s, " as "); i >= 0 {
		return s[i+4:], s[:i]
	}
	if before, rest, ok := strings.Cut(s, "|"); ok {
		if bound, _, ok := strings.Cut(rest, "|"); ok && len(bound) < 40 && !strings.ContainsAny(bound, "\"'/(") {
			return bound, before + rest
		}
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
