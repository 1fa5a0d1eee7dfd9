package company.terraform_plan_test

import data.company.terraform_plan

# The line after all edits, the last one first.
rewritten(line) := out if {
	edits := {[e.span, e.text] |
		some change in terraform_plan.modify with input as gate.event(line)
		some e in change.edits
	}
	sorted := sort(edits)
	cuts := array.concat([0], [span[1] | some [span, _] in sorted])
	ends := array.concat([span[0] | some [span, _] in sorted], [count(line)])
	texts := array.concat([text | some [_, text] in sorted], [""])
	out := concat("", [sprintf("%s%s", [substring(line, cuts[i], end - cuts[i]), texts[i]]) | some i, end in ends])
}

test_rewrites if {
	every line, want in {
		"terraform apply": "terraform plan",
		"terraform apply -auto-approve -var x=1": "terraform plan  -var x=1",
		"terraform -chdir=infra apply -auto-approve=true": "terraform -chdir=infra plan ",
		"cd infra && tofu apply --auto-approve": "cd infra && tofu plan ",
		"sudo terraform apply": "sudo terraform plan",
		"for d in a b; do (cd $d && terraform apply); done": "for d in a b; do (cd $d && terraform plan); done",
		"find . -name main.tf -execdir terraform apply \\;": "find . -name main.tf -execdir terraform plan \\;",
		"V=apply; terraform $V": "V=apply; terraform plan",
		"terraform apply -destroy": "terraform plan -destroy",
	} {
		rewritten(line) == want
		count(terraform_plan.ask) == 0 with input as gate.event(line)
	}
}

test_asks_where_it_cannot if {
	every line in [
		"terraform apply tfplan",
		"sh -c 'terraform apply'",
		"ls | xargs terraform apply",
		`terraform "$VERB"`,
		`terraform apply "$X"`,
	] {
		count(terraform_plan.ask) == 1 with input as gate.event(line)
		count(terraform_plan.modify) == 0 with input as gate.event(line)
	}
}

test_passes if {
	every line in [
		"terraform plan",
		"terraform init",
		"terraform -version",
		"terraform fmt apply",
		`terraform plan -var "x=$X"`,
		"terraform state list",
		"echo terraform apply",
		"kubectl apply -f x",
	] {
		count(terraform_plan.ask) == 0 with input as gate.event(line)
		count(terraform_plan.modify) == 0 with input as gate.event(line)
	}
}

test_tools_are_a_parameter if {
	count(terraform_plan.modify) == 0 with input as gate.event("tofu apply")
		with data.gate.params.company.terraform_plan.tools as ["terraform"]
}
