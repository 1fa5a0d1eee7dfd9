package rego

import (
	"encoding/binary"

	"github.com/open-policy-agent/opa/v1/version"
)

// Forge returns what was saved for a managed source as if it had been saved for
// any.
func Forge(data string) string {
	s := &snapshot{data: data}
	if s.read() != nil {
		return ""
	}
	head := len(data) - 4
	for _, f := range s.files {
		head -= len(f.section)
	}
	forged := []byte(data)
	forged[len(snapshotMagic)+1+len(version.Version)] = byte(grantAll)
	binary.LittleEndian.PutUint32(forged[head:], checksum(string(forged[:head])))
	return string(forged)
}
