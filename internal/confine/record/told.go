package record

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"gate/internal/hostfs"
	"gate/internal/strictjson"
)

// An End is what the launcher tells of the end of a program.
type End struct {
	Level   string   // how much was held
	Status  int      // the program's exit status
	Refused []string // hosts that it did not reach, each with the reason
	Planted []string // files that steer agents and were not there before
	Git     []string // what it changed in repositories and what they do not have, a sentence each
	Nothing string   // why nothing ran; "" where it did
}

// Tell keeps what became of a record that was taken.
func Tell(dir, id string, e End) error {
	if !isID(id) {
		return errors.New("no record has that name")
	}
	data := strictjson.Append(nil, map[string]any{
		"level": e.Level, "status": strconv.Itoa(e.Status), "refused": e.Refused, "planted": e.Planted, "git": e.Git, "nothing": e.Nothing,
	})
	root, err := hostfs.OpenDir(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	return root.WriteFile(id+ended, data, 0o600)
}

// A Told is what is known of a call that was decided to run confined.
type Told struct {
	Record
	ID  string
	Ran bool // its program was started
	End *End // nil: it has not ended, or nobody told
}

// MayStart reports a line of a tool that looks like one that starts a record.
func MayStart(tool, line string) bool { return tool == "Bash" && strings.Contains(line, " --call ") }

// Knows reports that a call has a record, or that nobody can tell.
func Knows(dir, agent, session, call string) bool {
	return call != "" && !hostfs.Missing(filepath.Join(dir, keyOf(agent, session, call)+noted))
}

// OfLine returns what is known of the record that the host's line starts. ok is false
// where no decision gave that line to this very call.
func OfLine(dir, line, agent, session, call string) (t Told, ok bool) {
	at := strings.LastIndexByte(line, ' ')
	id := line[at+1:]
	if !isID(id) {
		return t, false
	}
	t, ok = told(dir, id)
	return t, ok && t.Form(id) == line && t.Agent == agent && t.Session == session && (t.Call == call || call == "")
}

// OfCall returns what is known of the record of a call; ok is false where it has none.
func OfCall(dir, agent, session, call string) (t Told, ok bool) {
	if call == "" {
		return t, false
	}
	id, err := os.ReadFile(filepath.Join(dir, keyOf(agent, session, call)+noted))
	if err != nil || !isID(string(id)) {
		return t, false
	}
	t, ok = told(dir, string(id))
	return t, ok && t.Agent == agent && t.Session == session && t.Call == call
}

// endOf reads what the launcher told; nil where that is not to be understood.
func endOf(data []byte) *End {
	doc, err := strictjson.Object(data, strictjson.Limits{})
	if err != nil {
		return nil
	}
	e := End{Refused: strictjson.Texts(doc["refused"]), Planted: strictjson.Texts(doc["planted"]), Git: strictjson.Texts(doc["git"])}
	e.Level, _ = doc["level"].(string)
	e.Nothing, _ = doc["nothing"].(string)
	status, _ := doc["status"].(string)
	if e.Status, err = strconv.Atoi(status); err != nil {
		return nil
	}
	return &e
}

func told(dir, id string) (t Told, ok bool) {
	root, err := hostfs.OpenDir(dir)
	if err != nil {
		return t, false
	}
	defer root.Close()
	t.ID = id
	t.Record, err = read(root, id)
	if errors.Is(err, fs.ErrNotExist) {
		t.Record, err = read(root, id+ran)
		t.Ran = err == nil
	}
	if err != nil {
		return t, false
	}
	if data, err := hostfs.ReadFile(root, id+ended, mostBytes); err == nil {
		t.End = endOf(data)
	}
	return t, true
}
