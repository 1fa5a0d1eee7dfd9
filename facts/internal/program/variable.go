package program

import (
	"path"
	"slices"
	"strings"

	"gate/facts/internal/draft"
	"gate/facts/internal/flow"
	"gate/facts/internal/peer"
	"gate/hook"
	"gate/internal/wordlist"
)

// A runner is variables that make programs load or run something, by what their
// value is taken for. Values that change nothing are those without some texts, or
// the empty one and some words, or for a function to say.
type runner struct {
	names    string // between blanks
	runs     string
	without  string // between blanks
	only     string // between blanks
	harmless func(value string) bool
}

var runners = [...]runner{
	{names: " LD_PRELOAD LD_AUDIT DYLD_INSERT_LIBRARIES ", runs: "library", harmless: harmlessLibrary},
	{names: " LD_LIBRARY_PATH DYLD_LIBRARY_PATH DYLD_FRAMEWORK_PATH ", runs: "library", harmless: harmlessLibraries},
	{names: " BASH_ENV ENV ZDOTDIR PROMPT_COMMAND PYTHONSTARTUP PERL5DB PERL5OPT RUBYOPT MAKEFILES LUA_INIT VIMINIT EXINIT DOTNET_STARTUP_HOOKS ",
		runs: "start-up code", only: " -w -W -W0 -W1 -W2 -W:no-deprecated -W:no-experimental "},
	{names: " PS0 PS4 ", runs: "start-up code", without: "$ `"},
	{names: " NODE_OPTIONS npm_config_node_options BUN_OPTIONS ", runs: "start-up code", harmless: installedModules},
	{names: " JAVA_TOOL_OPTIONS _JAVA_OPTIONS JDK_JAVA_OPTIONS JAVA_OPTS MAVEN_OPTS GRADLE_OPTS SBT_OPTS ANT_OPTS CATALINA_OPTS ",
		runs: "start-up code", without: "-javaagent -agent"},
	{names: " GIT_SSH GIT_SSH_COMMAND GIT_PROXY_COMMAND GIT_EXTERNAL_DIFF GIT_ASKPASS SSH_ASKPASS SUDO_ASKPASS GIT_EXEC_PATH GIT_TEMPLATE_DIR" +
		" RSYNC_RSH RSYNC_CONNECT_PROG SVN_SSH CVS_RSH HGEDITOR SVN_EDITOR SUDO_EDITOR PSQL_PAGER PSQL_EDITOR" +
		" PAGER GIT_PAGER MANPAGER EDITOR VISUAL BAT_PAGER DELTA_PAGER AWS_PAGER GH_PAGER GH_EDITOR SYSTEMD_EDITOR KUBE_EDITOR GIT_EDITOR GIT_SEQUENCE_EDITOR BROWSER LESSOPEN LESSCLOSE SYSTEMD_PAGER ",
		runs: "program", harmless: harmlessProgram},
	{names: " AWS_ENDPOINT_URL ", runs: "proxy", harmless: ownCloud},
	{names: " GOFLAGS ", runs: "program", without: "-toolexec -exec -vettool extld= -insecure"},
	{names: " CFLAGS CXXFLAGS CPPFLAGS LDFLAGS ", runs: "program", without: "-fplugin -wrapper -specs="},
	{names: " RUSTFLAGS RUSTDOCFLAGS CARGO_BUILD_RUSTFLAGS ", runs: "program", without: "linker=/tmp linker=/dev/shm linker=./ linker=sh"},
	{names: " PYTHONBREAKPOINT ", runs: "start-up code", harmless: debugs},
	{names: " CARGO_ALIAS_ ", runs: "program"},
	{names: " FZF_DEFAULT_COMMAND ", runs: "program", harmless: listsFiles},
	{names: " GIT_TRACE GIT_TRACE_SETUP GIT_TRACE_PACKET GIT_TRACE_CURL GIT_TRACE_PERFORMANCE GIT_TRACE2 GIT_TRACE2_EVENT GIT_TRACE2_PERF GIT_INDEX_FILE" +
		" DEPENDENCIES_OUTPUT SUNPRO_DEPENDENCIES NODE_V8_COVERAGE NODE_REPL_HISTORY LESSHISTFILE COVERAGE_FILE LLVM_PROFILE_FILE GCOV_PREFIX PIP_TARGET ",
		runs: "file"},
	{names: " MAKEFLAGS GNUMAKEFLAGS ", runs: "start-up code", without: "--eval -f -E"},
	{names: " CC CXX LD AR SHELL npm_config_script_shell CARGO_BUILD_RUSTC CARGO_BUILD_RUSTC_WRAPPER" +
		" RUSTC_WRAPPER RUSTC_WORKSPACE_WRAPPER RUSTC RUSTDOC CARGO_BUILD_RUSTDOC CMAKE_C_COMPILER_LAUNCHER CMAKE_CXX_COMPILER_LAUNCHER CMAKE_MAKE_PROGRAM" +
		" HOST_CC HOST_CXX TARGET_CC TARGET_CXX CPP FC NM RANLIB STRIP AS OBJCOPY YACC LEX NINJA MAKE PKG_CONFIG CONFIG_SHELL M4 AUTOCONF AUTOMAKE ACLOCAL AUTOHEADER LIBTOOLIZE" +
		" PERL PYTHON RUBY NODE GO JAVACMD VIRTUALENV_PYTHON UV_PYTHON PYTHONEXECUTABLE ANSIBLE_PYTHON_INTERPRETER KUBECTL_EXTERNAL_DIFF GROFF_COMMAND_PREFIX" +
		" npm_config_git npm_config_editor npm_config_viewer npm_config_shell npm_config_node_gyp ",
		runs: "program", harmless: harmlessTool},
	{names: " ERL_FLAGS ERL_AFLAGS ERL_ZFLAGS ELIXIR_ERL_OPTIONS ", runs: "start-up code", without: "-eval -run -boot"},
	{names: " HTTP_PROXY HTTPS_PROXY ALL_PROXY http_proxy https_proxy all_proxy ", runs: "proxy", harmless: privateProxy},
	{names: " ANTHROPIC_BASE_URL OPENAI_BASE_URL CLAUDE_CODE_API_BASE_URL CODEX_HOME CLAUDE_CONFIG_DIR GEMINI_CLI_HOME ", runs: "agent"},
	{names: " NODE_TLS_REJECT_UNAUTHORIZED PYTHONHTTPSVERIFY ", runs: "no certificate check", harmless: notZero},
	{names: " GIT_SSL_NO_VERIFY ", runs: "no certificate check", only: " 0 false "},
	{names: " GIT_ALLOW_PROTOCOL ", runs: "program", without: "ext fd"},
	{names: " TAR_OPTIONS ", runs: "program", without: "-action -command -compress-program -I"},
	{names: " PYTHONPATH PYTHONHOME NODE_PATH PERL5LIB RUBYLIB CLASSPATH LUA_PATH LUA_CPATH GCONV_PATH OPENSSL_CONF OPENSSL_ENGINES OPENSSL_MODULES" +
		" CORECLR_PROFILER_PATH ANSIBLE_LIBRARY TF_CLI_CONFIG_FILE FPATH R_PROFILE R_PROFILE_USER PHPRC PHP_INI_SCAN_DIR WGETRC CURL_HOME PSQLRC" +
		" SCREENRC INPUTRC PYTHONUSERBASE MYSQL_HOME RIPGREP_CONFIG_PATH GOENV GCC_EXEC_PREFIX COMPILER_PATH CMAKE_TOOLCHAIN_FILE" +
		" CMAKE_PROJECT_INCLUDE CMAKE_PROJECT_INCLUDE_BEFORE CMAKE_PROJECT_TOP_LEVEL_INCLUDES HGRCPATH GIT_CONFIG ANSIBLE_CALLBACK_PLUGINS ANSIBLE_FILTER_PLUGINS ANSIBLE_CONFIG PIP_CONFIG_FILE npm_config_userconfig npm_config_globalconfig npm_config_init_module" +
		" APT_CONFIG YARN_YARN_PATH YARN_RC_FILENAME BUNDLE_GEMFILE JULIA_LOAD_PATH R_ENVIRON R_ENVIRON_USER GTK_MODULES QT_PLUGIN_PATH XDG_CONFIG_DIRS TEXMFCNF MSBUILD_EXE_PATH TERRAFORM_CONFIG ",
		runs: "library", without: "/tmp /dev/shm"},
	{names: " PATH ", runs: "program path", harmless: ordinaryPath},
	{names: " PIP_INDEX_URL PIP_FIND_LINKS PIP_EXTRA_INDEX_URL UV_INDEX_URL UV_EXTRA_INDEX_URL UV_DEFAULT_INDEX UV_INDEX npm_config_registry GOPROXY ",
		runs: "packages", harmless: knownRegistries},
	{names: " HUSKY LEFTHOOK ", runs: "hooks off", harmless: notZero},
	{names: " HUSKY_SKIP_HOOKS SKIP PRE_COMMIT_ALLOW_NO_CONFIG ", runs: "hooks off"},
	{names: " GIT_CONFIG_GLOBAL GIT_CONFIG_SYSTEM GIT_CONFIG_PARAMETERS ", runs: "git configuration", only: " /dev/null "},
	{names: " GIT_CONFIG_KEY_ ", runs: "git configuration", harmless: harmlessKey},
}

