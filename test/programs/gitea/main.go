// Command gitea is Gitea, for tests. It does what Gitea's own main does, less its Windows part, and can be tied to the
// process that started it; see exit-with-stdin.go.
package main

import (
	"os"
	"runtime"
	"time"

	"code.gitea.io/gitea/cmd"
	"code.gitea.io/gitea/modules/log"
	"code.gitea.io/gitea/modules/setting"
	"github.com/urfave/cli/v3"

	// Document types, as in Gitea's own main.
	_ "code.gitea.io/gitea/modules/markup/asciicast"
	_ "code.gitea.io/gitea/modules/markup/console"
	_ "code.gitea.io/gitea/modules/markup/csv"
	_ "code.gitea.io/gitea/modules/markup/markdown"
	_ "code.gitea.io/gitea/modules/markup/orgmode"
)

// version is linked in; see build-gitea.ts.
var version = "development"

func main() {
	if _, wanted := os.LookupEnv(exitWithStdin); wanted {
		// Not for Gitea's own children: git calls this program as a hook, which reads its standard input.
		_ = os.Unsetenv(exitWithStdin)
		go exitWhenStdinEnds()
	}
	builtWith := " built with " + runtime.Version()
	setting.AppVer = version
	setting.AppBuiltWith = builtWith
	setting.AppStartTime = time.Now().UTC()
	cli.OsExiter = func(code int) {
		log.GetManager().Close()
		os.Exit(code)
	}
	_ = cmd.RunMainApp(cmd.NewMainApp(cmd.AppVersion{Version: version, Extra: builtWith}), os.Args...) // it has told its error
	log.GetManager().Close()
}
