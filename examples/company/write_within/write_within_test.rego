package company.write_within_test

import data.company.write_within

test_denies if {
	every call in [
		"echo x > /etc/hosts",
		"cp a ../other/a",
		"rm ~/notes.txt",
		"chmod +x /opt/tool",
		"cd / && touch x",
		"tee /srv/data/x",
		{"tool": "Write", "input": {"file_path": "/home/dev/.bashrc", "content": "x"}},
		{"tool": "Edit", "input": {"file_path": "/home/dev/other/a.go", "old_string": "a", "new_string": "b"}},
	] {
		count(write_within.deny) > 0 with input as gate.event(call)
	}
}

test_asks_what_is_not_known if {
	every line in [`echo x > "$FILE"`, `rm -f "$DIR/x"`, `chmod +x "$FILE"`] {
		count(write_within.ask) > 0 with input as gate.event(line)
		count(write_within.deny) == 0 with input as gate.event(line)
	}
}

test_passes if {
	every call in [
		"echo x > notes.txt",
		"mkdir -p build && cp a build/",
		"rm -rf node_modules",
		"go build -o /tmp/app .",
		"make > /dev/null 2>&1",
		"cat /etc/hosts",
		`cat "$FILE"`,
		"chmod 755 .",
		"echo x >> .git/info/exclude",
		"rm -rf ~/.cache/x",
		"cp /etc/hosts hosts",
		"D=/tmp/x; mkdir -p $D",
		{"tool": "Write", "input": {"file_path": "/home/dev/project/a.go", "content": "x"}},
	] {
		count(write_within.deny) == 0 with input as gate.event(call)
		count(write_within.ask) == 0 with input as gate.event(call)
	}
}

test_directories_are_a_parameter if {
	count(write_within.deny) == 0 with input as gate.event("cp a /srv/shared/a")
		with data.gate.params.company.write_within.directories as ["/srv/shared"]
	count(write_within.deny) > 0 with input as gate.event("cp a /srv/sharedness/a")
		with data.gate.params.company.write_within.directories as ["/srv/shared"]
}
