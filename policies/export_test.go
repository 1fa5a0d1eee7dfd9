package policies

// Names of files that the tests keep up to date.
const (
	PlanFile     = planFile
	SnapshotFile = snapshotFile
)
