package company.settings_frozen_test

import data.company.settings_frozen

change(source) := gate.event({"event": "ConfigChange", "fields": {"source": source}})

test_denies if {
	every source in ["user_settings", "project_settings", "local_settings"] {
		count(settings_frozen.deny) == 1 with input as change(source)
	}
}

test_passes if count(settings_frozen.deny) == 0 with input as change("skills")

test_denies_what_is_not_known if count(settings_frozen.deny) == 1 with input as gate.event({"event": "ConfigChange"})
