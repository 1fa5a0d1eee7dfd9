package artifact

// Reseal gives a file the checksums of what it holds, as somebody who wants to
// do harm would.
func Reseal(data string) string {
	a := &Artifact{data: data}
	d := &decoder{data: data}
	d.raw(len(magic))
	n := int(d.fixed())
	if d.err != nil || n > maxSections {
		return data
	}
	out := []byte(data)
	put := func(at int, sum uint32) {
		for i := range 4 {
			out[at+i] = byte(sum >> (8 * i))
		}
	}
	at := d.at + 12*n + 4
	if at > len(data) {
		return data
	}
	for range n {
		size := int(d.fixed())
		if size > len(data)-at {
			size = 0
		}
		put(d.at, checksum(data[at:at+size]))
		d.raw(8)
		at += size
	}
	put(d.at, checksum(string(out[:d.at])))
	a.data = string(out)
	return a.data
}