// exportedFunction is a variable that holds a function of bash.
var exportedFunction = runner{runs: "function", harmless: func(string) bool { return false }}

// runnerOf returns what a variable makes programs run, nil if nothing.
func runnerOf(name string) *runner {
	if strings.HasPrefix(name, "BASH_FUNC_") {
		return &exportedFunction
	}
	name = family(name)
	at := slices.IndexFunc(runners[:], func(r runner) bool { return wordlist.Has(r.names, name) })
	if at < 0 {
		return nil
	}
	return &runners[at]
}

// family is the name of the row for a variable that is one of many of a kind: with a
// number, a target or a component in its name, or in capitals where its program takes
// both.
func family(name string) string {
	head, _, _ := strings.Cut(name, "_")
	switch upper := strings.ToUpper(name); {
	case strings.HasPrefix(upper, "NPM_CONFIG_"):
		return strings.ToLower(name)
	case strings.HasPrefix(name, "CARGO_TARGET_") && (strings.HasSuffix(name, "_RUNNER") || strings.HasSuffix(name, "_LINKER")):
		return "RUSTC_WRAPPER"
	case strings.HasPrefix(name, "CARGO_TARGET_") && strings.HasSuffix(name, "_RUSTFLAGS"):
		return "RUSTFLAGS"
	case strings.HasPrefix(name, "CARGO_ALIAS_"):
		return "CARGO_ALIAS_"
	case strings.HasPrefix(name, "GIT_CONFIG_KEY_"):
		return "GIT_CONFIG_KEY_"
	case strings.HasPrefix(name, "ANSIBLE_") && strings.HasSuffix(name, "_PLUGINS"):
		return "ANSIBLE_CALLBACK_PLUGINS"
	case head != name && wordlist.Has(" CC CXX AR CFLAGS CXXFLAGS ", head): // CC_x86_64_unknown_linux_gnu
		return head
	}
	return name
}

