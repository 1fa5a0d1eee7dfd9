package facts_test

import (
	"fmt"
	"testing"

	"gate/facts"
	"gate/hook"
)

// TestKubeContext holds where the context of a cluster comes from.
func TestKubeContext(t *testing.T) {
	for line, want := range map[string]string{
		"kubectl get pods":                                                "staging file",
		"kubectl --context prod get pods":                                 "prod option",
		"kubectl --kubeconfig /k/prod get pods":                           "prod file",
		"KUBECONFIG=/k/prod kubectl get pods":                             "prod file",
		"KUBECONFIG=/k/prod kubectl --kubeconfig /k/dev get pods":         "dev file",
		"export KUBECONFIG=/k/prod; kubectl get pods":                     "prod file",
		"KUBECONFIG=/k/none:/k/prod kubectl get pods":                     "prod file",
		"kubectl --kubeconfig k/local get pods":                           "local file",
		`kubectl --kubeconfig "$X" get pods`:                              "<nil> unknown",
		`KUBECONFIG="$X" kubectl get pods`:                                "<nil> unknown",
		"kubectl --kubeconfig /k/missing get pods":                        "<nil> unknown",
		"kubectl --cluster prod get pods":                                 "<nil> unknown",
		"kubectl -s https://prod:6443 get pods":                           "<nil> unknown",
		"kubectl config use-context prod && kubectl get pods":             "prod file",
		"(kubectl config use-context prod); kubectl get pods":             "prod file",
		`kubectl config use-context "$C" && kubectl get pods`:             "<nil> unknown",
		"if x; then kubectl config use-context dev; fi; kubectl get ns":   "<nil> unknown",
		"kubectl config set-context --current --cluster=p; kubectl get x": "<nil> unknown",
		"kubectx prod; kubectl get pods":                                  "prod file",
		"kubectl config get-contexts; kubectl get pods":                   "staging file",
		"helm --kube-context prod upgrade a b":                            "prod option",
		"kubectl --kubeconfig /k/json get pods":                           "<nil> unknown",
		"KUBECONFIG=/k/json:/k/prod kubectl get pods":                     "<nil> unknown",
		"kubectl --kubeconfig /k/comment get pods":                        "prod file",
	} {
		w := world()
		w.Files = files{
			"/home/dev/.kube/config": "current-context: staging\n", "/k/prod": "a: b\ncurrent-context: \"prod\"\n",
			"/k/dev": "current-context: dev\n", "/k/json": `{"current-context": "prod"}`, "/k/comment": "current-context: prod # east\n",
			"/home/dev/project/k/local": "current-context: local\n",
		}
		got := ""
		for _, e := range facts.New(w).Of(event(line)).Effects {
			if k, ok := e.Is.(*hook.Kubernetes); ok {
				got = fmt.Sprint(hook.Plain(&k.Context), " ", k.ContextFrom)
			}
		}
		if got != want {
			t.Errorf("%s: got %s, want %s", line, got, want)
		}
	}
}
