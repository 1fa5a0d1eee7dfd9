package gate.disk.destroy_test

import data.gate.disk.destroy

test_denies if {
	every call in [
		"dd if=/dev/zero of=/dev/sda",
		"mkfs.ext4 /dev/sdb1",
		"cat disk.img > /dev/sda",
		"cryptsetup luksFormat --batch-mode /dev/sdb",
		"wipefs -a /dev/nvme0n1",
		"parted /dev/sda mklabel gpt",
		"sgdisk --zap-all /dev/sda",
		"blkdiscard /dev/nvme0n1",
		"cp image.iso /dev/sdb",
		"tee /dev/sda < x",
		"mkswap /dev/sda2",
		"hdparm --user-master u --security-erase p /dev/sda",
		"sfdisk /dev/sda < layout",
		"pvremove /dev/sdb",
		"lvremove vg0/root",
		"zpool destroy tank",
	] {
		count(destroy.deny) > 0 with input as gate.event(call)
	}
}

# The reasons for a line.
denials(call) := {d.reason | some d in destroy.deny with input as gate.event(call)}

test_says_once_that_a_disk_is_formatted if {
	every call in ["mkfs.ext4 /dev/sdb1", "mkswap /dev/sda2"] {
		count(denials(call)) == 1
		every reason in denials(call) {
			startswith(reason, "would format")
		}
	}
}

test_says_what_else_is_written if {
	every call in [
		"mkfs.ext4 /dev/sda; dd if=x of=/dev/sda",
		"mkfs.ext4 /dev/sda; dd if=x of=/dev/sdb",
		"mkfs.ext4 /dev/sda > /dev/sdb",
	] {
		count(denials(call)) == 2
	}
}

test_passes if {
	every call in [
		"dd if=/dev/zero of=disk.img bs=1M count=10",
		"mkfs.ext4 disk.img",
		"lsblk",
		"fdisk -l",
		"df -h",
		"dd if=/dev/urandom of=/tmp/random count=1",
		"echo mkfs.ext4 /dev/sda",
		"blkid",
		"cat /dev/null",
		"parted -l",
		"echo x > /dev/null",
		"man mkfs",
		"bd create --title 'mkfs.ext4 /dev/sda'",
		"smartctl -a /dev/sda",
		"cryptsetup --help",
		"parted disk.img mklabel gpt",
		"cryptsetup luksFormat /tmp/x.img",
		"wipefs -a ./backup.iso",
	] {
		count(destroy.deny) == 0 with input as gate.event(call)
	}
}

test_reason_says_what_happens if {
	every line, what in {
		"mkfs.ext4 /dev/sdb1": "would format /dev/sdb1 and",
		"parted /dev/sda mklabel gpt": "would partition /dev/sda and",
		"wipefs -a /dev/sdb": "would wipe /dev/sdb and",
		"dd if=/dev/zero of=/dev/sda": "would write directly to /dev/sda and",
		"cryptsetup luksFormat /dev/sdb": "would encrypt /dev/sdb and",
	} {
		some denial in destroy.deny with input as gate.event(line)
		startswith(denial.reason, what)
	}
}
