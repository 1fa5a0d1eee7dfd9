package models

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/shared"

	"gate/internal/handlers/judge"
	"gate/internal/setting"
)

// An openAIModel speaks the chat completions API, which many servers have.
type openAIModel struct {
	service  openai.ChatCompletionService
	name     string
	url, key string
	tokens   int64
	plain    bool // it refuses what only some servers know
}

const openAIAddress = "https://api.openai.com/v1"

func newOpenAI(p setting.Provider, key string, client *http.Client) judge.Model {
	url := cmp.Or(p.URL, openAIAddress)
	options := []option.RequestOption{
		option.WithBaseURL(strings.TrimSuffix(url, "/") + "/"), option.WithHTTPClient(client), option.WithMaxRetries(maxRetries),
	}
	if key != "" {
		options = append(options, option.WithAPIKey(key))
	}
	return (&openAIModel{service: openai.NewChatCompletionService(options...), name: p.Model, url: url, key: key, tokens: int64(p.MaxTokens)}).answer
}

// answer asks for JSON, where the server knows how to. No server is sent the
// beginning of an answer: most take it for a message of its own.
func (m *openAIModel) answer(ctx context.Context, system string, messages []judge.Message, t *judge.Toolbox) (judge.Reply, error) {
	params := openai.ChatCompletionNewParams{Model: m.name, Messages: openAIMessages(system, messages)}
	if t != nil {
		params.Tools = openAITools(t.Tools)
		if t.Shut {
			params.ToolChoice.OfAuto = openai.String("none")
		}
	}
	m.form(&params, t == nil)
	res, err := m.service.New(ctx, params)
	var refused *openai.Error
	if errors.As(err, &refused) && refused.StatusCode == http.StatusBadRequest && !m.plain {
		m.plain = true
		m.form(&params, t == nil)
		res, err = m.service.New(ctx, params)
	}
	switch {
	case err != nil:
		return judge.Reply{}, m.explain(err)
	case len(res.Choices) != 1:
		return judge.Reply{}, errors.New("the answer has not exactly one choice")
	}
	choice := res.Choices[0]
	rep := judge.Reply{Text: choice.Message.Content, Input: res.Usage.PromptTokens, Output: res.Usage.CompletionTokens, Cut: choice.FinishReason == "length"}
	for _, c := range choice.Message.ToolCalls {
		rep.Calls = append(rep.Calls, judge.ToolCall{ID: c.ID, Name: c.Function.Name, Input: c.Function.Arguments})
	}
	return rep, nil
}

// form sets what servers disagree about. OpenAI's own newer models know the
// limit by another name than everybody else's.
func (m *openAIModel) form(params *openai.ChatCompletionNewParams, object bool) {
	params.MaxTokens, params.MaxCompletionTokens = openai.Int(m.tokens), openai.ChatCompletionNewParams{}.MaxCompletionTokens
	params.ResponseFormat = openai.ChatCompletionNewParamsResponseFormatUnion{}
	if (m.url == openAIAddress) != m.plain {
		params.MaxCompletionTokens, params.MaxTokens = params.MaxTokens, params.MaxCompletionTokens
	}
	if object && !m.plain {
		params.ResponseFormat.OfJSONObject = &shared.ResponseFormatJSONObjectParam{}
	}
}

// explain is what went wrong, without the key.
func (m *openAIModel) explain(err error) error {
	if errors.Is(err, judge.ErrTooMuch) {
		return judge.ErrTooMuch
	}
	var refused *openai.Error
	if errors.As(err, &refused) {
		return failure(refused.StatusCode, cmp.Or(refused.Message, refused.RawJSON()), m.key)
	}
	return failure(0, err.Error(), m.key)
}

func openAIMessages(system string, messages []judge.Message) []openai.ChatCompletionMessageParamUnion {
	out := []openai.ChatCompletionMessageParamUnion{openai.SystemMessage(system)}
	for _, m := range messages {
		switch {
		case len(m.Results) > 0:
			for _, r := range m.Results {
				out = append(out, openai.ToolMessage(r.Text, r.ID))
			}
		case m.Assistant:
			said := openai.AssistantMessage(m.Text)
			for _, c := range m.Calls {
				said.OfAssistant.ToolCalls = append(said.OfAssistant.ToolCalls, openai.ChatCompletionMessageToolCallUnionParam{
					OfFunction: &openai.ChatCompletionMessageFunctionToolCallParam{
						ID: c.ID, Function: openai.ChatCompletionMessageFunctionToolCallFunctionParam{Name: c.Name, Arguments: c.Input},
					},
				})
			}
			out = append(out, said)
		default:
			out = append(out, openai.UserMessage(m.Text))
		}
	}
	return out
}

func openAITools(tools []judge.Tool) []openai.ChatCompletionToolUnionParam {
	out := make([]openai.ChatCompletionToolUnionParam, len(tools))
	for i, t := range tools {
		out[i] = openai.ChatCompletionFunctionTool(shared.FunctionDefinitionParam{
			Name: t.Name, Description: openai.String(t.About),
			Parameters: shared.FunctionParameters{"type": "object", "properties": t.Properties(), "required": t.Required},
		})
	}
	return out
}
