package hostfs

import (
	"io"
	"slices"
	"strconv"
)

// A TooLarge is the error of what holds more than so many bytes, which are
// allowed.
type TooLarge int

func (t TooLarge) Error() string { return "larger than " + strconv.Itoa(int(t)) + " bytes" }

// ReadAll reads r to its end, which must come after at most most bytes. Where
// there are more, one of them is read, nothing is returned, and the error is
// TooLarge(most). Other errors come with what was read before, as io.ReadAll's do.
func ReadAll(r io.Reader, most int) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, int64(most)+1))
	if len(data) > most {
		return nil, TooLarge(most)
	}
	return data, err
}

// readSized is [ReadAll] for what has about a number of bytes.
func readSized(r io.Reader, size int64, most int) ([]byte, error) {
	data := make([]byte, 0, min(size, int64(most))+1) // the byte is for the read that finds the end
	for {
		n, err := r.Read(data[len(data):cap(data)])
		data = data[:len(data)+n]
		switch {
		case len(data) > most:
			return nil, TooLarge(most)
		case err == io.EOF:
			return data, nil
		case err != nil:
			return data, err
		case len(data) == cap(data):
			data = slices.Grow(data, 512)
		}
	}
}
