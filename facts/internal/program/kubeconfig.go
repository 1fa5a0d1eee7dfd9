package program

import (
	"iter"
	"strings"

	"gate/facts/internal/draft"
	"gate/facts/internal/flow"
	"gate/facts/internal/kubeconfig"
	"gate/internal/wordlist"
)

// changeContext notes that a kubeconfig changes in a way that is not followed. Only
// another namespace of the current context is.
func (u *use) changeContext() {
	kube := &u.current().Kube
	f, moved := u.opt("namespace")
	if moved && u.has("current") && len(u.opts) == 2 && len(u.rest) == 0 {
		kube.Moved, kube.Namespace = true, flow.Text(f.Value())
		return
	}
	*kube = draft.KubeContext{Set: true, Moved: true}
}

// useContext takes the first operand as the current context from here on.
func (u *use) useContext() {
	u.current().Kube = draft.KubeContext{Set: true}
	if len(u.rest) == 1 && !u.has("kubeconfig") {
		if v := u.rest[0].Value(); v != nil && *v != "-" {
			u.current().Kube.Name = *v
		}
	}
}

// useNamespace takes the first operand as the namespace from here on, as kubens does.
func (u *use) useNamespace() {
	if len(u.rest) == 0 {
		return
	}
	kube := &u.current().Kube
	kube.Moved, kube.Namespace = true, ""
	if v := u.rest[0].Value(); v != nil && *v != "-" {
		kube.Namespace = *v
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
	for text := range u.kubeconfigTexts(files) {
		if name, known := kubeconfig.CurrentContext(text); !known {
			return nil, "unknown"
		} else if name != "" {
			return new(name), "file"
		}
	}
	return nil, "unknown"
}

// kubeconfigTexts are the texts of those files that can be read.
func (u *use) kubeconfigTexts(files []string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, file := range files {
			if !strings.HasPrefix(file, "/") && len(u.at().Dirs) == 1 {
				file = u.at().Dirs[0] + "/" + file
			}
			if text, err := u.World.Read(file, 1<<20); err == nil && !yield(text) {
				return
			}
		}
	}
}

// kubeNamespace finds the namespace of a call and where it is from. A manifest that
// names its own comes before that of the context.
func (u *use) kubeNamespace(context *string) (*string, string) {
	if f, given := u.opt("namespace"); given {
		return f.Value(), "option"
	}
	if f, set := u.environ("HELM_NAMESPACE"); u.name == "helm" && set {
		return f.Value(), "env"
	}
	kube := u.current().Kube
	switch {
	case u.has("filename") || u.has("kustomize"):
		return nil, "unknown"
	case kube.Moved && !u.has("kubeconfig") && !u.has("context"):
		if kube.Namespace == "" {
			return nil, "unknown"
		}
		return &kube.Namespace, "file"
	case context == nil:
		return nil, "unknown"
	}
	files, known := u.kubeconfigs()
	if !known {
		return nil, "unknown"
	}
	for text := range u.kubeconfigTexts(files) {
		name, found, known := kubeconfig.Namespace(text, *context)
		switch {
		case !known:
			return nil, "unknown"
		case found && name != "":
			return &name, "file"
		case found:
			return new("default"), "default"
		}
	}
	return nil, "unknown"
}

// clusterWide reports what no single namespace holds: every namespace, or resources
// that lie in none. It is nil where a file, a chart or an unknown word says it.
func (u *use) clusterWide(verb string) *bool {
	first, _, _ := strings.Cut(verb, " ")
	switch {
	case u.has("all-namespaces"), wordlist.Has(" drain cordon uncordon taint ", first):
		return new(true)
	case u.has("filename"), u.has("kustomize"), u.name == "helm" && kubeAccess(verb) != "read":
		return nil
	}
	known := true
	for i, f := range u.rest {
		v := f.Value()
		if v == nil {
			known = false
			continue
		}
		for one := range strings.SplitSeq(*v, ",") {
			kind, _, named := strings.Cut(one, "/")
			kind, _, _ = strings.Cut(strings.ToLower(kind), ".")
			if (i == 0 || named) && wordlist.Has(clusterKinds, kind) {
				return new(true)
			}
		}
	}
	if !known {
		return nil
	}
	return new(false)
}

// clusterKinds are resources that lie in no namespace, as kubectl api-resources
// --namespaced=false lists them of a plain cluster.
const clusterKinds = " namespace namespaces ns node nodes no persistentvolume persistentvolumes pv clusterrole clusterroles clusterrolebinding clusterrolebindings" +
	" customresourcedefinition customresourcedefinitions crd crds storageclass storageclasses sc priorityclass priorityclasses pc apiservice apiservices" +
	" mutatingwebhookconfiguration mutatingwebhookconfigurations validatingwebhookconfiguration validatingwebhookconfigurations" +
	" validatingadmissionpolicy validatingadmissionpolicies certificatesigningrequest certificatesigningrequests csr ingressclass ingressclasses" +
	" runtimeclass runtimeclasses csidriver csidrivers csinode csinodes volumeattachment volumeattachments flowschema flowschemas" +
	" prioritylevelconfiguration prioritylevelconfigurations componentstatus componentstatuses cs "

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
