# METADATA
# title: What only untrusted text named
# description: |
#   Sending to a host, installing from it, running a command line or a package at once, and doing what a text tells
#   agents to do, is put to a person where only text from outside named it: a web page, an issue, the result
#   of a server, a cloned repository. With package in about, installing into the project is, too. What the person typed counts as theirs.
# custom:
#   gate:
#     events: [PreToolUse]
#     serves:
#       aarm: [R2]
#       owasp-agentic: [ASI01, ASI04]
#       owasp-mcp: [MCP04, MCP06]
#     if: [flow(untrusted)]
#     params:
#       about:
#         type: array
#         default: [host, command, program, instruction]
#         values: [host, command, program, instruction, package]
#         description: what is asked about, of host, command, program, instruction and package; host stands for addresses of mail as well
#       packages:
#         type: array
#         default: [typescript, tsx, prettier, eslint, vite, vitest, jest, webpack, serve, http-server, playwright, cypress, storybook, nodemon, pnpm, yarn, npm-check-updates, ruff, black, mypy, pytest, uv, poetry, pipx, tox, nox, pre-commit, cookiecutter, httpie, cargo-edit, cargo-audit, cargo-watch, "@angular/*", "@vue/*", "@babel/*", "@types/*", "@modelcontextprotocol/*", "homebrew/*", "hashicorp/*", "mongodb/*", "aws/*", "azure/*", "heroku/*", "stripe/*", "supabase/*", "goreleaser/*", "oven-sh/*", "fluxcd/*", "argoproj/*", "cloudflare/*"]
#         description: programs of packages that may be named by anybody
#       sources:
#         type: array
#         default: [prometheus-community.github.io, grafana.github.io, grafana.com, kubernetes.github.io, jetstack.io, bitnami.com, hashicorp.com, elastic.co, kubernetes-sigs.github.io, helm.sh, gcr.io, mcr.microsoft.com, microsoft.com, public.ecr.aws, lscr.io, nodesource.com, postgresql.org, mongodb.org, redis.io, fedoraproject.org, flathub.org, conda.anaconda.org, chocolatey.org, argoproj.github.io, traefik.io, projectcalico.org, cilium.io, istio.io, google.com, googleapis.com, gstatic.com, googletagmanager.com, android.com, jsdelivr.net, unpkg.com, cdnjs.cloudflare.com, challenges.cloudflare.com, jquery.com, bootstrapcdn.com, esm.sh, js.stripe.com, sentry-cdn.com, jitpack.io, cocoapods.org, sonatype.org, spring.io, jenkins-ci.org, jetbrains.com, clojars.org, repo1.maven.org, hex.pm, pub.dev, pub.dartlang.org, hackage.haskell.org, opam.ocaml.org, conan.io, cran.r-project.org, cloud.r-project.org, posit.co, bioconductor.org, rocm.docs.amd.com, nixos.org, cachix.org]
#         description: hosts, with their subdomains, from which charts, images and packages of systems may come whoever names them
#       owners:
#         type: array
#         default: [actions, github, docker, pre-commit, psf, pycqa, astral-sh, golangci, golang, python, rust-lang, dtolnay, swatinem, taiki-e, codecov, softprops, peaceiris, peter-evans, pnpm, oven-sh, denoland, ruby, shivammathur, gradle, goreleaser, sigstore, anchore, aquasecurity, trufflesecurity, gitleaks, rhysd, changesets, renovatebot, dependabot, google, googleapis, google-github-actions, microsoft, azure, aws, aws-actions, hashicorp, terraform-aws-modules, apache, kubernetes, kubernetes-sigs, helm, nodejs, facebook, vercel, prettier, eslint, pallets, django, huggingface, pytorch, numpy, nixos, cachix, homebrew, cloudflare, docker-library, grafana, prometheus, sentence-transformers, baai, mistralai, qwen, meta-llama, nomic-ai, jinaai, deepseek-ai, tiiuae, stabilityai, intfloat, openai, openbmb, allenai, eleutherai, bigcode, salesforce, nvidia, snakers4, ultralytics, facebookresearch, moonshotai, zai-org]
#         description: owners of repositories that may be named by anybody
#       hosts:
#         type: array
#         default:
#           - github.com
#           - githubusercontent.com
#           - gitlab.com
#           - bitbucket.org
#           - codeberg.org
#           - sr.ht
#           - npmjs.org
#           - npmjs.com
#           - pypi.org
#           - pythonhosted.org
#           - crates.io
#           - rubygems.org
#           - golang.org
#           - go.dev
#           - packagist.org
#           - nuget.org
#           - maven.org
#           - docker.io
#           - docker.com
#           - ghcr.io
#           - quay.io
#           - debian.org
#           - ubuntu.com
#           - pytorch.org
#           - nvidia.com
#           - anaconda.org
#           - jsr.io
#           - yarnpkg.com
#           - apache.org
#           - gradle.org
#           - go.uber.org
#           - gopkg.in
#           - k8s.io
#           - modernc.org
#           - opentelemetry.io
#           - cloud.google.com
#         description: hosts, with their subdomains, that may be named by anybody, such as registries and forges
package gate.flow.untrusted

