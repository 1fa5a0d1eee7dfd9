package facts_test

import (
	"fmt"
	"strings"
	"testing"

	"gate/facts"
	"gate/hook"
)

// TestInstalls holds where packages come from: the line's options come before
// variables, those before files of the project, those before the account's.
func TestInstalls(t *testing.T) {
	const npm, pypi = "https://registry.npmjs.org/ registry.npmjs.org", "https://pypi.org/simple/ pypi.org"
	acme := files{"/home/dev/project/.npmrc": "//npm.acme.example/:_authToken=${T}\nregistry=https://npm.acme.example/\n@own:registry = https://own.example/npm\n"}
	for _, c := range []struct {
		files files
		line  string
		want  string // tool, source, from, packages, registry, host
	}{
		{files{}, "npm install left-pad", "npm registry names [left-pad] " + npm},
		{files{}, "npm ci", "npm registry lock [] " + npm},
		{files{"/home/dev/project/package-lock.json": `{"packages": {"node_modules/x": {"resolved": "https://registry.npmjs.org/x/-/x-1.tgz"}, "node_modules/y": {"resolved": "packages/y", "link": true}}}`}, "npm ci", "npm registry lock [] " + npm},
		{files{"/home/dev/project/package-lock.json": `{"packages": {"node_modules/x": {"resolved": "https://b.example/x-1.tgz"}}}`}, "npm ci", "npm registry lock [] https://registry.npmjs.org/ ?"},
		{files{"/home/dev/project/yarn.lock": "x@1:\n  version \"1\"\n  resolved \"https://registry.yarnpkg.com/x\"\n"}, "yarn install", "yarn registry lock [] " + npm},
		{files{"/home/dev/project/Gemfile.lock": "GEM\n  remote: https://gems.b.example/\n"}, "bundle install", "bundle registry lock [] https://rubygems.org/ ?"},
		{files{}, "npm i --registry=https://npm.acme.example x", "npm registry names [x] https://npm.acme.example npm.acme.example"},
		{files{}, "npm i --registry=$R x", "npm registry names [x] ? ?"},
		{files{}, "npm_config_registry=https://a.example/ npm i x", "npm registry names [x] https://a.example/ a.example"},
		{files{}, "export NPM_CONFIG_REGISTRY=https://a.example/; npm i x", "npm registry names [x] https://a.example/ a.example"},
		{files{}, "npm config set registry https://a.example/ && npm i x", "npm registry names [x] ? ?"},
		{files{}, "echo registry=https://a.example/ > .npmrc; npm i x", "npm registry names [x] https://a.example/ a.example"},
		{files{}, "curl -s https://b.example > .npmrc; npm i x", "npm registry names [x] ? ?"},
		{files{}, "cd $D; npm i x", "npm registry names [x] ? ?"},
		{acme, "npm i x", "npm registry names [x] https://npm.acme.example/ npm.acme.example"},
		{acme, "yarn add @own/x", "yarn registry names [@own/x] https://own.example/npm own.example"},
		{acme, "pnpm dlx x", "pnpm registry run [x] https://npm.acme.example/ npm.acme.example"},
		{nil, "npm i x", "npm registry names [x] ? ?"}, // no file can be read
		{files{}, "npm i github:acme/x", "npm url address [github:acme/x] ? github.com"},
		{files{}, "npm i acme/x", "npm url address [acme/x] ? github.com"},
		{files{}, "npm i git+ssh://git@git.acme.example/x.git", "npm url address [git+ssh://git@git.acme.example/x.git] ? git.acme.example"},
		{files{}, "npm i ./x", "npm file names [./x] " + npm},
		{files{}, "npx cowsay hi", "npx registry run [cowsay] " + npm},
		{files{"/home/dev/project/node_modules/.bin/eslint": "x"}, "npx eslint@9 .", ""},
		{files{}, "npx --no-install eslint .", ""},
		{files{}, "npx -y -p typescript tsc", "npx registry run [typescript] " + npm},
		{files{}, "uvx ruff check", "uvx registry run [ruff] " + pypi},
		{files{}, "uvx --from ruff==0.5 --with rich ruff", "uvx registry run [ruff==0.5] " + pypi + "; uvx registry run [rich] " + pypi},
		{files{}, "pip install requests", "pip registry names [requests] " + pypi},
		{files{}, "pip3.12 install -i https://pypi.acme.example/simple requests", "pip3.12 registry names [requests] https://pypi.acme.example/simple pypi.acme.example"},
		{files{}, "pip install --extra-index-url https://pypi.acme.example/simple requests", "pip registry names [requests] ? ?"},
		{files{"/home/dev/.config/pip/pip.conf": "[global]\nindex-url = https://pypi.acme.example/simple\n"}, "pip install x", "pip registry names [x] https://pypi.acme.example/simple pypi.acme.example"},
		{files{"/home/dev/project/requirements.txt": "requests==2\n"}, "pip install -r requirements.txt", "pip registry requirements [] " + pypi},
		{files{"/home/dev/project/requirements.txt": "x @ https://b.example/x.zip\n"}, "pip install -r requirements.txt", "pip registry requirements [] https://pypi.org/simple/ ?"},
		{files{}, "pip install 'x @ git+https://b.example/x'", "pip url address [x @ git+https://b.example/x] ? b.example"},
		{files{"/home/dev/project/.cargo/config.toml": "[source.crates-io]\nreplace-with = 'acme'\n"}, "cargo add serde", "cargo registry names [serde] ? ?"},
		{files{}, "cargo add serde", "cargo registry names [serde] https://index.crates.io/ index.crates.io"},
		{files{}, "GOPROXY=https://go.acme.example,direct go get acme.example/x", "go registry names [acme.example/x] https://go.acme.example go.acme.example"},
		{files{}, "bundle install", "bundle registry lock [] https://rubygems.org/ rubygems.org"},
		{files{}, "poetry install", "poetry registry lock [] ? ?"},
		{files{}, "apt install jq", "apt registry names [jq] ? ?"},
		{files{}, "ssh host npm i x", "npm registry names [x] ? ?"},
	} {
		w := world()
		w.Files = c.files
		if c.files == nil {
			w.Files = nil
		}
		var got []string
		for _, e := range facts.New(w).Of(event(c.line)).Effects {
			if is, ok := e.Is.(*hook.PackageInstall); ok {
				var names []string
				for _, p := range is.Packages {
					names = append(names, textOr(p))
				}
				got = append(got, fmt.Sprintf("%s %s %s %v %s %s", is.Tool, is.Source, is.From, names, orQuestion(is.Registry), orQuestion(is.Host)))
			}
		}
		if got := strings.Join(got, "; "); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.line, got, c.want)
		}
	}
}

func orQuestion(s *string) string {
	if s == nil {
		return "?"
	}
	return *s
}
