package judge

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"gate/internal/setting"
)

// Models makes the client of a provider, which connects when it is asked. key is ""
// where the provider wants none.
type Models func(p setting.Provider, key string) (Model, error)

// A Model answers the last message of a conversation, or wants to use the tools of a
// toolbox first; nil: there are none. An error tells nothing of the key; one that is
// [ErrTooMuch] is an answer that nobody reads to its end.
type Model func(ctx context.Context, system string, messages []Message, tools *Toolbox) (Reply, error)

// ErrTooMuch is the error of a [Model] whose answer is longer than [MaxBody].
var ErrTooMuch = fmt.Errorf("the answer is longer than %d KiB", MaxBody>>10)

// MaxBody bounds an answer with everything around it, in bytes.
const MaxBody = 1 << 20

// A Message is one of a conversation: a text, uses of tools or their results.
type Message struct {
	Assistant bool // the model said it
	Text      string
	Calls     []ToolCall
	Results   []ToolResult
}

// A Toolbox holds the tools of a turn. In the last one they are shut: the model
// sees them, because it has used them, and must answer.
type Toolbox struct {
	Tools []Tool
	Shut  bool
}

// A ToolCall is a tool that the model wants to use, its input as it wrote it.
type ToolCall struct {
	ID, Name string
	Input    string
}

// A ToolResult is what the model is told.
type ToolResult struct {
	ID, Text string
	Failed   bool
}

// A Reply is one answer of a model.
type Reply struct {
	Text          string
	Calls         []ToolCall
	Cut           bool  // it reached the longest answer
	Input, Output int64 // tokens
}

// model makes the client of a provider with its key.
func (j *Judge) model(name string, p setting.Provider) (Model, error) {
	key := ""
	if p.KeyEnv != "" {
		set := false
		if j.Getenv != nil {
			key, set = j.Getenv(p.KeyEnv)
		}
		if !set || key == "" {
			return nil, fmt.Errorf("the key of provider %s is missing: the environment variable %s is not set", name, p.KeyEnv)
		}
	}
	switch {
	case strings.ContainsAny(key, "\r\n"):
		return nil, fmt.Errorf("the key of provider %s has more than one line", name)
	case j.Models == nil:
		return nil, errors.New("this program has no client of language models")
	}
	p.MaxTokens = cmp.Or(p.MaxTokens, setting.DefaultMaxTokens)
	m, err := j.Models(p, key)
	if err != nil {
		return nil, fmt.Errorf("provider %s %w", name, err)
	}
	return m, nil
}
