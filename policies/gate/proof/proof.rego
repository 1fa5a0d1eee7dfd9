# METADATA
# title: Harmless calls
# description: |
#   The common part of policies that allow: those below gate.quiet, and those that gate
#   learn writes. Each of them allows a call only where all of it is on a list: nothing
#   further is allowed. The pages of the policies have the same lists.
package gate.proof

import data.gate.lib

# METADATA
# description: as clear, and each path is one that may be looked at
understood if {
	clear
	every path in input.facts.paths {
		seen(path)
	}
}

# METADATA
# description: the call is one shell line of which everything is known, and nothing in it is hidden, sent, in another language or of another origin
clear if {
	input.facts.opaque == false
	count(input.facts.unknown) == 0
	count(input.facts.hosts) == 0
	count(input.facts.code) == 0
	count(input.flow) == 0
	input.facts.shell.dialect == "bash"
	count(input.facts.shell.commands) > 0
	every command in input.facts.shell.commands {
		plain(command)
	}
	firm(input.facts.shell.ground)
}

# METADATA
# description: |
#   everything of the call, one shell line, is known; it has plain commands, and nothing
#   in it came from a secret or from outside
shaped if {
	input.facts.opaque == false
	count(input.facts.unknown) == 0
	count(input.facts.hosts) == 0
	count(input.facts.code) == 0

	# gate ignore: never
	every flow in input.flow {
		flow.origin == "written"
	}
	input.facts.shell.dialect == "bash"
	input.facts.shell.ground.forms == []

	# gate ignore: never
	every name in input.facts.shell.ground.assigns {
		names_little(name)
	}
}

# METADATA
# description: |
#   the line has plain commands, sets harmless variables only, starts programs of the
#   system, follows no link out of the project, and reads no program text whose name
#   tells of a secret
firm(ground) if {
	ground.forms == []
	every name in ground.assigns {
		names_little(name)
	}
	ground.programs == []
	ground.leaves == []
	every path in ground.secrets { # which a search for others passes over
		not sources(path)
		lies_below(path, ground.whole)
	}
}

lies_below(path, dirs) if {
	some dir in dirs
	startswith(path, sprintf("%s/", [dir]))
}

names_little(name) if name in variables

names_little(name) if fits(name, `^([A-Za-z]|base|branch|dir|ext|file|item|line|mod|name|num|out|pkg|test|word)[0-9]?$`)

# METADATA
# description: |
#   the command is written as it runs, by its name or in a directory of the system, in
#   the project, with variables of language and colour only
plain(command) if {
	command.known == true
	command.in_project == true
	command.via == []
	named(command)
	every word in command.words {
		is_string(word.value)
	}
	every name, value in command.env {
		name in variables
		fits(value, `^[A-Za-z0-9_.@-]*(/[A-Za-z0-9_+-]+)?$`)
		not fits(value, `\.\.`)
	}
	every redirect in command.redirects {
		aside(redirect)
	}
	not fed(command)
	not abbreviates(command)
}

# METADATA
# description: |
#   the command reads the input of a group around it, and nothing is known of that: a
#   here-document or here-string of a group may show a variable
fed(command) if {
	command.stdin.from == "pipe"
	not is_number(command.stdin.command)
}

# METADATA
# description: |
#   a word is the beginning of an option: the program may have one of that very name, as
#   git pull has --ff beside --ff-only
abbreviates(command) if {
	some word in command.words
	fits(word.value, `^--[a-z]`)
	given := trim_prefix(split(word.value, "=")[0], "--")
	some name, _ in command.options
	startswith(name, given)
	not given in object.keys(command.options)
}

variables := {"LANG", "LC_ALL", "LC_COLLATE", "LC_CTYPE", "TZ", "NO_COLOR", "COLUMNS", "GIT_OPTIONAL_LOCKS", "GIT_TERMINAL_PROMPT"}

named(command) if {
	command.path == null
	command.words[0].value == command.program
}

