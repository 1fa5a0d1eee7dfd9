package facts

type codeReport struct {
	calls   []codeCall
	unknown string
}
type codeCall struct {
	name, does string
	recursive  bool
	args       []*string
	offset     int
}
type sqlStatement struct {
	verb, access, object string
	where                bool
}

func inspectCode(language, text string) codeReport          { return codeReport{} }
func inspectSQL(text string) []sqlStatement                 { return nil }
func inspectRedis(words []string) (sqlStatement, bool)      { return sqlStatement{}, false }
func inspectMongo(text string) []sqlStatement               { return nil }
