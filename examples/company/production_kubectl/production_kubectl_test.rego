package company.production_kubectl_test

import data.company.production_kubectl

config(context) := {"/home/dev/.kube/config": sprintf("current-context: %s\n", [context])}

test_asks_by_option if {
	every line in [
		"kubectl --context prod apply -f x.yaml",
		"kubectl --context=acme-production get pods",
		"kubectl get pods --context eu.live",
		"helm upgrade api chart --kube-context prod",
		"sudo kubectl --context prod delete pod x",
		"true && kubectl --context prod get pods",
		"kubectl --context prod exec -it api -- sh",
	] {
		count(production_kubectl.ask) == 1 with input as gate.event({"bash": line, "files": config("staging")})
	}
}

test_asks_by_kubeconfig if {
	every call in [
		{"bash": "kubectl get pods", "files": config("prod")},
		{"bash": "KUBECONFIG=/etc/k/prod kubectl get pods", "files": {"/etc/k/prod": "current-context: prod\n"}},
		{
			"bash": "kubectl --kubeconfig /etc/k/prod get pods",
			"files": {"/etc/k/prod": "current-context: prod\n", "/home/dev/.kube/config": "current-context: staging\n"},
		},
		{
			"bash": "kubectl get pods",
			"env": {"HOME": "/home/dev", "KUBECONFIG": "/etc/k/prod"},
			"files": {"/etc/k/prod": "current-context: prod\n", "/home/dev/.kube/config": "current-context: staging\n"},
		},
	] {
		some verdict in production_kubectl.ask with input as gate.event(call)
		contains(verdict.reason, "cluster prod (production)")
	}
}

test_asks_by_what_the_line_switches_to if {
	every line in ["kubectl config use-context prod && kubectl get pods", "kubectx prod; kubectl delete pod x"] {
		count(production_kubectl.ask) == 1 with input as gate.event({"bash": line, "files": config("staging")})
	}
}

test_asks_what_is_not_known if {
	every line in [
		"kubectl get pods",
		`kubectl --context "$C" get pods`,
		"kubectl --kubeconfig missing get pods",
		`kubectl --kubeconfig "$K" get pods`,
		"kubectl --server https://10.0.0.1:6443 get pods",
		`kubectl config use-context "$C" && kubectl get pods`,
	] {
		some verdict in production_kubectl.ask with input as gate.event(line)
		contains(verdict.reason, "not known")
	}
}

test_passes if {
	every line in [
		"kubectl get pods",
		"kubectl --context staging delete pod x",
		"kubectl --context productivity get pods",
		"helm upgrade api chart --kube-context kind-dev",
		"echo kubectl --context prod get pods",
		"cat prod.yaml",
	] {
		count(production_kubectl.ask) == 0 with input as gate.event({"bash": line, "files": config("staging")})
	}
}

test_reading_may_be_free if {
	get := gate.event("kubectl --context prod get pods")
	count(production_kubectl.ask) == 0 with input as get
		with data.gate.params.company.production_kubectl.free as ["read"]
	count(production_kubectl.ask) == 1 with input as gate.event("kubectl --context prod delete pod x")
		with data.gate.params.company.production_kubectl.free as ["read"]
}
