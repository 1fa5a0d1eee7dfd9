package lsp

import "encoding/json"

// The messages that are used, as the protocol has them in version 3.17. Fields that
// nobody here reads or writes are left out.

// Codes of errors.
const (
	codeParse     = -32700
	codeInvalid   = -32600
	codeNoMethod  = -32601
	codeParams    = -32602
	codeInternal  = -32603
	codeNotReady  = -32002
	codeCancelled = -32800
	codeFailed    = -32803 // the request was understood, and what it wants cannot be had
)

// A position counts lines from 0, and UTF-16 code units in one.
type position struct {
	Line      int `json:"line"`
	Character int `json:"character"`
}

type span struct {
	Start position `json:"start"`
	End   position `json:"end"`
}

type location struct {
	URI   string `json:"uri"`
	Range span   `json:"range"`
}

type textDocument struct {
	URI     string `json:"uri"`
	Version int    `json:"version"`
	Text    string `json:"text"`
}

type openParams struct {
	Document textDocument `json:"textDocument"`
}

type change struct {
	Range *span  `json:"range"` // nil: Text is all of it
	Text  string `json:"text"`
}

type changeParams struct {
	Document textDocument `json:"textDocument"`
	Changes  []change     `json:"contentChanges"`
}

// documentParams are those of whatever is about a document, or a place in it.
type documentParams struct {
	Document textDocument `json:"textDocument"`
	Position position     `json:"position"`
}

type initializeParams struct {
	Options struct {
		TryLine bool `json:"tryLine"` // the editor has the command gate.tryLine, which asks for a line
	} `json:"initializationOptions"`
	Capabilities struct {
		Document struct {
			Hover struct {
				Formats []string `json:"contentFormat"`
			} `json:"hover"`
		} `json:"textDocument"`
	} `json:"capabilities"`
}

// Severities of diagnostics and kinds of messages count alike.
const (
	severityError   = 1
	severityWarning = 2
	severityInfo    = 3
)

type diagnostic struct {
	Range    span   `json:"range"`
	Severity int    `json:"severity"`
	Code     string `json:"code,omitempty"`
	Source   string `json:"source"`
	Message  string `json:"message"`
}

type diagnosticsParams struct {
	URI         string       `json:"uri"`
	Version     *int         `json:"version,omitempty"` // nil: the document is not open
	Diagnostics []diagnostic `json:"diagnostics"`
}

type messageParams struct {
	Type    int    `json:"type"`
	Message string `json:"message"`
}

type markup struct {
	Kind  string `json:"kind"`
	Value string `json:"value"`
}

type hoverResult struct {
	Contents markup `json:"contents"`
	Range    span   `json:"range"`
}

type textEdit struct {
	Range   span   `json:"range"`
	NewText string `json:"newText"`
}

type completionItem struct {
	Label  string    `json:"label"`
	Kind   int       `json:"kind"`
	Detail string    `json:"detail,omitempty"`
	Doc    *markup   `json:"documentation,omitempty"`
	Edit   *textEdit `json:"textEdit"`
	Filter string    `json:"filterText,omitempty"`
}

type completionList struct {
	Incomplete bool             `json:"isIncomplete"`
	Items      []completionItem `json:"items"`
}

type command struct {
	Title     string `json:"title"`
	Command   string `json:"command"`
	Arguments []any  `json:"arguments,omitempty"`
}

type codeLens struct {
	Range   span    `json:"range"`
	Command command `json:"command"`
}

type executeParams struct {
	Command   string            `json:"command"`
	Arguments []json.RawMessage `json:"arguments"`
}

type documentSymbol struct {
	Name      string           `json:"name"`
	Detail    string           `json:"detail,omitempty"`
	Kind      int              `json:"kind"`
	Range     span             `json:"range"`
	Selection span             `json:"selectionRange"`
	Children  []documentSymbol `json:"children,omitempty"`
}
