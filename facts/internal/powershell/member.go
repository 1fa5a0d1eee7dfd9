package powershell

import (
	"encoding/base64"
	"path"
	"strings"

	"gate/facts/internal/flow"
)

// harmlessTypes are types whose static members change nothing outside the shell.
const harmlessTypes = " math string datetime guid convert regex text.regularexpressions.regex int int32 int64 long double decimal bool char byte timespan version uri io.path environment" +
	" text.encoding console array bitconverter text.stringbuilder net.servicepointmanager net.securityprotocoltype pscustomobject psobject xml datetimeoffset random net.webutility web.httputility" +
	" security.principal.windowsidentity security.principal.windowsprincipal security.principal.windowsbuiltinrole text.utf8encoding text.asciiencoding text.unicodeencoding runtime.interopservices.runtimeinformation" +
	" collections.arraylist collections.generic.list collections.hashtable io.searchoption io.fileattributes io.filemode linq.enumerable stringcomparison globalization.cultureinfo diagnostics.stopwatch" +
	" text.json.jsonserializer net.dns net.ipaddress security.cryptography.sha256 security.cryptography.md5 security.cryptography.hashalgorithm numerics.biginteger stringsplitoptions environmentvariabletarget environment+specialfolder" +
	" ordered hashtable collections.generic.dictionary collections.generic.hashset timezoneinfo diagnostics.fileversioninfo psserializer validateset system.object object nullstring gc "

func harmlessType(name string) bool {
	name, _, _ = strings.Cut(strings.TrimPrefix(name, "system."), "[")
	return strings.Contains(harmlessTypes, " "+name+" ")
}

// statics are static methods that do what a cmdlet does: type::method, the cmdlet
// with the parameters of the arguments in their order; - is one that does not matter.
const statics = `
io.file::delete remove-item -LiteralPath
io.directory::delete remove-item -LiteralPath -Recurse
io.file::writealltext set-content -LiteralPath -Value -
io.file::writealllines set-content -LiteralPath -Value -
io.file::writeallbytes set-content -LiteralPath -Value
io.file::appendalltext add-content -LiteralPath -Value -
io.file::appendalllines add-content -LiteralPath -Value -
io.file::create set-content -LiteralPath
io.file::openwrite set-content -LiteralPath
io.file::readalltext get-content -LiteralPath -
io.file::readalllines get-content -LiteralPath -
io.file::readallbytes get-content -LiteralPath
io.file::openread get-content -LiteralPath
io.file::readlines get-content -LiteralPath
io.file::opentext get-content -LiteralPath
io.file::copy copy-item -LiteralPath -Destination -
io.file::move move-item -LiteralPath -Destination -
io.directory::move move-item -LiteralPath -Destination
io.file::exists test-path -LiteralPath
io.directory::exists test-path -LiteralPath
io.directory::createdirectory new-item -Path
io.directory::getfiles get-childitem -Path -Filter -
io.directory::getdirectories get-childitem -Path -Filter -
io.directory::enumeratefiles get-childitem -Path -Filter -
io.directory::setcurrentdirectory set-location -LiteralPath
io.file::setattributes set-itemproperty -Path -
io.file::getlastwritetime test-path -LiteralPath
io.compression.zipfile::extracttodirectory expand-archive -LiteralPath -DestinationPath
io.compression.zipfile::createfromdirectory compress-archive -LiteralPath -DestinationPath
diagnostics.process::start start-process -FilePath -ArgumentList
environment::setenvironmentvariable setx-variable -Name -Value -Scope
diagnostics.process::getprocessesbyname get-process -Name
diagnostics.process::getprocesses get-process
`

// static calls a static method.
func (w *Shell) static(s *state, n *member, of *typeName) value {
	name := strings.ToLower(w.eval(s, n.name).text())
	kind := strings.TrimPrefix(of.name, "system.")
	var args []value
	for _, a := range n.args {
		args = append(args, w.eval(s, a))
	}
	if v, ok := w.pure(kind+"::"+name, args); ok {
		return v
	}
	if _, rest, ok := strings.Cut(statics, "\n"+kind+"::"+name+" "); ok && n.call {
		line, _, _ := strings.Cut(rest, "\n")
		params := strings.Fields(line)
		c := &call{name: params[0], place: n.place}
		if params = params[1:]; kind == "io.directory" && name == "delete" {
			params = params[:min(len(args), 2)]
			if len(args) == 2 {
				if args[1].text() == "False" {
					params = params[:1]
				}
				args = args[:1]
				c.args = append(c.args, arg{param: "-Force"})
			}
		}
		for i, p := range params {
			switch {
			case p == "-Recurse":
				c.args = append(c.args, arg{param: p})
			case p != "-" && i < len(args):
				c.args = append(c.args, arg{param: p}, arg{value: args[i]})
			}
		}
		return given(w.run(s, c, flow.Stream{}))
	}
	var t flow.Taint
	for _, a := range args {
		t = t.Merge(a.taint())
		w.runBlock(s, a)
	}
	if !harmlessType(of.name) && (n.call || kind != "io.file") {
		w.puzzle("["+of.name+"]::"+name+", which gate does not know", n.place)
	}
	return hole("what ["+of.name+"]::"+name+" gives", t)
}

