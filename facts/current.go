package facts

import "slices"

// A current is what the line has made current for the commands behind it.
type current struct {
	heads heads       // branches that are checked out
	kube  kubeContext // the cluster that kubectl talks to
}

// join is what may be current after either of two ways.
func (c current) join(o current) current { return current{c.heads.join(o.heads), c.kube.join(o.kube)} }

// heads are the branches that a repository may have checked out after what the
// line itself did. The zero heads say nothing: .git/HEAD does.
type heads struct {
	git   string   // the repository
	names []string // "" is a branch that is not known, unmoved what .git/HEAD says
}

// unmoved is no name of a branch.
const unmoved = "."

func (h heads) join(o heads) heads {
	switch {
	case h.git == o.git:
	case h.git == "":
		h = heads{o.git, []string{unmoved}}
	case o.git == "":
		o = heads{h.git, []string{unmoved}}
	default:
		return heads{}
	}
	for _, name := range o.names {
		if !slices.Contains(h.names, name) {
			h.names = append(slices.Clip(h.names), name)
		}
	}
	return h
}

// A kubeContext is what the line itself made the current context of kubectl.
// The zero kubeContext is that of the kubeconfig.
type kubeContext struct {
	set  bool
	name string // "" is not known
}

func (k kubeContext) join(o kubeContext) kubeContext {
	if k == o {
		return k
	}
	return kubeContext{set: true}
}
