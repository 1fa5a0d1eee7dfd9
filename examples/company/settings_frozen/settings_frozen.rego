# METADATA
# title: Settings stay as they are
# description: The agent's settings do not change while a session runs. Skills may.
# custom:
#   gate:
#     events: [ConfigChange]
package company.settings_frozen

deny contains sprintf("changes the agent's settings (%s) in a running session; start a new one for it", [source]) if {
	source := object.get(input, "source", "not known")
	source != "skills"
}