// pure works out functions of known texts.
func (w *Shell) pure(name string, args []value) (value, bool) {
	known := func(n int) bool {
		if len(args) < n {
			return false
		}
		for _, a := range args[:n] {
			if !a.known() {
				return false
			}
		}
		return true
	}
	switch name {
	case "environment::getenvironmentvariable":
		if known(1) {
			return w.variableOfEnvironment(strings.ToLower(args[0].text())), true
		}
	case "environment::getenvironmentvariables":
		return unknown("the variables of the environment", flow.Taint{Secret: "environment"}), true
	case "environment::getfolderpath":
		for _, f := range []struct{ name, dir string }{{"userprofile", "userprofile"}, {"applicationdata", "appdata"}, {"localapplicationdata", "localappdata"}} {
			if known(1) && strings.HasSuffix(strings.ToLower(args[0].text()), "::"+f.name) || known(1) && strings.EqualFold(args[0].text(), f.name) {
				return w.variableOfEnvironment(f.dir), true
			}
		}
		if known(1) && strings.EqualFold(args[0].text(), "Startup") {
			return literal(w.World.Home + "/AppData/Roaming/Microsoft/Windows/Start Menu/Programs/Startup"), true
		}
	case "io.path::combine":
		if len(args) > 0 {
			return joined(value{items: words(args)}, "/"), true
		}
	case "io.path::gettemppath":
		return literal(w.World.Home + "/AppData/Local/Temp/"), true
	case "io.path::gettempfilename":
		return literal(w.World.Home + "/AppData/Local/Temp/gate.tmp"), true
	case "io.path::getfullpath":
		if len(args) == 1 {
			return args[0], true
		}
	case "convert::frombase64string":
		if known(1) {
			if data, err := base64.StdEncoding.DecodeString(args[0].text()); err == nil {
				return value{items: []flow.Word{{Parts: []flow.Part{{Hole: &flow.Hole{Why: "decoded bytes", Alts: []string{string(data)}, Taint: flow.Taint{Hidden: true}}}}}}}, true
			}
		}
		return hole("decoded bytes", flow.Taint{Hidden: true}), true
	case "scriptblock::create":
		if len(args) == 1 {
			return args[0], true
		}
	case "string::join":
		if known(1) && len(args) == 2 {
			return joined(args[1], args[0].text()), true
		}
	}
	return value{}, false
}

func words(args []value) (out []flow.Word) {
	for _, a := range args {
		out = append(out, a.word())
	}
	return out
}

// harmlessMethods change nothing outside the shell, whatever they are called on.
const harmlessMethods = " tostring trim trimstart trimend split replace substring startswith endswith contains indexof lastindexof tolower toupper tolowerinvariant toupperinvariant add adddays addhours addminutes addseconds" +
	" addmonths addyears addmilliseconds count where join format padleft padright containskey containsvalue remove removeat clear insert append appendline appendformat equals gettype compareto tochararray getenumerator getbytes" +
	" getstring dispose close waitforexit ismatch match matches toarray sort reverse addrange subtract toshortdatestring tolongdatestring touniversaltime tolocaltime readtoend readline read readtoendasync writeline flush selectnodes" +
	" selectsinglenode createelement appendchild getattribute setattribute getvalue hasvalue start stop restart elapsed next nextbytes computehash getnetworkcredential getvaluenames getsubkeynames trimtosize getfiles getdirectories" +
	" isinrole peek push pop enqueue dequeue trygetvalue copy clone getresult wait getawaiter getcommand hasmoreelements getelementsbytagname getresponsestream getresponse refresh getproperty getmethod getinvocationlist parse setvalue tojson " +
	"getowner getrelated tobase64string toint32 insertafter exists find findall findindex foreach distinct toint64 getlength getupperbound getupperbound getunicodecategory normalize compile getgroupnames union intersectwith exceptwith "

