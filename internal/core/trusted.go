package core

import (
	"path"
	"slices"
	"strings"

	"gate/hook"
	"gate/internal/seen"
	"gate/internal/wordlist"
)

// trusted adds what a call makes a tool trust from now on, where only untrusted text named it:
// the addresses of sources and peers that it sets up by a command or in a file, scripts of pages,
// models that bring code, public keys, and users that get rights.
func (g *Gate) trusted(f *hook.Facts, ev *hook.Event, kept *seen.Seen) {
	left := maxReplaced
	told := map[string]bool{}
	for i := range f.Effects {
		e := &f.Effects[i]
		write, ok := e.Is.(*hook.FSWrite)
		if !ok || write.Path == nil || told[*write.Path] || left == 0 {
			continue
		}
		left--
		told[*write.Path] = true
		g.trustedFile(f, ev, kept, e, *write.Path)
	}
	if f.Shell == nil {
		return
	}
	loaded := map[string]bool{}
	for i := range f.Shell.Commands {
		c := &f.Shell.Commands[i]
		var line strings.Builder
		for _, w := range c.Words {
			if w.Value != nil {
				line.WriteString(*w.Value + "\n")
			}
		}
		text := line.String()
		effect := effectOf(f, c.ID)
		if g.addsSource(c) {
			for _, host := range addressed(text) {
				setsUp(f, kept, host, hitOf(c), effect, c.ID, nil)
			}
		}
		models(f, kept, text, effect, c.ID, nil)
		g.modelsOf(f, kept, c, effect, loaded)
		if grants(text) {
			addOnce(f, kept.OnlyUser(text), grantee, effect, c.ID, nil)
		}
		if c.Program != nil && !wordlist.Has(" echo cat printf grep rg diff ", *c.Program) {
			addOnce(f, kept.OnlyKey(text), foreignKey, effect, c.ID, nil)
		}
	}
}

// hitOf is what an address becomes that a command sets up: a peer, or a source of packages.
func hitOf(c *hook.ShellCommand) string {
	if wordlist.Has(" kubectl oc rclone vault aws docker terraform tofu mc pulumi gcloud az restic dvc ", *c.Program) {
		return peer
	}
	return packageSource
}

// effectOf is the kind of the first effect of a command, that of a setting for none.
func effectOf(f *hook.Facts, command int) string {
	for i := range f.Effects {
		if f.Effects[i].Command == command {
			return f.Effects[i].Kind()
		}
	}
	return "environment"
}

// trustedFile adds what a call puts into one file.
func (g *Gate) trustedFile(f *hook.Facts, ev *hook.Event, kept *seen.Seen, e *hook.FactEffect, file string) {
	old, what := "", role(file)
	for _, text := range newTexts(f, e.Command, file) {
		if old == "" {
			old = g.text(file) + replacedText(ev.ToolInput())
		}
		for line := range strings.Lines(text) {
			if len(line) > maxLine {
				continue
			}
			kind := what
			if kind == "" && (strings.Contains(line, "<script") || strings.Contains(line, "importScripts(")) && !strings.HasSuffix(file, ".md") {
				kind = pageCode
			}
			if kind == "" || !names(file, line) {
				continue
			}
			if kind == peer && strings.HasSuffix(file, ".tf") && strings.Contains(line, "source") {
				kind = packageSource
			}
			for _, host := range addressed(line) {
				if !strings.Contains(old, host) && !g.locked(file, host) {
					setsUp(f, kept, host, kind, e.Kind(), e.Command, &file)
				}
			}
		}
		if what == peer && strings.HasSuffix(file, ".tf") && stateful(text) { // who gets the state gets its secrets
			for _, host := range addressed(text) {
				if !strings.Contains(old, host) {
					addOnce(f, kept.Source(host), peer, e.Kind(), e.Command, &file)
				}
			}
		}
		if forPeople(file) {
			continue
		}
		models(f, kept, text, e.Kind(), e.Command, &file)
		if wordlist.Has(bareSources, strings.ToLower(path.Base(file))) {
			bare(f, kept, old, text, "github.com/", e.Kind(), e.Command, &file)
		}
		if governs(file) && grants(text) {
			addOnce(f, kept.OnlyUser(text), grantee, e.Kind(), e.Command, &file)
		}
		addOnce(f, kept.OnlyKey(text), foreignKey, e.Kind(), e.Command, &file)
	}
}

