module gate/cmd/gate-release

go 1.26.0

require gate v0.0.0

replace gate => ../..
