package strictjson_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"gate/internal/strictjson"
)

func TestLines(t *testing.T) {
	in := "one\r\n\n \t\n" + strings.Repeat("x", 100_000) + "\n12345678\n123456789\nlast"
	var got []string
	for line, err := range strictjson.Lines(iotest.HalfReader(strings.NewReader(in)), 8) {
		got = append(got, fmt.Sprint(line.Number, line.Offset, line.Long, string(line.Text), err))
	}
	want := []string{
		"1 0 falseone<nil>", "4 9 true<nil>", "5 100010 false12345678<nil>", "6 100019 true<nil>", "7 100029 falselast<nil>",
	}
	if strings.ReplaceAll(strings.Join(got, "|"), " <nil>", "<nil>") != strings.Join(want, "|") {
		t.Errorf("%q", got)
	}
	broken := errors.New("broken")
	n := 0
	for _, err := range strictjson.Lines(io.MultiReader(strings.NewReader("a\nb"), iotest.ErrReader(broken)), 8) {
		if n++; n == 3 && !errors.Is(err, broken) {
			t.Error(err)
		}
	}
	if n != 3 {
		t.Errorf("%d", n)
	}
}
