package gate.infrastructure.change_test

import data.gate.infrastructure.change

test_denies if {
	every call in [
		"terraform destroy -auto-approve",
		"terraform apply -destroy -auto-approve",
		"pulumi destroy --yes",
		"tofu destroy -auto-approve",
		"terragrunt destroy -auto-approve",
		"cdk destroy --force",
		"aws s3 rb s3://b --force",
		"aws s3 rm s3://b --recursive",
		"gcloud projects delete p --quiet",
		"az group delete -n g --yes",
		"aws ec2 terminate-instances --instance-ids i-1",
		"aws cloudformation delete-stack --stack-name x",
		"aws rds delete-db-instance --db-instance-identifier x",
	] {
		count(change.deny) == 1 with input as gate.event(call)
		count(change.ask) == 0 with input as gate.event(call)
	}
}

test_asks if {
	every call in [
		"terraform destroy",
		"terraform apply -auto-approve",
		"terraform apply",
		"pulumi up --yes",
		"terraform state rm x",
		"ansible-playbook site.yml",
		"gcloud compute instances delete x",
		"az vm delete -n x",
		"gh repo delete a/b",
		"vercel --prod",
		"terraform workspace delete -force old",
		"az vm start -n x",
	] {
		count(change.ask) == 1 with input as gate.event(call)
		count(change.deny) == 0 with input as gate.event(call)
	}
}

test_passes if {
	every call in [
		"terraform plan",
		"terraform init",
		"terraform fmt",
		"terraform validate",
		"terraform show",
		"aws s3 ls",
		"aws logs tail /aws/lambda/x",
		"gcloud compute instances list",
		"az vm list",
		"pulumi preview",
		"aws sts get-caller-identity",
		"terraform plan -destroy",
		"terraform output",
		"ansible-playbook site.yml --check",
		"vagrant status",
		"aws ec2 describe-instances",
		"echo terraform destroy -auto-approve",
		"terraform state list",
		"gh repo view a/b",
		"cdk diff",
		"gh pr list",
		"gh run watch",
	] {
		count(change.deny) == 0 with input as gate.event(call)
		count(change.ask) == 0 with input as gate.event(call)
	}
}

test_reason_says_what_is_done_to_what if {
	some denial in change.deny with input as gate.event("gh repo delete a/b --yes")
	contains(denial.reason, "(gh repo delete of a/b)")

	every line, what in {
		"terraform destroy": "deletes running or shared resources elsewhere (terraform destroy)",
		"terraform apply": "changes running or shared resources elsewhere (terraform apply)",
	} {
		some question in change.ask with input as gate.event(line)
		startswith(question.reason, what)
	}
}
