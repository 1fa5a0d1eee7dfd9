package powershell

import (
	"strings"
)

// aliases are PowerShell's own, of both its editions: alias=cmdlet.
const aliases = " ?=where-object %=foreach-object foreach=foreach-object where=where-object ac=add-content asnp=add-pssnapin cat=get-content cd=set-location chdir=set-location clc=clear-content" +
	" clear=clear-host clhy=clear-history cli=clear-item clp=clear-itemproperty cls=clear-host clv=clear-variable cnsn=connect-pssession compare=compare-object copy=copy-item cp=copy-item cpi=copy-item cpp=copy-itemproperty" +
	" cvpa=convert-path dbp=disable-psbreakpoint del=remove-item diff=compare-object dir=get-childitem dnsn=disconnect-pssession ebp=enable-psbreakpoint echo=write-output epal=export-alias epcsv=export-csv erase=remove-item" +
	" etsn=enter-pssession exsn=exit-pssession fc=format-custom fhx=format-hex fl=format-list ft=format-table fw=format-wide gal=get-alias gbp=get-psbreakpoint gc=get-content gci=get-childitem gcm=get-command gcs=get-pscallstack" +
	" gdr=get-psdrive gerr=get-error ghy=get-history gi=get-item gin=get-computerinfo gjb=get-job gl=get-location gm=get-member gmo=get-module gp=get-itemproperty gps=get-process gpv=get-itempropertyvalue group=group-object" +
	" gsn=get-pssession gsv=get-service gtz=get-timezone gu=get-unique gv=get-variable gwmi=get-wmiobject gcim=get-ciminstance h=get-history history=get-history icm=invoke-command iex=invoke-expression ihy=invoke-history ii=invoke-item" +
	" ipal=import-alias ipcsv=import-csv ipmo=import-module irm=invoke-restmethod iwmi=invoke-wmimethod icim=invoke-cimmethod iwr=invoke-webrequest kill=stop-process ls=get-childitem man=help md=mkdir measure=measure-object" +
	" mi=move-item mount=new-psdrive move=move-item mp=move-itemproperty mv=move-item nal=new-alias ndr=new-psdrive ni=new-item nmo=new-module nsn=new-pssession nv=new-variable ogv=out-gridview oh=out-host popd=pop-location" +
	" ps=get-process pushd=push-location pwd=get-location r=invoke-history rbp=remove-psbreakpoint rcjb=receive-job rcsn=receive-pssession rd=remove-item rdr=remove-psdrive ren=rename-item ri=remove-item rjb=remove-job rm=remove-item" +
	" rmdir=remove-item rmo=remove-module rni=rename-item rnp=rename-itemproperty rp=remove-itemproperty rsn=remove-pssession rv=remove-variable rvpa=resolve-path rwmi=remove-wmiobject rcim=remove-ciminstance sajb=start-job sal=set-alias saps=start-process" +
	" sasv=start-service sbp=set-psbreakpoint select=select-object set=set-variable shcm=show-command si=set-item sl=set-location sleep=start-sleep sls=select-string sort=sort-object sp=set-itemproperty spjb=stop-job spps=stop-process" +
	" spsv=stop-service start=start-process stz=set-timezone sv=set-variable swmi=set-wmiinstance tee=tee-object trcm=trace-command type=get-content wget=invoke-webrequest curl=invoke-webrequest wjb=wait-job write=write-output sc=set-content "

// native are aliases that are programs of their own where PowerShell runs on Unix, or
// in its newer edition.
const native = " cat cp curl diff echo kill ls man mv ps pwd rm rmdir sleep sort tee wget mount clear "

// resolve is the name of what a call runs: without case, alias, module and extension.
func (w *Shell) resolve(s *state, c *call) string {
	name := strings.ToLower(c.name)
	if module, rest, ok := strings.Cut(name, `\`); ok && strings.HasPrefix(module, "microsoft.powershell.") {
		name = rest
	}
	for range 4 {
		to, ok := s.aliases[name]
		if !ok {
			break
		}
		name = to
	}
	if _, ok := s.funcs[name]; ok {
		return name
	}
	if _, rest, ok := strings.Cut(aliases, " "+name+"="); ok && !(strings.Contains(native, " "+name+" ") && c.unixy()) && !(name == "sc" && c.service()) {
		to, _, _ := strings.Cut(rest, " ")
		return to
	}
	if strings.ContainsAny(name, `/\`) {
		name = strings.ReplaceAll(c.name, `\`, "/")
		if len(name) > 1 && name[1] == ':' {
			name = "/" + strings.ToLower(name)
		}
		return name
	}
	for _, ext := range []string{".exe", ".com", ".cmd", ".bat"} {
		if cut := len(name) - len(ext); cut > 0 && strings.EqualFold(name[cut:], ext) {
			return name[:cut]
		}
	}
	return name
}

// unixy reports arguments that the program takes and the cmdlet does not: rm -rf,
// ls -la, curl -s --fail.
func (c *call) unixy() bool {
	for _, a := range c.args {
		p := a.param
		if p == "" {
			if t := a.value.word().Prefix(); strings.HasPrefix(t, "--") || len(t) > 1 && t[0] == '-' && digit(t[1]) {
				return true
			}
			continue
		}
		if len(p) == 2 || len(p) <= 4 && strings.Trim(p[1:], "rflahtR1SAisLkovpnE") == "" && !strings.EqualFold(p, "-fo") && !strings.EqualFold(p, "-fi") {
			return !a.attached
		}
	}
	return false
}

// service reports sc as the program that controls services.
func (c *call) service() bool {
	pos := c.positional("")
	return len(pos) > 1 && strings.Contains(" query queryex start stop pause continue config create delete description failure qc sdset sdshow control ", " "+strings.ToLower(pos[0].text())+" ") ||
		len(pos) > 0 && strings.EqualFold(pos[0].text(), "query")
}
