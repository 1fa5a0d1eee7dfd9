# METADATA
# title: Loss in a cluster
# description: |
#   Deleting everything, namespaces, volumes, or anything of production is
#   rejected; other deletions, and changes of production, are put to a person.
#   Reading, dry runs and clusters on this machine are free.
# custom:
#   gate:
#     events: [PreToolUse]
#     serves:
#       owasp-agentic: [ASI02]
#     if: [effect(kubernetes)]
#     params:
#       production:
#         type: string
#         default: '(?i)(^|[-_./:@])(prod|production|prd|live)([-_./:@0-9]|$)'
#         description: which contexts and namespaces are production, an RE2 expression
#       local:
#         type: string
#         default: '^(minikube|kind-.*|k3d-.*|docker-desktop|docker-for-desktop|rancher-desktop|orbstack|colima.*|microk8s|k3s-local)$'
#         description: which contexts are on this machine, an RE2 expression
package gate.kubernetes.change

import data.gate.lib

# METADATA
# description: what a team would miss at once
deny contains {
	"reason": sprintf("deletes %s in the cluster %s; ask the person to do it, or use --dry-run=server", [what, where(effect)]),
	"help": "Deleted resources stop at once, and deleted volumes are gone for good.",
	"span": lib.span(effect),
} if {
	some effect in deletions
	effect.verb != "scale"
	what := forbidden(effect)
}

# METADATA
# description: other deletions
ask contains {
	"reason": sprintf("%s %s in the cluster %s; try --dry-run=server first", [does(effect), named(effect), where(effect)]),
	"help": "Check cluster and namespace.",
	"span": lib.span(effect),
} if {
	some effect in deletions
	mild(effect)
}

# METADATA
# description: changes of production, and of everything
ask contains {
	"reason": sprintf("changes %s in the cluster %s (%s); let the person change production, or use --dry-run=server", [
		named(effect), where(effect), lib.text(effect, "verb", "change"),
	]),
	"help": "Check cluster and namespace.",
	"span": lib.span(effect),
} if {
	some effect in lib.effects("kubernetes")
	effect.access in {"write", "exec"}
	not effect.verb in {"port-forward", "proxy"}
	not lib.is(effect, "dry_run", true)
	delicate(effect)
}

# METADATA
# description: what somebody else wrote, and rights over everything
ask contains {
	"reason": sprintf("%s in the cluster %s; show it to the person first, or use --dry-run=server", [what, where(effect)]),
	"help": "Its author, or the holder of those rights, could change the whole cluster.",
	"span": lib.span(effect),
} if {
	some effect in lib.effects("kubernetes")
	effect.access in {"write", "exec"}
	not lib.is(effect, "dry_run", true)
	not local(effect)
	what := trusting(effect)
}

trusting(effect) := sprintf("applies %s", [files[0]]) if {
	files := [file |
		some file in lib.command(effect).options.filename
		lib.matches({"file": file}, "file", `^https?://`)
	]
}

else := "gives rights over the cluster" if {
	effect.verb == "create"
	lower(lib.texts(effect, "resources")[0]) in {"clusterrolebinding", "clusterrolebindings"}
}

else := "starts a pod that may do anything on its machine" if {
	effect.verb == "run"
	some text in lib.command(effect).options.overrides
	lib.matches({"text": text}, "text", `"(hostPID|hostNetwork|hostIPC|privileged)" *: *true|"hostPath"`)
}

else := "starts a pod that may do anything on its machine" if {
	effect.verb == "run"
	lib.command(effect).options.privileged
}

else := "starts a pod that may do anything on its machine" if {
	effect.verb == "debug"
	some name in lib.texts(effect, "resources")
	startswith(lower(name), "node/")
}

deletions contains effect if {
	some effect in lib.effects("kubernetes")
	effect.access == "delete"
	not lib.is(effect, "dry_run", true)
	not local(effect)
}

# What was scaled down can be scaled up again.
mild(effect) if effect.verb == "scale"

mild(effect) if not forbidden(effect)

does(effect) := "stops" if effect.verb == "scale"

else := "deletes"

forbidden(effect) := "everything" if lib.is(effect, "all", true)

else := sprintf("%s of production", [named(effect)]) if production(effect)

else := named(effect) if {
	some resource in lib.texts(effect, "resources")
	kind := lower(split(resource, "/")[0])
	some one in split(kind, ",")
	split(one, ".")[0] in {
		"all", "ns", "namespace", "namespaces", "pv", "pvc", "persistentvolume", "persistentvolumes", "persistentvolumeclaim",
		"persistentvolumeclaims", "crd", "crds", "customresourcedefinition", "customresourcedefinitions", "node", "nodes",
	}
}

delicate(effect) if production(effect)

delicate(effect) if {
	lib.is(effect, "all", true)
	not local(effect)
}

production(effect) if {
	some field in ["context", "namespace"]
	lib.matches(effect, field, data.gate.params.gate.kubernetes.change.production)
}

local(effect) if lib.matches(effect, "context", data.gate.params.gate.kubernetes.change.local)

# What is applied says it, or the namespace that is changed itself.
production(effect) if {
	some option in ["filename", "kustomize"]
	some file in lib.command(effect).options[option]
	lib.matches({"file": file}, "file", data.gate.params.gate.kubernetes.change.production)
}

production(effect) if {
	some name in lib.texts(effect, "resources")
	lib.matches({"name": name}, "name", data.gate.params.gate.kubernetes.change.production)
}

named(effect) := concat(" ", names) if {
	names := lib.texts(effect, "resources")
	count(names) > 0
}

else := "resources"

where(effect) := sprintf("%s (namespace %s)", [lib.text(effect, "context", "that is current"), effect.namespace]) if {
	is_string(effect.namespace)
}

else := lib.text(effect, "context", "that is current")
