# METADATA
# title: Builds and tests, confined
# description: |
#   Has builds, tests, linters and formatters of the common toolchains run confined, and
#   allows them in this form only. They can change the project alone and have no
#   network. Off until it is switched on.
# custom:
#   gate:
#     events: [PreToolUse]
#     matcher: Bash
#     when_set: [on]
#     params:
#       on: {type: boolean, default: false, description: whether such lines run confined and without a question}
package gate.quiet.build

import data.gate.proof

# METADATA
# description: the profile by which they run
profile := "project"

confine contains {
	"profile": profile,
	"otherwise": "pass",
	"reason": sprintf("a build runs whatever the files of the project say (%s), so it runs where it can change nothing but them", [proof.listed]),
} if {
	data.gate.params.gate.quiet.build.on == true
	builds
}

# METADATA
# description: the call runs confined, and everything of the line is on the list
allow contains {
	"reason": sprintf("builds, tests, checks or formats (%s), and runs confined: it can change the project alone, has no network and sees no secret", [proof.listed]),
	"span": proof.whole,
} if {
	data.gate.params.gate.quiet.build.on == true
	proof.fits(input.facts.confined, `(^|\+)project($|\+)`)
	builds
}

# METADATA
# description: |
#   all of the line builds, tests, checks or formats, or only looks. Commands that a
#   tool runs in turn, as far as gate sees them, stay in the project.
builds if {
	proof.shaped
	some command in input.facts.shell.commands
	built(command)
	every other in input.facts.shell.commands {
		harmless(other)
	}

	# gate ignore: never
	every path in input.facts.paths {
		stays(path)
	}

	# A line without an effect does nothing.
	# gate ignore: never
	every effect in input.facts.effects {
		expected(effect)
	}
}

harmless(command) if built(command)

harmless(command) if {
	proof.plain(command)
	proof.looks(command)
}

# Commands that make, npm and their like start.
harmless(command) if {
	some outer in input.facts.shell.commands
	built(outer)
	inside(command, outer)
}

inside(command, outer) if regex.match(sprintf(`^%s( |$)`, [outer.program]), command.via[0])

stays(path) if proof.seen(path)

stays(path) if {
	path.in_project == true
	path.resolved == path.path
	not proof.fits(path.path, `/\.`)
}

expected(effect) if proof.reads(effect)

expected(effect) if { # a formatter of all files
	effect.kind == "fs.write"
	effect.could_be == []
	effect.area == "project_root"
	effect.how == "edit"
}

expected(effect) if {
	effect.kind in {"fs.write", "fs.delete"}
	effect.could_be == []
	effect.area in {"project", "temp"}
	not proof.fits(effect.path, `/\.`)
}

# A command that stands in the line itself, by its name alone.
built(command) if {
	command.via == []
	command.in_project == true
	command.path == null
	count(command.env) == 0
	every word in command.words {
		is_string(word.value)
	}
	every redirect in command.redirects {
		proof.aside(redirect)
	}
	not proof.fed(command)
	called(command)
	not proof.abbreviates(command)
	every word in array.slice(command.words, 1, count(command.words)) {
		proof.fits(word.value, `^[A-Za-z0-9_.:@,=*^$|/-]*$`)
		not proof.fits(word.value, `(^|=)/|(^|[/=])\.\.([/]|$)|:/`)
	}
}

# A program that does one thing, with options that change how it does it.
called(command) if {
	options := tools[command.program]
	every name, _ in command.options {
		name in options
	}
}

# A program that does many things: its first word says which.
called(command) if {
	verbs := verb_tools[command.program]
	command.words[1].value in verbs.verbs
	every name, _ in command.options {
		name in verbs.options
	}
}

# A program that runs what the project calls by a name.
called(command) if {
	targets := named_tools[command.program]
	every name, _ in command.options {
		name in targets.options
	}
	every word in command.operands {
		word in targets.names
	}
}

# npm test, npm run lint
called(command) if {
	command.program in {"npm", "pnpm", "yarn"}
	some words in [["test"], ["t"]]
	[word.value | some word in array.slice(command.words, 1, count(command.words))] == words
}

