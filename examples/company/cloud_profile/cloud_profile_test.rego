package company.cloud_profile_test

import data.company.cloud_profile

test_asks if {
	every line in [
		"aws --profile prod s3 ls",
		"aws s3 ls --profile=acme-production",
		"AWS_PROFILE=prod aws s3 ls",
		"gcloud --project shop-live compute instances list",
		"az vm list --subscription prod",
		"sudo aws --profile prod s3 ls",
		`aws --profile "$P" s3 ls`,
		"for p in dev prod; do aws --profile $p s3 ls; done",
	] {
		count(cloud_profile.ask) > 0 with input as gate.event(line)
	}
}

test_passes if {
	every line in [
		"aws s3 ls",
		"aws --profile dev s3 ls",
		"aws --profile productivity s3 ls",
		"aws s3 ls s3://prod",
		"AWS_PROFILE=dev aws s3 ls",
		"gcloud config list",
		"echo aws --profile prod",
	] {
		count(cloud_profile.ask) == 0 with input as gate.event(line)
	}
}