named(command) if command.path in {sprintf("/bin/%s", [command.program]), sprintf("/usr/bin/%s", [command.program])}

# METADATA
# description: a redirection that writes nowhere; what is read is a path
aside(redirect) if {
	redirect.op in {">", ">>", "&>", "&>>"}
	redirect.target == "/dev/null"
}

aside(redirect) if {
	redirect.op == ">&"
	redirect.fd in {-1, 1, 2}
	redirect.target in {"1", "2"}
}

aside(redirect) if redirect.op == "<"

# A text with a variable in it shows what the variable holds.
aside(redirect) if {
	redirect.op in {"<<", "<<-", "<<<"}
	is_string(redirect.target)
}

# METADATA
# description: the path is only looked at, and lies in the project, not in .git, or among the system's public files
seen(path) if path.path == "/dev/null"

seen(path) if {
	path.access in {"read", "list", "use"}
	path.in_project == true
	path.resolved == path.path
	not fits(path.path, `/\.git(/|$)`)
	not hides(path)
}

seen(path) if {
	path.access in {"read", "list", "use"}
	path.glob == false
	public(path.path)
	public(path.resolved)
}

# A pattern may mean any file, but for one that ends like a text that is no secret.
hides(path) if {
	path.glob == true
	path.access in {"read", "use"}
	not sources(path.path)
}

# METADATA
# description: the text is known, and the RE2 expression finds something in it
fits(text, expression) if {
	is_string(text)
	regex.match(expression, text)
}

# METADATA
# description: a pattern of files that are program text or documents by their endings
sources(pattern) if fits(pattern, `\.(c|cc|cpp|cs|css|dart|ex|exs|go|h|hpp|hs|html|java|js|jsx|kt|less|lua|md|mjs|ml|php|pl|py|rb|rs|rst|scala|scss|sql|svelte|swift|ts|tsx|vue|zig)$`)

public(path) if {
	is_string(path)
	some dir in ["/usr/include/", "/usr/lib/", "/usr/share/"]
	startswith(path, dir)
}

public(path) if path in {"/etc/os-release", "/proc/cpuinfo", "/proc/meminfo"}

# METADATA
# description: the command reads, and the effect is that of a file that it may read
reads(effect) if {
	effect.kind == "fs.read"
	effect.could_be == []
	effect.area in {"project", "project_root"}
}

reads(effect) if {
	effect.kind == "fs.read"
	public(effect.path)
}

# METADATA
# description: the command is one that only looks, with options that do not change that
looks(command) if {
	options := programs[command.program]
	every name, _ in command.options {
		allowed(name, options)
	}
	not excess(command)
}

allowed(name, options) if name in options

# head -5, git log -5
allowed(name, options) if {
	"NUMBER" in options
	fits(name, `^[0-9]+$`)
}