// member gives a property, or calls a method.
func (w *Shell) member(s *state, n *member) value {
	if of, ok := n.of.(*typeName); ok && n.static {
		return w.static(s, n, of)
	}
	of := w.eval(s, n.of)
	name := strings.ToLower(w.eval(s, n.name).text())
	if !n.call {
		return property(of, name)
	}
	var args []value
	t := of.taint()
	for _, a := range n.args {
		v := w.eval(s, a)
		args = append(args, v)
		t = t.Merge(v.taint())
	}
	first := func() value {
		if len(args) > 0 {
			return args[0]
		}
		return value{}
	}
	does := func(cmdlet string, pairs ...any) value {
		c := &call{name: cmdlet, place: n.place}
		for i := 0; i < len(pairs); i += 2 {
			c.args = append(c.args, arg{param: pairs[i].(string)})
			if v, ok := pairs[i+1].(value); ok {
				c.args = append(c.args, arg{value: v})
			}
		}
		return given(w.run(s, c, flow.Stream{}))
	}
	switch name {
	case "invoke", "invokereturnasis", "invokewithcontext", "foreach", "where":
		for _, a := range args {
			w.runBlock(s, a)
		}
		if of.block != nil {
			return given(w.block(s, of.block, flow.Stream{}))
		}
		if name == "foreach" || name == "where" {
			return of
		}
		return given(w.runText(s, of.word(), flow.Stream{}, n.place))
	case "invokescript", "invokecommand", "shellexecute", "exec", "run":
		return given(w.runText(s, flow.Join(words(args)), flow.Stream{}, n.place))
	case "downloadstring", "getstringasync", "downloaddata":
		return does("invoke-webrequest", "-Uri", first())
	case "downloadfile":
		if len(args) > 1 {
			return does("invoke-webrequest", "-Uri", args[0], "-OutFile", args[1])
		}
	case "uploadstring", "uploaddata", "uploadvalues", "postasync", "uploadfile":
		if len(args) > 1 && name == "uploadfile" {
			return does("invoke-webrequest", "-Uri", args[0], "-Method", literal("POST"), "-InFile", args[len(args)-1])
		}
		if len(args) > 1 {
			return does("invoke-webrequest", "-Uri", args[0], "-Method", literal("POST"), "-Body", args[len(args)-1])
		}
	case "delete":
		return does("remove-item", "-LiteralPath", of, "-Recurse", nil, "-Force", nil)
	case "kill":
		return does("stop-process", "-InputObject", of)
	case "moveto":
		return does("move-item", "-LiteralPath", of, "-Destination", first())
	case "copyto":
		return does("copy-item", "-LiteralPath", of, "-Destination", first())
	case "save", "create", "writealltext":
		if name == "save" && len(args) == 1 {
			return does("set-content", "-LiteralPath", args[0], "-Value", of)
		}
	case "replace":
		if of.known() && len(args) == 2 && args[0].known() && args[1].known() && len(of.items) == 1 && args[0].text() != "" {
			return literal(strings.ReplaceAll(of.text(), args[0].text(), args[1].text()))
		}
	case "getstring":
		if v := first(); len(v.items) == 1 && v.taint().Hidden { // text of decoded bytes
			if alts, ok := v.items[0].Variants(); ok && len(alts) == 1 {
				return value{items: []flow.Word{{Parts: []flow.Part{{Hole: &flow.Hole{Why: "decoded text", Alts: []string{plain(alts[0])}, Taint: flow.Taint{Hidden: true}}}}}}}
			}
			return v
		}
	case "tostring", "trim", "toarray", "getenumerator", "clone", "tolower", "toupper":
		if len(args) == 0 && !strings.HasPrefix(name, "to") || name == "tostring" || name == "toarray" {
			return of
		}
	}
	for _, a := range args {
		w.runBlock(s, a)
	}
	if !strings.Contains(harmlessMethods, " "+name+" ") && !strings.HasPrefix(name, "get") && !strings.HasPrefix(name, "is") && !strings.HasPrefix(name, "to") {
		w.puzzle("the method "+name+", which gate does not know", n.place)
	}
	return hole("what the method "+name+" gives", t)
}

// plain is UTF-16 text as UTF-8, where it looks like that.
func plain(s string) string {
	if len(s) > 1 && s[1] == 0 {
		return strings.ReplaceAll(s, "\x00", "")
	}
	return s
}

// property is what a member of a value gives. Of a file's properties some say its
// name.
func property(of value, name string) value {
	if of.table != nil {
		if v, ok := of.table[name]; ok {
			return v
		}
		if name == "keys" || name == "count" {
			return unknown("the keys of a table", flow.Taint{})
		}
		return value{}
	}
	switch name {
	case "fullname", "pspath", "path", "pschildname", "providerpath", "name", "value", "target", "source", "definition":
		return of
	case "directory", "directoryname", "psparentpath", "parent":
		var v value
		for _, item := range of.items {
			v.items = append(v.items, flow.Map(item, func(p string) string { return path.Dir(strings.ReplaceAll(p, `\`, "/")) }))
		}
		return v
	case "length", "count", "exitcode", "statuscode":
		return hole("a number", flow.Taint{})
	}
	return unknown("the property "+name, of.taint())
}
