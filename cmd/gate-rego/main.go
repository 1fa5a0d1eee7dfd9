// Command gate-rego answers those of an agent's events that gate-hook hands over
// since only OPA can run a policy, from what OPA compiled of it before. It links
// OPA, and nothing else that gate has besides: no clients of models, registries or
// tool servers, which make a process start later. gate-hook does as well without
// it: gate hook answers these events, too.
package main

import (
	_ "gate/cmd/internal/early"
	"gate/cmd/internal/thin/opa"
)

func main() { opa.Main() }