# METADATA
# description: programs that only look, each with the options that it may have, by their canonical names
programs := {
	"[": set(),
	"basename": {"multiple", "suffix", "zero"},
	"cat": {"E", "T", "b", "e", "n", "number", "number-nonblank", "s", "show-all", "show-ends", "show-nonprinting", "show-tabs", "squeeze-blank", "t"},
	"cd": set(),
	"cksum": set(),
	"cmp": {"b", "bytes", "ignore-initial", "silent", "verbose"},
	"column": {"output-separator", "separator", "table", "x"},
	"comm": {"1", "2", "3", "output-delimiter", "total"},
	"cut": {"bytes", "characters", "complement", "delimiter", "fields", "output-delimiter", "s"},
	"date": {"I", "R", "date", "iso-8601", "rfc-3339", "utc"},
	"df": {"T", "h", "i", "k"},
	"diff": {"B", "U", "b", "brief", "color", "context", "i", "minimal", "s", "side-by-side", "u", "unified", "w", "y"},
	"dirname": {"zero"},
	"du": {"a", "c", "h", "k", "m", "max-depth", "s"},
	"echo": {"E", "e", "n"},
	"false": set(),
	"file": {"L", "brief", "mime"},
	"find": set(),
	"groups": set(),
	"grep": {
		"E", "F", "G", "P", "a", "after-context", "before-context", "color", "context", "count", "exclude", "exclude-dir", "files-with-matches",
		"files-without-match", "h", "H", "i", "include", "invert-match", "max-count", "n", "o", "quiet", "recursive", "regexp", "s", "w", "x",
	},
	"head": {"NUMBER", "bytes", "lines", "quiet", "verbose"},
	"hostname": set(),
	"id": {"G", "g", "n", "u"},
	"jq": {"c", "compact-output", "e", "exit-status", "r", "raw-output", "sort-keys"},
	"ls": {"1", "A", "F", "G", "R", "S", "a", "all", "almost-all", "color", "d", "directory", "h", "human-readable", "i", "l", "r", "recursive", "reverse", "size", "sort", "t", "time-style"},
	"md5sum": set(),
	"nl": {"body-numbering"},
	"nproc": {"all"},
	"printf": set(),
	"pwd": {"L", "P"},
	"readlink": {"canonicalize", "e", "m"},
	"realpath": {"canonicalize", "e", "m", "relative-base", "relative-to", "s"},
	"rev": set(),
	"rg": {
		"F", "N", "S", "U", "after-context", "before-context", "color", "context", "count", "count-matches", "fixed-strings", "glob", "heading", "i",
		"ignore-case", "line-number", "max-count", "n", "no-heading", "o", "only-matching", "quiet", "regexp", "s", "smart-case", "type", "v", "w",
		"word-regexp", "x",
	},
	"sed": {"E", "expression", "r", "regexp-extended", "silent"},
	"seq": {"equal-width", "separator", "s", "w"},
	"sha1sum": set(),
	"sha256sum": set(),
	"sha512sum": set(),
	"sort": {"M", "R", "V", "b", "c", "d", "f", "field-separator", "g", "h", "i", "key", "n", "r", "s", "u", "z"},
	"stat": {"L", "format", "printf", "t"},
	"tac": set(),
	"tail": {"NUMBER", "bytes", "lines", "quiet", "verbose"},
	"test": set(),
	"tr": {"complement", "delete", "squeeze-repeats", "truncate-set1"},
	"tree": {"I", "L", "P", "a", "d", "f", "h", "i", "s"},
	"true": set(),
	"type": {"a", "t", "p"},
	"uname": {"a", "m", "n", "o", "p", "r", "s", "v"},
	"uniq": {"count", "ignore-case", "repeated", "unique", "c", "d", "i", "u"},
	"uptime": set(),
	"wc": {"L", "bytes", "chars", "lines", "words"},
	"which": {"a"},
	"whoami": set(),
}

# METADATA
# description: the other words of a program that only looks have it do more
excess(command) if {
	command.program in {"hostname", "uptime", "nproc"}
	count(command.operands) > 0
}

excess(command) if {
	command.program in {"echo", "printf"} # a pattern shows names of files
	some word in command.operands
	fits(word, `[*?\[]`)
}

# printf -v and %n set a variable, and in zsh numbers are arithmetic.
excess(command) if {
	command.program == "printf"
	not fits(command.words[1].value, `^([^-%]|%%|%[-+0 ]*[0-9]*(\.[0-9]+)?[sdiuxXoc])([^%]|%%|%[-+0 ]*[0-9]*(\.[0-9]+)?[sdiuxXoc])*$`)
}

excess(command) if {
	command.program in {"[", "printf", "test"}
	some word in command.words
	fits(word.value, "[$`(]")
}

# test -v and -eq work out what stands in brackets.
excess(command) if {
	command.program in {"[", "test"}
	some word in array.slice(command.words, 1, count(command.words))
	fits(word.value, `^-|.\[|\[.`)
	not word.value in {"-a", "-d", "-e", "-f", "-h", "-L", "-n", "-o", "-r", "-s", "-w", "-x", "-z"}
}

