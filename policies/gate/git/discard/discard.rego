# METADATA
# title: Loss of uncommitted work
# description: |
#   Throwing away changes that are not committed is put to a person: git keeps
#   no copy of them.
# custom:
#   gate:
#     events: [PreToolUse]
#     serves:
#       owasp-agentic: [ASI02]
#     if: [effect(git.discard)]
package gate.git.discard

import data.gate.lib

# METADATA
# description: one question for each command that throws changes away
ask contains {
	"reason": sprintf("throws away uncommitted work in %s (git %s); %s first", [
		what(effect), lib.text(effect, "verb", "command"), instead(effect),
	]),
	"help": "Git keeps no copy of changes that were never committed.",
	"span": lib.span(effect),
} if {
	some effect in lib.effects("git.discard")
	not lib.matches(effect, "verb", `--(abort|quit)`)
	not remade(effect)
}

# What a program makes again from what is there: lock files, and what was built.
remade(effect) if {
	effect.verb in {"checkout", "restore"}
	all_named(effect, {
		"package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml", "bun.lock", "bun.lockb", "deno.lock", "go.sum",
		"go.work.sum", "Cargo.lock", "poetry.lock", "uv.lock", "pdm.lock", "Pipfile.lock", "Gemfile.lock", "composer.lock",
		"mix.lock", "pubspec.lock", "Podfile.lock", "flake.lock", "packages.lock.json",
	})
}

remade(effect) if {
	effect.verb == "clean"
	within(lib.command(effect))
	all_named(effect, {
		"build", "dist", "out", "target", "node_modules", "coverage", "__pycache__", ".cache", ".next", ".nuxt", ".turbo",
		".pytest_cache", ".mypy_cache", ".ruff_cache", ".gradle", ".parcel-cache", ".svelte-kit", ".tox", ".nyc_output",
	})
}

# The names mean directories below the one that the agent works in.
within(command) if {
	startswith(sprintf("%s/", [command.cwd]), sprintf("%s/", [input.cwd]))
	count({"C", "work-tree", "git-dir"} & object.keys(command.options)) == 0
	every variable, _ in command.env {
		not startswith(variable, "GIT_")
	}
}

all_named(effect, names) if {
	is_array(effect.paths)
	count(effect.paths) > 0
	every path in effect.paths {
		is_string(path)
		not regex.match(`^:|(^|/)\.\.(/|$)`, path)
		lib.base(trim_right(path, "/")) in names
	}
}

instead(effect) := "look at it, or ask the person" if {
	what(effect) == "the stash"
} else := "commit or stash it"

what(effect) := concat(", ", names) if {
	names := lib.texts(effect, "paths")
	count(names) > 0
} else := "the stash" if {
	startswith(lib.text(effect, "verb", ""), "stash")
} else := "the whole project"
