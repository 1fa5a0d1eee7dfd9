package facts

import (
	"path"
	"strings"

	"gate/facts/peer"
	"gate/facts/wordlist"
	"gate/hook"
)

// A runner is a variable that makes programs load or run something.
type runner struct {
	runs     string
	harmless func(string) bool // values that change nothing
}

// runners lists variables by what their value is taken for.
func runners(name string) (runner, bool) {
	switch {
	case wordlist.Has(" LD_PRELOAD LD_AUDIT LD_LIBRARY_PATH DYLD_INSERT_LIBRARIES DYLD_LIBRARY_PATH DYLD_FRAMEWORK_PATH ", name):
		return runner{"library", func(v string) bool {
			return v == "" || strings.HasSuffix(name, "_PATH") && !strings.HasPrefix(v, "/tmp") && !strings.HasPrefix(v, ".") && !strings.Contains(v, "..") ||
				strings.HasPrefix(v, "/usr/lib/") && !strings.ContainsAny(v, ": ") && !strings.Contains(v, "..") // which only root can change
		}}, true
	case wordlist.Has(" BASH_ENV ENV ZDOTDIR PROMPT_COMMAND PYTHONSTARTUP PERL5DB PERL5OPT RUBYOPT PS0 PS4 MAKEFILES LUA_INIT VIMINIT EXINIT DOTNET_STARTUP_HOOKS ", name):
		return runner{"start-up code", func(v string) bool {
			return v == "" || (name == "PS4" || name == "PS0") && !strings.ContainsAny(v, "$`") || wordlist.Has(" -w -W -W0 -W1 -W2 -W:no-deprecated -W:no-experimental ", v)
		}}, true
	case name == "NODE_OPTIONS":
		return runner{"start-up code", func(v string) bool {
			return !strings.Contains(v, "-r") && !strings.Contains(v, "--require") && !strings.Contains(v, "--import") && !strings.Contains(v, "loader")
		}}, true
	case wordlist.Has(" JAVA_TOOL_OPTIONS _JAVA_OPTIONS JDK_JAVA_OPTIONS JAVA_OPTS MAVEN_OPTS GRADLE_OPTS SBT_OPTS ANT_OPTS CATALINA_OPTS ", name):
		return runner{"start-up code", func(v string) bool { return !strings.Contains(v, "-javaagent") && !strings.Contains(v, "-agent") }}, true
	case wordlist.Has(" GIT_SSH GIT_SSH_COMMAND GIT_PROXY_COMMAND GIT_EXTERNAL_DIFF GIT_ASKPASS SSH_ASKPASS SUDO_ASKPASS GIT_EXEC_PATH GIT_TEMPLATE_DIR RSYNC_RSH RSYNC_CONNECT_PROG SVN_SSH CVS_RSH HGEDITOR SVN_EDITOR SUDO_EDITOR PSQL_PAGER PSQL_EDITOR ", name):
		return runner{"program", harmlessProgram}, true
	case wordlist.Has(" PAGER GIT_PAGER MANPAGER EDITOR VISUAL GIT_EDITOR GIT_SEQUENCE_EDITOR BROWSER LESSOPEN LESSCLOSE SYSTEMD_PAGER ", name):
		return runner{"program", harmlessProgram}, true
	case name == "AWS_ENDPOINT_URL":
		return runner{"proxy", func(v string) bool {
			p := peer.Parse(v, true)
			return v == "" || p.Private || strings.HasSuffix(p.Host, ".amazonaws.com") || localHost(p.Host)
		}}, true
	case name == "GOFLAGS":
		return runner{"program", func(v string) bool {
			return !strings.Contains(v, "-toolexec") && !strings.Contains(v, "-exec") && !strings.Contains(v, "-vettool")
		}}, true
	case wordlist.Has(" MAKEFLAGS GNUMAKEFLAGS ", name):
		return runner{"start-up code", func(v string) bool {
			return !strings.Contains(v, "--eval") && !strings.Contains(v, "-f") && !strings.Contains(v, "-E")
		}}, true
	case wordlist.Has(" CC CXX LD AR SHELL npm_config_script_shell NPM_CONFIG_SCRIPT_SHELL CARGO_BUILD_RUSTC CARGO_BUILD_RUSTC_WRAPPER RUSTC_WRAPPER RUSTC_WORKSPACE_WRAPPER RUSTC CMAKE_C_COMPILER_LAUNCHER CMAKE_CXX_COMPILER_LAUNCHER ", name):
		return runner{"program", func(v string) bool {
			return !strings.ContainsAny(v, ";|&$`(<>'\"") && !strings.HasPrefix(v, "/tmp") && !strings.HasPrefix(v, "/dev/shm") && !strings.HasPrefix(v, "/var/tmp")
		}}, true
	case wordlist.Has(" HTTP_PROXY HTTPS_PROXY ALL_PROXY http_proxy https_proxy all_proxy ", name):
		return runner{"proxy", func(v string) bool { p := peer.Parse(v, true); return v == "" || p.Private }}, true
	case wordlist.Has(" ANTHROPIC_BASE_URL OPENAI_BASE_URL CLAUDE_CODE_API_BASE_URL CODEX_HOME CLAUDE_CONFIG_DIR GEMINI_CLI_HOME ", name):
		return runner{"agent", func(v string) bool { return v == "" }}, true
	case name == "NODE_TLS_REJECT_UNAUTHORIZED":
		return runner{"no certificate check", func(v string) bool { return v != "0" }}, true
	case name == "GIT_SSL_NO_VERIFY":
		return runner{"no certificate check", func(v string) bool { return v == "" || v == "0" || v == "false" }}, true
	case name == "GIT_ALLOW_PROTOCOL":
		return runner{"program", func(v string) bool { return !strings.Contains(v, "ext") && !strings.Contains(v, "fd") }}, true
	case name == "TAR_OPTIONS":
		return runner{"program", func(v string) bool {
			return !strings.Contains(v, "-action") && !strings.Contains(v, "-command") && !strings.Contains(v, "-compress-program") && !strings.Contains(v, "-I")
		}}, true
	case wordlist.Has(" PYTHONPATH PYTHONHOME NODE_PATH PERL5LIB RUBYLIB CLASSPATH LUA_PATH LUA_CPATH GCONV_PATH OPENSSL_CONF OPENSSL_ENGINES OPENSSL_MODULES CORECLR_PROFILER_PATH ANSIBLE_LIBRARY TF_CLI_CONFIG_FILE FPATH R_PROFILE R_PROFILE_USER PHPRC PHP_INI_SCAN_DIR WGETRC CURL_HOME PSQLRC SCREENRC INPUTRC ANSIBLE_CONFIG PIP_CONFIG_FILE NPM_CONFIG_USERCONFIG npm_config_userconfig ", name):
		return runner{"library", func(v string) bool { return !strings.Contains(v, "/tmp") && !strings.Contains(v, "/dev/shm") }}, true
	case name == "PATH":
		return runner{"program path", ordinaryPath}, true
	case wordlist.Has(" PIP_INDEX_URL PIP_EXTRA_INDEX_URL UV_INDEX_URL UV_EXTRA_INDEX_URL UV_DEFAULT_INDEX UV_INDEX NPM_CONFIG_REGISTRY npm_config_registry GOPROXY ", name):
		return runner{"packages", knownRegistries}, true
	case wordlist.Has(" HUSKY HUSKY_SKIP_HOOKS SKIP PRE_COMMIT_ALLOW_NO_CONFIG LEFTHOOK ", name):
		return runner{"hooks off", func(v string) bool { return name == "HUSKY" && v != "0" || name == "LEFTHOOK" && v != "0" || v == "" }}, true
	case wordlist.Has(" GIT_CONFIG_GLOBAL GIT_CONFIG_SYSTEM GIT_CONFIG_COUNT GIT_CONFIG_PARAMETERS ", name):
		return runner{"git configuration", func(v string) bool { return v == "" || v == "/dev/null" }}, true
	}
	if strings.HasPrefix(name, "BASH_FUNC_") {
		return runner{"function", func(string) bool { return false }}, true
	}
	return runner{}, false
}

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
		default:
			switch p.Host {
			case "pypi.org", "test.pypi.org", "download.pytorch.org", "pypi.nvidia.com", "registry.npmjs.org", "registry.yarnpkg.com", "npm.pkg.github.com", "proxy.golang.org", "goproxy.io", "goproxy.cn":
			default:
				return false
			}
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
		for _, option := range words[1:] {
			if !wordlist.Has(" -f -n -w -c -nw -t -R -r -g --wait --new-window --reuse-window --nofork --clean --tty --create-frame ", option) {
				return false
			}
		}
		return true
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
		for _, runs := range []string{"command", "provider", "include"} {
			if strings.Contains(strings.ToLower(word), runs) {
				return false
			}
		}
	}
	return true
}

