package hostfs

import (
	"io"
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
