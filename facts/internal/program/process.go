package program

import (
	"path"
	"slices"
	"strings"

	"gate/facts/internal/draft"
	"gate/facts/internal/flow"
	"gate/hook"
	"gate/internal/wordlist"
)

// agents are programs that gate guards, and gate's own, by the names of their
// processes.
const agents = " claude codex gemini qwen opencode copilot cursor-agent gate gate-hook gate-run gate-server "

// process judges a process that is signalled, slowed or looked into: the agent
// itself, or what goes by a name.
func (u *use) process(f flow.Word, named bool) {
	if u.ends() && (u.has("list") || u.has("l")) {
		return // it tells of signals
	}
	of := f.Taint().Process
	if named {
		of = f.Text()
	}
	name := processName(of)
	switch {
	case of == "":
	case of == flow.Parent, namesAgent(of):
		u.effect(&hook.Self{What: "agent program", Verb: u.name})
	case u.ends() && !u.only("signal", "0") && (!named || name != of || len(u.rest) > 0 && !u.rest[0].Same(f)):
		u.effect(&hook.Process{Verb: "kill", Target: new(name), All: of == "."})
	}
}

// ends reports a program that ends processes.
func (u *use) ends() bool {
	return wordlist.Has(" kill gkill pkill killall skill snice slay taskkill tskill Stop-Process ", u.name)
}

// only reports an option with one value.
func (u *use) only(option, value string) bool {
	f, ok := u.opt(option)
	return ok && f.Literal() && f.Text() == value || u.has(value)
}

// namesAgent reports a name or a pattern of names of an agent's process. A part of a
// longer path or name is none.
func namesAgent(pattern string) bool {
	text := " " + plainPattern(pattern) + " "
	for name := range strings.FieldsSeq(agents) {
		for rest := text; ; {
			i := strings.Index(rest, name)
			if i < 0 {
				break
			}
			before, after := rest[i-1], rest[i+len(name):]
			if strings.IndexByte(" /(|*", before) >= 0 && (strings.IndexByte(" )|", after[0]) >= 0 || strings.HasPrefix(after, ".*") || strings.HasPrefix(after, ".exe")) {
				return !strings.HasPrefix(name, "gate") || !strings.Contains(pattern, " ") // what runs with gate in its words is not gate
			}
			rest = rest[i+1:]
			if i == 0 || rest == "" {
				break
			}
		}
	}
	return false
}

// plainPattern is a pattern of names without what keeps it from matching itself, or
// ties it to the ends: [c]laude, ^claude$.
func plainPattern(pattern string) string {
	text := strings.ToLower(pattern)
	for {
		i := strings.IndexByte(text, '[')
		if i < 0 || i+2 >= len(text) || text[i+2] != ']' {
			break
		}
		text = text[:i] + text[i+1:i+2] + text[i+3:]
	}
	return strings.NewReplacer("^", "", "$", "", `\b`, "").Replace(text)
}

// processName is the name that a pattern stands for.
func processName(pattern string) string {
	text := strings.TrimSuffix(strings.TrimSpace(plainPattern(pattern)), ".*")
	text, _, _ = strings.Cut(text, " ")
	return path.Base(text)
}

// kill judges the words of kill: a signal, and processes by number. Signal 0 only
// asks whether they are there.
func (u *use) kill() {
	signal, words := "", u.rest
	for len(words) > 0 {
		text := words[0].Text()
		if !words[0].Literal() || !strings.HasPrefix(text, "-") || len(text) < 2 {
			break
		}
		if signal != "" && text != "--" { // a group of processes
			break
		}
		words = words[1:]
		switch {
		case text == "--":
			signal = signal + " "
		case text == "-s", text == "-n", text == "--signal":
			if len(words) > 0 {
				signal, words = "-"+words[0].Text(), words[1:]
			}
		case strings.HasPrefix(text, "-l"), text == "-L", text == "--list", text == "--table":
			return
		default:
			signal = strings.Replace(text, "--signal=", "-", 1)
		}
		if text == "--" {
			break
		}
	}
	if signal = strings.TrimSpace(signal); signal == "-0" || signal == "-EXIT" {
		return
	}
	for _, f := range words {
		all := slices.Contains([]string{"1", "0", "-1"}, f.Text()) && f.Literal() || f.Matches()
		target := f.Value()
		if all {
			target = new("all")
		}
		u.effect(&hook.Process{Verb: "kill", Target: target, Signal: flow.Known(signal), All: all})
		u.process(f, false)
	}
}

