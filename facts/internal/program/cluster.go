package program

import (
	"path"
	"slices"
	"strings"

	"gate/facts/internal/flow"
	"gate/facts/internal/world"
	"gate/hook"
	"gate/internal/wordlist"
)

// kubernetes works out what kubectl and its like would change, and where.
func (u *use) kubernetes() {
	verb := strings.Join(u.verbs, " ")
	if len(u.verbs) == 0 && len(u.rest) > 0 {
		verb = u.rest[0].Text()
	}
	if verb == "cp" {
		for i, f := range u.rest {
			u.rest[i] = podPath(f)
		}
		u.scp() // a pod stands where a host does
	}
	access := kubeAccess(verb)
	if access == "" {
		return
	}
	dry := false
	if f, ok := u.opt("dry-run"); ok {
		t := f.Text()
		dry = t != "none" && t != "false"
	}
	context, from := u.optText("context"), "option"
	if !u.has("context") && !u.has("kube-context") {
		context, from = u.kubeContext()
	}
	namespace, namespaceFrom := u.kubeNamespace(context)
	var resources []*string
	for _, f := range u.rest {
		resources = append(resources, f.Value())
	}
	all := u.has("all") || u.has("all-namespaces")
	if replicas, _ := u.opt("replicas"); verb == "scale" && replicas.Text() == "0" || verb == "replace" && u.has("force") {
		access = "delete" // nothing runs any more, or not what ran
	}
	u.effect(&hook.Kubernetes{
		Verb: verb, Access: access, Context: context, ContextFrom: from, Namespace: namespace, NamespaceFrom: namespaceFrom,
		ClusterWide: u.clusterWide(verb), Resources: resources, All: all, DryRun: dry,
	})
	if verb == "create" && len(u.rest) > 0 && u.rest[0].Text() == "token" {
		u.effect(&hook.SecretRead{What: "cluster credentials", Grade: "key", Shown: true})
		u.Out.Taint.Secret = "cluster credentials"
	}
	secrets := len(u.rest) > 0 && strings.HasPrefix(u.rest[0].Text(), "secret") || slices.ContainsFunc(u.rest, ofSecrets)
	if out, ok := u.opt("output"); ok && secrets && verb == "get" && out.Text() != "name" && out.Text() != "wide" && !u.namesOfSecrets() {
		u.effect(&hook.SecretRead{What: "cluster secret", Grade: "key", Shown: true})
		u.Out.Taint.Secret = "cluster secret"
	}
}

// ofSecrets reports an operand that asks for secrets, also among others: pods,secrets or secret/name.
func ofSecrets(f flow.Word) bool {
	for kind := range strings.SplitSeq(f.Text(), ",") {
		kind, _, _ = strings.Cut(kind, "/")
		if kind, _, _ = strings.Cut(kind, "."); kind == "secret" || kind == "secrets" {
			return true
		}
	}
	return false
}

// The ways to print of a cluster's secret what it is called and which keys it has. Of
// what stands about it only what holds no value is printed: annotations may have all of it.
// The key of a pair must be $k, so that no name stands for both.
var (
	secretAbout  = `\.(metadata\.(name|namespace|creationTimestamp|uid|resourceVersion)|kind|type)`
	templateKeys = lazy(`^(range \$k, *\$[a-jl-z_]\w* *:= *\.(data|items)|range \.items|with \.metadata|end|else|if \.data|len \.data|len \$v|\$k|"[^"\\]*(\\[nt][^"\\]*)*"|` + secretAbout + `|\.(name|namespace)|printf? *(println)? *("[^"]*" )?\$k)$`)
	listAbout    = lazy(`^[\w-]+:` + secretAbout + `$`)
	pathAbout    = lazy(`^(\.items\[\*\])?` + secretAbout + `$|^(range \.items\[\*\]|end|"[^"\\]*(\\[nt][^"\\]*)*")$`)
)

// formOptions are options of kubectl beside which a form of output says all that is
// printed: --template replaces the form, and -v=9 prints the answers of the server.
const formOptions = " output context namespace kubeconfig cluster selector all-namespaces no-headers ignore-not-found request-timeout sort-by field-selector "

// namesOfSecrets reports that kubectl get secret prints no value.
func (u *use) namesOfSecrets() bool {
	for name, values := range u.opts {
		if !wordlist.Has(formOptions, name) || name == "output" && slices.ContainsFunc(values, func(v flow.Word) bool { return !v.Literal() || !namesOfSecret(v.Text()) }) {
			return false
		}
	}
	return true
}

// namesOfSecret reports a form of output of kubectl get secret that prints no value.
func namesOfSecret(output string) bool {
	form, template, _ := strings.Cut(output, "=")
	switch form {
	case "go-template", "template":
		return actionsOf(template, "{{", "}}", templateKeys().MatchString)
	case "jsonpath":
		return actionsOf(template, "{", "}", pathAbout().MatchString)
	case "custom-columns":
		for column := range strings.SplitSeq(template, ",") {
			if !listAbout().MatchString(column) {
				return false
			}
		}
		return template != ""
	}
	return false
}

// actionsOf reports that each action of a template, between its marks, is one of a kind.
func actionsOf(template, begin, end string, kind func(string) bool) bool {
	n := 0
	for {
		_, rest, ok := strings.Cut(template, begin)
		if !ok {
			return n > 0
		}
		action, after, ok := strings.Cut(rest, end)
		action = strings.TrimSpace(strings.Trim(strings.TrimSpace(action), "-"))
		if !ok || !kind(action) {
			return false
		}
		template = after
		n++
	}
}