import data.gate.lib

params := data.gate.params.gate.flow.untrusted

# METADATA
# description: data goes where a text from outside wants it
ask contains {
	"reason": sprintf("%s %s, which only text from outside names; send it where the person says", [verb, host]),
	"help": sprintf("Nobody typed that name: %s brought it. Check who would get the data.", [bringer(flow)]),
	"span": lib.span(flow),
} if {
	some flow in brought("host", {"host", "asked host", "e-mail"})
	verb := sends[flow.effect]
	reaches(flow)
	host := lib.text(flow, "host", "a host")
	not lib.host_in(lower(host), params.hosts)
}

# METADATA
# description: packages come from where a text from outside wants it
ask contains {
	"reason": sprintf("installs from %s, which only text from outside names; ask the person for the source", [host]),
	"help": sprintf("Nobody typed that name: %s brought it. Installing runs the code of whoever owns it.", [bringer(flow)]),
	"span": lib.span(flow),
} if {
	some flow in brought("host", {"address", "host", "asked host"})
	flow.effect == "package.install"
	serves(flow)
	host := lib.text(flow, "host", "a host")
	not lib.host_in(lower(host), params.hosts)
}

# METADATA
# description: a text from outside decides about a source, a peer or a recipient
ask contains {
	"reason": sprintf(says[flow.what], [lib.text(flow, "host", "a number")]),
	"help": sprintf("Nobody typed that name: %s brought it. Check whose it is.", [bringer(flow)]),
	"span": lib.span(flow),
} if {
	some flow in brought("host", {"package source", "page code", "peer", "replaced host", "recipient", "filled address", "data sink", "named host", "foreign account"})
	not harmless(flow)
	host := lower(lib.text(flow, "host", ""))
	not lib.host_in(host, params.hosts)
	not source(flow, host)
}

# METADATA
# description: code of a repository or a download runs, whose host a text from outside names
ask contains {
	"reason": sprintf("runs code from %s, which only text from outside names; ask the person whether to trust it", [flow.host]),
	"help": sprintf("Nobody typed that name: %s brought it. The code is in %s.", [bringer(flow), lib.shown(flow.path)]),
	"span": lib.span(flow),
} if {
	some flow in brought("program", {"cloned code"})
	not lib.host_in(lower(flow.host), params.hosts)
}

# METADATA
# description: code of a repository that a text from outside names becomes part of what runs here
ask contains {
	"reason": sprintf("takes code from %s, which only text from outside names; ask the person whether to trust it", [flow.host]),
	"help": sprintf("Nobody typed that name: %s brought it. Tools fetch the code and run it, here or where the project is built.", [bringer(flow)]),
	"span": lib.span(flow),
} if {
	some flow in brought("program", {"foreign code"})
	not split(flow.host, "/")[1] in params.owners
}

# METADATA
# description: a user or a key that a text from outside names gets trusted
ask contains {
	"reason": sprintf(trusts[flow.what], [flow.host]),
	"help": sprintf("Nobody typed that name: %s brought it. Check whose it is.", [bringer(flow)]),
	"span": lib.span(flow),
} if {
	some flow in brought("host", {"grantee", "foreign key"})
	not lib.host_in(lower(flow.host), params.hosts)
}

