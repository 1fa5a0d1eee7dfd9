package lsp

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"

	"gate/internal/strictjson"
)

// Limits of what an editor sends. Beyond them the connection ends: nobody knows where
// the next message begins.
const (
	maxMessage = 16 << 20 // bytes of a message
	maxHeader  = 4 << 10  // bytes of a header
)

// A stream is messages with headers, as the protocol has them. Of a message that is no
// JSON it tells the editor, and reads the next one.
type stream struct {
	in *bufio.Reader

	mu  sync.Mutex
	out io.Writer
	err error // why reading ended, if not in order
}

func newStream(in io.Reader, out io.Writer) *stream {
	return &stream{in: bufio.NewReader(in), out: out}
}

// ReadObject reads the next message.
func (s *stream) ReadObject(v any) error {
	for {
		text, err := s.next()
		if err == nil {
			if err = readable(text); err == nil {
				err = json.Unmarshal(text, v)
			}
			if err == nil {
				return nil
			}
			if err = s.refuse(err); err == nil {
				continue
			}
		}
		if !errors.Is(err, io.EOF) {
			s.mu.Lock()
			s.err = err
			s.mu.Unlock()
		}
		return err
	}
}

// readable refuses what two readers could understand differently, or what is too deep.
func readable(text []byte) error {
	doc, err := strictjson.Decode(text, strictjson.Limits{Bytes: maxMessage, LookAlikes: true})
	if err != nil {
		return err
	}
	if _, ok := doc.(map[string]any); !ok {
		return errors.New("a message is one object")
	}
	return nil
}

// refuse tells the editor that a message was none.
func (s *stream) refuse(why error) error {
	return s.WriteObject(map[string]any{
		"jsonrpc": "2.0", "id": nil, "error": map[string]any{"code": codeParse, "message": "not understood: " + why.Error()},
	})
}

// next reads headers and the bytes of one message.
func (s *stream) next() ([]byte, error) {
	length, read := -1, 0
	for {
		line, err := s.line()
		read += len(line)
		switch {
		case err != nil && read > 0 && errors.Is(err, io.EOF):
			return nil, errors.New("the input ends within a header")
		case err != nil:
			return nil, err
		case read > maxHeader:
			return nil, fmt.Errorf("a header of more than %d bytes", maxHeader)
		}
		line = strings.TrimRight(line, "\r\n")
		if line == "" && length >= 0 {
			break
		}
		name, value, ok := strings.Cut(line, ":")
		if !ok {
			return nil, fmt.Errorf("%s is no header", strictjson.Quoted(line))
		}
		if !strings.EqualFold(name, "Content-Length") {
			continue
		}
		if length, err = strconv.Atoi(strings.TrimSpace(value)); err != nil || length < 0 {
			return nil, fmt.Errorf("Content-Length: %s is no length", strictjson.Quoted(value))
		}
		if length > maxMessage {
			return nil, fmt.Errorf("a message of %d bytes; at most %d are read", length, maxMessage)
		}
	}
	text, err := io.ReadAll(io.LimitReader(s.in, int64(length)))
	if err == nil && len(text) < length {
		err = errors.New("the input ends within a message")
	}
	return text, err
}

// line reads one line of at most the size of a header.
func (s *stream) line() (string, error) {
	var b strings.Builder
	for b.Len() <= maxHeader {
		c, err := s.in.ReadByte()
		if err != nil {
			return b.String(), err
		}
		b.WriteByte(c)
		if c == '\n' {
			break
		}
	}
	return b.String(), nil
}

// WriteObject writes one message.
func (s *stream) WriteObject(v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	_, err = s.out.Write(append(fmt.Appendf(nil, "Content-Length: %d\r\n\r\n", len(text)), text...))
	return err
}

// Close ends nothing: whoever gave the stream its ends closes them.
func (s *stream) Close() error { return nil }

// failed says why reading ended, nil if it was in order.
func (s *stream) failed() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}
