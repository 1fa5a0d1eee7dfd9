package program

import (
	"io/fs"
	"path"
	"slices"
	"strings"

	"gate/facts/internal/flow"
	"gate/facts/internal/gitconfig"
	"gate/facts/internal/world"
	"gate/hook"
	"gate/internal/wordlist"
)

// gitVerbRows say what verbs of git do that settings bear on: they look at files of the
// worktree, show contents, make commits, or talk to a peer. Of other verbs nothing is
// said.
const gitVerbRows = `status | files
diff | files shows
show | shows
log | shows
add | files
commit | files commits
branch | refs
switch | files
checkout | files
fetch | peers
pull | files commits peers
push | peers
`

// gitStartRows are settings that name a program, or have git start one, by what a verb
// does; one star stands for any name in between. The first row is for all verbs. A
// clone that lacks objects gets them from its peer, whatever the verb.
const gitStartRows = `any | core.pager pager.* extensions.partialclone remote.*.promisor hook.*.command
files | core.fsmonitor filter.*.clean filter.*.smudge filter.*.process
shows | diff.external diff.*.command diff.*.textconv log.showsignature format.pretty pretty.*
commits | commit.gpgsign trailer.*.command trailer.*.cmd core.alternaterefscommand gc.recentobjectshook merge.verifysignatures pull.twohead pull.octopus branch.*.mergeoptions pull.rebase branch.*.rebase merge.*.driver
peers | core.sshcommand core.gitproxy core.askpass core.alternaterefscommand gc.recentobjectshook remote.*.uploadpack remote.*.receivepack remote.*.vcs push.gpgsign protocol.ext.allow fetch.bundleuri
`

// gitHarmlessRows are settings that start nothing, lead to no other place and change
// nothing about what is shown or sent. Nobody vouches for a setting in no row of the
// two. The row any is for all verbs, own for those that talk to no peer.
const gitHarmlessRows = `any | user.name user.email user.useconfigonly user.signingkey author.name author.email committer.name committer.email init.defaultbranch color.* column.* advice.* alias.* help.* gui.*
any | core.repositoryformatversion core.filemode core.bare core.logallrefupdates core.ignorecase core.precomposeunicode core.symlinks core.autocrlf core.eol core.safecrlf core.editor core.excludesfile core.attributesfile core.quotepath core.untrackedcache core.preloadindex core.fscache core.longpaths core.compression core.loosecompression core.bigfilethreshold core.abbrev core.commentchar core.whitespace core.trustctime core.checkstat core.commitgraph core.multipackindex core.protectntfs core.protecthfs core.warnambiguousrefs core.packedgitlimit core.packedgitwindowsize core.deltabasecachelimit core.hidedotfiles core.hookspath core.worktree core.sparsecheckout core.sparsecheckoutcone
any | branch.*.remote branch.*.merge branch.*.pushremote branch.*.description branch.*.vscode-merge-base branch.*.github-pr-owner-number branch.*.gh-merge-base branch.autosetupmerge branch.autosetuprebase
any | log.date log.decorate log.abbrevcommit log.follow log.graphcolors log.mailmap log.showroot diff.algorithm diff.colormoved diff.colormovedws diff.context diff.interhunkcontext diff.mnemonicprefix diff.noprefix diff.renames diff.renamelimit diff.indentheuristic diff.wserrorhighlight diff.submodule diff.tool diff.guitool difftool.* merge.tool merge.guitool mergetool.* merge.conflictstyle merge.stat merge.log merge.renames merge.verbosity
any | status.short status.branch status.showuntrackedfiles status.relativepaths status.renames status.aheadbehind status.showstash commit.template commit.verbose commit.cleanup commit.status pull.ff fetch.prune fetch.parallel fetch.writecommitgraph fetch.showforcedupdates fetch.output rebase.* rerere.enabled rerere.autoupdate stash.* tag.sort tag.gpgsign tag.forcesignannotated gpg.* sequence.editor format.signoff format.subjectprefix filter.*.required lfs.* safe.* include.path includeif.*
any | extensions.worktreeconfig maintenance.* gc.auto gc.autodetach gc.autopacklimit gc.pruneexpire gc.reflogexpire gc.reflogexpireunreachable gc.writecommitgraph pack.threads pack.windowmemory pack.packsizelimit pack.deltacachesize index.threads index.version feature.manyfiles feature.experimental i18n.commitencoding i18n.logoutputencoding interactive.singlekey add.ignoreerrors checkout.defaultremote checkout.guess checkout.workers worktree.guessremote versionsort.suffix blame.* grep.* delta.* github.* hub.* gitflow.* sendemail.* man.* browser.* web.* guitool.*
own | remote.* url.* http.* credential.* protocol.* transfer.* receive.* uploadpack.* submodule.* push.* fetch.*
peers | remote.*.url remote.*.pushurl remote.*.fetch remote.*.prune remote.*.tagopt remote.*.gh-resolved remote.*.skipdefaultupdate remote.*.skipfetchall remote.pushdefault url.*.insteadof url.*.pushinsteadof http.postbuffer http.version http.lowspeedlimit http.lowspeedtime http.maxrequests http.minsessions http.sslverify credential.helper credential.*.helper credential.username credential.*.username credential.usehttppath credential.*.usehttppath credential.*.provider protocol.version transfer.fsckobjects fetch.fsckobjects receive.fsckobjects push.default push.autosetupremote
`

