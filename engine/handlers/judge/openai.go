package judge

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/shared"

	"gate/scopes"
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

func newOpenAI(p scopes.Provider, key string, tokens int64, client *http.Client) model {
	url := cmp.Or(p.URL, openAIAddress)
	options := []option.RequestOption{
		option.WithBaseURL(strings.TrimSuffix(url, "/") + "/"), option.WithHTTPClient(client), option.WithMaxRetries(maxRetries),
	}
	if key != "" {
		options = append(options, option.WithAPIKey(key))
	}
	return &openAIModel{service: openai.NewChatCompletionService(options...), name: p.Model, url: url, key: key, tokens: tokens}
}

func (m *openAIModel) id() string { return "openai " + m.url + " " + m.name }

// answer asks for JSON, where the server knows how to. No server is sent the
// beginning of an answer: most take it for a message of its own.
func (m *openAIModel) answer(ctx context.Context, system string, messages []message, t *toolbox) (reply, error) {
	params := openai.ChatCompletionNewParams{Model: m.name, Messages: openAIMessages(system, messages)}
	if t != nil {
		params.Tools = openAITools(t.tools)
		if t.shut {
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
		return reply{}, m.explain(err)
	case len(res.Choices) != 1:
		return reply{}, errors.New("the answer has not exactly one choice")
	}
	choice := res.Choices[0]
	rep := reply{text: choice.Message.Content, input: res.Usage.PromptTokens, output: res.Usage.CompletionTokens, cut: choice.FinishReason == "length"}
	for _, c := range choice.Message.ToolCalls {
		rep.calls = append(rep.calls, toolCall{c.ID, c.Function.Name, c.Function.Arguments})
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

// explain is what went wrong, without the key and on one line.
func (m *openAIModel) explain(err error) error {
	if errors.Is(err, errTooMuch) {
		return errTooMuch
	}
	var refused *openai.Error
	if errors.As(err, &refused) {
		return failure(refused.StatusCode, cmp.Or(refused.Message, refused.RawJSON()), m.key)
	}
	return failure(0, err.Error(), m.key)
}

func openAIMessages(system string, messages []message) []openai.ChatCompletionMessageParamUnion {
	out := []openai.ChatCompletionMessageParamUnion{openai.SystemMessage(system)}
	for _, m := range messages {
		switch {
		case len(m.results) > 0:
			for _, r := range m.results {
				out = append(out, openai.ToolMessage(r.text, r.id))
			}
		case m.assistant:
			said := openai.AssistantMessage(m.text)
			for _, c := range m.calls {
				said.OfAssistant.ToolCalls = append(said.OfAssistant.ToolCalls, openai.ChatCompletionMessageToolCallUnionParam{
					OfFunction: &openai.ChatCompletionMessageFunctionToolCallParam{
						ID: c.id, Function: openai.ChatCompletionMessageFunctionToolCallFunctionParam{Name: c.name, Arguments: c.input},
					},
				})
			}
			out = append(out, said)
		default:
			out = append(out, openai.UserMessage(m.text))
		}
	}
	return out
}

func openAITools(tools []tool) []openai.ChatCompletionToolUnionParam {
	out := make([]openai.ChatCompletionToolUnionParam, len(tools))
	for i, t := range tools {
		out[i] = openai.ChatCompletionFunctionTool(shared.FunctionDefinitionParam{
			Name: t.name, Description: openai.String(t.about),
			Parameters: shared.FunctionParameters{"type": "object", "properties": t.properties(), "required": t.required},
		})
	}
	return out
}
