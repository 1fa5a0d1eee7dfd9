package moment

import "strings"

// The events that messages of MCP are, beside calls and [Elicitation].
const (
	MCPInitialize    Name = "MCPInitialize"    // what a server says of itself
	MCPToolsList     Name = "MCPToolsList"     // a part of its list of tools
	MCPPromptsList   Name = "MCPPromptsList"   // of prompts
	MCPResourcesList Name = "MCPResourcesList" // of resources
	MCPTemplatesList Name = "MCPTemplatesList" // of templates of resources
	MCPSampling      Name = "MCPSampling"      // it asks for an answer of the client's model
	MCPRoots         Name = "MCPRoots"         // it is told the client's roots
	MCPNotification  Name = "MCPNotification"  // it says something that wants no answer
)

// MCPEvent is the event that a message of MCP is by its method. answer says that it is the
// result, not the request. Calls, elicitation and what runs something at the server have
// events of their own, which their readers name; of the others it is [MCPMessage].
func MCPEvent(method string, answer bool) Name {
	switch {
	case !answer && method == "sampling/createMessage":
		return MCPSampling
	case !answer && strings.HasPrefix(method, "notifications/"):
		return MCPNotification
	case !answer:
		return MCPMessage
	}
	switch method {
	case "initialize", "server/discover":
		return MCPInitialize
	case "tools/list":
		return MCPToolsList
	case "prompts/list":
		return MCPPromptsList
	case "resources/list":
		return MCPResourcesList
	case "resources/templates/list":
		return MCPTemplatesList
	case "roots/list":
		return MCPRoots
	}
	return MCPMessage
}

// messages is the table. Where one is rejected, the message goes nowhere, which always stops
// something.
var messages = [...]Moment{
	{Name: MCPInitialize, Matches: "mcp_server_name", Fields: message},
	{Name: MCPToolsList, Matches: "mcp_server_name", Fields: message},
	{Name: MCPPromptsList, Matches: "mcp_server_name", Fields: message},
	{Name: MCPResourcesList, Matches: "mcp_server_name", Fields: message},
	{Name: MCPTemplatesList, Matches: "mcp_server_name", Fields: message},
	{Name: MCPSampling, Matches: "mcp_server_name", Fields: message},
	{Name: MCPRoots, Matches: "mcp_server_name", Fields: message},
	{Name: MCPNotification, Matches: "mcp_server_name", Fields: message},
}

// message are the fields of each: the server's name, and the message.
var message = []Field{
	{Name: "mcp_server_name"},
	{Name: "mcp", Type: Object, Need: Must, Of: []Field{
		{Name: "method"}, {Name: "server"}, {Name: "params", Type: Object}, {Name: "result", Type: Object},
		{Name: "names", Type: Texts}, {Name: "servers", Type: Texts},
	}},
}
