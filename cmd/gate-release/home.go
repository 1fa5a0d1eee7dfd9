package main

// home is where releases will be published. There is none yet: the name is reserved, so
// that nothing fetches from it by accident. Whatever needs an address builds it from here.
const home = "https://gate.example"