// podPath is namespace/pod:path without its namespace.
func podPath(f flow.Word) flow.Word {
	text := f.Prefix()
	slash, colon := strings.IndexByte(text, '/'), strings.IndexByte(text, ':')
	if slash > 0 && slash < colon && strings.Count(text[:colon], "/") == 1 && strings.IndexByte(".~", text[0]) < 0 {
		return f.From(slash + 1)
	}
	return f
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

// container looks at what a container may reach of this machine, and reads the
// words of its command as the machine's paths where they lie in a mount.
func (u *use) container() {
	privileged := u.has("privileged") || flow.Text(u.optText("pid")) == "host"
	for _, f := range u.opts["cap-add"] {
		name := strings.TrimPrefix(strings.ToUpper(f.Text()), "CAP_")
		privileged = privileged || name == "ALL" || name == "SYS_ADMIN" || name == "SYS_MODULE"
	}
	mounts, inside := u.mounts()
	image := hook.OptionalText{There: true} // null when the line does not tell
	if len(u.rest) > 0 {
		if v := u.rest[0].Value(); v != nil {
			image.Text = v
			u.entryPoint(*v)
			u.attacks(imageBase(*v), u.rest[1:])
		}
	}
	u.effect(&hook.Container{
		Tool: u.name, Verb: strings.Join(u.verbs, " "), Access: "write", Privileged: privileged, Mounts: mounts, Image: image,
	})
	for _, m := range mounts {
		for _, t := range u.targets(flow.Literal(*m)) {
			if what, grade := u.Secret(t.Path); what != "" {
				u.effect(&hook.SecretRead{Path: new(t.Path), What: what, Grade: grade, Shown: what == "password file"})
			}
		}
	}
	for i, f := range u.inner {
		if v := f.Value(); v != nil {
			u.inner[i] = mounted(f, *v, inside)
		}
	}
	if dir, ok := u.opt("workdir"); ok && dir.Value() != nil {
		if here := mounted(dir, *dir.Value(), inside); !here.Same(dir) {
			u.at().Dirs, u.at().Under = u.enter(here), ""
		}
	}
}

// mounts are the directories of this machine that a container gets, and what
// its own directories are on this machine.
func (u *use) mounts() (hosts []*string, inside map[string]string) {
	inside = map[string]string{}
	mount := func(host, dir string) {
		hosts = append(hosts, new(host))
		if dir = strings.TrimRight(dir, "/"); dir != "" {
			inside[dir] = host
		}
	}
	for _, f := range u.opts["volume"] {
		host, dir, ok := strings.Cut(f.Text(), ":")
		if f.Prefix() == "" && strings.HasPrefix(f.Why(), "the home of") { // ~:/dir means itself, and ~ is meant
			host, ok = "~", true
		}
		dir, _, _ = strings.Cut(dir, ":")
		if ok && strings.HasPrefix(host, "/") || strings.HasPrefix(host, "~") || strings.HasPrefix(host, ".") {
			mount(host, dir)
		}
	}
	for _, f := range u.opts["mount"] {
		var host, dir string
		for _, kv := range strings.Split(f.Text(), ",") {
			switch k, v, _ := strings.Cut(kv, "="); k {
			case "source", "src":
				host = v
			case "target", "dst", "destination":
				dir = v
			}
		}
		if host != "" {
			mount(host, dir)
		}
	}
	return hosts, inside
}

// entryPoint puts the program that a container begins with before its words:
// the one that the line names, else that of an image of a well-known tool.
func (u *use) entryPoint(image string) {
	program := imageProgram(image)
	if f, ok := u.opt("entrypoint"); ok {
		if program = f.Text(); program != "" {
			u.inner = append([]flow.Word{f}, u.inner...)
		}
		return
	}
	if program != "" && len(u.inner) > 0 && u.inner[0].Text() != program {
		u.inner = append([]flow.Word{flow.Literal(program)}, u.inner...)
	}
}

// mounted is what a path of a container is on this machine.
func mounted(f flow.Word, path string, inside map[string]string) flow.Word {
	best := ""
	for dir := range inside {
		if len(dir) > len(best) && world.Below(path, dir) {
			best = dir
		}
	}
	if best == "" {
		return f
	}
	out := flow.Literal(inside[best] + path[len(best):])
	out.Span = f.Span
	return out
}

// imageBase is the last part of an image's name, without tag and digest.
func imageBase(image string) string {
	image, _, _ = strings.Cut(path.Base(image), "@")
	image, _, _ = strings.Cut(image, ":")
	return image
}

// imageProgram names the program that images of well-known tools run by
// themselves, "" for others.
func imageProgram(image string) string {
	image, _, _ = strings.Cut(image, "@")
	if i := strings.LastIndexByte(image, ':'); i > strings.LastIndexByte(image, '/') {
		image = image[:i]
	}
	program, _ := wordlist.Lookup(imageRows, strings.TrimPrefix(image, "docker.io/"))
	return program
}

const imageRows = `hashicorp/terraform |terraform
ghcr.io/opentofu/opentofu opentofu/opentofu |tofu
amazon/aws-cli public.ecr.aws/aws-cli/aws-cli |aws
bitnami/kubectl rancher/kubectl registry.k8s.io/kubectl |kubectl
alpine/helm dtzar/helm-kubectl |helm
alpine/git bitnami/git |git
rclone/rclone |rclone
pulumi/pulumi |pulumi
curlimages/curl |curl
minio/mc |mc
`