// processNumbers says whose numbers a program prints.
func (u *use) processNumbers(out flow.Stream) flow.Stream {
	switch u.name {
	case "pgrep", "pidof", "pidofproc":
		out.Taint.Process = flow.Join(u.rest).Text()
		if len(u.rest) == 0 && u.has("euid") || wordlist.Has(" .* .+ ^ $ ", out.Taint.Process) {
			out.Taint.Process = "." // which fits every name
		}
	case "systemctl":
		if len(u.rest) > 0 {
			out.Taint.Process = strings.TrimSuffix(u.rest[len(u.rest)-1].Text(), ".service")
		}
	case "ps":
		out.Taint.Process = u.listedProcesses()
	case "nvidia-smi", "rocm-smi": // of everybody who computes there
		if u.has("query-compute-apps") || u.has("showpids") {
			out.Taint.Process = "*"
		}
	case "grep", "egrep", "fgrep", "rg", "ag", "awk", "gawk", "mawk", "sed", "gsed", "perl":
		if pattern := u.chosenProcesses(); out.Taint.Process == "*" && pattern != "" {
			out.Taint.Process = pattern
		}
	}
	for _, f := range u.reads { // /proc/self/stat, /proc/$PPID/task/$PPID/children, /run/sshd.pid
		text := f.Text()
		if name, ok := strings.CutSuffix(path.Base(text), ".pid"); ok && f.Literal() {
			out.Taint.Process = name
		}
		if strings.HasPrefix(text, "/proc/") && wordlist.Has(" stat status children ", path.Base(text)) {
			out.Taint.Process = flow.Parent
		}
	}
	return out
}

// listedProcesses says whose processes ps lists.
func (u *use) listedProcesses() string {
	all := false
	given := u.Given()
	for i, f := range given {
		text := f.Text()
		if t := f.Taint().Process; t != "" {
			return t
		}
		switch strings.Trim(strings.TrimLeft(text, "-o"), "=") {
		case "ppid", "ppid,pid", "ppid,comm":
			return flow.Parent
		}
		if text == "-C" && i+1 < len(given) {
			return given[i+1].Text()
		}
		if i == 0 && !strings.HasPrefix(text, "--") && strings.ContainsAny(strings.TrimLeft(text, "-"), "Aeax") {
			all = true
		}
	}
	if all {
		return "*"
	}
	return ""
}

// chosenProcesses is the pattern by which a program picks lines of a list.
func (u *use) chosenProcesses() string {
	if u.has("invert-match") {
		return ""
	}
	if f, ok := u.opt("regexp"); ok {
		return f.Text()
	}
	if len(u.rest) == 0 {
		return ""
	}
	text := u.rest[0].Text()
	switch u.name {
	case "awk", "gawk", "mawk", "sed", "gsed", "perl":
		_, text, _ = strings.Cut(text, "/")
		text, _, _ = strings.Cut(text, "/")
	}
	return text
}

// elsewhere judges a home that an agent is started with: its settings lie there, and
// the hooks in them, so that another home is an agent without a guard.
func (u *use) elsewhere(e draft.Setting) {
	if !wordlist.Has(agents, u.name) || strings.HasPrefix(u.name, "gate") || !slices.Contains([]string{"HOME", "XDG_CONFIG_HOME", "USERPROFILE"}, e.Name) {
		return
	}
	if v := e.Value.Value(); v == nil || *v != u.World.Home && *v != u.World.Home+"/.config" {
		u.effect(&hook.Self{What: "agent program", Verb: "run"})
	}
}