// harmlessKey reports a setting of git that runs nothing, whatever its value.
func harmlessKey(key string) bool {
	runs, bypass := gitRuns(key, flow.Unknown(&flow.Hole{Why: "a value"}))
	return !runs && !bypass
}

// spares reports a value that changes nothing.
func (r *runner) spares(value string) bool {
	switch {
	case r.harmless != nil:
		return r.harmless(value)
	case r.without != "":
		return !wordlist.Within(value, r.without)
	}
	return value == "" || wordlist.Has(r.only, value)
}

// installedModules reports options of Node that load packages of the project and nothing
// by a path or an address, as a program of the project does: --require dotenv/config.
// Node takes quotes and backslashes out of the words.
func installedModules(v string) bool {
	words := strings.Fields(strings.NewReplacer(`"`, "", `\`, "").Replace(v))
	for i := 0; i < len(words); i++ {
		option, module, given := strings.Cut(words[i], "=")
		switch {
		case wordlist.Has(" -r --require --import --preload ", option):
			if !given {
				if i++; i == len(words) {
					return false
				}
				module = words[i]
			}
			if !packageModule().MatchString(module) || strings.Contains(module, "/.") {
				return false
			}
		case strings.HasPrefix(option, "-r"), wordlist.Within(option, "require import preload loader"):
			return false
		}
	}
	return true
}

var packageModule = lazy(`^(@[a-z0-9-][a-z0-9._-]*/)?[a-z0-9-][a-z0-9._-]*(/[A-Za-z0-9._-]+)*$`)

// debugs reports a function that a debugger has for a breakpoint.
func debugs(v string) bool {
	return v == "" || v == "0" || strings.HasSuffix(v, "set_trace") || strings.HasSuffix(v, ".embed") || strings.HasSuffix(v, "breakpoint")
}

// listsFiles reports a command that only lists files.
func listsFiles(v string) bool {
	program, _, _ := strings.Cut(v, " ")
	return v == "" || wordlist.Has(" fd fdfind find rg ag git ls ", program) && !strings.ContainsAny(v, ";&`$<>")
}

// harmlessLibrary reports a library that only root can change.
func harmlessLibrary(v string) bool {
	return v == "" || strings.HasPrefix(v, "/usr/lib/") && !strings.ContainsAny(v, ": ") && !strings.Contains(v, "..")
}

// harmlessLibraries reports directories of libraries that are not everybody's.
func harmlessLibraries(v string) bool {
	return harmlessLibrary(v) || !strings.HasPrefix(v, "/tmp") && !strings.HasPrefix(v, ".") && !strings.Contains(v, "..")
}

// harmlessTool knows a program that nobody else may write to, without a shell.
func harmlessTool(v string) bool {
	return !strings.ContainsAny(v, ";|&$`(<>'\"") && !strings.HasPrefix(v, "/tmp") && !strings.HasPrefix(v, "/dev/shm") && !strings.HasPrefix(v, "/var/tmp")
}

// ownCloud knows Amazon's endpoints, and stand-ins for them nearby.
func ownCloud(v string) bool {
	p := peer.Parse(v, true)
	return v == "" || p.Private || strings.HasSuffix(p.Host, ".amazonaws.com") || localHost(p.Host)
}

func privateProxy(v string) bool { return v == "" || peer.Parse(v, true).Private }

func notZero(v string) bool { return v != "0" }

// ordinaryPath reports a PATH in which nothing that anybody may write to comes before
// the system's own directories.
func ordinaryPath(v string) bool {
	for dir := range strings.SplitSeq(v, ":") {
		switch {
		case dir == "/usr/bin", dir == "/bin":
			return true
		case dir == ".", strings.HasPrefix(dir, "/tmp"), strings.HasPrefix(dir, "/dev/shm"), strings.HasPrefix(dir, "/var/tmp"):
			return false
		}
	}
	return true
}

// knownRegistries reports that packages come from where everybody takes them,
// or from this network.
func knownRegistries(v string) bool {
	for _, one := range strings.FieldsFunc(v, func(r rune) bool { return r == ',' || r == '|' || r == ' ' }) {
		p := peer.Parse(one, true)
		switch {
		case one == "direct", one == "off", p.Private:
		case !strings.HasPrefix(one, "https://"):
			return false
		case !wordlist.Has(" pypi.org test.pypi.org download.pytorch.org pypi.nvidia.com registry.npmjs.org registry.yarnpkg.com npm.pkg.github.com proxy.golang.org goproxy.io goproxy.cn ", p.Host):
			return false
		}
	}
	return true
}

// harmlessProgram lists programs that people name in PAGER and EDITOR, with options
// that have them run nothing else. What [scripted] ones do is for their script to
// say.
func harmlessProgram(v string) bool {
	words := strings.Fields(v)
	if len(words) == 0 {
		return true
	}
	if scripted(v) {
		return true
	}
	if strings.ContainsAny(v, ";|&$`(<>") {
		return false
	}
	switch path.Base(words[0]) {
	case "cat", "less", "more", "most", "bat", "batcat", "delta", "diff-so-fancy", "head", "true", ":", "echo", "none":
		return !strings.ContainsAny(v, "!+")
	case "vi", "vim", "nvim", "nano", "emacs", "emacsclient", "code", "ed", "subl", "hx", "micro":
		return !slices.ContainsFunc(words[1:], func(option string) bool {
			return !wordlist.Has(" -f -n -w -c -nw -t -R -r -g --wait --new-window --reuse-window --nofork --clean --tty --create-frame ", option)
		})
	case "ssh":
		return plainSSH(words[1:])
	}
	return false
}

// scripted reports an editor that takes its commands from the value, as in
// GIT_SEQUENCE_EDITOR="sed -i s/pick/edit/".
func scripted(v string) bool {
	words := strings.Fields(v)
	return len(words) > 1 && (path.Base(words[0]) == "sed" || path.Base(words[0]) == "perl") && strings.Contains(v, "-i") && !strings.ContainsAny(v, ";|&`")
}

// plainSSH reports options of ssh that have it load no library, run no command and
// read no file of settings.
func plainSSH(words []string) bool {
	for i, word := range words {
		switch {
		case strings.HasPrefix(word, "-I"):
			return false
		case strings.HasPrefix(word, "-F"):
			if file := strings.Join(append([]string{word[2:]}, words[i+1:]...), " "); !strings.HasPrefix(strings.TrimSpace(file)+" ", "/dev/null ") {
				return false
			}
		}
		if wordlist.Within(strings.ToLower(word), "command provider include") {
			return false
		}
	}
	return true
}

// flagged lists variables whose value is dangerous by what stands in it, so that
// a part that is not known is as harmless as the rest.
func flagged(name string) bool {
	return wordlist.Has(" GOFLAGS MAKEFLAGS GNUMAKEFLAGS CC CXX LD AR ", name)
}

// Sets judges a variable that makes programs run code, set by a command. It returns
// the text that they would run, "" for none.
func (p *Programs) Sets(d *draft.Draft, id int, name string, value flow.Word) (runs string) {
	r := runnerOf(name)
	if name == "CLAUDE_CODE_SIMPLE" || strings.HasPrefix(name, "GATE_") {
		d.Effect(id, &hook.Self{What: "agent settings", Verb: "configure"})
		return ""
	}
	if v := value.Value(); v != nil && (name == "HISTFILE" && (*v == "" || *v == "/dev/null") || (name == "HISTSIZE" || name == "HISTFILESIZE") && *v == "0") {
		d.Effect(id, &hook.System{Verb: "history", What: new(name), Access: "write"})
	}
	if r == nil {
		return ""
	}
	if r.runs == "file" {
		d.MaybePath(d.Here(), id, "--output", value)
		return ""
	}
	vs, known := value.Variants()
	harmless := known || name == "PATH" || strings.HasSuffix(name, "_PATH") || strings.HasSuffix(name, "PATH")
	if known {
		for _, v := range vs {
			harmless = harmless && r.spares(v)
		}
	} else if harmless {
		harmless = r.spares(value.Prefix())
	} else if flagged(name) {
		harmless = r.spares(value.Text())
	}
	switch {
	case harmless && r.runs == "program" && wordlist.Has(r.names, "CC") && strings.Contains(value.Text(), " "):
		return value.Text() + " argument" // what it does is judged as a line
	case harmless && (r.runs != "program" || !scripted(value.Text())):
		return ""
	case harmless:
	case r.runs == "hooks off":
		d.Effect(id, &hook.GitBypass{What: "hooks", Verb: "environment"})
		return ""
	default:
		d.Effect(id, &hook.Environment{Variable: new(name), Value: value.Value(), Runs: r.runs})
	}
	if r.runs == "program" || r.runs == "start-up code" {
		if v := value.Value(); v != nil && strings.ContainsAny(*v, " ;|&$") {
			return *v
		}
	}
	return ""
}

// sets judges a variable that the program sets for others.
func (u *use) sets(name string, value flow.Word) {
	if text := u.programs.Sets(u.Draft, u.ID, name, value); text != "" {
		u.shell.Line(name, text)
	}
}

// environ returns what the program finds in its environment, as far as the
// shell's own variables, and what stands in front of it, tell.
func (u *use) environ(name string) (value flow.Word, set bool) {
	for _, e := range u.Env {
		if e.Name == name {
			value, set = e.Value, true
		}
	}
	text, ambient := u.World.Env(name)
	v, ok := u.shell.Variable(name)
	switch {
	case set:
		return value, true
	case ok && (ambient || v.Exported || v.Unset):
		return v.Value, !v.Unset
	}
	return flow.Literal(text), ambient
}
