package draft

import "slices"

// A Current is what the line has made current for the commands behind it.
type Current struct {
	Heads Heads       // branches that are checked out
	Kube  KubeContext // the cluster that kubectl talks to
}

// Join is what may be current after either of two ways.
func (c Current) Join(o Current) Current { return Current{c.Heads.join(o.Heads), c.Kube.join(o.Kube)} }

// Heads are the branches that a repository may have checked out after what the
// line itself did. The zero heads say nothing: .git/HEAD does.
type Heads struct {
	Git   string   // the repository
	Names []string // "" is a branch that is not known, unmoved what .git/HEAD says
}

// Unmoved is no name of a branch.
const Unmoved = "."

func (h Heads) join(o Heads) Heads {
	switch {
	case h.Git == o.Git:
	case h.Git == "":
		h = Heads{o.Git, []string{Unmoved}}
	case o.Git == "":
		o = Heads{h.Git, []string{Unmoved}}
	default:
		return Heads{}
	}
	for _, name := range o.Names {
		if !slices.Contains(h.Names, name) {
			h.Names = append(slices.Clip(h.Names), name)
		}
	}
	return h
}

// A KubeContext is what the line itself made the current context of kubectl.
// The zero KubeContext is that of the kubeconfig.
type KubeContext struct {
	Set  bool
	Name string // "" is not known

	Moved     bool   // the context has another namespace
	Namespace string // "" is not known
}

func (k KubeContext) join(o KubeContext) KubeContext {
	if k == o {
		return k
	}
	return KubeContext{Set: true, Moved: true}
}
