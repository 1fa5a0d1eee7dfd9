package judge

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"gate/scopes"
)

// An anthropicModel speaks the Messages API.
type anthropicModel struct {
	service  anthropic.MessageService
	name     string
	url, key string
	tokens   int64
	bare     bool // it refuses the beginning of an answer
}

func newAnthropic(p scopes.Provider, key string, tokens int64, client *http.Client) model {
	url := cmp.Or(p.URL, "https://api.anthropic.com")
	options := []option.RequestOption{
		option.WithBaseURL(strings.TrimSuffix(strings.TrimSuffix(url, "/"), "/v1") + "/"), option.WithHTTPClient(client),
		option.WithMaxRetries(maxRetries), option.WithoutOpenTelemetry(), // nothing is copied elsewhere
	}
	if key != "" {
		options = append(options, option.WithAPIKey(key))
	}
	return &anthropicModel{service: anthropic.NewMessageService(options...), name: p.Model, url: url, key: key, tokens: tokens}
}

func (m *anthropicModel) id() string { return "anthropic " + m.url + " " + m.name }

// answer begins the answer itself, with a brace, where the model lets it: what
// follows is then seldom anything but the object.
func (m *anthropicModel) answer(ctx context.Context, system string, messages []message, t *toolbox) (reply, error) {
	params := anthropic.MessageNewParams{
		Model: anthropic.Model(m.name), MaxTokens: m.tokens,
		System: []anthropic.TextBlockParam{{Text: system}}, Messages: anthropicMessages(messages),
	}
	if t != nil {
		params.Tools = anthropicTools(t.tools)
		if t.shut {
			none := anthropic.NewToolChoiceNoneParam()
			params.ToolChoice.OfNone = &none
		}
	}
	begun := t == nil && !m.bare
	if begun {
		params.Messages = append(params.Messages, anthropic.NewAssistantMessage(anthropic.NewTextBlock("{")))
	}
	res, err := m.service.New(ctx, params)
	var refused *anthropic.Error
	if errors.As(err, &refused) && refused.StatusCode == http.StatusBadRequest && begun {
		m.bare, begun = true, false
		params.Messages = params.Messages[:len(params.Messages)-1]
		res, err = m.service.New(ctx, params)
	}
	if err != nil {
		return reply{}, m.explain(err)
	}
	rep := reply{input: res.Usage.InputTokens + res.Usage.CacheCreationInputTokens + res.Usage.CacheReadInputTokens, output: res.Usage.OutputTokens}
	for _, b := range res.Content {
		switch b.Type {
		case "text":
			rep.text += b.Text
		case "tool_use":
			rep.calls = append(rep.calls, toolCall{b.ID, b.Name, string(b.Input)})
		}
	}
	rep.cut = res.StopReason == anthropic.StopReasonMaxTokens
	if begun && !strings.HasPrefix(strings.TrimLeft(rep.text, " \t\r\n"), "{") { // some repeat the brace
		rep.text = "{" + rep.text
	}
	return rep, nil
}

// explain is what went wrong, without the key and on one line.
func (m *anthropicModel) explain(err error) error {
	if errors.Is(err, errTooMuch) {
		return errTooMuch
	}
	var refused *anthropic.Error
	if errors.As(err, &refused) {
		return failure(refused.StatusCode, refused.RawJSON(), m.key)
	}
	return failure(0, err.Error(), m.key)
}

func anthropicMessages(messages []message) []anthropic.MessageParam {
	out := make([]anthropic.MessageParam, 0, len(messages)+1)
	for _, m := range messages {
		var blocks []anthropic.ContentBlockParamUnion
		if strings.TrimSpace(m.text) != "" {
			blocks = append(blocks, anthropic.NewTextBlock(m.text))
		}
		for _, c := range m.calls {
			blocks = append(blocks, anthropic.NewToolUseBlock(c.id, json.RawMessage(c.input), c.name))
		}
		for _, r := range m.results {
			blocks = append(blocks, anthropic.NewToolResultBlock(r.id, r.text, r.failed))
		}
		if m.assistant {
			out = append(out, anthropic.NewAssistantMessage(blocks...))
		} else {
			out = append(out, anthropic.NewUserMessage(blocks...))
		}
	}
	return out
}

func anthropicTools(tools []tool) []anthropic.ToolUnionParam {
	out := make([]anthropic.ToolUnionParam, len(tools))
	for i, t := range tools {
		out[i].OfTool = &anthropic.ToolParam{
			Name: t.name, Description: anthropic.String(t.about),
			InputSchema: anthropic.ToolInputSchemaParam{Properties: t.properties(), Required: t.required},
		}
	}
	return out
}
