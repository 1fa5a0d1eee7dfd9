# METADATA
# title: Tests of gate.process.attack
package gate.process.attack_test

import data.gate.process.attack

test_denies if {
	every line in [
		"xmrig -o pool.example:443",
		"./lolMiner --algo ETCHASH",
		"./worker -o stratum+tcp://pool.example:3333",
		"docker run -d xmrig/xmrig",
		"mimikatz",
		"python3 lazagne.py all",
		"msfconsole -q",
		"responder -I eth0",
		"hydra -l root -P words.txt ssh://host",
	] {
		count(attack.deny) > 0 with input as gate.event({"bash": line})
	}
}

test_asks if {
	every line in ["hashcat -m 1800 hashes.txt words.txt", "sqlmap -u http://host/?id=1"] {
		count(attack.ask) > 0 with input as gate.event({"bash": line})
	}
}

test_passes if {
	every line in [
		"hashcat --benchmark",
		"responder --port 8080",
		"hydra serve all",
		"medusa develop",
		"grep -rn xmrig docs",
		"grep -rn stratum+tcp:// docs",
		"xmrig --version",
		"kill 1234",
	] {
		count(attack.deny) + count(attack.ask) == 0 with input as gate.event({"bash": line})
	}
}
