package commands

import (
	"bufio"
	"bytes"
	"errors"
	"gate/cmd/internal/screen"
	"io"
	"strings"
	"testing"
)

// TestNoStyle colours nothing where nobody sees it.
func TestNoStyle(t *testing.T) {
	var out bytes.Buffer
	if (process{stdout: &out}).page().Style != (screen.Style{}) {
		t.Error("what is no terminal gets colours")
	}
}

// TestReadLine reads lines of every length around the limit and the buffer.
func TestReadLine(t *testing.T) {
	const most = 100
	input := "a\r\n\n\n" + strings.Repeat("b", most) + "\n" + strings.Repeat("c", most+1) + "\n" +
		strings.Repeat("d", 10*most) + "\n" + "e\n" + "f"
	in := bufio.NewReaderSize(strings.NewReader(input), 16)
	var got []string
	for {
		line, err := readLine(in, most)
		if err == io.EOF {
			break
		}
		if errors.Is(err, errLongLine) {
			line = []byte("(long)")
		} else if err != nil {
			t.Fatal(err)
		}
		got = append(got, string(line))
	}
	want := []string{"a", strings.Repeat("b", most), "(long)", "(long)", "e", "f"}
	if strings.Join(got, "|") != strings.Join(want, "|") {
		t.Errorf("got %q, want %q", got, want)
	}
}
