package gate.filesystem.delete_test

import data.gate.filesystem.delete

test_denies if {
	every call in [
		"rm -rf ~",
		"rm -rf /",
		"rm -rf /*",
		"sudo rm -rf --no-preserve-root /",
		"rm -rf ~/* ~/.[!.]*",
		"rm -rf $HOME",
		`rm -rf "$HOME"/`,
		"rm -r /home/dev",
		"find / -delete",
		"find ~ -type f -exec rm -f {} +",
		`find /srv -exec unlink {} \;`,
		"rsync -a --delete /tmp/empty/ ~/",
		"unlink /etc/passwd",
		"rm -rf .",
		"rm -rf ./*",
		"rm -rf ../project",
		"cd / && rm -rf home",
		"rm -rf .git",
		"rm -rf ~/.ssh",
		"rm ~/.ssh/id_ed25519",
		"rm -rf ~/Documents",
		"mv ~/Documents /tmp",
		"shred -u /etc/shadow",
		"mv ~ /tmp/gone",
		"sh -c 'rm -rf ~'",
		`X=/; rm -rf "$X"`,
		`rm -rf "$UNSET/"`,
		`rm -rf "$UNSET"/*`,
		"rm -rf /home/someone",
		"rm -f /usr/bin/git",
		"trash-put ~",
		"rm -rf ~root",
		"rm -rf /var/lib",
		"rm -rf node_modules /",
		{"tool": "delete_file", "input": {"path": "/etc/hosts"}},
		"rm /dev/sda",
		"rm -rf /var/cache",
		"rm /opt",
		"rm .git",
		"rm -rf .git/objects",
		"rm -f .git/refs/heads/*",
		"find .git -type f -delete",
		"rm -rf /usr/local/share/tool",
		`rm -rf "$ROOT/etc"`,
		`rm -rf "$ROOT/home/dev"`,
		`rm -rf "$ROOT/dev/sda"`,
		`rm -rf "/$DIR"`,
	] {
		count(delete.deny) > 0 with input as gate.event(call)
		count(delete.ask) == 0 with input as gate.event(call)
	}
}

test_asks if {
	every call in [
		"rm -rf ~/old",
		"rm -rf ~/srv/other-repo",
		"rm ~/notes.txt",
		"rm -rf /data/archive",
		`rm -rf "$(cat list)"`,
		"rm /var/log/app.log",
		"rm .git/index",
		"rm -rf ../other",
		"mv ~/project /tmp/gone",
		`rm -rf "$OUT/build"`,
		`find "$OUT" -delete`,
		"rm -f /data/*.txt",
		"rm /data/*",
		"find /data -type f -delete",
		"rm /opt/tool",
		"rm .git/refs/heads/x",
		"docker exec api rm -rf /app",
		"docker exec api rm -rf /app/dist /app/data",
		"docker exec api sh -c 'rm -rf /app/*'",
		"docker run -v /srv/other:/x alpine sh -c 'rm -rf /x/dist'",
		"rm -rf /data/other/dist",
	] {
		count(delete.ask) > 0 with input as gate.event(call)
		count(delete.deny) == 0 with input as gate.event(call)
	}
}

test_passes if {
	every call in [
		"rm -rf node_modules",
		"git worktree remove ../wt",
		"rm -rf dist build",
		"rm -rf packages/*/dist",
		"rm -f *.log",
		"rm -rf /tmp/gate-test-4711",
		"rm -rf ~/.cache/pip",
		"find . -name '*.pyc' -delete",
		"rm -rf {dist,build}",
		"git rm -r --cached vendor",
		"rm -f .git/index.lock",
		"rmdir empty",
		"mv a.txt b.txt",
		`tmp=$(mktemp -d) && rm -rf "$tmp"`,
		"cd build && rm -rf *",
		"rsync -a --delete src/ dist/",
		"echo 'rm -rf ~'",
		"git commit -m 'rm -rf /'",
		"grep -r 'rm -rf /' docs",
		"rm -rf coverage .nyc_output target",
		"unlink link",
		"rm -rf --help",
		"for f in a b; do rm -f $f.o; done",
		"rm -rf ~/.npm/_cacache",
		`rm "$f"`,
		{"tool": "delete_file", "input": {"path": "/home/dev/project/old.go"}},
		"docker run --rm alpine echo rm -rf /",
		"rm -rf /var/lib/apt/lists/*",
		"rm -rf /var/lib/apt/lists/partial",
		"rm -rf /var/lib/apt/lists",
		"rm -rf /var/cache/apt",
		"mv ~/old.txt /tmp",
		"rm /data/x.txt",
		"rm -rf .git/rebase-merge",
		"rm -rf logs src/objects",
		`rm "$ROOT/etc/resolv.conf"`,
		"rm -f .git/HEAD.lock",
		"docker exec api rm -rf /app/dist",
		"docker compose exec api sh -c 'rm -rf /app/.cache'",
	] {
		count(delete.deny) == 0 with input as gate.event(call)
		count(delete.ask) == 0 with input as gate.event(call)
	}
}

test_reason_names_the_path_and_where_links_lead if {
	some verdict in delete.deny with input as gate.event("ln -s ~ h; find -L h -delete")
	contains(verdict.reason, "h (which is ~)")
}

test_span_points_at_the_command if {
	some verdict in delete.deny with input as gate.event("make clean && rm -rf /etc")
	verdict.span == [14, 25]
}

test_denies_what_people_keep if {
	every name in [
		".ssh", ".gnupg", ".password-store", ".aws", ".kube", ".config", ".local", ".local/share", ".mozilla", ".thunderbird",
		"Desktop", "Documents", "Downloads", "Library", "Music", "Pictures", "Videos", "Projects", "projects", "src", "code",
		"work", "repos", "go", "bin",
	] {
		some denial in delete.deny with input as gate.event(sprintf("rm -rf ~/%s", [name]))
		startswith(denial.reason, sprintf("deletes ~/%s in the home directory;", [name]))
	}
}

test_passes_what_a_container_has_built if {
	every program in ["docker exec", "docker compose exec", "docker-compose exec", "podman exec", "podman compose exec", "nerdctl exec"] {
		every name in [
			"build", "dist", "target", "coverage", "node_modules", "__pycache__", ".cache", ".next", ".nuxt", ".turbo", ".venv",
			".pytest_cache", ".mypy_cache", ".ruff_cache",
		] {
			count(delete.deny | delete.ask) == 0 with input as gate.event(sprintf("%s api rm -rf /app/%s", [program, name]))
		}
	}
	every line in ["docker exec api rm -rf /app/dist*", "docker exec api rm -rf /app/src", "docker run api rm -rf /app/dist"] {
		count(delete.deny | delete.ask) > 0 with input as gate.event(line)
	}
}

test_asks_before_state_of_infrastructure_goes if {
	every name in ["terraform.tfstate", "prod/terraform.tfstate.backup", "*.tfstate", "terraform.tfstate*"] {
		some question in delete.ask with input as gate.event(sprintf("rm -f %s", [name]))
		contains(question.reason, ", the only record of the infrastructure;")
	}
	every name in [".terraform.lock.hcl", "x.tfstate.md", "tfstate"] {
		count(delete.deny | delete.ask) == 0 with input as gate.event(sprintf("rm -f %s", [name]))
	}
}
