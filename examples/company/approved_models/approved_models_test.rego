package company.approved_models_test

import data.company.approved_models

to(model) := gate.event({"event": "PreModelSwitch", "fields": {"from_model": "claude-opus-5", "to_model": model}})

test_denies if {
	every model in ["other-1", "claude-haiku-4", "my-claude-opus-5", ""] {
		count(approved_models.deny) == 1 with input as to(model)
	}
}

test_passes if {
	every model in ["claude-opus-5", "claude-sonnet-4-5"] {
		count(approved_models.deny) == 0 with input as to(model)
	}
}

test_models_are_a_parameter if {
	count(approved_models.deny) == 0 with input as to("other-1")
		with data.gate.params.company.approved_models.models as ["other-1"]
}