// flagged lists variables whose value is dangerous by what stands in it, so that
// a part that is not known is as harmless as the rest.
func flagged(name string) bool {
	switch name {
	case "GOFLAGS", "MAKEFLAGS", "GNUMAKEFLAGS", "CC", "CXX", "LD", "AR":
		return true
	}
	return false
}

// variableEffect reports a variable that makes programs run code.
func (w *walker) variableEffect(id int, name string, value field) {
	r, ok := runners(name)
	if name == "CLAUDE_CODE_SIMPLE" || strings.HasPrefix(name, "GATE_") {
		w.effect(id, &hook.Self{What: "agent settings", Verb: "configure"})
		return
	}
	if !ok {
		return
	}
	vs, known := value.variants()
	harmless := known || name == "PATH" || strings.HasSuffix(name, "_PATH") || strings.HasSuffix(name, "PATH")
	if known {
		for _, v := range vs {
			harmless = harmless && r.harmless(v)
		}
	} else if harmless {
		harmless = r.harmless(value.prefix())
	} else if flagged(name) {
		harmless = r.harmless(value.text())
	}
	switch {
	case harmless && (r.runs != "program" || !scripted(value.text())):
		return
	case harmless:
	case r.runs == "hooks off":
		w.effect(id, &hook.GitBypass{What: "hooks", Verb: "environment"})
		return
	default:
		w.effect(id, &hook.Environment{Variable: ptr(name), Value: value.value(), Runs: r.runs})
	}
	if r.runs == "program" || r.runs == "start-up code" {
		if v := value.value(); v != nil && strings.ContainsAny(*v, " ;|&$") && w.depth < maxDepth {
			w.nested++
			w.depth++
			w.via = append(w.via, name)
			w.script(newState(w.world.Dir), *v, stream{})
			w.via = w.via[:len(w.via)-1]
			w.depth--
			w.nested--
		}
	}
}