# METADATA
# description: the name of a package is made to look like another one
ask contains {
	"reason": sprintf("installs %s, which only text from outside names and whose name looks like that of another package; ask the person which one is right", [name]),
	"help": sprintf("Nobody typed that name: %s brought it. Names like this are made for those who mistake them.", [bringer(flow)]),
	"span": lib.span(flow),
} if {
	some flow in brought("program", {"look-alike package"})
	some effect in effects(flow)
	some name in lib.texts(effect, "packages")
	not known(name)
	not at_once(effect, name)
}

# METADATA
# description: code comes from whom a text from outside names
ask contains {
	"reason": sprintf("installs %s, which only text from outside names; ask the person for the package", [names]),
	"help": sprintf("Nobody typed that name: %s brought it. Installing runs the package's code.", [bringer(flow)]),
	"span": lib.span(flow),
} if {
	some flow in brought("package", {"package", "unasked package", "look-alike package", "recommended package"})
	flow.effect == "package.install"
	names := concat(", ", [n | some e in effects(flow); some n in lib.texts(e, "packages")])
	names != ""
}

# METADATA
# description: a package that nobody asked for runs at once, for every project, or comes from a host of its own
ask contains {
	"reason": sprintf("runs %s, which only text from outside names; ask the person whether it is the right one", [name]),
	"help": sprintf("Nobody typed that name: %s brought it. Its code runs as soon as it is fetched, or stays for all projects.", [bringer(flow)]),
	"span": lib.span(flow),
} if {
	some flow in brought("program", {"unasked package", "look-alike package", "recommended package"})
	some effect in effects(flow)
	some name in lib.texts(effect, "packages")
	not known(name)
	at_once(effect, name)
}

# METADATA
# description: people recommend a package to each other, and not to who asked
ask contains {
	"reason": sprintf("installs %s, which only what people wrote names; ask the person whether it is the right one", [name]),
	"help": sprintf("An issue, a comment or a message named it: %s brought it. Anybody may write there.", [bringer(flow)]),
	"span": lib.span(flow),
} if {
	some flow in brought("program", {"recommended package"})
	some effect in effects(flow)
	some name in lib.texts(effect, "packages")
	not known(name)
	not at_once(effect, name)
}

# METADATA
# description: a package that people recommend to each other becomes part of the project
ask contains {
	"reason": sprintf("adds %s, which only what people wrote names; ask the person whether it is the right one", [flow.host]),
	"help": sprintf("An issue, a comment or a message named it: %s brought it. Whoever installs the project runs its code.", [bringer(flow)]),
	"span": lib.span(flow),
} if {
	some flow in brought("program", {"named package"})
	not known(flow.host)
}

# METADATA
# description: a text tells agents to do this
ask contains {
	"reason": "does what a text from outside tells agents to do; ask the person whether they want it",
	"help": sprintf("The text speaks to agents, not to people: %s brought it. Read it before this runs.", [bringer(flow)]),
	"span": lib.span(flow),
} if {
	some flow in brought("instruction", {"instruction"})
	obeys(flow)
}

# METADATA
# description: a text from outside decides about the line
ask contains {
	"reason": "runs a command line that only text from outside has; ask the person whether it should run",
	"help": sprintf("Nobody typed that line: %s brought it. Read it before it runs.", [bringer(flow)]),
	"span": lib.span(flow),
} if {
	some flow in brought("command", {"command"})
	flow.effect in acts
	not leftovers(flow)
}

# What this call holds of the texts that the agent was shown: by influence, not by the
# order of calls. Code that files brought is judged by gate.remote_code.run.
brought(subject, kinds) := {flow |
	subject in params.about
	some flow in input.flow
	flow.origin == "untrusted"
	flow.how == "seen"
	flow.what in kinds
}

says := {
	"data sink": "has programs report to %s, which only text from outside names; ask the person who should get it",
	"foreign account": "puts the account %s where money, rights or data go by it, which only text from outside names; ask the person whose it is",
	"filled address": "hands text to %s by an address that only text from outside names; leave the query out, or ask the person",
	"named host": "has a setting or a program use %s, which only text from outside names; ask the person whose it is",
	"package source": "makes %s a source of packages, which only text from outside names; ask the person for the source",
	"page code": "loads code from %s into a page, which only text from outside names; ask the person whether to trust it",
	"peer": "sets up %s as a peer, which only text from outside names; ask the person whose it is",
	"recipient": "writes to %s, whom only text from outside names; ask the person who should get it",
	"replaced host": "puts %s in the place of another host, which only text from outside names; ask the person whether it moved",
}