# Facts have no path for a file that is only tested.
excess(command) if {
	command.program in {"[", "test"}
	some word in array.slice(command.words, 1, count(command.words))
	elsewhere(word.value)
}

excess(command) if {
	command.program == "find"
	some i, word in command.words
	word.value == "-newer"
	elsewhere(command.words[i + 1].value)
}

excess(command) if {
	command.program == "cd" # a directory of the shell's list
	some word in command.words
	fits(word.value, `^[-+]`)
}

# A program that reads a directory reads all that lies below, and diff goes behind
# links.
excess(command) if {
	not command.program in {"grep", "rg"}
	reads_all(command)
}

excess(command) if {
	command.program == "date" # a word without a sign sets the clock
	some word in command.operands
	not fits(word, `^\+`)
}

excess(command) if {
	command.program == "uniq" # the second word is written
	count(command.operands) > 1
}

excess(command) if {
	command.program == "uniq"
	count([word | some word in command.words; not startswith(word.value, "-")]) > 2
}

excess(command) if {
	command.program == "find"
	some word in command.words
	startswith(word.value, "-")
	not word.value in tests
}

excess(command) if {
	command.program == "find" # behind links
	some path in input.facts.paths
	path.command == command.id
	path.access != "list"
}

excess(command) if {
	command.program == "sed"
	not prints(command)
}

excess(command) if {
	command.program == "jq"
	not fits(command.operands[0], `^\.[A-Za-z0-9_.\[\]"-]*( *\| *(keys|length|type))?$`)
}

excess(command) if {
	command.program == "grep"
	"recursive" in object.keys(command.options)
	not narrow(command, "include")
}

excess(command) if {
	command.program == "grep" # -R goes behind links
	some word in command.words
	fits(word.value, `^(-[a-zA-Z]*R|--dereference)`)
}

excess(command) if {
	command.program == "rg"
	not names_files(command)
	not narrow(command, "glob")
	not narrow(command, "type")
}

excess(command) if { # a pattern counts for more than a type
	command.program == "rg"
	command.options.glob
	not narrow(command, "glob")
}

# METADATA
# description: the word may be a path that leads out of the project
elsewhere(word) if fits(word, `^[/~]|(^|/)\.\.(/|$)`)

searches(command) if {
	command.program == "grep"
	command.options.recursive
}

searches(command) if {
	command.program == "rg"
	command.stdin == null
}

reads_all(command) if {
	some path in input.facts.paths
	path.command == command.id
	path.access in {"read", "use"}
	path.path in input.facts.shell.ground.whole
}

reads_all(command) if { # the directory in which it runs, with no word that names another
	searches(command)
	count(command.operands) <= patterns(command)
}

reads_all(command) if { # some of what a pattern stands for is a directory
	some path in input.facts.paths
	path.command == command.id
	path.access in {"read", "use"}
	path.glob == true
	count(input.facts.shell.ground.whole) > 0
}

# METADATA
# description: words of find that test or print names
tests := {
	"-H", "-P", "-a", "-and", "-daystart", "-depth", "-empty", "-false", "-iname", "-ipath", "-iregex", "-links", "-maxdepth", "-mindepth", "-mmin",
	"-mtime", "-name", "-newer", "-not", "-o", "-or", "-path", "-perm", "-print", "-print0", "-prune", "-quit", "-regex", "-regextype", "-size", "-true",
	"-type", "-user", "-xdev",
}

# sed -n 1,20p
prints(command) if {
	command.options.silent
	not command.options.expression
	fits(command.operands[0], `^ *([0-9]+|\$)(, *([0-9]+|\$))? *p *$`)
}

prints(command) if {
	command.options.silent
	count(command.options.expression) == 1
	fits(command.options.expression[0], `^ *([0-9]+|\$)(, *([0-9]+|\$))? *p *$`)
}