called(command) if {
	command.program in {"npm", "pnpm", "yarn"}
	count(command.words) == 3
	command.words[1].value == "run"
	command.words[2].value in scripts
}

# python -m pytest
called(command) if {
	command.program in {"python", "python3"}
	command.words[1].value == "-m"
	command.words[2].value in {"mypy", "pytest", "unittest"}
	every word in array.slice(command.words, 3, count(command.words)) {
		proof.fits(word.value, `^(-[qvx]+|[A-Za-z0-9_][A-Za-z0-9_./:]*)$`)
	}
}

# METADATA
# description: scripts of package.json, by their usual names
scripts := {"build", "check", "format", "format:check", "lint", "lint:fix", "test", "test:unit", "tsc", "type-check", "typecheck"}

# METADATA
# description: programs that do one thing, each with the options that it may have
tools := {
	"black": {"check", "diff", "q", "quiet"},
	"ctest": {"exclude-regex", "extra-verbose", "output-on-failure", "parallel", "quiet", "rerun-failed", "stop-on-failure", "test-dir", "tests-regex", "timeout", "verbose"},
	"eslint": {"fix", "quiet", "max-warnings"},
	"flake8": {"max-line-length", "statistics"},
	"gofmt": {"diff", "list", "simplify", "write"},
	"isort": {"check", "check-only", "diff", "q"},
	"jest": {"bail", "ci", "silent", "t", "testNamePattern", "verbose"},
	"mypy": {"strict", "pretty"},
	"prettier": {"check", "list-different", "write"},
	"pylint": {"errors-only", "E"},
	"pytest": {"exitfirst", "k", "lf", "maxfail", "q", "quiet", "s", "tb", "v", "verbose", "x"},
	"rspec": {"fail-fast"},
	"rubocop": {"auto-correct-all", "fix-layout"},
	"rustfmt": {"check"},
	"shellcheck": {"x", "external-sources", "severity", "S"},
	"staticcheck": set(),
	"tsc": {"b", "build", "noEmit", "p", "project", "pretty"},
	"vitest": {"t", "testNamePattern"},
}

# METADATA
# description: programs that do many things, each with the first words that build, test, check or format, and the options that these may have
verb_tools := {
	"cargo": {
		"verbs": {"bench", "build", "check", "clippy", "doc", "fmt", "test"},
		"options": {"all", "all-features", "all-targets", "bin", "check", "features", "lib", "no-default-features", "offline", "package", "quiet", "release", "test", "verbose", "workspace"},
	},
	"dotnet": {"verbs": {"build", "format", "test"}, "options": {"c", "configuration", "no-build", "no-restore", "filter", "v", "verbosity"}},
	"go": {
		"verbs": {"build", "fmt", "test", "vet"},
		"options": {"bench", "benchmem", "count", "cover", "failfast", "json", "p", "parallel", "race", "run", "short", "tags", "timeout", "trimpath", "v"},
	},
	"golangci-lint": {"verbs": {"run"}, "options": {"fix", "timeout", "v", "verbose"}},
	"mix": {"verbs": {"compile", "format", "test"}, "options": {"check-formatted", "warnings-as-errors"}},
	"ruff": {"verbs": {"check", "format"}, "options": {"check", "diff", "fix", "quiet"}},
	"swift": {"verbs": {"build", "test"}, "options": {"c", "configuration", "filter", "v", "verbose"}},
}

# METADATA
# description: programs that run what the files of the project call by a name, each with the names and options that it may have
named_tools := {
	"gradle": {"names": {"assemble", "build", "check", "clean", "compileJava", "compileKotlin", "test"}, "options": {"offline", "q", "quiet", "info", "stacktrace"}},
	"make": {
		"names": {"all", "build", "check", "clean", "coverage", "fmt", "format", "lint", "test", "tests", "typecheck", "unit", "vet"},
		"options": {"always-make", "jobs", "keep-going", "quiet"},
	},
	"mvn": {"names": {"clean", "compile", "package", "test", "test-compile", "verify"}, "options": {"B", "batch-mode", "o", "offline", "q", "quiet"}},
	"ninja": {"names": {"all", "clean", "test"}, "options": {"j", "v"}},
	"rake": {"names": {"build", "lint", "spec", "test"}, "options": set()},
}
