package sarif

// The objects of the format, as far as gate writes them, under the names of its keys.
type (
	log struct {
		Schema  string `json:"$schema"`
		Version string `json:"version"`
		Runs    []run  `json:"runs"`
	}
	run struct {
		Tool        tool            `json:"tool"`
		Invocations []invocation    `json:"invocations"`
		Bases       map[string]base `json:"originalUriBaseIds"`
		ColumnKind  string          `json:"columnKind"`
		Results     []result        `json:"results"`
		Properties  map[string]any  `json:"properties"`
	}
	tool struct {
		Driver driver `json:"driver"`
	}
	driver struct {
		Name          string       `json:"name"`
		FullName      string       `json:"fullName"`
		Version       string       `json:"version,omitempty"`
		Rules         []descriptor `json:"rules"`
		Notifications []descriptor `json:"notifications"`
	}
	// A descriptor describes a rule, or a kind of notifications.
	descriptor struct {
		ID    string   `json:"id"`
		Name  string   `json:"name,omitempty"`
		Short *message `json:"shortDescription,omitempty"`
		Help  *message `json:"help,omitempty"`
	}
	message struct {
		Text     string `json:"text"`
		Markdown string `json:"markdown,omitempty"`
	}
	base struct {
		Description message `json:"description"`
	}
	invocation struct {
		Successful    bool           `json:"executionSuccessful"`
		Status        int            `json:"exitCode"`
		Notifications []notification `json:"toolExecutionNotifications"`
	}
	notification struct {
		Descriptor reference  `json:"descriptor"`
		Level      string     `json:"level"`
		Message    message    `json:"message"`
		Locations  []location `json:"locations,omitempty"`
	}
	reference struct {
		ID string `json:"id"`
	}
	result struct {
		Rule      string     `json:"ruleId"`
		Index     int        `json:"ruleIndex"`
		Level     string     `json:"level"`
		Message   message    `json:"message"`
		Locations []location `json:"locations,omitempty"`
	}
	location struct {
		Physical physical `json:"physicalLocation"`
	}
	physical struct {
		Artifact artifact `json:"artifactLocation"`
		Region   *region  `json:"region,omitempty"`
	}
	artifact struct {
		URI  string `json:"uri"`
		Base string `json:"uriBaseId,omitempty"`
	}
	region struct {
		Line   int `json:"startLine"`
		Column int `json:"startColumn,omitempty"`
	}
)