# Only files with certain endings, or only their names.
narrow(command, "include") if {
	not command.options.exclude # of which the order counts
	count(command.options.include) > 0
	every pattern in command.options.include {
		sources(pattern)
	}
}

narrow(command, "include") if {
	only_names(command)
	input.facts.shell.ground.secrets == [] # a name tells what a file holds
}

narrow(command, "include") if not reads_all(command) # files by their names

narrow(command, "glob") if {
	count(command.options.glob) > 0
	every pattern in command.options.glob {
		sources(pattern)
		not fits(pattern, `^!`)
	}
}

narrow(command, "type") if {
	count(command.options.type) > 0
	every name in command.options.type {
		name in {"cs", "css", "go", "js", "lua", "py", "rust", "swift", "ts"}
	}
}

only_names(command) if {
	some name in ["files-with-matches", "files-without-match", "count", "quiet"]
	command.options[name]
}

# rg PATTERN FILE…: each ends as a file does, and is none that holds others.
names_files(command) if {
	files := array.slice(command.operands, patterns(command), count(command.operands))
	count(files) > 0
	every word in files {
		sources(word)
	}
	not reads_all(command)
}

names_files(command) if { # what comes from a pipe
	command.stdin.from == "pipe"
	count(command.operands) == patterns(command)
}

# The first operand is the pattern, if no option has one.
patterns(command) := 0 if command.options.regexp

patterns(command) := 1 if not command.options.regexp

# METADATA
# description: a command of git that works on this repository alone, of which nothing starts another program
git(command) if {
	command.program == "git"
	command.repository.starts == []
	command.repository.secrets == []
	within_verb(command, own_verbs)
	not strays(command)
}

# METADATA
# description: a command of git that gets or sends commits, of which nothing starts another program
exchange(command) if {
	command.program == "git"
	command.repository.starts == []
	command.repository.secrets == []
	within_verb(command, peer_verbs)
	every word in command.operands {
		fits(word, `^[A-Za-z0-9_][A-Za-z0-9_./-]*$`)
	}
}

within_verb(command, verbs) if {
	options := verbs[command.subcommand]
	every name, _ in command.options {
		allowed(name, options | {"C", "no-pager", "no-optional-locks"})
	}
}

# METADATA
# description: verbs of git that stay on this machine, with their options
own_verbs := {
	"status": {"b", "branch", "ignored", "long", "porcelain", "s", "short", "u", "untracked-files", "z"},
	"diff": {
		"U", "cached", "check", "color", "diff-filter", "exit-code", "i", "ignore-all-space", "merge-base", "minimal", "M", "name-only", "name-status",
		"no-color", "no-ext-diff", "no-textconv", "numstat", "p", "quiet", "raw", "shortstat", "staged", "stat", "summary", "unified", "w", "word-diff",
	},
	"log": {
		"NUMBER", "M", "abbrev-commit", "after", "all", "author", "before", "branches", "color", "committer", "date", "decorate", "diff-filter",
		"first-parent", "follow", "graph", "grep", "i", "max-count", "merges", "name-only", "name-status", "no-color", "no-decorate", "no-merges", "numstat",
		"oneline", "pretty", "reverse", "shortstat", "since", "skip", "stat", "summary", "tags", "until",
	},
	"show": {"M", "abbrev-commit", "color", "date", "name-only", "name-status", "no-color", "no-patch", "numstat", "oneline", "pretty", "q", "quiet", "s", "shortstat", "stat", "summary"},
	"add": {"update", "v", "verbose"},
	"commit": {"all", "allow-empty", "message", "quiet", "signoff"},
	"branch": {
		"all", "color", "column", "contains", "list", "merged", "no-color", "no-contains", "no-merged", "points-at", "q", "remotes", "show-current", "sort",
		"verbose",
	},
	"switch": {"create", "q"},
	"checkout": {"b", "quiet"},
}

