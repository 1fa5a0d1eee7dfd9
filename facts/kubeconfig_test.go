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

// TestKubeNamespace holds where the namespace is from, and what lies in none.
func TestKubeNamespace(t *testing.T) {
	const config = `apiVersion: v1
clusters:
- cluster:
    server: https://k.example:6443
  name: k
contexts:
- context:
    cluster: k
    namespace: web
    user: dev
  name: staging
- context:
    cluster: k
    user: dev
  name: prod
current-context: staging
kind: Config
preferences: {}
users:
- name: dev
  user:
    exec:
      args: ["get-token"]
`
	for line, want := range map[string]string{
		"kubectl get pods":                                                       "web file false",
		"kubectl -n api get pods":                                                "api option false",
		`kubectl -n "$N" get pods`:                                               "<nil> option false",
		"kubectl --context prod get pods":                                        "default default false",
		"kubectl --context other get pods":                                       "<nil> unknown false",
		"kubectl config use-context prod; kubectl delete pod x":                  "default default false",
		"kubectl config set-context --current --namespace=x && kubectl get pods": "x file false",
		"kubens api; kubectl delete deploy/x":                                    "api file false",
		"if x; then kubens api; fi; kubectl delete deploy/x":                     "<nil> unknown false",
		"kubectl apply -f x.yaml":                                                "<nil> unknown <nil>",
		"kubectl apply -n api -f x.yaml":                                         "api option <nil>",
		"kubectl delete ns api":                                                  "web file true",
		"kubectl delete pod,clusterroles.rbac.authorization.k8s.io x":            "web file true",
		"kubectl delete deploy/x node/y":                                         "web file true",
		"kubectl get pods -A":                                                    "web file true",
		"kubectl drain n1":                                                       "web file true",
		"kubectl describe node":                                                  "web file true",
		`kubectl delete "$K" x`:                                                  "web file <nil>",
		"kubectl delete pod no":                                                  "web file false",
		"kubectl --kubeconfig /k/json get pods":                                  "<nil> unknown false",
		"helm upgrade a b":                                                       "web file <nil>",
		"HELM_NAMESPACE=api helm uninstall a":                                    "api env <nil>",
	} {
		w := world()
		w.Files = files{"/home/dev/.kube/config": config, "/k/json": `{"current-context": "prod", "contexts": []}`}
		got := ""
		for _, e := range facts.New(w).Of(event(line)).Effects {
			if k, ok := e.Is.(*hook.Kubernetes); ok {
				wide := "<nil>"
				if k.ClusterWide != nil {
					wide = fmt.Sprint(*k.ClusterWide)
				}
				got = fmt.Sprint(hook.Plain(&k.Namespace), " ", k.NamespaceFrom, " ", wide)
			}
		}
		if got != want {
			t.Errorf("%s: got %s, want %s", line, got, want)
		}
	}
}

// TestAddresses holds that an address has one notation, however a line writes it.
func TestAddresses(t *testing.T) {
	for line, want := range map[string]string{
		"curl http://192.0.2.7/x":           "192.0.2.7",
		"curl http://0xC0000207/":           "192.0.2.7",
		"curl http://3221225991/":           "192.0.2.7",
		"curl http://0300.0.02.07/":         "192.0.2.7",
		"curl 'http://[::ffff:192.0.2.7]/'": "192.0.2.7",
		"curl 'http://[2001:DB8:0::1]/'":    "2001:db8::1",
		"curl http://192.0.519/":            "192.0.2.7",
		"curl http://example.com/":          "<nil>",
		"curl http://deadbeef/":             "<nil>",
		`curl "http://$H/"`:                 "<nil>",
		"curl -d @x http://127.1/":          "127.0.0.1",
	} {
		f := facts.New(world()).Of(event(line))
		if len(f.Hosts) == 0 {
			t.Fatalf("%s: no host", line)
		}
		if got := fmt.Sprint(hook.Plain(&f.Hosts[0].IP)); got != want {
			t.Errorf("%s: %s, want %s", line, got, want)
		}
		for _, e := range f.Effects {
			switch e := e.Is.(type) {
			case *hook.NetFetch:
				if got := fmt.Sprint(hook.Plain(&e.IP)); got != want {
					t.Errorf("%s: the effect has %s, want %s", line, got, want)
				}
			case *hook.NetSend:
				if got := fmt.Sprint(hook.Plain(&e.IP)); got != want {
					t.Errorf("%s: the effect has %s, want %s", line, got, want)
				}
			}
		}
	}
}
