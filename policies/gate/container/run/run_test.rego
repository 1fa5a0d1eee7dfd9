package gate.container.run_test

import data.gate.container.run

test_denies if {
	every call in [
		"docker run -v /:/host alpine chroot /host",
		"docker run -v /etc:/etc alpine true",
		"podman run -v /:/mnt alpine sh",
		"docker run --mount type=bind,source=/,target=/host alpine true",
		"docker run --rm -v /root:/r alpine true",
		"docker run -v /usr:/u alpine true",
	] {
		count(run.deny) > 0 with input as gate.event(call)
	}
}

test_asks if {
	every call in [
		"docker system prune -af --volumes",
		"docker volume rm pgdata",
		"docker run --privileged alpine true",
		"docker run -v /var/run/docker.sock:/var/run/docker.sock x",
		"docker compose down -v",
		"docker volume prune -f",
		"docker system prune -a",
		"docker run --pid=host alpine true",
		"docker-compose down --volumes",
	] {
		count(run.ask) > 0 with input as gate.event(call)
		count(run.deny) == 0 with input as gate.event(call)
	}
}

test_passes if {
	every call in [
		"docker build -t acme/api .",
		"docker run --rm alpine echo hi",
		"docker run -v $PWD:/app node npm test",
		"docker ps -a",
		"docker compose up -d",
		"docker compose down",
		"docker logs x",
		"docker exec x ls",
		"docker images",
		"docker stop x",
		"docker rm x",
		"docker pull alpine",
		"docker volume ls",
		"docker run -p 8080:80 nginx",
		"docker inspect x",
		"docker compose --env-file .env up -d",
		"docker run -v ./data:/data postgres",
		"docker rm -fv x",
		"docker image prune -af",
	] {
		count(run.deny) == 0 with input as gate.event(call)
		count(run.ask) == 0 with input as gate.event(call)
	}
}