# METADATA
# description: verbs of git that talk to a peer, with their options
peer_verbs := {
	"fetch": {"no-tags", "p", "prune", "q", "quiet", "t", "tags", "v", "verbose"},
	"pull": {"ff-only", "no-tags", "q", "quiet", "v", "verbose"},
	"push": {"progress", "quiet", "set-upstream", "verbose", "u"},
}

# The other words of a verb have it do more. A commit and a file in it (HEAD:x) is named
# in full, so that its name tells.
strays(command) if {
	command.subcommand in {"add", "diff", "log", "show", "status"}
	some word in command.operands
	fits(word, `^[/~:]|(^|[/:])\.\.(/|$)|^[^:]*:.*[*?\[]`)
}

# Each name in a format is on the list: another program checks signatures.
strays(command) if {
	some word in command.options.pretty
	not format(word)
}

strays(command) if {
	some word in command.options.sort
	not fits(word, `^-?(refname|committerdate|authordate|creatordate|version:refname|v:refname|objectsize)$`)
}

# The past may hold a secret that is not there any more: of it only names and numbers
# are shown, or files by their names.
strays(command) if {
	command.subcommand == "show"
	not sums_commits(command)
	not shows_files(command)
}

strays(command) if {
	command.subcommand == "diff"
	not sums(command)
	not compares(command)
}

# A place in a repository is written as a file is, with nothing that git takes for a pattern.
strays(command) if {
	command.subcommand == "add"
	some word in command.operands
	not fits(word, `^[A-Za-z0-9_.][A-Za-z0-9_./@+-]*$`)
}

strays(command) if {
	command.subcommand == "add"
	not command.options.update
	count(command.operands) == 0
}

strays(command) if { # all that git tracks, wherever
	command.subcommand == "add"
	command.options.update
	count(command.operands) > 0
}

strays(command) if { # a directory holds files that nobody has named
	command.subcommand == "add"
	some path in input.facts.paths
	path.command == command.id
	path.path in input.facts.shell.ground.whole
}

strays(command) if { # and so does one that is not there any more
	command.subcommand == "add"
	some word in command.operands
	not fits(word, `(^|/)([^/]*[^/.][^/]*\.[A-Za-z0-9]+|Makefile|Dockerfile|Gemfile|Rakefile|Procfile|LICENSE|README|CHANGELOG|CODEOWNERS|VERSION|\.gitignore|\.gitattributes|\.editorconfig)$`)
}

format(word) if word == true # --oneline and --pretty alone

format(word) if word in {"oneline", "short", "medium", "full", "fuller", "reference"}

format(word) if {
	fits(word, `%`)
	fits(word, `^(t?format:)?([^%]|%(%|n|x[0-9A-Fa-f]{2}|[hHtTpPsfbBdD]|[ac][nNeEdrtiIsh]|C(red|green|blue|yellow|cyan|magenta|reset|\([a-z ,]+\))))*$`)
}

# METADATA
# description: a command of git that shows names and numbers, and no contents of files
sums(command) if {
	some name, _ in command.options
	name in {"stat", "shortstat", "numstat", "name-only", "name-status", "no-patch", "s", "q", "quiet", "summary"}
	every option, _ in command.options {
		not option in {"p", "patch", "U", "unified", "raw", "check", "word-diff", "W", "function-context"}
	}
}

# git show prints a file whatever is asked for of commits, and a hash or a tag may be a file's.
sums_commits(command) if {
	sums(command)
	every i, word in command.operands {
		commit(command, i, word)
	}
}

commit(_, _, word) if fits(word, `^(HEAD|@|refs/heads/[A-Za-z0-9_][A-Za-z0-9_./-]*)$`)

# ~ and ^ lead to a commit, whatever the name before them.
commit(_, _, word) if fits(word, `^[A-Za-z0-9_@][A-Za-z0-9_./@-]*([~^][0-9]*|\^\{commit\})+$`)

