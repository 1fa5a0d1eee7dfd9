package world

import (
	"encoding/binary"
	"io/fs"
	"strings"
)

const (
	maxGuard = 256 << 10 // bytes of a settings file that is searched for gate
	maxIndex = 16 << 20  // bytes of an index of git
)

// GuardsOfProject returns the agents' settings files of the project by which alone
// gate stands before an agent: those that name gate's program, where the person's own
// file of the same agent does not.
func (w World) GuardsOfProject() (files []string) {
	if w.Project == "" {
		return nil
	}
	for line := range strings.Lines(placeRows) {
		patterns, ok := strings.CutPrefix(line, Self+" | agent settings | ")
		for ok && patterns != "" {
			var word string
			word, patterns = nextWord(strings.TrimRight(patterns, "\n"))
			name, anywhere := strings.CutPrefix(word, "**/")
			if !anywhere || strings.Contains(name, "*") {
				continue
			}
			file := w.Project + "/" + name
			if w.namesGate(file) && (w.Home == w.Project || !w.namesGate(w.Home+"/"+name)) {
				files = append(files, file)
			}
		}
	}
	return files
}

// namesGate reports a file that has gate's program in a command line, or switches gate's
// plugin on.
func (w World) namesGate(file string) bool {
	text, err := w.Read(file, maxGuard)
	return err == nil && (strings.Contains(text, "gate-hook") || strings.Contains(text, "gate hook --agent") || strings.Contains(text, `"gate@`))
}

// A Tracking is what an index of git says of a file.
type Tracking uint8

// What is not known is the gravest: the file may be of the repository and changed.
const (
	Changed   Tracking = iota // in the index, and not as it lies there; or not known
	Unchanged                 // in the index, as it lies there
	Untracked                 // not in the index
)

// Tracked says what the index of a repository has of a file below its top. The index
// has a size and a time of each file, which git itself goes by.
func (w World) Tracked(git, top, file string) Tracking {
	name, below := strings.CutPrefix(file, strings.TrimSuffix(top, "/")+"/")
	if !below {
		return Untracked
	}
	index, err := w.Read(git+"/index", maxIndex)
	if err != nil {
		if !w.Exists(git + "/index") {
			return Untracked
		}
		return Changed
	}
	const header, fixed = 12, 62 // bytes before the entries, and of an entry before its name
	if len(index) < header || index[:4] != "DIRC" || binary.BigEndian.Uint32([]byte(index[4:8])) > 3 {
		return Changed // a later version shortens names
	}
	at := strings.Index(index, string([]byte{byte(len(name))})+name+"\x00")
	if at < 0 {
		return Untracked
	}
	entry := at + 1 - fixed
	info, err := w.Files.Lstat(file)
	if entry < header || err != nil || !info.Mode().IsRegular() {
		return Changed
	}
	return sameAs([]byte(index[entry:entry+fixed]), info)
}

// sameAs compares a file with its entry of an index: seconds of the last change, and
// size.
func sameAs(entry []byte, info fs.FileInfo) Tracking {
	seconds, size := binary.BigEndian.Uint32(entry[8:]), binary.BigEndian.Uint32(entry[36:])
	if uint32(info.ModTime().Unix()) == seconds && uint32(info.Size()) == size {
		return Unchanged
	}
	return Changed
}
