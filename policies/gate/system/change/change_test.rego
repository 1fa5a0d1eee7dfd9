package gate.system.change_test

import data.gate.system.change

test_denies if {
	every call in [
		"shutdown -h now",
		"reboot",
		"sudo poweroff",
		"halt",
		"init 0",
		"iptables -F",
		"ufw disable",
		"insmod x.ko",
		"useradd eve",
		"passwd root",
		"sysctl -w kernel.randomize_va_space=0",
		"usermod -aG sudo eve",
		"systemctl poweroff",
		"modprobe evil",
		"userdel dev",
		"nft flush ruleset",
		"setenforce 0",
		"echo dev:x | chpasswd",
		"visudo",
	] {
		count(change.deny) > 0 with input as gate.event(call)
	}
}

test_asks if {
	every call in [
		"systemctl stop nginx",
		"mount /dev/sdb1 /mnt",
		"date -s 2020-01-01",
		"swapoff -a",
		"history -c",
		"umount /mnt",
		"service postgresql stop",
	] {
		count(change.ask) > 0 with input as gate.event(call)
		count(change.deny) == 0 with input as gate.event(call)
	}
}

test_passes if {
	every call in [
		"systemctl status nginx",
		"journalctl -u x",
		"uptime",
		"iptables -L",
		"sysctl -a",
		"sysctl kernel.hostname",
		"mount",
		"date",
		"date +%s",
		"id",
		"whoami",
		"uname -a",
		"ulimit -n",
		"free -m",
		"perl -ne 'print if /shutdown -h/' docs/ops.md",
		"echo reboot",
		"grep -rn reboot docs",
		"hostname",
		"lsmod",
		"timedatectl",
		"ss -ltnp",
	] {
		count(change.deny) == 0 with input as gate.event(call)
		count(change.ask) == 0 with input as gate.event(call)
	}
}