commit(command, i, _) if { # a place behind --, where that is no option's value
	i >= count(command.operands) - count(files(command))
	count([j | some j, word in command.words; word.value == "--"]) == 1
	some k, dashes in command.words
	dashes.value == "--"
	not fits(command.words[k - 1].value, `^-`)
}

# git show HEAD:main.go
shows_files(command) if {
	count(command.operands) > 0
	every word in command.operands {
		fits(word, `^[A-Za-z0-9_][A-Za-z0-9_/.~^-]*:[A-Za-z0-9_][A-Za-z0-9_./-]*$`)
		sources(word)
	}
}

# Tracked files, as they are now, against those that git has taken up: nothing of the
# past.
compares(command) if {
	not command.options.cached
	not command.options.staged
	not command.options["merge-base"]
	count(files(command)) == count(command.operands)
}

# Program text and documents by their names, of whatever time.
compares(command) if {
	count(files(command)) > 0
	every file in files(command) {
		sources(file)
	}
}

# Words behind --, which are no commits.
files(command) := [file.value |
	some i, word in command.words
	word.value == "--"
	some j, file in command.words
	j > i
]

strays(command) if { # an editor opens without a message
	command.subcommand == "commit"
	not command.options.message
}

strays(command) if {
	command.subcommand == "commit"
	count(command.operands) > 0
}

strays(command) if {
	command.subcommand == "branch"
	count(command.operands) > 2
}

# Without a commit to begin at the files stay as they are.
strays(command) if {
	command.subcommand in {"switch", "checkout"}
	count(command.operands) > 0
}

strays(command) if {
	command.subcommand == "switch"
	not command.options.create
}

strays(command) if {
	command.subcommand == "checkout"
	not command.options.b
}

# METADATA
# description: |
#   nobody has changed in this session what git starts: no call before this one
#   did, and none was denied for it. The argument is input.session.
undisturbed(session) if {
	every kind in ["exec.hidden", "git.bypass", "git.config", "persistence"] {
		object.get(session, ["effects", kind, "session"], 0) == 0
	}
	every id in ["gate.git.bypass", "gate.git.config", "gate.persistence.startup"] {
		object.get(session, ["denials_by_policy", id], 0) == 0
	}
}

# METADATA
# description: |
#   all of the call lies in the grant of a person: an object with programs (names of deeds, each
#   with its options), how (create, edit), removes (names of directories) and places
#   (directories and files). Each of them only narrows this package.
granted(grant) if {
	clear
	every command in input.facts.shell.commands {
		does(grant, command)
	}
	within(grant)
	goes_beyond(grant)
}

granted(grant) if {
	input.facts.shell == null
	input.tool_name in {"LS", "Read"}
	input.facts.opaque == false
	count(input.facts.unknown) == 0
	count(input.facts.hosts) == 0
	count(input.facts.code) == 0
	count(input.flow) == 0
	within(grant)
	goes_beyond(grant)
}

# Calls that only look at the project are for gate.quiet.look.
goes_beyond(grant) if {
	some command in input.facts.shell.commands
	deed(grant, command)
}

goes_beyond(_) if {
	some path in input.facts.paths
	not seen(path)
}

within(grant) if {
	every path in input.facts.paths {
		reached(grant, path)
	}

	# A list of names is no effect.
	# gate ignore: never
	every effect in input.facts.effects {
		expected(grant, effect)
	}
}

does(_, command) if looks(command)

does(grant, command) if deed(grant, command)

deed(grant, command) if {
	options := deeds[command.program]
	some name, given in grant.programs
	name == command.program
	command.subcommand == null
	every option, _ in command.options {
		option in options
		option in given
	}
}

