package facts

import _ "embed"

// The catalogue, one text a file: a part of a text is had without reading it,
// which a file of an [embed.FS] would be.
var (
	//go:embed catalogue/agents.rows
	agentsRows string
	//go:embed catalogue/archive.rows
	archiveRows string
	//go:embed catalogue/cloud.rows
	cloudRows string
	//go:embed catalogue/containers.rows
	containersRows string
	//go:embed catalogue/coreutils.rows
	coreutilsRows string
	//go:embed catalogue/databases.rows
	databasesRows string
	//go:embed catalogue/disk.rows
	diskRows string
	//go:embed catalogue/editors.rows
	editorsRows string
	//go:embed catalogue/git.rows
	gitRows string
	//go:embed catalogue/interpreters.rows
	interpretersRows string
	//go:embed catalogue/network.rows
	networkRows string
	//go:embed catalogue/packages.rows
	packagesRows string
	//go:embed catalogue/permissions.rows
	permissionsRows string
	//go:embed catalogue/search.rows
	searchRows string
	//go:embed catalogue/secrets.rows
	secretsRows string
	//go:embed catalogue/shells.rows
	shellsRows string
	//go:embed catalogue/system.rows
	systemRows string
	//go:embed catalogue/wrappers.rows
	wrappersRows string
)

// rowsOf returns the text of a file of the catalogue, "" if there is none.
func rowsOf(file string) string {
	switch file {
	case "agents.rows":
		return agentsRows
	case "archive.rows":
		return archiveRows
	case "cloud.rows":
		return cloudRows
	case "containers.rows":
		return containersRows
	case "coreutils.rows":
		return coreutilsRows
	case "databases.rows":
		return databasesRows
	case "disk.rows":
		return diskRows
	case "editors.rows":
		return editorsRows
	case "git.rows":
		return gitRows
	case "interpreters.rows":
		return interpretersRows
	case "network.rows":
		return networkRows
	case "packages.rows":
		return packagesRows
	case "permissions.rows":
		return permissionsRows
	case "search.rows":
		return searchRows
	case "secrets.rows":
		return secretsRows
	case "shells.rows":
		return shellsRows
	case "system.rows":
		return systemRows
	case "wrappers.rows":
		return wrappersRows
	}
	return ""
}
