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
		"CLOUDSDK_CORE_PROJECT=shop-live gcloud run services list",
		`aws --profile "$P" s3 ls`,
		"for p in dev prod; do aws --profile $p s3 ls; done",
	] {
		count(cloud_profile.ask) > 0 with input as gate.event(line)
	}
}

test_asks_what_is_not_known_whatever_production_is_called if {
	count(cloud_profile.ask) == 1 with input as gate.event(`aws --profile "$P" s3 ls`)
		with data.gate.params.company.cloud_profile.production as "^blue$"
	count(cloud_profile.ask) == 0 with input as gate.event("aws --profile prod s3 ls")
		with data.gate.params.company.cloud_profile.production as "^blue$"
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
		"docker compose --profile prod up",
	] {
		count(cloud_profile.ask) == 0 with input as gate.event(line)
	}
}
