package install

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
)

// eventFiles are programs with the names of events, in one directory: a script of
// gate's for each event, and no other file.
type eventFiles struct {
	refuse string // the answer that stops a call, as a word of a shell
}

const eventFileMark = "# Written by gate install, and removed by gate uninstall.\n"

// script is the program for the event that path is named after.
func (f eventFiles) script(t *table, m Machine, s Scope, path string) []byte {
	event := filepath.Base(path)
	words := t.words(m, s, event)
	line := commandLine(m.OS, words)
	if t.stops(event) { // its status says nothing, and an empty file is a program that succeeds
		line += " &&\n\t[ -s " + shellQuote(words[0]) + " ] ||\n\techo " + f.refuse
	}
	return []byte("#!/bin/sh\n" + eventFileMark + line + "\n")
}

func (f eventFiles) install(t *table, m Machine, s Scope, path string, old []byte) ([]byte, error) {
	if m.OS == "windows" {
		return nil, fmt.Errorf("%s: how %s starts a program for an event on Windows is not known", path, t.title)
	}
	if old != nil && !f.isOwn(t, old) {
		return nil, fmt.Errorf("%s: it is not of gate's, and there can be one program only; call gate from it by hand: %s",
			path, commandLine(m.OS, t.words(m, s, filepath.Base(path))))
	}
	return f.script(t, m, s, path), nil
}

func (f eventFiles) uninstall(t *table, _ string, old []byte) ([]byte, error) {
	if !f.isOwn(t, old) {
		return old, nil
	}
	return nil, nil
}

func (f eventFiles) isOwn(t *table, text []byte) bool { return t.isGate(eventFileWords(text)) }

// eventFileWords is the command line of a script of gate's.
func eventFileWords(text []byte) []string {
	_, rest, ok := bytes.Cut(text, []byte(eventFileMark))
	if !ok {
		return nil
	}
	line, _, _ := strings.Cut(string(rest), "\n")
	return shellWords(strings.TrimSuffix(strings.TrimSuffix(line, " &&"), " ||"))
}

func (f eventFiles) entries(t *table, m Machine, s Scope, path string, text []byte) ([]tableEntry, error) {
	words := eventFileWords(text)
	if !t.isGate(words) {
		return nil, nil
	}
	e := tableEntry{event: filepath.Base(path), words: words, line: 3, exact: bytes.Equal(text, f.script(t, m, s, path))}
	e.sound = e.exact || bytes.Equal(text, f.script(t, t.as(m, words), s, path))
	return []tableEntry{e}, nil
}

func (eventFiles) switched(*table, []byte) []switchedOff { return nil }