// gitVariableRows are variables that do the same, or have git look elsewhere.
const gitVariableRows = `any | GIT_PAGER PAGER GIT_DIR GIT_WORK_TREE GIT_COMMON_DIR GIT_INDEX_FILE GIT_OBJECT_DIRECTORY GIT_ALTERNATE_OBJECT_DIRECTORIES GIT_CONFIG GIT_CONFIG_GLOBAL GIT_CONFIG_SYSTEM GIT_CONFIG_NOSYSTEM GIT_CONFIG_COUNT GIT_CONFIG_PARAMETERS GIT_EXEC_PATH GIT_NAMESPACE GIT_ATTR_SOURCE GIT_ATTR_NOSYSTEM GIT_ATTR_GLOBAL GIT_ATTR_SYSTEM GIT_SHALLOW_FILE GIT_GRAFT_FILE GIT_REPLACE_REF_BASE GIT_NO_REPLACE_OBJECTS GIT_CEILING_DIRECTORIES GIT_DISCOVERY_ACROSS_FILESYSTEM GIT_LITERAL_PATHSPECS GIT_GLOB_PATHSPECS GIT_NOGLOB_PATHSPECS GIT_ICASE_PATHSPECS GIT_PREFIX GIT_INTERNAL_SUPER_PREFIX GIT_QUARANTINE_PATH GIT_REF_STORAGE GIT_DEFAULT_REF_FORMAT GIT_TEMPLATE_DIR GIT_TRACE GIT_TRACE_SETUP GIT_TRACE_PERFORMANCE GIT_TRACE_PACKET GIT_TRACE_PACKFILE GIT_TRACE_PACK_ACCESS GIT_TRACE_REFS GIT_TRACE_CURL GIT_TRACE_FSMONITOR GIT_TRACE_SHALLOW GIT_TRACE_BARE GIT_TRACE2 GIT_TRACE2_EVENT GIT_TRACE2_PERF GIT_REDIRECT_STDIN GIT_REDIRECT_STDOUT GIT_REDIRECT_STDERR GIT_TEST_FSMONITOR LD_PRELOAD LD_AUDIT LD_LIBRARY_PATH DYLD_INSERT_LIBRARIES DYLD_LIBRARY_PATH
shows | GIT_EXTERNAL_DIFF GIT_DIFF_OPTS
peers | GIT_SSH GIT_SSH_COMMAND GIT_SSH_VARIANT GIT_PROXY_COMMAND GIT_ASKPASS SSH_ASKPASS GIT_ALLOW_PROTOCOL GIT_PROTOCOL_FROM_USER GIT_PROTOCOL GIT_SSL_NO_VERIFY GIT_SSL_CAINFO GIT_SSL_CAPATH GIT_SSL_CERT GIT_SSL_KEY GIT_SSL_VERSION GIT_PROXY_SSL_CERT GIT_PROXY_SSL_KEY GIT_PROXY_SSL_CAINFO GIT_HTTP_PROXY_AUTHMETHOD GIT_CURL_VERBOSE GIT_PUSH_OPTION_COUNT http_proxy https_proxy all_proxy HTTP_PROXY HTTPS_PROXY ALL_PROXY SSL_CERT_FILE SSL_CERT_DIR CURL_CA_BUNDLE NETRC HOSTALIASES RES_OPTIONS LOCALDOMAIN
`

// sshHarmless are words of the person's settings of ssh that start nothing, lead to no
// other place and check no less.
const sshHarmless = " host user identityfile identitiesonly addkeystoagent usekeychain ignoreunknown serveraliveinterval serveralivecountmax connecttimeout connectionattempts tcpkeepalive compression " +
	"hashknownhosts visualhostkey loglevel addressfamily preferredauthentications pubkeyauthentication passwordauthentication forwardagent "

