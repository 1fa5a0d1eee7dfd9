package consent

import (
	"fmt"
	"strings"
)

// A FarEnd says what is known of the other end of a terminal: the program there
// shows what is written, and types what is read. The zero FarEnd knows nothing and
// refuses nothing.
type FarEnd struct {
	Err  error  // why no person is at the other end; nil: nothing speaks against one
	Note string // what was not checked, a sentence without a full stop; "": all was
}

// A holderKind says what a program at the far end of a terminal proves.
type holderKind byte

const (
	login       holderKind = iota // the system let somebody in
	emulator                      // a window on a screen
	multiplexer                   // a client of it must sit at a terminal of a person itself
	relay                         // its own terminal is the one that counts
)

// A holder is a program that may hold the other end of a person's terminal.
type holder struct {
	name string // of the program's file; one that ends in "-" is the beginning of it
	kind holderKind
	why  string
}

// holders are all programs that may. Interpreters, agents, script, expect and
// whatever is not named here may not: they read and type what they like.
var holders = [...]holder{
	{"sshd", login, "OpenSSH before 9.8 keeps the session's terminal"},
	{"sshd-session", login, "OpenSSH from 9.8 on does it in a program of its own"},
	{"sshd-auth", login, "OpenSSH from 10 on, until the login is over"},
	{"dropbear", login, "the SSH server of small systems"},
	{"login", login, "the console's login"},
	{"agetty", login, "the console before the login"},
	{"getty", login, "the console before the login"},
	{"in.telnetd", login, "a login over the network"},
	{"init", login, "the Windows Subsystem for Linux relays Windows' terminal by its init; elsewhere init holds none"},

	{"alacritty", emulator, "a terminal emulator"},
	{"mosh-server", emulator, "the far side of mosh, which runs as the account"},
	{"contour", emulator, "a terminal emulator"},
	{"cosmic-term", emulator, "COSMIC's terminal"},
	{"deepin-terminal", emulator, "Deepin's terminal"},
	{"foot", emulator, "a terminal emulator; footclient's windows are its, too"},
	{"ghostty", emulator, "a terminal emulator"},
	{"gnome-terminal-server", emulator, "GNOME Terminal; one process has all windows"},
	{"io.elementary.terminal", emulator, "elementary's terminal"},
	{"kgx", emulator, "GNOME Console"},
	{"kitty", emulator, "a terminal emulator"},
	{"konsole", emulator, "KDE's terminal"},
	{"lxterminal", emulator, "LXDE's terminal"},
	{"mate-terminal", emulator, "MATE's terminal"},
	{"ptyxis-agent", emulator, "Ptyxis has its terminals in a process of their own"},
	{"qterminal", emulator, "LXQt's terminal"},
	{"rio", emulator, "a terminal emulator"},
	{"st", emulator, "a terminal emulator"},
	{"terminology", emulator, "Enlightenment's terminal"},
	{"tilix", emulator, "a terminal emulator"},
	{"urxvt", emulator, "a terminal emulator"},
	{"urxvtd", emulator, "its process for many windows"},
	{"wezterm-gui", emulator, "WezTerm"},
	{"xfce4-terminal", emulator, "Xfce's terminal"},
	{"xterm", emulator, "the X terminal emulator"},
	{"yakuake", emulator, "KDE's drop-down terminal"},
	{"code", emulator, "Visual Studio Code's terminal host"},
	{"code-insiders", emulator, "its preview"},
	{"codium", emulator, "its build without Microsoft's parts"},
	{"zed-editor", emulator, "Zed's terminal"},

	{"tmux", multiplexer, "its server holds the terminals of all windows"},
	{"screen", multiplexer, "its server does"},
	{"screen-", multiplexer, "Debian's file of it has the version in its name"},
	{"zellij", multiplexer, "its server does"},

	{"sudo", relay, "with use_pty, its default since 1.9.14, it puts a terminal between"},
	{"su", relay, "with --pty it does"},
}

// holderNamed returns the row of a program, nil if there is none. A short name is
// the kernel's, which has 15 bytes at most.
func holderNamed(program string, short bool) *holder {
	for i := range holders {
		h := &holders[i]
		name := h.name
		if short && len(name) > 15 {
			name = name[:15]
		}
		if program == name || strings.HasSuffix(name, "-") && strings.HasPrefix(program, name) {
			return h
		}
	}
	return nil
}

// noPerson is the sentence about a program at the other end.
func noPerson(program, why string) error {
	return fmt.Errorf("%w: %q has it%s", NoPerson, clip(program), why)
}
