package program

import (
	"strings"

	"gate/facts/internal/draft"
	"gate/facts/internal/kubeconfig"
)

// changeContext notes that a kubeconfig changes in a way that is not followed.
func (u *use) changeContext() { u.current().Kube = draft.KubeContext{Set: true} }

// useContext takes the first operand as the current context from here on.
func (u *use) useContext() {
	u.current().Kube = draft.KubeContext{Set: true}
	if len(u.rest) == 1 && !u.has("kubeconfig") {
		if v := u.rest[0].Value(); v != nil && *v != "-" {
			u.current().Kube.Name = *v
		}
	}
}

// kubeContext finds the context that a call without an option for it uses, and
// where that is from.
func (u *use) kubeContext() (*string, string) {
	if u.has("cluster") || u.has("server") || u.has("kube-apiserver") {
		return nil, "unknown" // it need not be in any context
	}
	files, known := u.kubeconfigs()
	switch {
	case !known:
		return nil, "unknown"
	case u.current().Kube.Set && !u.has("kubeconfig"):
		if u.current().Kube.Name == "" {
			return nil, "unknown"
		}
		return new(u.current().Kube.Name), "file"
	}
	for _, file := range files {
		if !strings.HasPrefix(file, "/") && len(u.at().Dirs) == 1 {
			file = u.at().Dirs[0] + "/" + file
		}
		text, err := u.World.Read(file, 1<<20)
		if err != nil {
			continue
		}
		if name, known := kubeconfig.CurrentContext(text); !known {
			return nil, "unknown"
		} else if name != "" {
			return new(name), "file"
		}
	}
	return nil, "unknown"
}

// kubeconfigs returns the files that a call reads its context from; the first
// one with a context counts. It reports whether they are known.
func (u *use) kubeconfigs() (files []string, known bool) {
	if f, ok := u.opt("kubeconfig"); ok {
		v := f.Value()
		if v == nil {
			return nil, false
		}
		return []string{*v}, true
	}
	value, _ := u.environ("KUBECONFIG")
	v := value.Value()
	if v == nil {
		return nil, false
	}
	list := *v
	if list == "" {
		return []string{u.World.Home + "/.kube/config"}, u.World.Home != ""
	}
	return strings.Split(list, ":"), true
}
