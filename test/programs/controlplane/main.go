// Command controlplane is etcd, kube-apiserver and kube-controller-manager in
// one binary, for tests. The first argument says which of them to be; the
// remaining arguments are that server's own flags, unchanged:
//
//	controlplane etcd|kube-apiserver|kube-controller-manager [flags]
//
// One binary instead of three because the three share most of their packages:
// it links once and takes a third of the disk.
package main

import (
	"fmt"
	"os"
	_ "time/tzdata" // CronJob time zones, as in the upstream mains

	"github.com/spf13/cobra"
	"go.etcd.io/etcd/server/v3/etcdmain"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"          // --logging-format=json, as upstream
	_ "k8s.io/component-base/metrics/prometheus/clientgo" // client-go metrics, as upstream
	_ "k8s.io/component-base/metrics/prometheus/version"  // version metric, as upstream
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllermanager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
)

func main() {
	if len(os.Args) < 2 {
		fail("no server named")
	}
	server := os.Args[1]
	// Every server reads os.Args itself (etcd) or through cobra, and each expects
	// its own name in front and its flags behind it.
	os.Args = os.Args[1:]
	if os.Getenv(exitWithStdin) != "" {
		go exitWhenStdinEnds()
	}
	switch server {
	case "etcd":
		etcdmain.Main(os.Args)
	case "kube-apiserver":
		run(apiserver.NewAPIServerCommand())
	case "kube-controller-manager":
		run(controllermanager.NewControllerManagerCommand())
	default:
		fail("unknown server " + server)
	}
}

func run(command *cobra.Command) {
	os.Exit(cli.Run(command))
}

func fail(why string) {
	fmt.Fprintln(os.Stderr, "controlplane:", why+"; use etcd, kube-apiserver or kube-controller-manager")
	os.Exit(2)
}
