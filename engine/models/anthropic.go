package models

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"gate/internal/handlers/judge"
	"gate/internal/setting"
)

// An anthropicModel speaks the Messages API.
type anthropicModel struct {
	service anthropic.MessageService
	name    string
	key     string
	tokens  int64
	bare    bool // it refuses the beginning of an answer
}

func newAnthropic(p setting.Provider, key string, client *http.Client) judge.Model {
	url := cmp.Or(p.URL, "https://api.anthropic.com")
	options := []option.RequestOption{
		option.WithBaseURL(strings.TrimSuffix(strings.TrimSuffix(url, "/"), "/v1") + "/"), option.WithHTTPClient(client),
		option.WithMaxRetries(maxRetries), option.WithoutOpenTelemetry(), // nothing is copied elsewhere
	}
	if key != "" {
		options = append(options, option.WithAPIKey(key))
	}
	return (&anthropicModel{service: anthropic.NewMessageService(options...), name: p.Model, key: key, tokens: int64(p.MaxTokens)}).answer
}

// answer begins the answer itself, with a brace, where the model lets it: what
// follows is then seldom anything but the object.
func (m *anthropicModel) answer(ctx context.Context, system string, messages []judge.Message, t *judge.Toolbox) (judge.Reply, error) {
	params := anthropic.MessageNewParams{
		Model: anthropic.Model(m.name), MaxTokens: m.tokens,
		System: []anthropic.TextBlockParam{{Text: system}}, Messages: anthropicMessages(messages),
	}
	if t != nil {
		params.Tools = anthropicTools(t.Tools)
		if t.Shut {
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
		return judge.Reply{}, m.explain(err)
	}
	rep := judge.Reply{Input: res.Usage.InputTokens + res.Usage.CacheCreationInputTokens + res.Usage.CacheReadInputTokens, Output: res.Usage.OutputTokens}
	for _, b := range res.Content {
		switch b.Type {
		case "text":
			rep.Text += b.Text
		case "tool_use":
			rep.Calls = append(rep.Calls, judge.ToolCall{ID: b.ID, Name: b.Name, Input: string(b.Input)})
		}
	}
	rep.Cut = res.StopReason == anthropic.StopReasonMaxTokens
	if begun && !strings.HasPrefix(strings.TrimLeft(rep.Text, " \t\r\n"), "{") { // some repeat the brace
		rep.Text = "{" + rep.Text
	}
	return rep, nil
}

// explain is what went wrong, without the key.
func (m *anthropicModel) explain(err error) error {
	if errors.Is(err, judge.ErrTooMuch) {
		return judge.ErrTooMuch
	}
	var refused *anthropic.Error
	if errors.As(err, &refused) {
		return failure(refused.StatusCode, refused.RawJSON(), m.key)
	}
	return failure(0, err.Error(), m.key)
}

func anthropicMessages(messages []judge.Message) []anthropic.MessageParam {
	out := make([]anthropic.MessageParam, 0, len(messages)+1)
	for _, m := range messages {
		var blocks []anthropic.ContentBlockParamUnion
		if strings.TrimSpace(m.Text) != "" {
			blocks = append(blocks, anthropic.NewTextBlock(m.Text))
		}
		for _, c := range m.Calls {
			blocks = append(blocks, anthropic.NewToolUseBlock(c.ID, json.RawMessage(c.Input), c.Name))
		}
		for _, r := range m.Results {
			blocks = append(blocks, anthropic.NewToolResultBlock(r.ID, r.Text, r.Failed))
		}
		if m.Assistant {
			out = append(out, anthropic.NewAssistantMessage(blocks...))
		} else {
			out = append(out, anthropic.NewUserMessage(blocks...))
		}
	}
	return out
}

func anthropicTools(tools []judge.Tool) []anthropic.ToolUnionParam {
	out := make([]anthropic.ToolUnionParam, len(tools))
	for i, t := range tools {
		out[i].OfTool = &anthropic.ToolParam{
			Name: t.Name, Description: anthropic.String(t.About),
			InputSchema: anthropic.ToolInputSchemaParam{Properties: t.Properties(), Required: t.Required},
		}
	}
	return out
}
