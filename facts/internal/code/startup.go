package code

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// startFiles are files of a home directory that start by themselves: of shells, sessions,
// services and logins.
var startFiles = [...]string{".bashrc", ".zshrc", ".profile", ".bash_profile", ".zprofile", ".zshenv", ".bash_login", "config.fish", "authorized_keys", "LaunchAgents", "autostart", "systemd/user", ".gitconfig"}

// namesStart reports a statement that names a file which starts by itself.
//
//go:noinline
func namesStart(s string) bool {
	return slices.ContainsFunc(startFiles[:], func(name string) bool { return strings.Contains(s, name) })
}

// writeWords are functions and types that write files.
const writeWords = " write writeFile writeFileSync appendFile appendFileSync write_text write_all writeln WriteString WriteFile OpenFile OpenOptions create forWritingAtPath " +
	"AppendAllText WriteAllText appendText writeText fopen fwrite fputs file_put_contents FileWriter PrintWriter Files newBufferedWriter spew append copy_file copyFileSync copyItem symlink spurt spit content lineinfile blockinfile copyFile createSymbolicLink symlinkSync ln "

// writesStart reports a statement that writes a file which starts by itself; start are names
// of such files.
func writesStart(s string, start map[string]bool) bool {
	return (namesStart(s) || holds(s, start)) && (calls(s, writeWords) || writesFile().MatchString(s))
}

// writesFile finds other ways to write a file: of cmake, of a shell and of make, and those that take a
// mode.
var writesFile = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\bfile\s*\(\s*(?:APPEND|WRITE|GENERATE|COPY|INSTALL|CREATE_LINK)|>>|\btee\b|["'](?:a|w|a\+|w\+|at|wt)["']|:append\b|\$\(file\s*>|\bcat\s*\(.*file\s*=|\bwriteLines\b|\bsink\(|IO\.appendFile|appendFile|io\.append|open_append|:write\b`)
})
