greeting = "Hello, " + name
greeting + len(name)
