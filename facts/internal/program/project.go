package program

import (
	"path"
	"strings"

	"gate/facts/internal/flow"
	"gate/facts/internal/peer"
	"gate/hook"
	"gate/internal/strictjson"
	"gate/internal/wordlist"
)

// scriptName is the script of package.json that the words name: npm run NAME,
// npm test, yarn NAME.
func (u *use) scriptName() string {
	name := u.rest
	switch {
	case len(u.strayed) > 0:
		name = u.strayed
	case u.row.Special != "scripts" || len(u.verbs) == 0:
		return ""
	}
	switch verb := u.verbs[len(u.verbs)-1]; verb {
	case "test", "start", "stop", "restart":
		return verb
	case "t", "tst":
		return "test"
	}
	if len(name) == 0 || name[0].Value() == nil {
		return ""
	}
	return *name[0].Value()
}

// deploys reports a task or script of the project that by its own words brings it to
// where its users are: npm run deploy:prod, make deploy ENV=production,
// ./deploy.sh production. Whatever the script says, a person should know.
func (u *use) deploys(base string) {
	words := u.Words
	if !strings.Contains(words[0].Prefix(), "/") {
		if !wordlist.Has(" make gmake just task mage rake thor invoke inv npm yarn pnpm bun sh bash zsh ", base) {
			return
		}
		words = words[1:]
	}
	deploy, live := false, false
	for _, w := range words {
		text := w.Prefix()
		if strings.ContainsAny(text, " \t\n") || wordlist.Has(" -c -n -h --help --dry-run --check --plan --diff ", text) { // a text of its own, or only a look
			return
		}
		deploy = deploy || strings.Contains(text, "deploy")
		live = live || namesProduction(text)
	}
	if deploy && live {
		u.effect(&hook.Infrastructure{Tool: base, Verb: new("deploy"), Access: "write", Target: new("production")})
	}
}

// namesProduction reports a word with prod or production as a part of its own.
func namesProduction(text string) bool {
	for part := range strings.FieldsFuncSeq(text, func(r rune) bool { return r < 'A' || r > 'z' || r > 'Z' && r < 'a' }) {
		if wordlist.Has(" prod production live ", strings.ToLower(part)) {
			return true
		}
	}
	return false
}

// packageScript follows a script into package.json, where it can be read and is
// small.
func (u *use) packageScript() {
	called := u.scriptName()
	if called == "" || len(u.at().Dirs) != 1 || u.at().Remote {
		return
	}
	dir := u.at().Dirs[0]
	for _, script := range scriptsIn(u.Pieces[path.Join(dir, "package.json")], []string{"pre" + called, called, "post" + called}) {
		u.shell.Enter("script "+called, func() {
			u.surely(func() { u.inside(func() { u.shell.Text(flow.Literal(script), u.Stdin) }) })
		})
	}
	text, err := u.World.Read(path.Join(dir, "package.json"), maxScript)
	st, written := u.Files[path.Join(dir, "package.json")]
	if written {
		if st.Text == nil {
			return
		}
		text, err = *st.Text, nil
	}
	if err != nil {
		return
	}
	_, byAgent := u.AuthoredText(path.Join(dir, "package.json"))
	if !u.Afford(recipeSteps * len(text)) {
		if byAgent {
			u.asksAbout(tooMuchCode)
		}
		return
	}
	project, err := strictjson.Object([]byte(text), strictjson.Limits{})
	if err != nil {
		u.unknown("script", "package.json cannot be read: "+err.Error(), nil)
		return
	}
	scripts, _ := project["scripts"].(map[string]any)
	for _, name := range []string{"pre" + called, called, "post" + called} {
		script, ok := scripts[name].(string)
		if !ok {
			continue
		}
		judge := func() { u.inside(func() { u.prints(u.shell.Text(flow.Literal(script), u.Stdin)) }) }
		u.shell.Enter("script "+name, func() {
			switch {
			case written:
				judge()
			case byAgent:
				u.asProgram(flow.Literal(called), func() { u.WithinLimits(judge) })
			default:
				u.asProgram(flow.Literal(called), judge)
			}
		})
	}
}

// fetched judges packages that npx and its like run from an address of their own.
func (u *use) fetched() {
	for _, f := range u.packagesToRun(u.inner) {
		text := f.Prefix()
		remote := strings.HasPrefix(text, "git+") || strings.HasPrefix(text, "git@") || strings.HasPrefix(text, "github:") || strings.HasPrefix(text, "gitlab:")
		if !remote && !strings.Contains(text, "://") {
			continue
		}
		if u.ID == 0 {
			u.listUse()
		}
		p := peer.Parse(strings.TrimPrefix(text, "git+"), true)
		u.effect(&hook.ExecRemote{Host: flow.Known(p.Host), URL: flow.Known(text), Via: "package"})
	}
}
