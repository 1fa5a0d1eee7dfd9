package facts

import (
	"strings"
)

// kubernetes works out what kubectl and its like would change, and where.
func (u *use) kubernetes() {
	verb := strings.Join(u.verbs, " ")
	if len(u.verbs) == 0 && len(u.rest) > 0 {
		verb = u.rest[0].text()
	}
	access := kubeAccess(verb)
	if access == "" {
		return
	}
	dry := false
	if f, ok := u.opt("dry-run"); ok {
		t := f.text()
		dry = t != "none" && t != "false"
	}
	context, from := u.optText("context"), "option"
	if !u.has("context") && !u.has("kube-context") {
		context, from = u.kubeContext()
	}
	resources := []any{}
	for _, f := range u.rest {
		resources = append(resources, textOrNil(f))
	}
	all := u.has("all") || u.has("all-namespaces")
	if replicas, _ := u.opt("replicas"); verb == "scale" && replicas.text() == "0" || verb == "replace" && u.has("force") {
		access = "delete" // nothing runs any more, or not what ran
	}
	u.effect("kubernetes", u.id, map[string]any{
		"verb": verb, "access": access, "context": context, "context_from": from, "namespace": u.optText("namespace"),
		"resources": resources, "all": all, "dry_run": dry,
	})
	secrets := len(u.rest) > 0 && (strings.HasPrefix(u.rest[0].text(), "secret"))
	if out, ok := u.opt("output"); ok && secrets && verb == "get" && out.text() != "name" && out.text() != "wide" {
		u.effect("secret.read", u.id, map[string]any{"path": nil, "what": "cluster secret", "grade": "key", "shown": true})
	}
}

func kubeAccess(verb string) string {
	first, _, _ := strings.Cut(verb, " ")
	switch first {
	case "delete", "drain", "uninstall":
		return "delete"
	case "apply", "create", "replace", "patch", "edit", "scale", "rollout", "set", "label", "annotate", "taint", "cordon", "uncordon", "autoscale", "expose", "run", "cp", "upgrade", "install", "rollback":
		if verb == "rollout status" || verb == "rollout history" {
			return "read"
		}
		return "write"
	case "exec", "attach", "debug", "port-forward", "proxy":
		return "exec"
	case "get", "describe", "logs", "top", "explain", "api-resources", "api-versions", "version", "cluster-info", "diff", "auth", "wait", "events", "list", "status", "history", "template", "lint", "show", "search":
		return "read"
	}
	return ""
}

// container looks at what a container may reach of this machine.
func (u *use) container() {
	privileged := u.has("privileged") || u.optText("pid") == "host"
	mounts := []any{}
	for _, name := range []string{"volume", "mount"} {
		for _, f := range u.opts[name] {
			text := f.text()
			if name == "mount" {
				for _, kv := range strings.Split(text, ",") {
					k, v, _ := strings.Cut(kv, "=")
					if k == "source" || k == "src" {
						mounts = append(mounts, v)
					}
				}
				continue
			}
			host, _, ok := strings.Cut(text, ":")
			if ok && strings.HasPrefix(host, "/") || strings.HasPrefix(host, "~") || strings.HasPrefix(host, ".") {
				mounts = append(mounts, host)
			}
		}
	}
	var image any // null when the line does not tell
	if len(u.rest) > 0 {
		if v := u.rest[0].value(); v != nil {
			image = *v
		}
	}
	u.effect("container", u.id, map[string]any{
		"tool": u.name, "verb": strings.Join(u.verbs, " "), "access": "write", "privileged": privileged, "mounts": mounts, "volumes": false, "all": false,
		"image": image,
	})
	for _, m := range mounts {
		p, _ := m.(string)
		for _, t := range u.absolute(u.s, literalField(p)) {
			if what, grade := u.secret(t.path); what != "" {
				u.effect("secret.read", u.id, map[string]any{"path": t.path, "what": what, "grade": grade, "shown": false})
			}
		}
	}
}