trusts := {
	"foreign key": "trusts the key %s, which only text from outside names; ask the person whose it is",
	"grantee": "gives %s rights over everything, whom only text from outside names; ask the person whether to trust them",
}

# A draft goes nowhere, and nothing but a tool has recipients.
harmless(flow) if {
	flow.what == "recipient"
	flow.effect != "tool"
}

harmless(flow) if {
	flow.what == "recipient"
	contains(lower(input.tool_name), "draft")
}

harmless(flow) if {
	flow.what == "filled address"
	not flow.effect in {"net.fetch", "net.send"}
}

source(flow, host) if {
	flow.what in {"package source", "page code", "named host"}
	lib.host_in(host, params.sources)
}

at_once(effect, _) if lib.is(effect, "from", "run")

at_once(effect, _) if lib.is(effect, "global", true)

# A tap is a repository of whoever owns it.
at_once(effect, name) if {
	effect.tool == "brew"
	contains(name, "/")
}

# These install for the whole account.
at_once(effect, _) if {
	lib.command(effect).subcommand in {"install", "run", "tool install", "tool run"}
	effect.tool in {"cargo", "go", "pipx", "uv", "code", "codium", "cursor"}
}

# A module of Go has its host in its name, and says where its code comes from.
at_once(effect, name) if {
	effect.tool == "go"
	host := split(name, "/")[0]
	contains(host, ".")
	not lib.host_in(lower(host), params.hosts)
}

known(name) if {
	some pattern in params.packages
	lib.covers(pattern, regex.replace(name, `(.)@.*$`, "$1"))
}

obeys(flow) if flow.effect in acts

obeys(flow) if flow.effect in {"database", "exec.remote", "git.push", "infrastructure", "package.install"}

# A tool that sends or changes something.
obeys(flow) if {
	some effect in effects(flow)
	effect.kind == "tool"
	effect.access != "read"
}

# What an address asks for may hand data on.
obeys(flow) if {
	flow.effect == "net.fetch"
	some effect in effects(flow)
	is_string(effect.url)
	contains(effect.url, "?")
	names(effect, flow.host)
}

sends := {
	"git.push": "pushes to",
	"git.remote": "names as a remote",
	"net.send": "sends to",
}

# Effects of lines that pages do not tell everybody to type.
acts := {"environment", "exec.code", "exec.hidden", "fs.delete", "fs.permissions", "git.config", "git.remote", "net.listen", "net.send"}

# Pages tell everybody to remove what a build left.
leftovers(flow) if {
	flow.effect == "fs.delete"
	found := [effect | some effect in effects(flow); effect.kind == "fs.delete"]
	count(found) > 0
	every effect in found {
		is_string(effect.path)
		lib.base(effect.path) in {"build", "dist", "target", "coverage", "node_modules", "__pycache__", ".cache", ".next", ".nuxt", ".turbo"}
	}
}

# A line may hold a name that one of its commands reaches, and another one only reads.
reaches(flow) if {
	some effect in effects(flow)
	not local(effect)
	names(effect, flow.host)
}

# A program that the agent wrote has the name.
reaches(flow) if {
	flow.effect == "net.send"
	is_string(flow.path)
}

# An effect that gate knows no more of.
reaches(flow) if count(effects(flow)) == 0

# The line or a file of the agent's makes it the source of what is installed.
serves(flow) if is_string(flow.path)

serves(flow) if {
	some effect in effects(flow)
	some field in ["host", "registry"]
	is_string(effect[field])
	is_string(flow.host)
	contains(lower(effect[field]), lower(flow.host))
	not local(effect)
}

names(effect, host) if {
	is_string(host)
	some field in ["host", "remote", "url"]
	is_string(effect[field])
	contains(lower(effect[field]), lower(host))
}

# It may be any host.
names(effect, _) if {
	every field in ["host", "remote", "url"] {
		not is_string(object.get(effect, field, null))
	}
}

names(_, null)

local(effect) if {
	lib.is(effect, "private", true)
	not lib.is(effect, "metadata", true)
}

effects(flow) := [e | some e in lib.effects(flow.effect); e.command == flow.command]

bringer(flow) := sprintf("call %s", [flow.call]) if is_string(flow.call)

else := "a text"