// gitDecides says what decides, beside its words, what a command of git does: the
// programs that settings, variables and hooks make it start, and the peers. It returns
// nil where that is not known as a whole. It may name more programs than start, never
// fewer.
func (u *use) gitDecides() *hook.Repository {
	if u.World.WordsOnly || len(u.verbs) != 1 || u.at().Remote || u.at().Windows || path.Base(u.Words[0].Text()) != "git" || u.World.Getenv == nil {
		return nil
	}
	does := gitDoes(u.verbs[0])
	r, ok := u.gitRepositoryOf()
	if does == "" || !ok {
		return nil
	}
	settings, whole := u.gitConfiguration(r.git)
	if !whole || settings.Last("core.worktree") != "" || gitconfig.True(settings.Last("core.bare")) || settings.Last("extensions.objectformat") != "" {
		return nil
	}
	is := &hook.Repository{Starts: gitStarts(settings, does), Remotes: []string{}, Secrets: []string{}}
	is.Starts = append(is.Starts, u.gitVariables(does)...)
	is.Starts = append(is.Starts, u.gitHooksOf(r, settings)...)
	if does != " refs " && !u.gitIndexed(is, r, wordlist.Has(" add commit push ", u.verbs[0]) || wordlist.Has(does, "shows") && !u.gitSums()) {
		return nil
	}
	if wordlist.Has(does, "shows") || wordlist.Has(" add commit push ", u.verbs[0]) {
		u.gitSecrets(is, r)
	}
	if wordlist.Has(does, "peers") {
		if !u.gitPeers(is, r, settings) || u.verbs[0] == "push" && !u.gitPushesBranches(is, r, settings) {
			return nil
		}
		is.Starts = append(is.Starts, credentialStarts(settings, is.Remotes)...)
		if slices.ContainsFunc(is.Remotes, func(address string) bool { return strings.HasPrefix(address, "ssh://") }) {
			is.Starts = append(is.Starts, u.sshStarts()...)
		}
	}
	slices.Sort(is.Starts)
	is.Starts = slices.Compact(is.Starts)
	return is
}

// gitDoes is what a verb does, by gitVerbRows; "" for one without a row.
func gitDoes(verb string) string {
	for line := range strings.Lines(gitVerbRows) {
		if name, does, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " | "); name == verb {
			return " " + does + " "
		}
	}
	return ""
}

// gitStarts are the settings that start something, by their keys, and those of which
// nobody knows that they do not. All values count, for nobody knows here which condition
// of an include holds.
func gitStarts(settings gitconfig.Settings, does string) []string {
	list, vouched, peers := []string{}, does+"own ", wordlist.Has(does, "peers")
	if peers {
		vouched = does
	}
	for key, values := range settings {
		switch {
		case rowFor(gitStartRows, does, key) && slices.ContainsFunc(values, func(value string) bool { return gitValueStarts(key, value) }),
			!rowFor(gitStartRows, everything, key) && !rowFor(gitHarmlessRows, vouched, key),
			peers && slices.ContainsFunc(values, func(value string) bool { return leadsAstray(key, value) }):
			list = append(list, key)
		}
	}
	return list
}

// everything is what verbs do, all of it.
const everything = " files shows commits refs peers "

// leadsAstray reports a harmful value of a peer's setting that is otherwise harmless.
// Examples are refs other than a peer's own, a push of all branches or to another one, and
// a peer that is not checked.
func leadsAstray(key, value string) bool {
	switch {
	case key == "push.default":
		return !wordlist.Has(" simple current nothing ", value)
	case key == "http.sslverify":
		return !gitconfig.True(value)
	case strings.HasPrefix(key, "remote.") && strings.HasSuffix(key, ".fetch"):
		from, to, ok := strings.Cut(strings.TrimPrefix(value, "+"), ":")
		branch, heads := strings.CutPrefix(from, "refs/heads/")
		return !ok || !heads || to != "refs/remotes/"+strings.TrimSuffix(strings.TrimPrefix(key, "remote."), ".fetch")+"/"+branch
	}
	return false
}

// rowFor reports a row of what a verb does, or of all verbs, with a pattern that fits a
// key.
func rowFor(rows, does, key string) bool {
	for line := range strings.Lines(rows) {
		kind, patterns, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " | ")
		if kind != "any" && !wordlist.Has(does, kind) {
			continue
		}
		for pattern := range strings.FieldsSeq(patterns) {
			before, after, star := strings.Cut(pattern, "*")
			if pattern == key || star && len(key) > len(before)+len(after) && strings.HasPrefix(key, before) && strings.HasSuffix(key, after) {
				return true
			}
		}
	}
	return false
}

