# METADATA
# title: Helpers for policies
# description: |
#   Every policy may import data.gate.lib. A field of an effect can be unknown:
#   null, or missing. `is` holds only for what is known, `could_be` also for what
#   is not; forbid with the first what is harmless when it is something else, and
#   with the second what must never happen.
package gate.lib

# METADATA
# description: the effects of a kind that the call would have
effects(kind) := {e | some e in input.facts.effects; e.kind == kind}

# METADATA
# description: the field is known and equals value, or holds it if it is a list
is(thing, field, value) if thing[field] == value

is(thing, field, value) if value in thing[field]

# METADATA
# description: the field equals or holds value, or nobody knows whether it does
could_be(thing, field, value) if is(thing, field, value)

could_be(thing, field, _) if unknown(thing, field)

# METADATA
# description: |
#   the field, or an element of it if it is a list, is not known; a list of which
#   the facts say that they do not know where it comes from may lack something
unknown(thing, field) if object.get(thing, field, null) == null

unknown(thing, field) if null in thing[field]

unknown(thing, field) if thing[sprintf("%s_from", [field])] == "unknown"

# METADATA
# description: the field's text, or other if it is not known
text(thing, field, _) := thing[field] if is_string(thing[field])

text(thing, field, other) := other if not is_string(object.get(thing, field, null))

# METADATA
# description: the shell command that has an effect; undefined for other tools
command(effect) := found[0] if {
	found := [c | some c in input.facts.shell.commands; c.id == effect.command]
}

# METADATA
# description: the shell commands that run a program, however deeply nested
commands(program) := {c | some c in input.facts.shell.commands; c.program == program}

# METADATA
# description: the words of a shell command begin with these texts, its program first, by its name or as it is written
begins(command, texts) if {
	texts[0] in [command.words[0].value, object.get(command, "program", null)]
	every i, text in array.slice(texts, 1, count(texts)) {
		command.words[i + 1].value == text
	}
}

# METADATA
# description: |
#   where the command of an effect or unknown stands in the line: for one inside
#   a text or another command that one; null if nowhere
span(thing) := thing.span if is_array(thing.span)

else := command(thing).span if is_array(command(thing).span)

else := before[count(before) - 1].span if before := [c | some c in outside(command(thing)); c.id < thing.command]

else := after[0].span if after := outside(command(thing))

else := null

# Commands that may hold another one: less deep, and written in the line.
outside(inner) := [c |
	some c in input.facts.shell.commands
	c.depth < inner.depth
	is_array(c.span)
]

# METADATA
# description: the path is the directory, or lies in it
within(path, dir) if path == dir

within(path, dir) if {
	is_string(path)
	startswith(path, sprintf("%s/", [dir]))
}

# METADATA
# description: the path lies in a system directory for what is added to a machine, such as software, data and logs
site(path) if {
	some dir in ["/usr/local", "/opt", "/srv", "/mnt", "/media", "/var", "/run", "/snap"]
	within(path, dir)
	path != dir
}

# METADATA
# description: the last part of a path
base(path) := parts[count(parts) - 1] if {
	is_string(path)
	parts := split(path, "/")
}

# METADATA
# description: how many directories below the root a path lies; 0 for the root
depth(path) := count([p | some p in split(path, "/"); p != ""]) if is_string(path)

# METADATA
# description: a path as people write it, from the working or home directory
shown(path) := "a path that is not known" if not is_string(path)

shown(path) := trim_prefix(path, sprintf("%s/", [input.cwd])) if {
	is_string(path)
	startswith(path, sprintf("%s/", [input.cwd]))
}

else := concat("", ["~", substring(path, count(home), -1)]) if {
	some home in homes(input.gate.user)
	is_string(path)
	within(path, home)
}

else := path if is_string(path)

homes(user) := ["/root", "/var/root"] if user == "root"

else := [sprintf("/home/%s", [user]), sprintf("/Users/%s", [user])]

# METADATA
# description: the path of an effect as people write it, and where it leads if links are on the way
target(effect) := sprintf("%s (which is %s)", [shown(effect.path), shown(effect.resolved)]) if {
	is_string(effect.resolved)
	effect.resolved != effect.path
}

else := shown(object.get(effect, "path", null))

# METADATA
# description: a path below the home directory of any user, from there; undefined for others
in_home(path) := concat("/", array.slice(parts, 3, count(parts))) if {
	is_string(path)
	parts := split(path, "/")
	parts[1] in {"home", "Users"}
	count(parts) > 3
}

else := substring(path, 6, -1) if {
	is_string(path)
	startswith(path, "/root/")
}

# METADATA
# description: the known texts of a list field; empty if there are none
texts(thing, field) := [t | some t in thing[field]; is_string(t)]

# METADATA
# description: the field is a text that the RE2 expression finds something in
matches(thing, field, pattern) if {
	is_string(thing[field])
	regex.match(pattern, thing[field])
}

# METADATA
# description: the pattern, in which one star stands for any text, means the name
covers(pattern, name) if pattern == name

covers(pattern, name) if {
	[before, after] := split(pattern, "*")
	startswith(name, before)
	endswith(name, after)
	count(name) >= count(before) + count(after)
}

# METADATA
# description: the host is one of the domains, or lies below one
host_in(host, domains) if {
	some domain in domains
	host == domain
}

host_in(host, domains) if {
	is_string(host)
	some domain in domains
	endswith(host, sprintf(".%s", [domain]))
}

# METADATA
# description: |
#   an address of the web, over https, whose host is one of the domains or lies below
#   one; a user and a password before the host change nothing
registry_of(address, domains) if {
	is_string(address)
	found := regex.find_all_string_submatch_n(`^https://(?:[^/?#\\@]*@)?([A-Za-z0-9.-]+)(?::[0-9]+)?(?:[/?#]|$)`, address, 1)
	host_in(lower(found[0][1]), domains)
}

# METADATA
# description: |
#   a path below .git that is git's own, which other tools' files there are not.
#   One that is not known may be.
of_git(path) if not is_string(path)

of_git(path) if {
	is_string(path)
	regex.match(
		`/\.git(/(worktrees|modules)/[^/]+)*(/(HEAD|index|packed-refs|shallow|config(\.worktree)?|commondir|gitdir|description|[A-Z_]+_HEAD|MERGE_\w+|SQUASH_MSG|COMMIT_EDITMSG|AUTO_MERGE|BISECT_\w+|branches|objects|refs|reftable|logs|lfs/objects|worktrees|modules|info|hooks|rebase-(merge|apply)|sequencer|sharedindex.*)(/.*)?)?/?$`,
		path,
	)
}