// environ returns what the program finds in its environment, as far as the
// shell's own variables, and what stands in front of it, tell.
func (u *use) environ(name string) (value field, set bool) {
	for _, e := range u.env {
		if e.name == name {
			value, set = e.value, true
		}
	}
	text, ambient := u.world.Env(name)
	v, ok := u.s.vars[name]
	switch {
	case set:
		return value, true
	case ok && (ambient || v.exported || v.unset):
		return v.value, !v.unset
	}
	return literalField(text), ambient
}

// maybePath judges a word of a program without a row: it may be a path that
// matters, with or without an option in front.
func (c *call) maybePath(f field) {
	if strings.HasPrefix(f.prefix(), "-") {
		if _, value, ok := f.cut("="); ok {
			f = value
		} else {
			return
		}
	}
	text := f.prefix()
	if !strings.Contains(text, "/") && !strings.HasPrefix(text, ".") && !strings.HasPrefix(text, "id_") || strings.Contains(text, "://") || strings.ContainsAny(text, " \n") {
		return
	}
	for _, t := range c.absolute(c.s, f) {
		if t.path == "" {
			continue
		}
		if what, grade := c.secret(t.path); what != "" {
			c.effect(c.id, &hook.SecretRead{Path: ptr(t.path), What: what, Grade: grade, Shown: true})
		}
		c.usePath(c.s, c.id, f, access{kind: "list"})
	}
}
