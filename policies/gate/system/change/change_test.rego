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
		count(change.ask) == 0 with input as gate.event(call)
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

test_passes_what_a_row_of_ones_own_says_only_reads if {
	call := json.patch(gate.event("useradd eve"), [{"op": "replace", "path": "/facts/effects/0/access", "value": "read"}])
	count(change.deny) == 0 with input as call
}

test_reason_says_what_is_changed if {
	every line, what in {
		"shutdown -h now": "stops the machine (now);",
		"systemctl reboot": "restarts the machine;",
		"systemctl suspend": "stops the machine (suspend);",
		"iptables -F": "changes the firewall (",
		"modprobe x": "changes the running kernel (x);",
		"useradd eve": "changes accounts of the machine (eve);",
		"sysctl -w a=1": "changes kernel settings (",
		"systemctl stop nginx": "changes the running services (nginx);",
		"umount /mnt": "changes what is mounted (",
		"date -s 2020-01-01": "changes the clock (2020-01-01);",
		"swapoff -a": "changes the swap space (all);",
		"history -c": "removes the record of commands (history);",
	} {
		some verdict in (change.deny | change.ask) with input as gate.event(line)
		startswith(verdict.reason, what)
	}
}