// setsUp adds the flow of a host that only untrusted text named. A site that a prompt names is
// the person's choice.
func setsUp(f *hook.Facts, kept *seen.Seen, host, what, effect string, command int, file *string) {
	if hit := kept.Source(host); hit != nil && hit.What == "host" {
		addOnce(f, hit, what, effect, command, file)
	}
}

// addOnce is [addHit] where the command has no such flow of that host yet.
func addOnce(f *hook.Facts, hit *seen.Hit, what, effect string, command int, file *string) {
	if hit == nil {
		return
	}
	for i := range f.Flow {
		if had := &f.Flow[i]; had.Command == command && had.What != nil && *had.What == what && had.Host != nil && *had.Host == hit.Host {
			return
		}
	}
	addHit(f, hit, what, effect, command, file)
}

// addressed are the hosts of the addresses in a text: those with a scheme, and those of a login
// (git@host:path). This machine and names of nobody are none.
func addressed(text string) (list []string) {
	for _, w := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" \t\r\n\"'`<>(),;", r) }) {
		if len(w) > maxLine || !strings.Contains(w, "://") && !strings.Contains(w, "git@") {
			continue
		}
		for _, h := range seen.Hosts(w) {
			if !nobodys(h.Host) && !slices.Contains(list, h.Host) {
				list = append(list, h.Host)
			}
		}
	}
	return list
}

// role is what an address in a file makes of its host: a source of packages, a peer, or "".
func role(file string) string {
	file = strings.ToLower(file)
	base := path.Base(file)
	dir := path.Base(path.Dir(file))
	switch {
	case wordlist.Has(peers, base), wordlist.Has(peers, dir+"/"+base), strings.HasPrefix(base, "otel"), path.Ext(base) == ".tf", strings.HasSuffix(base, ".tfbackend"):
		return peer
	case fetches(file), wordlist.Has(sourced, base), wordlist.Has(sourced, dir+"/"+base), path.Ext(base) == ".repo",
		strings.HasPrefix(base, "helmfile"), dir == "sources.list.d", dir == "helmreleases":
		return packageSource
	}
	return ""
}

// sourced are files beside those of [fetches] by which tools know from where to install. One with
// a slash is known by its directory.
const sourced = " .npmrc .yarnrc .yarnrc.yml bunfig.toml nuget.config packages.config directory.build.props pip.conf pip.ini uv.toml poetry.toml .condarc .mambarc brewfile kustomization.yaml kustomization.yml " +
	"helm/repositories.yaml requirements.yaml .bundle/config .cargo/config.toml .cargo/config .m2/settings.xml settings.xml init.gradle cpanfile .rprofile rprofile.site renv.lock sources.list " +
	"nix/nix.conf channels.toml remotes.json .conan/remotes.json vcpkg-configuration.json project.clj deps.edn build.sbt repositories.sbt plugins.sbt libs.versions.toml .tool-versions repositories.conf " +
	"manifest.xml default.xml module.bazel workspace workspace.bazel mintfile paket.dependencies .flutter-plugins local.gradle devcontainer.json "

// peers are files by which tools know to whom they hand data. One with a slash is known by its
// directory.
const peers = " rclone.conf .s3cfg .boto .mc/config.json .kube/config kubeconfig kubeconfig.yaml .aws/config .docker/config.json .docker/daemon.json .dvc/config .pypirc litestream.yml borgmatic.yaml " +
	"borgmatic/config.yaml fluent-bit.conf fluent.conf vector.toml vector.yaml filebeat.yml metricbeat.yml logstash.conf promtail.yml promtail.yaml promtail-config.yml alloy.river config.alloy telegraf.conf " +
	"alertmanager.yml prometheus.yml datadog.yaml rsyslog.conf pulumi.yaml .curlrc .wgetrc .lftprc .sentryclirc .vault vault.hcl .terraformrc terraform.rc "

