package builtin

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strings"

	"gate/engine/plan/value"
)

// uuidParse is undefined for what is no UUID.
func uuidParse(_ *Context, args []value.Value) (value.Value, error) {
	s, err := text(args, 0)
	if err != nil {
		return nil, err
	}
	id, ok := uuidOf(s)
	if !ok {
		return nil, nil
	}
	parts := value.NewObject()
	put := func(name string, v value.Value) { parts.Insert(value.String(name), v) }
	version := id[6] >> 4
	put("version", value.Int(version))
	put("variant", value.String(variant(id[8])))
	if version != 1 && version != 2 {
		return parts, nil
	}
	put("time", value.Int(uuidTime(id)))
	put("nodeid", value.String(fmt.Sprintf("%02x-%02x-%02x-%02x-%02x-%02x", id[10], id[11], id[12], id[13], id[14], id[15])))
	put("macvariables", value.String(macVariables(id[10])))
	put("clocksequence", value.Int(binary.BigEndian.Uint16(id[8:])&0x3fff))
	if version == 2 {
		put("id", value.Int(binary.BigEndian.Uint32(id[:])))
		put("domain", value.String(domain(id[9])))
	}
	return parts, nil
}

// uuidOf reads the usual form, also as urn:uuid: or in braces, and 32 digits.
func uuidOf(s string) (id [16]byte, ok bool) {
	switch len(s) {
	case 45:
		if !strings.EqualFold(s[:9], "urn:uuid:") {
			return id, false
		}
		s = s[9:]
	case 38:
		s = s[1:37]
	case 32:
		n, err := hex.Decode(id[:], []byte(s))
		return id, err == nil && n == 16
	}
	if len(s) != 36 || s[8] != '-' || s[13] != '-' || s[18] != '-' || s[23] != '-' {
		return id, false
	}
	_, err := hex.Decode(id[:], []byte(s[:8]+s[9:13]+s[14:18]+s[19:23]+s[24:]))
	return id, err == nil
}

func variant(b byte) string {
	switch {
	case b&0xc0 == 0x80:
		return "RFC4122"
	case b&0xe0 == 0xc0:
		return "Microsoft"
	case b&0xe0 == 0xe0:
		return "Future"
	}
	return "Reserved"
}

// gregorian is the start of UUIDs' time, 15 October 1582, before 1970 in units
// of 100 nanoseconds.
const gregorian = 12_219_292_800 * 10_000_000

// uuidTime returns nanoseconds since 1970.
func uuidTime(id [16]byte) int64 {
	t := int64(binary.BigEndian.Uint32(id[:]))
	t |= int64(binary.BigEndian.Uint16(id[4:])) << 32
	t |= int64(binary.BigEndian.Uint16(id[6:])&0xfff) << 48
	return (t - gregorian) * 100
}

func macVariables(b byte) string {
	return [...]string{"global:unicast", "global:multicast", "local:unicast", "local:multicast"}[b&3]
}

func domain(b byte) string {
	names := [...]string{"Person", "Group", "Org"}
	if int(b) < len(names) {
		return names[b]
	}
	return fmt.Sprintf("Domain%d", b)
}
