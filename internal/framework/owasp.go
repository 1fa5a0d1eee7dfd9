package framework

// agentic is the list of the OWASP GenAI Security Project for applications of agents.
func agentic() Framework {
	return Framework{
		Name: "owasp-agentic", Title: "OWASP Top 10 for Agentic Applications", Source: "genai.owasp.org, 2026",
		Items: []Item{
			{ID: "ASI01", Title: "Agent Goal Hijack", Lacks: "gate judges what the agent does, not what it was talked into: a hijacked agent that keeps to harmless calls is not noticed"},
			{ID: "ASI02", Title: "Tool Misuse and Exploitation"},
			{ID: "ASI03", Title: "Identity and Privilege Abuse", Lacks: "gate hands out no credentials and takes none away; it judges calls that read, change or send them"},
			{
				ID: "ASI04", Title: "Agentic Supply Chain Vulnerabilities",
				Beside: "policy bundles are signed, and a project's hooks wait until a person trusted their text", Page: "bundles.md",
				Tests: []string{"cmd/internal/commands/testdata/script/bundle_governs.txtar", "cmd/internal/commands/testdata/script/trust_refuses.txtar"},
				Lacks: "models are not looked at, and a package is judged by its name and by who brought it, not by its content",
			},
			{ID: "ASI05", Title: "Unexpected Code Execution (RCE)"},
			{ID: "ASI06", Title: "Memory and Context Poisoning", Lacks: "an agent may write its own files of instructions and memory; what it reads there later counts as the project's"},
			{ID: "ASI07", Title: "Insecure Inter-Agent Communication", Lacks: "gate sees the calls of each agent, not the messages between agents"},
			{
				ID: "ASI08", Title: "Cascading Failures",
				Beside: "what gate cannot judge is closed, for one call and in limited time", Page: "pipeline.md",
				Tests: []string{"internal/hookpath/run_test.go:TestOneShot", "internal/hookpath/lose_test.go:TestLose"},
				Lacks: "faults that spread between agents by other ways than calls are not seen",
			},
			{
				ID: "ASI09", Title: "Human-Agent Trust Exploitation",
				Beside: "a question shows the call itself with hidden characters made visible, and only a person at a terminal approves", Page: "consent.md",
				Tests: []string{"cmd/internal/commands/testdata/script/approve_refuses.txtar"},
				Lacks: "agents that talk a person into approving cannot be kept from it",
			},
			{
				ID: "ASI10", Title: "Rogue Agents",
				Beside: "every decision stands in a log that is a chain of digests", Page: "log.md",
				Tests: []string{"internal/audit/chain_test.go:TestVerify", "cmd/internal/commands/testdata/script/log_chain.txtar"},
				Lacks: "an agent that was started without gate's hooks asks nobody",
			},
		},
	}
}

// mcp is the list of OWASP for the Model Context Protocol.
func mcp() Framework {
	return Framework{
		Name: "owasp-mcp", Title: "OWASP MCP Top 10", Source: "owasp.org/www-project-mcp-top-10, 0.1 (beta, 2025)",
		Items: []Item{
			{
				ID: "MCP01", Title: "Token Mismanagement and Secret Exposure",
				Beside: "the log and the memory of sessions hold no secret in readable form", Page: "log.md",
				Tests: []string{"internal/audit/audit_test.go:TestSecrets", "internal/seen/file_test.go:TestStrings"},
			},
			{ID: "MCP02", Title: "Privilege Escalation via Scope Creep", Lacks: "scopes of tokens are not looked at"},
			{ID: "MCP03", Title: "Tool Poisoning", Lacks: "an agent's own hooks see no descriptions: put gate mcp before the server; orders in other words than gate knows pass"},
			{ID: "MCP04", Title: "Software Supply Chain Attacks and Dependency Tampering", Lacks: "gate mcp pins a server's program and package at the first use, and does not judge them"},
			{ID: "MCP05", Title: "Command Injection and Execution"},
			{ID: "MCP06", Title: "Intent Flow Subversion", Lacks: "only what the text makes the agent do is seen"},
			{ID: "MCP07", Title: "Insufficient Authentication and Authorization", Lacks: "who may use a server is the server's to check"},
			{
				ID: "MCP08", Title: "Lack of Audit and Telemetry",
				Beside: "calls of tools by way of hooks or gate mcp stand in the log, and leave as decision logs of OPA", Page: "log.md",
				Tests: []string{"cmd/internal/commands/testdata/script/mcp_session.txtar", "internal/audit/opa_test.go:TestOPA"},
			},
			{ID: "MCP09", Title: "Shadow MCP Servers", Lacks: "names of servers behind gate mcp are compared; gate does not look for servers that nobody named"},
			{ID: "MCP10", Title: "Context Injection and Over-Sharing", Lacks: "contexts of tasks and users are the agent's to keep apart"},
		},
	}
}
