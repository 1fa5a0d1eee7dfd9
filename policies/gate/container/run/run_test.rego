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
		"docker run -v /home/dev:/h alpine true",
		"docker run -v $HOME:/h alpine true",
		"podman rmi --all",
		"podman system reset --force",
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
		"docker compose rm -fv web",
		"docker rmi acme/api",
		"docker network prune -f",
		"podman kill --all",
		"docker compose down --rmi all",
		"docker run -v /home/dev/project:/app alpine true",
	] {
		count(run.deny) == 0 with input as gate.event(call)
		count(run.ask) == 0 with input as gate.event(call)
	}
}

test_denies_every_directory_of_the_system if {
	every dir in [
		"/", "/etc", "/usr", "/boot", "/root", "/dev", "/proc", "/sys", "/var/lib", "/home", "/bin", "/sbin", "/lib", "/lib/",
	] {
		some denial in run.deny with input as gate.event(sprintf("docker run -v %s:/mnt alpine true", [dir]))
		contains(denial.reason, sprintf("the machine's %s;", [dir]))
	}
}

test_reason_says_what_the_container_gets if {
	every line, what in {
		"docker run --privileged alpine true": "gives a container all privileges of the machine",
		"docker run -v /var/run/docker.sock:/s x": "gives a container control over the container engine",
		"docker run -v /home/dev/:/h x": "gives a container the home directory",
		"docker volume rm pgdata": "removes data volumes (docker volume rm)",
		"docker system prune -a": "removes everything (docker system prune)",
	} {
		some question in run.ask with input as gate.event(line)
		startswith(question.reason, what)
	}
}

test_asks_about_whatever_a_list_holds if {
	every line, list in {
		"docker rm -f $(docker ps -aq)": "docker ps",
		"docker rm -f $(docker container ls -aq)": "docker container ls",
		"podman rm $(podman ps -q)": "podman ps",
		"docker rmi $(docker images -q)": "docker images",
		"docker rmi -f $(docker image ls -q)": "docker image ls",
		"docker volume rm $(docker volume ls -q)": "docker volume ls",
		"docker network rm $(docker network ls -q)": "docker network ls",
	} {
		some question in run.ask with input as gate.event(line)
		startswith(question.reason, sprintf("removes everything that %s lists;", [list]))
	}
	every line in [
		"docker rm -f $(docker ps -aq --filter name=web)",
		"docker rm -f $(docker ps -lq)",
		"docker rm -f $(docker ps -n 2 -q)",
		"docker ps -a; docker rm -f web",
		"docker ps; podman rm $NAME",
		"docker stop $(docker ps -q)",
		"docker rm -f $(docker compose ps -q)",
		"docker inspect $(docker ps -q)",
	] {
		count(run.ask) == 0 with input as gate.event(line)
	}
}