// gitValueStarts reports a value of a setting of gitStartRows by which git starts a
// program that is not its own.
func gitValueStarts(key, value string) bool {
	switch {
	case strings.HasPrefix(key, "pager.") || key == "core.pager":
		return pagerStarts(value)
	case key == "core.fsmonitor": // true: git's own
		return !wordlist.Has(" true yes on 1 false no off 0 ", strings.ToLower(value)) && value != ""
	case key == "format.pretty" || strings.HasPrefix(key, "pretty."):
		return strings.Contains(strings.NewReplacer("%+", "%", "%-", "%", "% ", "%").Replace(value), "%G") // a signature is checked
	}
	return gitconfig.True(value)
}

// pagerStarts reports a value that starts another program than a pager that is known.
func pagerStarts(value string) bool {
	return value != "" && !wordlist.Has(" true false ", value) && (scripted(value) || !harmlessProgram(value))
}

// gitVariables are the variables that start something or have git look elsewhere.
func (u *use) gitVariables(does string) (list []string) {
	for line := range strings.Lines(gitVariableRows) {
		kind, names, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " | ")
		if kind != "any" && !wordlist.Has(does, kind) {
			continue
		}
		for name := range strings.FieldsSeq(names) {
			value, set := u.environ(name)
			if text := value.Value(); !set || text != nil && (*text == "" || strings.HasSuffix(name, "PAGER") && !pagerStarts(*text)) {
				continue
			}
			list = append(list, name)
		}
	}
	return list
}

// gitHooksOf are the hooks that the verb runs and that are there.
func (u *use) gitHooksOf(r repository, settings gitconfig.Settings) (list []string) {
	elsewhere := len(settings["core.hookspath"]) > 0
	for line := range strings.Lines(hookRows) {
		verbs, names, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " | ")
		if !wordlist.Has(" "+verbs+" ", u.verbs[0]) {
			continue
		}
		if elsewhere {
			list = append(list, "core.hookspath")
		}
		for name := range strings.FieldsSeq(names) {
			if u.World.Exists(r.common + "/hooks/" + name) {
				list = append(list, "hook "+name)
			}
		}
	}
	return list
}

// sums are options with which git shows names and numbers, and no contents.
const sums = " stat shortstat numstat name-only name-status quiet no-patch s "

// plainOptions go with them and change nothing about that.
const plainOptions = sums + "oneline max-count pretty graph decorate no-decorate all since until after before author committer grep reverse first-parent merges no-merges date " +
	"abbrev-commit follow color no-color skip cached staged branches tags no-pager C P no-optional-locks "

// gitCommit is an operand that surely names a commit. A hash or a tag may be a file's,
// which git prints whatever is asked for of commits, and a tag comes before a branch of
// the same name. Behind ~ and ^ there is no file.
var gitCommit = lazy(`^((HEAD|@|refs/heads/[A-Za-z0-9_][A-Za-z0-9_./-]*)|[A-Za-z0-9_@][A-Za-z0-9_./@-]*([~^][0-9]*|\^\{commit\})+)$`)

// gitSums reports a command that shows no contents of files.
func (u *use) gitSums() bool {
	for _, f := range u.rest {
		if u.verbs[0] != "show" {
			break
		}
		if v := f.Value(); v == nil || !gitCommit().MatchString(*v) {
			return false
		}
	}
	sum := u.verbs[0] == "log" // which shows none by itself
	for name := range u.opts {
		if !wordlist.Has(plainOptions, name) && strings.Trim(name, "0123456789") != "" {
			return false
		}
		sum = sum || wordlist.Has(sums, name)
	}
	return sum
}

// noSecret are endings of program text, documents and pictures: a name with one tells of
// no secret, and most files of a repository have one.
const noSecret = " .go .py .js .ts .tsx .jsx .mjs .cjs .rs .c .h .cc .cpp .hpp .cs .java .kt .rb .php .swift .scala .dart .ex .exs .hs .ml .lua .zig .vue .svelte .md .rst .html .css .scss .less " +
	".svg .png .jpg .jpeg .gif .ico .webp .woff .woff2 .ttf .lock .sum .snap "

// maxNames bounds how many other names are compared with those of secrets for a command.
const maxNames = 200

