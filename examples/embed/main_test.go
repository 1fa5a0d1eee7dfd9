package main

func Example() {
	main()
	// Output: reject deletes the home directory ~; delete only what the task made, by its own path inside the project
}
