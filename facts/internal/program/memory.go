package program

import (
	"path"
	"strings"

	"gate/facts/internal/flow"
	"gate/internal/wordlist"
)

// savers are programs that save the memory of a process or a device, or what passes on a network,
// and behind a colon a word of theirs by which they do.
const savers = " jmap:dump jcmd:heap_dump jcmd:JFR.dump gcore: esptool.py:read esptool:read picotool:save probe-rs:read flashrom:-r nrfjprog:--read avrdude::r: st-flash:read pyocd:savemem dfu-util:-U " +
	"dotnet-dump:collect dotnet-gcdump:collect dotnet-trace:collect procdump: createdump: memray:run adb:backup virsh:dump criu:dump avml: coredumpctl:dump winpmem: tcpdump:-w tshark:-w dumpcap:-w ngrep:-O mitmdump:-w " +
	"dd:/dev/mem dd:/dev/mtd dd:/proc/kcore cp:/proc/kcore "

// memoryEnds are the endings of such files, whoever writes them.
const memoryEnds = " .hprof .heapsnapshot .dmp .mdmp .gcdump .heapdump .pcap .pcapng .vmem .lime "

// savesMemory remembers the new files that such a program is told of: they hold whatever was there at
// that moment, secrets included.
func (u *use) savesMemory(tool string) {
	words := u.Given()
	if len(words) == 0 || u.at().Remote {
		return
	}
	saves := false
	if at := strings.Index(savers, " "+tool+":"); at >= 0 && tool != "" {
		line := " " + flow.Join(words).Text()
		for i := range words {
			line += " " + words[i].Text()
		}
		for _, row := range strings.Fields(savers[at:]) {
			name, word, _ := strings.Cut(row, ":")
			if saves = name == tool && strings.Contains(line, word); saves || name != tool {
				break
			}
		}
	}
	last := words[len(words)-1].Text()
	for _, w := range words {
		for _, name := range strings.FieldsFunc(w.Text(), func(r rune) bool { return r == '=' || r == ',' || r == ':' }) {
			if name[0] == '-' || strings.HasPrefix(name, "/dev/") || strings.HasPrefix(name, "/proc/") || !saves && !wordlist.Has(memoryEnds, strings.ToLower(path.Ext(name))) {
				continue
			}
			if saves && !strings.ContainsAny(name, "./") {
				continue
			}
			u.holdsMemory(name)
			if tool == "gcore" {
				u.holdsMemory(name + "." + last)
			}
		}
	}
}

// holdsMemory remembers a file that is not there yet. One into which the line has put a secret
// that it names is worse than a dump, whatever its ending.
func (u *use) holdsMemory(name string) {
	f := flow.Literal(name)
	for _, t := range u.targets(f) {
		if t.Path == "" || u.World.Exists(t.Path) || u.Files[t.Path].Taint.Secret != "" {
			return
		}
	}
	u.remember(f, flow.Stream{Some: true, Taint: flow.Taint{Secret: flow.Memory}, From: u.ID}, false)
}
