package main

func Example() {
	main()
	// Output: reject deletes the home directory ~; delete only files of this task, by their exact paths inside the project
}
