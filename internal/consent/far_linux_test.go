package consent

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// A fakeProc is a process of a made-up /proc.
type fakeProc struct {
	pid, parent, session int
	tty                  string // "pts/3", "tty1", ""
	uid                  int
	name                 string // its file, in the directory of programs; "" hides file and descriptors
	short                string // its kernel name; "": that of the file
	holds                int    // the terminal whose other end it has; -1: none
}

// fakeView lays a /proc out. Programs named *-mine belong to the account.
func fakeView(t *testing.T, uid int, list []fakeProc) procView {
	t.Helper()
	root := t.TempDir()
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	write := func(name, text string) {
		must(os.MkdirAll(filepath.Dir(name), 0o755))
		must(os.WriteFile(name, []byte(text), 0o644))
	}
	for _, p := range list {
		dir := filepath.Join(root, strconv.Itoa(p.pid))
		tty := 0
		if n, ok := strings.CutPrefix(p.tty, "pts/"); ok {
			i, _ := strconv.Atoi(n)
			tty = pseudo<<8 | i
		} else if n, ok := strings.CutPrefix(p.tty, "tty"); ok {
			i, _ := strconv.Atoi(n)
			tty = 4<<8 | i
		}
		short := p.short
		if short == "" {
			short = p.name[:min(15, len(p.name))]
		}
		write(filepath.Join(dir, "stat"), strings.Join([]string{strconv.Itoa(p.pid), "(" + short + ")", "S", strconv.Itoa(p.parent), "1", strconv.Itoa(p.session), strconv.Itoa(tty), "0"}, " "))
		write(filepath.Join(dir, "status"), "Name:\tx\nUid:\t"+strconv.Itoa(p.uid)+"\t0\t0\t0\n")
		write(filepath.Join(dir, "uid_map"), "         0          0 4294967295\n")
		if p.name == "" {
			continue
		}
		exe := filepath.Join(root, "bin", p.name)
		write(exe, "")
		must(os.Symlink(exe, filepath.Join(dir, "exe")))
		must(os.MkdirAll(filepath.Join(dir, "fd"), 0o755))
		if p.holds >= 0 {
			must(os.Symlink("/dev/ptmx", filepath.Join(dir, "fd", "7")))
			write(filepath.Join(dir, "fdinfo", "7"), "pos:\t0\nflags:\t02\ntty-index:\t"+strconv.Itoa(p.holds)+"\n")
		}
	}
	return procView{root: root, self: 100, uid: uid}
}

