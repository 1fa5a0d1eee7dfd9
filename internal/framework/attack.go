package framework

// attack are those techniques of MITRE ATT&CK that a policy stops in the very form that
// the technique describes. There are hundreds more, of other parts of an attack.
func attack() Framework {
	return Framework{
		Name: "attack", Title: "MITRE ATT&CK for Enterprise", Source: "attack.mitre.org, version 16", Open: true,
		Items: []Item{
			{ID: "T1048", Title: "Exfiltration Over Alternative Protocol"},
			{ID: "T1053.003", Title: "Scheduled Task/Job: Cron"},
			{ID: "T1098.004", Title: "Account Manipulation: SSH Authorized Keys"},
			{ID: "T1105", Title: "Ingress Tool Transfer"},
			{ID: "T1222.002", Title: "File and Directory Permissions Modification: Linux and Mac"},
			{ID: "T1485", Title: "Data Destruction"},
			{ID: "T1489", Title: "Service Stop"},
			{ID: "T1496", Title: "Resource Hijacking"},
			{ID: "T1543.001", Title: "Create or Modify System Process: Launch Agent"},
			{ID: "T1543.002", Title: "Create or Modify System Process: Systemd Service"},
			{ID: "T1546.004", Title: "Event Triggered Execution: Unix Shell Configuration Modification"},
			{ID: "T1552.001", Title: "Unsecured Credentials: Credentials In Files"},
			{ID: "T1552.004", Title: "Unsecured Credentials: Private Keys"},
			{ID: "T1552.005", Title: "Unsecured Credentials: Cloud Instance Metadata API"},
			{ID: "T1561", Title: "Disk Wipe"},
			{ID: "T1562.001", Title: "Impair Defenses: Disable or Modify Tools"},
			{ID: "T1567", Title: "Exfiltration Over Web Service"},
			{ID: "T1574.006", Title: "Hijack Execution Flow: Dynamic Linker Hijacking"},
			{ID: "T1611", Title: "Escape to Host"},
		},
	}
}
