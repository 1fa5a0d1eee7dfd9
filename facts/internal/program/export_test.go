package program

// Spread is spread, for the law that no program is judged more weakly than an
// unknown one: it walks through the operands of all rows.
var Spread = spread
