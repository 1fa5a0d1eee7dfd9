package hostfs_test

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"gate/internal/hostfs"
)

func TestReadAll(t *testing.T) {
	broken := errors.New("broken")
	for _, c := range []struct {
		in   io.Reader
		most int
		want string
		err  error
	}{
		{strings.NewReader(""), 0, "", nil},
		{strings.NewReader("abc"), 4, "abc", nil},
		{strings.NewReader("abcd"), 4, "abcd", nil},
		{strings.NewReader("abcde"), 4, "", hostfs.TooLarge(4)},
		{strings.NewReader("a"), 0, "", hostfs.TooLarge(0)},
		{io.MultiReader(strings.NewReader("abc"), iotest.ErrReader(broken)), 4, "abc", broken},
		{io.MultiReader(strings.NewReader("abcde"), iotest.ErrReader(broken)), 4, "", hostfs.TooLarge(4)},
	} {
		got, err := hostfs.ReadAll(c.in, c.most)
		if string(got) != c.want || !errors.Is(err, c.err) {
			t.Errorf("at most %d bytes: %q, %v; want %q, %v", c.most, got, err, c.want, c.err)
		}
	}
}

// TestReadAllStops reads no more than a byte of what is too much: who sends
// without an end is not listened to for ever.
func TestReadAllStops(t *testing.T) {
	in := strings.NewReader("abcdefgh")
	if _, err := hostfs.ReadAll(in, 4); err == nil || err.Error() != "larger than 4 bytes" {
		t.Errorf("the error is %v", err)
	}
	if in.Len() != 3 {
		t.Errorf("%d bytes are left of 8", in.Len())
	}
}
