package main

// home is where releases will be published. There is none yet: the name is reserved, so
// that nothing fetches from it by accident. Whatever needs an address builds it from here.
const home = "https://gate.example"

// maintainer is who packages name as their maintainer, in the form of Debian's control files.
const maintainer = "gate <releases@gate.example>"

// noLicence is what metadata says in the place of a licence.
const noLicence = "none given yet: all rights reserved"

// summary is the line that describes gate in lists of packages.
const summary = "decides before an AI agent's tool call runs"

// description is the paragraph below it.
const description = "gate is a policy engine in front of AI agents: before a tool call of an agent runs, " +
	"it continues, is rejected, runs with changed input, or waits for a person."

// download is the address of a file of the release.
func (r *Release) download(file string) string { return home + "/releases/" + r.Version + "/" + file }
