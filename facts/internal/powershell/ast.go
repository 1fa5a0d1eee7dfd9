package powershell

// A place is a range of bytes of the text that was parsed.
type place struct{ from, to int }

// A block is statements with the parameters that stand before them.
type block struct {
	place
	params []param
	body   []node
}

// A param is one parameter of a block, with its default.
type param struct {
	name  string
	value node // nil without a default
}

// A node is a statement or an expression.
type node any

type (
	// A chain is pipelines with && and || between them.
	chain struct {
		place
		parts []*pipeline
		ops   []string // between the parts
	}
	// A pipeline hands what an element writes to the next one.
	pipeline struct {
		place
		elements []node // *command, or an expression with redirections
	}
	// A command is a name with arguments.
	command struct {
		place
		call      byte // '&', '.', or 0 for a name alone
		name      node
		args      []argument
		redirects []redirect
	}
	// An argument is a parameter, a value or both.
	argument struct {
		place
		param string // as written, with its dash and colon; "" for a value alone
		value node   // nil for a parameter alone
		splat bool   // @name
	}
	redirect struct {
		place
		from   byte // '1' to '6', '*'
		add    bool // >>
		to     byte // a stream that it joins, 0 for a file
		target node
	}
	// A written is an expression as an element of a pipeline.
	written struct {
		place
		value     node
		redirects []redirect
	}
	// An assign gives a value to variables, and to members of objects.
	assign struct {
		place
		target node
		op     string
		value  node
	}
	// A branch is if, with one block more than conditions where there is an else.
	branch struct {
		conditions []node
		blocks     []*block
	}
	// A loop is while, do, for, foreach and switch.
	loop struct {
		name   string // of the variable of foreach, "_" of switch
		over   node   // what foreach or switch goes through
		heads  []node // conditions and steps
		bodies []*block
	}
	// A try is the block with what follows it. A block of catch may run.
	try struct {
		body    *block
		catches []*block
		finally *block
	}
	function struct {
		name string
		body *block
	}
	// A leave is return, throw, exit, break and continue.
	leave struct {
		word  string
		value node
	}
)

type (
	// A text is a literal string, a number, or a bare word.
	text struct {
		place
		s      string
		quoted bool
	}
	// A template is a string with expressions in it.
	template struct {
		place
		parts  []node // *text and expressions
		quoted bool
	}
	variable struct {
		place
		name string // without a scope such as global:, with env: and other drives
	}
	list struct {
		place
		items []node
	}
	table struct {
		place
		keys, values []node
	}
	// A group is ( ), $( ) or @( ).
	group struct {
		place
		body []node
	}
	scriptBlock struct {
		place
		body *block
	}
	typeName struct {
		place
		name string
	}
	cast struct {
		place
		to    string
		value node
	}
	// A member is a property or a method of a value, or of a type.
	member struct {
		place
		of     node
		name   node
		static bool
		call   bool
		args   []node
	}
	index struct {
		place
		of, at node
	}
	unary struct {
		place
		op    string
		value node
	}
	binary struct {
		place
		op   string
		l, r node
	}
)
