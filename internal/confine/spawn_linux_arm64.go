package confine

// firstArgument is the place of the first argument of a function on the stack, in words.
const firstArgument = 1
