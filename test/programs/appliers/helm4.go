package main

import (
	"errors"
	"strconv"

	"helm.sh/helm/v4/pkg/action"
	"helm.sh/helm/v4/pkg/chart/common"
	chart "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/kube"
	"helm.sh/helm/v4/pkg/storage/driver"
)

// helm4Apply does what `helm upgrade --install --server-side=<bool>` does with a chart of these manifests.
func helm4Apply(o order, serverSide bool) ([]result, error) {
	configuration, err := helm4Configuration(o)
	if err != nil {
		return nil, err
	}
	templates, definitions, results, err := chartParts(o)
	if err != nil {
		return nil, err
	}
	made := &chart.Chart{
		Metadata:  &chart.Metadata{APIVersion: chart.APIVersionV2, Name: o.Name, Version: "1.0.0"},
		Templates: []*common.File{{Name: "templates/all.yaml", Data: []byte(templates)}},
		Files:     []*common.File{{Name: "crds/all.yaml", Data: []byte(definitions)}},
	}
	if definitions == "" {
		made.Files = nil // Helm refuses an empty file of definitions
	}
	if o.Subchart != "" {
		below := &chart.Chart{
			Metadata:  &chart.Metadata{APIVersion: chart.APIVersionV2, Name: "below", Version: "1.0.0"},
			Templates: []*common.File{{Name: "templates/all.yaml", Data: []byte(o.Subchart)}},
		}
		made.AddDependency(below)
		made.Metadata.Dependencies = []*chart.Dependency{{Name: "below", Version: "1.0.0"}}
	}
	history := action.NewHistory(configuration)
	history.Max = 1
	if _, err := history.Run(o.Name); errors.Is(err, driver.ErrReleaseNotFound) {
		install := action.NewInstall(configuration)
		install.ReleaseName, install.Namespace = o.Name, o.Namespace
		install.ServerSideApply = serverSide
		install.WaitStrategy = kube.HookOnlyStrategy
		_, err = install.Run(made, nil)
		return results, err
	} else if err != nil {
		return nil, err
	}
	upgrade := action.NewUpgrade(configuration)
	upgrade.Namespace = o.Namespace
	upgrade.ServerSideApply = strconv.FormatBool(serverSide)
	upgrade.WaitStrategy = kube.HookOnlyStrategy
	_, err = upgrade.Run(o.Name, made, nil)
	return results, err
}

func helm4Configuration(o order) (*action.Configuration, error) {
	kube.ManagedFieldsManager = "helm" // as cmd/helm/helm.go has it
	configuration := action.NewConfiguration()
	return configuration, configuration.Init(flagsOf(o), o.Namespace, o.Driver)
}

// helm4Rollback does what `helm rollback` does.
func helm4Rollback(o order) ([]result, error) {
	configuration, err := helm4Configuration(o)
	if err != nil {
		return nil, err
	}
	rollback := action.NewRollback(configuration)
	rollback.Version = o.Revision
	rollback.ServerSideApply = "auto" // as cmd/helm/rollback.go has it
	rollback.WaitStrategy = kube.HookOnlyStrategy
	return nil, rollback.Run(o.Name)
}

// helm4Uninstall does what `helm uninstall --keep-history` does.
func helm4Uninstall(o order) ([]result, error) {
	configuration, err := helm4Configuration(o)
	if err != nil {
		return nil, err
	}
	uninstall := action.NewUninstall(configuration)
	uninstall.KeepHistory = true
	uninstall.WaitStrategy = kube.HookOnlyStrategy
	_, err = uninstall.Run(o.Name)
	return nil, err
}