// bareSources are files in which OWNER/NAME is a repository of GitHub whose code is installed.
const bareSources = " brewfile cartfile mintfile fish_plugins plugins.txt .tmux.conf tmux.conf .vimrc init.vim .zshrc .zplugrc "

// names reports a line of a file that names from where something comes, or to whom it goes: most
// addresses of manifests are those of pages.
func names(file, line string) bool {
	lower := strings.ToLower(strings.TrimSpace(line))
	base := strings.ToLower(path.Base(file))
	switch {
	case lower == "" || strings.IndexByte("#;/*", lower[0]) >= 0 || strings.HasPrefix(lower, "-- ") || strings.HasPrefix(lower, "<!--") || hasAny(strings.ReplaceAll(lower, "authori", ""), pages):
		return false
	case wordlist.Has(" package.json cargo.toml pubspec.yaml galaxy.yml composer.json deno.json manifest.json ", base):
		return !strings.HasPrefix(strings.TrimLeft(lower, "\""), "repository") && hasAny(lower, "git registry url hosted \"http index : jsr tar tgz")
	case strings.HasSuffix(base, ".tf"):
		return hasAny(lower, "source endpoint backend address")
	case wordlist.Has(" dockerfile makefile justfile setup.py setup.cfg action.yml action.yaml .travis.yml azure-pipelines.yml bitbucket-pipelines.yml .gitlab-ci.yml cmakelists.txt devcontainer.json ", base),
		strings.HasSuffix(base, ".cmake"), strings.Contains(file, "/.github/"), strings.Contains(file, "/.circleci/"):
		return hasAny(lower, "remote: git_repository url_hash fetchcontent dependency_links index-url --registry features git+http sources.list add-repository trusted=yes add-apt gpgkey baseurl source= trusted-host repo_url")
	}
	return true
}

// pages are words of a line that names a page for people.
const pages = "homepage home: home_page home-page website bugs issue documentation docs changelog license icon funding \"author\" author: author= authors donate xmlns schema badge maintainer readme download_url sources:"

// hasAny reports a text that has one of some words, also within others.
func hasAny(text, words string) bool {
	for _, w := range strings.Fields(words) {
		if strings.Contains(text, w) {
			return true
		}
	}
	return false
}

// stateful reports a text that says where the state of infrastructure is kept.
func stateful(text string) bool {
	return strings.Contains(text, "backend \"") || strings.Contains(text, "cloud {")
}

// locks are files of a project that name where its packages come from.
const locks = "package-lock.json yarn.lock pnpm-lock.yaml poetry.lock uv.lock Gemfile.lock Cargo.lock composer.lock Podfile.lock pubspec.lock .npmrc pip.conf .gitmodules .gitlab-ci.yml Dockerfile"

// locked reports a host that a lock file or the settings beside a file name already. Some
// files may be left out.
func (g *Gate) locked(file, host string, but ...string) bool {
	for _, name := range strings.Fields(locks) {
		if full := path.Join(path.Dir(file), name); full != file && !slices.Contains(but, full) && strings.Contains(g.text(full), host) {
			return true
		}
	}
	return false
}

// models adds the models and repositories whose own code a text has loaded.
func models(f *hook.Facts, kept *seen.Seen, text, effect string, command int, file *string) {
	if forge := loader(text); forge != "" {
		bare(f, kept, "", text, forge, effect, command, file)
	}
}

// maxLoaded is how many files that a line names are read for the names of models.
const maxLoaded = 4

// maxNamed is how many words of a line may be the names of those files.
const maxNamed = 256

