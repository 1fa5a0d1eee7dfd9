package offer

import (
	"path/filepath"
)

// Sandbox returns an agent's settings of its own sandbox, those that win first. known is
// false for an agent whose sandbox gate does not know.
func (m Machine) Sandbox(agent string) (layers []map[string]any, known bool, err error) {
	var files []string
	read := settingsOf
	switch agent {
	case "claude":
		managed := claudeManaged(m.Root)
		for i := range managed { // of these the last one wins
			files = append(files, managed[len(managed)-1-i])
		}
		if m.Project != "" {
			files = append(files, filepath.Join(m.Project, ".claude", "settings.local.json"), filepath.Join(m.Project, ".claude", "settings.json"))
		}
		files = append(files, below(m.userDirs()[:1], "settings.json")...)
	case "codex":
		read = tomlOf
		etc := filepath.Join(m.Root, "etc", "codex")
		files = []string{filepath.Join(etc, "managed_config.toml")}
		if m.Project != "" {
			files = append(files, filepath.Join(m.Project, ".codex", "config.toml"))
		}
		files = append(files, filepath.Join(m.own("CODEX_HOME", ".codex"), "config.toml"), filepath.Join(etc, "config.toml"))
	default:
		return nil, false, nil
	}
	for _, name := range files {
		doc, err := read(name)
		if err != nil {
			return nil, true, err
		}
		if doc != nil {
			layers = append(layers, doc)
		}
	}
	return layers, true, nil
}