# METADATA
# description: |
#   programs that do no more than their effects say, each with the options that a grant
#   may name; no setting, file or option has them start another program
deeds := {
	"clang-format": {"in-place"},
	"gofmt": {"diff", "list", "simplify", "write"},
	"mkdir": {"parents", "verbose"},
	"rm": {"force", "recursive", "verbose"},
	"rmdir": {"verbose"},
	"shfmt": {"diff", "list", "write"},
	"touch": {"a", "m"},
}

reached(_, path) if seen(path)

reached(grant, path) if {
	path.access in {"list", "read", "use"}
	path.resolved == path.path
	not hides(path)
	not sweeps(path)
	some place in grant.places
	below(path.path, place)
}

# METADATA
# description: |
#   a command reads or lists all that lies below the path: nobody has looked at the
#   names there, nor where links there lead
sweeps(path) if {
	some command in input.facts.shell.commands
	command.id == path.command
	recurses(command)
}

sweeps(path) if {
	path.access in {"read", "use"}
	path.path in input.facts.shell.ground.whole
}

recurses(command) if command.program in {"du", "find", "rg", "tree"}

recurses(command) if {
	command.program in {"diff", "grep", "ls"}
	some name in ["R", "r", "recursive"]
	command.options[name]
	not [command.program, name] == ["ls", "r"] # which reverses the order
}

reached(grant, path) if {
	path.access == "write"
	path.in_project == true
	path.resolved == path.path
	path.glob == false
	not fits(path.path, `/\.`)
	count({"create", "edit"} & grant.how) > 0
}

reached(grant, path) if {
	path.access == "delete"
	path.in_project == true
	path.glob == false
	path.resolved == path.path
	removed(grant, path.path)
}

expected(_, effect) if reads(effect)

expected(grant, effect) if {
	effect.kind == "fs.read"
	effect.could_be == []
	effect.area in {"cache", "outside", "system", "temp", "user"}
	some place in grant.places
	below(effect.path, place)
}

expected(grant, effect) if {
	effect.kind == "fs.write"
	effect.could_be == []
	effect.area == "project"
	effect.how == "create"
	effect.recursive == false
	"create" in grant.how
	not fits(effect.path, `/\.`)
}

expected(grant, effect) if { # the same text in another form
	effect.kind == "fs.write"
	effect.could_be == []
	effect.area == "project"
	effect.how == "edit"
	effect.recursive == false
	"edit" in grant.how
	sources(effect.path)
	not fits(effect.path, `/\.`)
}

expected(grant, effect) if { # what tools make again
	effect.kind == "fs.delete"
	effect.could_be == []
	effect.area == "project"
	effect.how == "remove"
	effect.glob == false
	removed(grant, effect.path)
}

# METADATA
# description: the path is that of a directory that a tool fills anew by itself, and has a name of the grant
removed(grant, path) if {
	some name in grant.removes
	endswith(path, sprintf("/%s", [name]))
	fits(name, `^(node_modules|dist|coverage|htmlcov|__pycache__|\.(next|nuxt|turbo|parcel-cache|pytest_cache|mypy_cache|ruff_cache|tox|nyc_output))$`)
}

# METADATA
# description: |
#   the path is the place or lies below it. A grant may name the place: a directory of
#   its own, not a person's or the system's, where no name begins with a dot
below(path, place) if {
	within_place(path, place)
	fits(place, `^(/home/[^/]+|/Users/[^/]+|/root|/tmp|/var/tmp|/opt|/srv|/mnt|/media|/data|/work|/workspaces?|/usr/local/src)/[^/.][^/]*(/[^/.][^/]*)*$`)
	not fits(path, `/\.`)
}

within_place(path, place) if path == place

within_place(path, place) if startswith(path, sprintf("%s/", [place]))

# METADATA
# description: how the commands of the call are named in a reason
listed := concat(", ", sort({name |
	some command in input.facts.shell.commands
	name := title(command)
}))

title(command) := sprintf("git %s", [command.subcommand]) if {
	command.program == "git"
} else := command.program

# METADATA
# description: the span of the whole line, for a reason about all of it
whole := lib.span({"command": 1})
