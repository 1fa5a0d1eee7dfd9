package program

import (
	"path"
	"slices"
	"strings"

	"gate/facts/internal/code"
	"gate/facts/internal/flow"
	"gate/hook"
	"gate/internal/wordlist"
)

// sendsText judges a text that runs and that calls put a secret into: what it reaches gets
// the secret, whatever it is encoded by there. A file whose name tells of a secret has it for
// those who run it.
func (u *use) sendsText(file string) {
	held := u.Left(file)
	if held.Secret == "" || held.Secret == flow.Dump || strings.HasSuffix(held.Path, "/") || u.at().Remote || u.sendsFile(file) {
		return
	}
	if what, _ := u.Secret(file); what != "" && what != held.Secret {
		return
	}
	text, err := u.World.Read(file, maxScript)
	if err != nil {
		return
	}
	for _, p := range code.Reaches(text) {
		is := &hook.NetSend{Host: flow.Known(p.Host), URL: flow.Known(p.URL), Source: "file", Path: new(file), Secret: flow.Known(held.Secret), Private: p.Private, Metadata: p.Metadata}
		u.Carry(is, flow.Taint{Secret: held.Secret, From: file})
		u.effect(is)
	}
}

// sendsFile reports that the event sends a file already.
func (u *use) sendsFile(file string) bool {
	return slices.ContainsFunc(u.Facts.Effects, func(e hook.FactEffect) bool {
		send, ok := e.Is.(*hook.NetSend)
		return ok && e.Command == u.ID && flow.Text(send.Path) == file
	})
}

// onlyBuilds reports a call of a build tool that runs none of the sources: it compiles or
// tells something.
func (u *use) onlyBuilds() bool {
	if !wordlist.Has(" mvn mvnw gradle gradlew sbt ", u.name) {
		return false
	}
	for _, f := range u.Given() {
		if task := f.Text(); !strings.HasPrefix(task, "-") && !wordlist.Has(onlyBuild, task[strings.LastIndexByte(task, ':')+1:]) {
			return false
		}
	}
	return true
}

// onlyBuild are tasks of build tools, without the plug-in or the project before a colon.
const onlyBuild = " compile clean classes assemble jar help tasks dependencies tree resolve validate process-resources test-compile testClasses " +
	"compileJava compileKotlin compileTestJava compileTestKotlin wrapper projects properties effective-pom display-dependency-updates "

// runsKind reports a kind of text of recipeRows that is a program, and no list of services or
// settings, which name hosts and hold passwords for them.
func runsKind(kind, file string) bool {
	if kind == "compiled" {
		return !strings.Contains(path.Base(file), "gradle") && path.Ext(file) != ".sbt"
	}
	return code.HasRules(kind) || wordlist.Has(" shell envrc notebook migration elixir ", kind)
}