// modelsOf adds those whose own code a program of the project loads that runs now, as far as its line
// names them, or a file which the line names. loaded are the forges and directories for which that
// was done: what the line names is the same for each other such program.
func (g *Gate) modelsOf(f *hook.Facts, kept *seen.Seen, c *hook.ShellCommand, effect string, loaded map[string]bool) {
	forge := ""
	var text strings.Builder
	left := maxLoaded
	if c.Dir == nil || c.Program == nil || wordlist.Has(lookers, *c.Program) {
		return
	}
	for _, w := range c.Words {
		if w.Value != nil && left > 0 && wordlist.Has(" .py .sh .ipynb .yaml .yml .toml .js .ts .r .R .jl ", path.Ext(*w.Value)) {
			left--
			if forge = loader(g.text(absolute(*c.Dir, *w.Value))); forge != "" {
				break
			}
		}
	}
	key := forge + "\x00" + *c.Dir
	if forge == "" || loaded[key] {
		return
	}
	loaded[key] = true
	text.WriteString(f.Shell.Text)
	tried := map[string]bool{}
	for _, other := range f.Shell.Commands {
		for _, w := range other.Words {
			if w.Value == nil || left == 0 || *w.Value == "" || len(*w.Value) > maxHead*4 || strings.ContainsAny(*w.Value, " \n") {
				continue
			}
			file := absolute(*c.Dir, *w.Value)
			if tried[file] || len(tried) == maxNamed {
				continue
			}
			tried[file] = true
			if read := g.text(file); read != "" && path.Ext(file) != ".py" {
				text.WriteString("\n" + read)
				left--
			}
		}
	}
	bare(f, kept, "", text.String(), forge, effect, c.ID, nil)
}

// absolute is a name as seen from a directory.
func absolute(dir, name string) string {
	if path.IsAbs(name) {
		return path.Clean(name)
	}
	return path.Join(dir, name)
}

// bare adds the repositories OWNER/NAME of a text that an old one did not have.
func bare(f *hook.Facts, kept *seen.Seen, old, text, forge, effect string, command int, file *string) {
	for _, name := range seen.Bare(text) {
		if !strings.Contains(strings.ToLower(old), name) {
			addOnce(f, kept.OnlyCode(forge+name, false), foreignCode, effect, command, file)
		}
	}
}

// loader is the forge from which a text loads code by names, "" for none.
func loader(text string) string {
	lower := strings.ToLower(text)
	for _, mark := range []string{"trust_remote_code", "trust-remote-code"} {
		if _, rest, ok := strings.Cut(lower, mark); ok && !strings.HasPrefix(strings.TrimLeft(rest, "\"' \t=:"), "false") {
			return "huggingface.co/"
		}
	}
	if hasAny(lower, "hub_download snapshot_download") && hasAny(lower, "pickle joblib torch.load dill weights_only=false sys.path importlib") {
		return "huggingface.co/"
	}
	if strings.Contains(lower, "hub.load(") {
		return "github.com/"
	}
	return ""
}

// governs reports a file that may say who has which rights: no code of a program, and no test.
func governs(file string) bool {
	return path.Ext(file) == "" || wordlist.Has(" .sql .yaml .yml .tf .tfvars .json .toml .hcl .sh .conf .ini .ldif .pp .xml .bicep .polar ", path.Ext(file)) && !hasAny(strings.ToLower(file), "test spec fixture mock sample")
}

// grants reports a text that gives somebody all rights, or those to give them.
func grants(text string) bool {
	lower := strings.ToLower(text)
	return hasAny(lower, all) || strings.Contains(lower, "\nowner\n") || strings.Contains(lower, "grant all") || strings.Contains(lower, "with grant option") ||
		strings.Contains(lower, "rolebinding") && (strings.Contains(lower, "name: admin") || strings.Contains(lower, "name: edit"))
}

// all are words of texts that give such rights, in lower case.
const all = "cluster-admin superuser createrole bypassrls sysadmin sysdba db_owner roles/owner roles/editor roles/iam. administratoraccess iamfullaccess poweruseraccess nopasswd usermod collaborators/ dbadmin useradminanydatabase"
