package gate.git.discard_test

import data.gate.git.discard

test_asks if {
	every call in [
		"git reset --hard",
		"git reset --hard HEAD^^",
		"git --git-dir=.git --work-tree=. reset --hard",
		"git checkout -- .",
		"git restore .",
		"git clean -fd",
		"git clean -fdx",
		"git -C . stash clear",
		"git stash drop",
		"git worktree remove --force ../wt",
		"git checkout -f main",
		"git switch --discard-changes main",
		"git checkout HEAD -- src/a.go",
		"git restore src/a.go",
		"git config alias.z 'reset --hard' && git z",
		"git reset --hard origin/main",
		"git checkout .",
		"git restore --staged --worktree .",
		"git checkout -- go.sum src/a.go",
		"git restore build",
		"git clean -fd build/../src",
		"git -C .. clean -fdx build",
		"GIT_WORK_TREE=/home/dev git clean -fdx build",
		"git --work-tree=/home/dev clean -fdx build",
		"cd ~/other && git clean -fdx build",
		"git clean -fd ':!build' src",
	] {
		count(discard.ask) > 0 with input as gate.event(call)
	}
}

test_passes if {
	every call in [
		"git reset HEAD~1",
		"git merge --abort",
		"git reset --soft HEAD~1",
		"git restore --staged a.go",
		"git checkout main",
		"git checkout -b feature",
		"git switch main",
		"git clean -n",
		"git clean -nfd",
		"git stash",
		"git checkout v2.1.0",
		"git stash list",
		"git rm --cached secrets.txt",
		"git diff",
		"git log -- .",
		"echo git reset --hard",
		"git status",
		"git reset a.go",
		"git checkout -- package-lock.json",
		"git restore go.sum web/yarn.lock",
		"git clean -fdx build ./dist/ packages/a/node_modules",
	] {
		count(discard.ask) == 0 with input as gate.event(call)
	}
}

test_reason_names_what_is_lost if {
	every line, what in {
		"git restore a.go b.go": "work in a.go, b.go (git restore)",
		"git checkout -- a.go": "work in a.go (git checkout)",
		"git worktree remove --force ../wt": "work in ../wt (git worktree remove)",
		"git reset --hard": "work in the whole project (git reset --hard)",
		"git stash clear": "work in the stash (git stash clear); look at it,",
	} {
		some question in discard.ask with input as gate.event(line)
		contains(question.reason, what)
	}
}

test_passes_what_is_made_again if {
	every name in [
		"package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml", "bun.lock", "bun.lockb", "deno.lock", "go.sum",
		"go.work.sum", "Cargo.lock", "poetry.lock", "uv.lock", "pdm.lock", "Pipfile.lock", "Gemfile.lock", "composer.lock",
		"mix.lock", "pubspec.lock", "Podfile.lock", "flake.lock", "packages.lock.json",
	] {
		count(discard.ask) == 0 with input as gate.event(sprintf("git restore %s", [name]))
		count(discard.ask) == 1 with input as gate.event(sprintf("git restore %s a.go", [name]))
	}
	every name in [
		"build", "dist", "out", "target", "node_modules", "coverage", "__pycache__", ".cache", ".next", ".nuxt", ".turbo",
		".pytest_cache", ".mypy_cache", ".ruff_cache", ".gradle", ".parcel-cache", ".svelte-kit", ".tox", ".nyc_output",
	] {
		count(discard.ask) == 0 with input as gate.event(sprintf("git clean -fdx %s", [name]))
		count(discard.ask) == 1 with input as gate.event(sprintf("git clean -fdx ../%s", [name]))
	}
	every options in ["-C ..", "--git-dir=/srv/x/.git", "--work-tree=/srv/x"] {
		count(discard.ask) == 1 with input as gate.event(sprintf("git %s clean -fdx build", [options]))
	}
}
