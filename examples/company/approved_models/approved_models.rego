# METADATA
# title: Approved models
# description: Sessions switch to approved models only.
# custom:
#   gate:
#     events: [PreModelSwitch]
#     params:
#       models: {type: array, default: [claude-opus-*, claude-sonnet-*], description: models; a star stands for any text}
package company.approved_models

import data.gate.lib

deny contains sprintf("the model %s is not approved; use one of %s", [input.to_model, concat(", ", models)]) if {
	not approved
}

approved if {
	some pattern in models
	lib.covers(pattern, input.to_model)
}

models := data.gate.params.company.approved_models.models
