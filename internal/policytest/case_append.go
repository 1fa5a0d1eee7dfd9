package policytest

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// AppendCase adds a case to the text of a file of cases, and changes nothing else
// of it. An error says why it cannot, such as that the case is there already.
func AppendCase(name string, old []byte, c Case) ([]byte, error) {
	before, err := ParseCases(name, old)
	if err != nil {
		return nil, err
	}
	for _, o := range before {
		if o.Name == c.Name {
			return nil, fmt.Errorf("line %d: the case %q is there already", o.Line, o.Name)
		}
	}
	at, indent, err := casesEnd(old)
	if err != nil {
		return nil, err
	}
	formatted, err := FormatCases(c)
	if err != nil {
		return nil, err
	}
	out := strings.TrimRight(string(old[:at]), "\n") + "\n"
	for line := range strings.Lines(strings.TrimPrefix(string(formatted), "cases:\n")) {
		if line != "\n" {
			line = strings.Repeat(" ", indent) + strings.TrimPrefix(line, "  ")
		}
		out += line
	}
	out += string(old[at:])
	after, err := ParseCases(name, []byte(out))
	if err != nil || len(after) != len(before)+1 {
		return nil, fmt.Errorf("nothing could be added without a change to the rest; without --to the case is printed (%v)", err)
	}
	return []byte(out), nil
}

// casesEnd returns where in a file of cases the list of cases ends, in bytes,
// and how far its entries are indented.
func casesEnd(data []byte) (at, indent int, err error) {
	var doc yaml.Node
	if err := yaml.Unmarshal(data, &doc); err != nil {
		return 0, 0, err
	}
	if len(doc.Content) != 1 || doc.Content[0].Kind != yaml.MappingNode {
		return 0, 0, errors.New("it is no object with cases")
	}
	root := doc.Content[0]
	for i := 0; i+1 < len(root.Content); i += 2 {
		if root.Content[i].Value != "cases" {
			continue
		}
		list := root.Content[i+1]
		if list.Kind != yaml.SequenceNode || list.Style&yaml.FlowStyle != 0 || root.Style&yaml.FlowStyle != 0 {
			return 0, 0, errors.New("its cases stand in brackets; put each on a line of its own that begins with a dash")
		}
		next := len(data)
		if i+2 < len(root.Content) {
			next = lineStart(data, root.Content[i+2].Line)
		}
		return beforeComments(data, next), list.Column - 1, nil
	}
	return 0, 0, errors.New("it has no cases")
}

// lineStart is where a line begins; lines count from 1.
func lineStart(data []byte, line int) int {
	at := 0
	for ; line > 1; line-- {
		i := bytes.IndexByte(data[at:], '\n')
		if i < 0 {
			return len(data)
		}
		at += i + 1
	}
	return at
}

// beforeComments goes back over blank lines, and over comments that are not
// indented: they belong to what follows, or to the end of the file.
func beforeComments(data []byte, at int) int {
	for at > 0 {
		start := bytes.LastIndexByte(data[:at-1], '\n') + 1
		line := data[start:at]
		if len(bytes.TrimSpace(line)) > 0 && line[0] != '#' {
			break
		}
		at = start
	}
	return at
}
