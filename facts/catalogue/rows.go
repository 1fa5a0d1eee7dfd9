package catalogue

import _ "embed"

// The catalogue, one text a file: a part of a text is had without reading it,
// which a file of an [embed.FS] would be.
var (
	//go:embed agents.rows
	agentsRows string
	//go:embed archive.rows
	archiveRows string
	//go:embed cloud.rows
	cloudRows string
	//go:embed containers.rows
	containersRows string
	//go:embed coreutils.rows
	coreutilsRows string
	//go:embed databases.rows
	databasesRows string
	//go:embed disk.rows
	diskRows string
	//go:embed editors.rows
	editorsRows string
	//go:embed git.rows
	gitRows string
	//go:embed interpreters.rows
	interpretersRows string
	//go:embed network.rows
	networkRows string
	//go:embed packages.rows
	packagesRows string
	//go:embed permissions.rows
	permissionsRows string
	//go:embed search.rows
	searchRows string
	//go:embed secrets.rows
	secretsRows string
	//go:embed shells.rows
	shellsRows string
	//go:embed system.rows
	systemRows string
	//go:embed wrappers.rows
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