// gitIndexed notes the submodules of the repository, which are repositories with settings
// of their own, and tracked files whose names tell of a secret.
func (u *use) gitIndexed(is *hook.Repository, r repository, secrets bool) (whole bool) {
	names := 0
	whole = u.World.Indexed(r.git, func(name string, submodule bool) {
		if submodule {
			is.Starts = append(is.Starts, "submodule "+name)
		}
		if !secrets || wordlist.Has(noSecret, strings.ToLower(path.Ext(name))) {
			return
		}
		if names++; names > maxNames {
			return
		}
		if _, ok := u.World.Find("secret.", r.top+"/"+name); ok {
			is.Secrets = append(is.Secrets, r.top+"/"+name)
		}
	})
	return whole && names <= maxNames
}

// gitSecrets notes the files with a secret that a command takes up or shows. Of a commit
// or a push they are those that calls put one in, whether git tracks them or not.
func (u *use) gitSecrets(is *hook.Repository, r repository) {
	words := []flow.Word{flow.Literal(r.top)}
	if u.verbs[0] == "add" && len(u.rest) > 0 {
		if words = u.gitNamed(false); len(words) > 0 {
			for _, f := range words {
				for _, t := range u.targets(f) {
					if what, _ := u.Secret(t.Path); what != "" {
						is.Secrets = append(is.Secrets, t.Path)
					}
				}
			}
		}
	}
	for _, s := range u.withOrigin(words) {
		if s.Taint.Secret != "" && (!wordlist.Has(" commit push ", u.verbs[0]) || !s.Named || u.wroteSecret(s.Path)) {
			is.Secrets = append(is.Secrets, s.Path)
		}
	}
}

// A repository is where git keeps what is its own, and the worktree.
type repository struct {
	git    string // of the worktree
	common string // of all worktrees
	top    string // of the worktree
}

// gitRepositoryOf finds the repository that git itself would find, if it belongs to the
// project and everything about it is as usual. git looks upwards from its directory,
// behind links, and takes a bare repository, too.
func (u *use) gitRepositoryOf() (r repository, ok bool) {
	if len(u.at().Dirs) != 1 || slices.ContainsFunc([]string{"git-dir", "work-tree", "namespace", "super-prefix", "exec-path", "attr-source", "bare"}, u.has) {
		return r, false
	}
	if home, set := u.environ("HOME"); set && flow.Text(home.Value()) != u.World.Home {
		return r, false // where the person's settings lie
	}
	start, known := u.World.Resolve(u.at().Dirs[0], u.Links, true)
	if !known || !u.World.InProject(u.at().Dirs[0]) {
		return r, false
	}
	for dir := start; u.World.InProject(dir); dir = world.Parent(dir) {
		if r.git = dir + "/.git"; u.World.Exists(r.git) {
			r.top = dir
			return r, u.gitIsRepository(&r)
		}
		if u.World.Exists(dir+"/HEAD") && u.World.Exists(dir+"/objects") || dir == "/" {
			return r, false
		}
	}
	return r, false
}

// gitIsRepository follows .git where it is a file of a worktree, and reports what git
// takes for a repository.
func (u *use) gitIsRepository(r *repository) bool {
	info, err := u.World.Files.Lstat(r.git)
	switch {
	case err != nil || info.Mode()&fs.ModeSymlink != 0:
		return false
	case !info.IsDir():
		to, ok := u.World.GitLinked(r.git)
		if !ok {
			return false
		}
		r.git = to
	}
	common, ok := u.World.GitCommon(r.git)
	if r.common = common; !ok {
		return false
	}
	_, err = u.World.Read(r.git+"/HEAD", 4096)
	return err == nil && u.World.Exists(r.common+"/objects") && u.World.Exists(r.common+"/refs")
}

// maxSSHConfig is far more than a file of settings holds, in bytes.
const maxSSHConfig = 256 << 10

// sshStarts says whether the person's settings of ssh start something.
func (u *use) sshStarts() []string {
	text, err := u.World.Read(u.World.Home+"/.ssh/config", maxSSHConfig)
	if err != nil && !u.World.Exists(u.World.Home+"/.ssh/config") {
		return nil
	}
	if err != nil {
		return []string{"~/.ssh/config"}
	}
	for line := range strings.Lines(text) {
		word, _, _ := strings.Cut(strings.TrimSpace(strings.NewReplacer("=", " ", "\t", " ", "\"", " ").Replace(line)), " ")
		if word != "" && word[0] != '#' && !wordlist.Has(sshHarmless, strings.ToLower(word)) {
			return []string{"~/.ssh/config"}
		}
	}
	return nil
}
