package framework

// aarm are the requirements of Autonomous Action Runtime Management. They are on a
// product: policies serve some, and gate itself has to meet the others.
func aarm() Framework {
	return Framework{
		Name: "aarm", Title: "AARM requirements R1 to R9", Source: "aarm.dev, 2026-05-04; R1 to R6 are musts",
		Items: []Item{
			{
				ID: "R1", Title: "Interception before execution",
				Beside: "agents ask before a call, a fault of gate's own or of a managed policy closes it, and the reason is recorded", Page: "pipeline.md",
				Tests: []string{"internal/hookpath/run_test.go:TestOneShot", "cmd/internal/commands/testdata/script/hook_log.txtar"},
				Lacks: "a failing handler of other authority than managed lets the call go on, unless on_fault says otherwise, and a person can switch all hooks off",
			},
			{
				ID: "R2", Title: "Session context",
				Beside: "policies read what the session did, was shown and marked; the log is a chain of digests", Page: "session.md",
				Tests: []string{"cmd/internal/commands/testdata/script/session_counts.txtar", "cmd/internal/commands/testdata/script/flow_shown.txtar", "internal/audit/chain_test.go:TestVerify"},
				Lacks: "the person's request is not offered to policies as text",
			},
			{
				ID: "R3", Title: "Policy evaluation and alignment with intent", Page: "pipeline.md",
				Beside: "policies judge effects and parameters, and what they cannot understand is a question", Tests: []string{"policies/cases_test.go:TestCases"},
				Lacks: "nothing compares a call with the intent of the prompt",
			},
			{
				ID: "R4", Title: "Five answers", Page: "consent.md",
				Beside: "allow, deny, modify and step up, with a time limit after which a question counts as denied",
				Tests:  []string{"cmd/internal/commands/testdata/script/approve_refuses.txtar", "cmd/internal/commands/testdata/script/hook_rewrites.txtar"},
				Lacks:  "defer is an answer to clients of the Agent Control Standard only",
			},
			{
				ID: "R5", Title: "Tamper-evident receipts", Page: "log.md",
				Beside: "each record of the log holds the digest of the one before", Tests: []string{"internal/audit/chain_test.go:TestVerify"},
				Lacks: "records are not signed",
			},
			{
				ID: "R6", Title: "Identity binding", Page: "log.md",
				Beside: "records name account, agent, sub-agent, session and machine", Tests: []string{"cmd/internal/commands/testdata/script/hook_log.txtar"},
				Lacks: "an agent's word for who it is cannot be checked, and there are no roles",
			},
			{ID: "R7", Title: "Semantic distance to intent", Lacks: "gate does not measure it"},
			{
				ID: "R8", Title: "Telemetry", Page: "log.md",
				Beside: "decisions leave as decision logs of OPA, as OpenTelemetry, and as events of OCSF",
				Tests:  []string{"internal/audit/opa_test.go:TestOPA", "internal/audit/otlp/otlp_test.go:TestHostile", "internal/audit/ocsf/ocsf_test.go:TestEvent"},
			},
			{ID: "R9", Title: "Least privilege", Lacks: "gate hands out no credentials"},
		},
	}
}
