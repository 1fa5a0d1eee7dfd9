package program

import (
	"strconv"
	"strings"

	"gate/facts/internal/flow"
	"gate/hook"
	"gate/internal/wordlist"
)

// fullDisk is the size in bytes from which a file that is made for its size alone fills
// a disk rather than a test's image.
const fullDisk = 100 << 30

// bytes reads a size as coreutils take it: 512, 900G, 2TiB, 1kB, 10m.
func bytes(text string) float64 {
	digits := strings.TrimLeft(text, "+")
	unit := strings.TrimLeft(digits, "0123456789.")
	n, err := strconv.ParseFloat(digits[:len(digits)-len(unit)], 64)
	if err != nil {
		return 0
	}
	if unit != "" {
		if at := strings.IndexByte("kmgtpe", unit[0]|' '); at >= 0 {
			for range at + 1 {
				n *= 1024
			}
		}
	}
	return n
}

// unending says whether what the program writes has no end, or one that no disk sees.
func (u *use) unending(in flow.Stream) bool {
	size := "" // of the piece that is taken
	switch u.name {
	case "yes", "gyes":
		return true
	case "head", "ghead":
		size = flow.Text(u.optText("bytes"))
	case "tail", "gtail", "timeout":
		return false
	case "openssl":
		if len(u.verbs) > 0 && u.verbs[0] == "rand" && len(u.rest) > 0 {
			return bytes(u.rest[0].Text()) > fullDisk
		}
	case "dd", "gdd", "dcfldd", "dc3dd":
		count, size := u.ddOption("count"), bytes(u.ddOption("bs"))
		return in.Endless && (count == "" || bytes(count)*max(size, 512) > fullDisk)
	}
	copies := wordlist.Has(" copy filter encode decode ", u.row.Output) || wordlist.Has(" pv cp tee tr ", u.name)
	return in.Endless && (size != "" && bytes(size) > fullDisk || size == "" && copies && !strings.HasSuffix(u.name, "head"))
}

// ddOption is the value of name=value, "" without one.
func (u *use) ddOption(name string) string {
	for _, f := range u.rest {
		if key, value, ok := f.Cut("="); ok && key == name {
			return value.Text()
		}
	}
	return ""
}

// size judges a file that is made as large as the line says.
func (u *use) size() {
	size := flow.Text(u.optText("length"))
	if u.name == "mkfile" && len(u.rest) > 0 {
		size = u.rest[0].Text()
	}
	if bytes(size) > fullDisk && len(u.rest) > 0 {
		u.effect(&hook.Disk{Verb: "fill", Device: u.rest[len(u.rest)-1].Value()})
	}
}
