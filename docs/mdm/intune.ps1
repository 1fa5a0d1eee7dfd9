# Intune: a platform script that runs as SYSTEM in 64-bit PowerShell. gate.exe is
# deployed to Program Files first (a Win32 app from the release archive); keys.json
# and settings.json lie beside this script. Each step is held against what it should
# have brought about; the exit codes are those of enrol.sh, and 75 means that no source
# answered: the scheduled task goes on, and Intune runs the script again.
$ErrorActionPreference = 'Stop'
function Fail($Status, $Why) {
    [Console]::Error.WriteLine("gate: enrolling ended with ${Status}: $Why")
    exit $Status
}
trap { Fail 11 $_ }
$gate = Join-Path $env:ProgramFiles 'gate\gate.exe'
$managed = Join-Path $env:ProgramData 'gate'

& $gate version | Out-Null
if ($LASTEXITCODE -ne 0) { Fail 10 "$gate does not run" }

New-Item -ItemType Directory -Force $managed | Out-Null
# Only administrators and SYSTEM write; everybody reads.
icacls $managed /inheritance:r /grant '*S-1-5-18:(OI)(CI)F' '*S-1-5-32-544:(OI)(CI)F' '*S-1-5-32-545:(OI)(CI)RX' | Out-Null
if ($LASTEXITCODE -ne 0) { Fail 11 "the rights of $managed could not be set" }
# A machine that has a key set follows its successors: the first one never comes back.
if (-not (Test-Path (Join-Path $managed 'keys.json'))) {
    Copy-Item (Join-Path $PSScriptRoot 'keys.json') $managed
}
Copy-Item (Join-Path $PSScriptRoot 'settings.json') $managed -Force
& $gate keys list --keys (Join-Path $managed 'keys.json') | Out-Null
if ($LASTEXITCODE -ne 0) { Fail 12 'keys.json is no key set' }

$action = New-ScheduledTaskAction -Execute $gate -Argument 'sync'
$trigger = New-ScheduledTaskTrigger -Once -At (Get-Date) -RepetitionInterval (New-TimeSpan -Hours 1)
$settings = New-ScheduledTaskSettingsSet -StartWhenAvailable -ExecutionTimeLimit (New-TimeSpan -Minutes 30)
Register-ScheduledTask -TaskName 'gate sync' -User 'SYSTEM' -Action $action -Trigger $trigger -Settings $settings -Force | Out-Null

# The hook first: what gate itself and the machine's own files say holds while the
# first bundle is on its way.
& $gate install claude --scope managed
if ($LASTEXITCODE -ne 0) { Fail 14 'the hook could not be installed' }

# Before the first sync, so that it can send; a machine that is enrolled already stays so.
$token = Join-Path $PSScriptRoot 'enroll.token'
if (Test-Path $token) {
    & $gate enroll --token-file $token
    if ($LASTEXITCODE -ne 0) { Fail 16 'the collector of the fleet did not take this machine' }
}

& $gate sync --now
$synced = $LASTEXITCODE
if ($synced -eq 4) { Fail 13 'a bundle, the key set or the channel was refused' }
if ($synced -ne 0) {
    if ((& $gate doctor --json | ConvertFrom-Json).inventory.enrolling) { Fail 75 'no source answered; no bundle has come yet' }
    Fail 13 'the sync failed; what was in force stays'
}

& $gate doctor
if ($LASTEXITCODE -ne 0) { Fail 15 'gate doctor says what is wrong' }
exit 0
