package main

import (
	"io"
	"os"
)

// exitWithStdin names the environment variable that ties this process to the
// one that started it.
const exitWithStdin = "GITEA_EXIT_WITH_STDIN"

// exitWhenStdinEnds ends the process as soon as nobody holds the other end of
// its standard input. The kernel closes that end however the starter ended, so
// this also covers a starter killed with SIGKILL, on every operating system
// (PR_SET_PDEATHSIG would be Linux only, and bound to a thread).
func exitWhenStdinEnds() {
	_, _ = io.Copy(io.Discard, os.Stdin)
	os.Exit(0)
}
