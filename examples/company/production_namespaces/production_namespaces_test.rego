package company.production_namespaces_test

import data.company.production_namespaces

test_denies_other_namespaces if {
	every line, part in {
		"kubectl --context prod-eu -n billing delete pod x": "billing of the cluster prod-eu",
		"kubectl --context prod-eu --namespace=previews2 apply -f x.yaml": "previews2",
		"helm uninstall api --kube-context prod-us -n billing": "billing of the cluster prod-us",
		"kubectl --context live -n shop-a delete pod x": "shop-a of the cluster live",
		"kubectl --context prod-eu delete pods --all -A": "all namespaces of the cluster prod-eu",
		"kubectl --context prod-eu delete ns previews": "all namespaces of",
		"kubectl --context prod-eu -n billing exec -it api -- sh": "billing",
	} {
		some verdict in production_namespaces.deny with input as gate.event(line)
		startswith(verdict.reason, sprintf("changes %s", [part]))
		count(production_namespaces.ask) == 0 with input as gate.event(line)
	}
}

test_asks_what_is_not_known if {
	every line in [
		"kubectl --context prod-eu delete pod x",
		`kubectl --context prod-eu -n "$N" delete pod x`,
		"kubectl -n previews delete pod x",
		`kubectl --context prod-eu -n previews delete "$KIND" x`,
		`kubectl --context "$C" -n billing delete pod x`,
	] {
		count(production_namespaces.ask) == 1 with input as gate.event(line)
		count(production_namespaces.deny) == 0 with input as gate.event(line)
	}
}

config := {"/home/dev/.kube/config": "current-context: prod-eu\ncontexts:\n- name: prod-eu\n  context:\n    namespace: billing\n"}

test_knows_the_kubeconfig if {
	count(production_namespaces.deny) == 1 with input as gate.event({"bash": "kubectl delete pod x", "files": config})
	count(production_namespaces.deny) == 0 with input as gate.event({"bash": "kubectl delete pod x -n previews", "files": config})
}

test_passes if {
	every line in [
		"kubectl --context prod-eu -n previews delete pod x",
		"kubectl --context prod-us -n shop-a apply -f x.yaml",
		"helm upgrade api chart --kube-context prod-eu -n shop-b",
		"kubectl --context prod-eu -n billing get pods",
		"kubectl --context prod-eu get pods -A",
		"kubectl --context staging delete ns previews",
		"kubectl --context staging delete pod x",
		"echo kubectl --context live delete ns x",
	] {
		count(production_namespaces.deny) == 0 with input as gate.event(line)
		count(production_namespaces.ask) == 0 with input as gate.event(line)
	}
}

test_namespaces_are_a_parameter if {
	line := "kubectl --context eu -n a delete pod x"
	count(production_namespaces.deny) == 1 with input as gate.event(line)
		with data.gate.params.company.production_namespaces.namespaces as {"eu": ["b"]}
	count(production_namespaces.deny) == 0 with input as gate.event(line)
		with data.gate.params.company.production_namespaces.namespaces as {"eu": ["a"]}
}

test_points_at_the_command if {
	some verdict in production_namespaces.deny with input as gate.event("true && kubectl --context live delete ns x")
	verdict.span == [8, 42]
	some question in production_namespaces.ask with input as gate.event("true && kubectl delete pod x")
	question.span == [8, 28]
}