// TestFarEnd judges terminals by who has their other end. The process that asks is
// 100, its shell 90.
func TestFarEnd(t *testing.T) {
	gate := fakeProc{100, 90, 90, "pts/3", 1000, "gate", "", -1}
	shell := func(parent int) fakeProc { return fakeProc{90, parent, 90, "pts/3", 1000, "bash", "", -1} }
	const mine = 1000
	for _, row := range []struct {
		name string
		uid  int
		list []fakeProc
		want string // in the error; "": a person
		note string
	}{
		{"a terminal emulator", 0, []fakeProc{gate, shell(50), {50, 1, 50, "", 1000, "kitty", "", 3}}, "", ""},
		{"a program of the account's own by that name", mine, []fakeProc{gate, shell(50), {50, 1, 50, "", 1000, "kitty", "", 3}}, "this account's to write", ""},
		{"python", 0, []fakeProc{gate, shell(50), {50, 1, 50, "", 1000, "python3.12", "", 3}}, `"python3.12" has it`, ""},
		{"script", 0, []fakeProc{gate, shell(50), {50, 1, 50, "pts/1", 1000, "script", "", 3}, {40, 1, 40, "", 1000, "xterm", "", 1}}, `"script" has it`, ""},
		{"expect", 0, []fakeProc{gate, shell(50), {50, 1, 50, "", 1000, "expect", "", 3}}, `"expect" has it`, ""},
		{"an emulator and a program that took its descriptor", 0, []fakeProc{gate, shell(50), {50, 1, 50, "", 1000, "kitty", "", 3}, {60, 1, 60, "", 1000, "node", "", 3}}, `"node" has it`, ""},
		{"another terminal's holder", 0, []fakeProc{gate, shell(50), {50, 1, 50, "", 1000, "kitty", "", 3}, {60, 1, 60, "", 1000, "node", "", 4}}, "", ""},
		{"tmux with a client at an emulator", 0, []fakeProc{gate, shell(50), {50, 1, 50, "", 1000, "tmux", "", 3}, {60, 55, 60, "pts/1", 1000, "tmux", "", -1}, {40, 1, 40, "", 1000, "foot", "", 1}}, "", ""},
		{"tmux with a client at the console", 0, []fakeProc{gate, shell(50), {50, 1, 50, "", 1000, "tmux", "", 3}, {60, 55, 60, "tty1", 1000, "tmux", "", -1}}, "", ""},
		{"tmux with nobody at it", 0, []fakeProc{gate, shell(50), {50, 1, 50, "", 1000, "tmux", "", 3}}, "no client of it", ""},
		{"tmux with a client at python", 0, []fakeProc{gate, shell(50), {50, 1, 50, "", 1000, "tmux", "", 3}, {60, 55, 60, "pts/1", 1000, "tmux", "", -1}, {40, 1, 40, "", 1000, "python3", "", 1}}, `"python3" has it`, ""},
		{"Debian's screen", 0, []fakeProc{gate, shell(50), {50, 1, 50, "", 1000, "screen-4.9.0", "", 3}, {60, 55, 60, "tty2", 1000, "screen-4.9.0", "", -1}}, "", ""},
		{"sudo at an emulator", 0, []fakeProc{gate, shell(50), {50, 45, 45, "pts/1", 0, "sudo", "", 3}, {40, 1, 40, "", 1000, "konsole", "", 1}}, "", ""},
		{"sudo below python", 0, []fakeProc{gate, shell(50), {50, 45, 45, "pts/1", 0, "sudo", "", 3}, {40, 1, 40, "", 1000, "python3", "", 1}}, `"python3" has it`, ""},
		{"sudo's two processes", 0, []fakeProc{gate, shell(51), {50, 45, 45, "pts/1", 0, "sudo", "", 3}, {51, 50, 51, "pts/3", 0, "sudo", "", 3}, {40, 1, 40, "", 1000, "konsole", "", 1}}, "", ""},
		{"a console", 0, []fakeProc{{100, 90, 90, "tty1", 1000, "gate", "", -1}, {90, 1, 90, "tty1", 1000, "bash", "", -1}}, "", ""},

		{"a server of the account's own", mine, []fakeProc{gate, shell(50), {50, 40, 40, "", 1000, "sshd", "", 3}}, `sshd" has it`, ""},
		{"an ssh session, as the account", mine, []fakeProc{gate, shell(50), {50, 40, 40, "", 1000, "", "sshd-session", -1}, {40, 1, 40, "", 0, "", "sshd-session", -1}}, "", ""},
		{"a login on a pseudo-terminal", mine, []fakeProc{gate, shell(50), {50, 1, 50, "", 0, "", "login", -1}}, "", ""},
		{"another account's emulator below su", mine, []fakeProc{gate, shell(50), {50, 1, 50, "", 1001, "", "gnome-terminal-", -1}}, "", ""},
		{"a program that hides itself", mine, []fakeProc{gate, shell(50), {50, 40, 40, "", 1000, "", "sshd-session", -1}, {40, 1, 40, "", 1000, "bash", "", -1}}, "keeps itself from being seen", ""},
		{"one that hides itself within an ssh session", mine, []fakeProc{gate, shell(50), {50, 40, 40, "", 1000, "", "sshd", -1}, {40, 30, 40, "", 1000, "bash", "", -1}, {30, 20, 20, "", 1000, "", "sshd-session", -1}, {20, 1, 20, "", 0, "", "sshd-session", -1}}, "keeps itself from being seen", ""},
		{"an orphan", mine, []fakeProc{gate, shell(1), {1, 0, 1, "", 0, "", "systemd", -1}}, "as far as can be seen", ""},
		{"a container that root began", mine, []fakeProc{gate, shell(0)}, "", "outside of this container"},
	} {
		t.Run(row.name, func(t *testing.T) {
			d := device{pseudo, 3}
			if row.list[0].tty == "tty1" {
				d = device{4, 1}
			}
			view := fakeView(t, row.uid, row.list)
			if strings.Contains(row.name, "a program of the account's own") {
				if os.Geteuid() == 0 {
					if err := os.Chown(filepath.Join(view.root, "bin", "kitty"), mine, mine); err != nil {
						t.Fatal(err)
					}
				} else {
					view.uid = os.Geteuid()
				}
			}
			note, err := view.terminal(d, 0)
			switch {
			case row.want == "" && err != nil, row.want != "" && (err == nil || !strings.Contains(err.Error(), row.want) || !errors.Is(err, NoPerson)):
				t.Errorf("got %v, want %q", err, row.want)
			case !strings.Contains(note, row.note):
				t.Errorf("note %q, want %q", note, row.note)
			}
		})
	}
}
