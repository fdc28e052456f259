package main

import (
	"errors"
	"strings"

	"helm.sh/helm/v3/pkg/action"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/kube"
	"helm.sh/helm/v3/pkg/storage/driver"
	"k8s.io/cli-runtime/pkg/genericclioptions"
)

// helm3Apply does what `helm upgrade --install` does with a chart of these manifests.
func helm3Apply(o order) ([]result, error) {
	configuration, err := helm3Configuration(o)
	if err != nil {
		return nil, err
	}
	templates, definitions, results, err := chartParts(o)
	if err != nil {
		return nil, err
	}
	made := &chart.Chart{
		Metadata:  &chart.Metadata{APIVersion: chart.APIVersionV2, Name: o.Name, Version: "1.0.0"},
		Templates: []*chart.File{{Name: "templates/all.yaml", Data: []byte(templates)}},
		Files:     []*chart.File{{Name: "crds/all.yaml", Data: []byte(definitions)}},
	}
	if definitions == "" {
		made.Files = nil // Helm refuses an empty file of definitions
	}
	if o.Subchart != "" {
		below := &chart.Chart{
			Metadata:  &chart.Metadata{APIVersion: chart.APIVersionV2, Name: "below", Version: "1.0.0"},
			Templates: []*chart.File{{Name: "templates/all.yaml", Data: []byte(o.Subchart)}},
		}
		made.AddDependency(below)
		made.Metadata.Dependencies = []*chart.Dependency{{Name: "below", Version: "1.0.0"}}
	}
	history := action.NewHistory(configuration)
	history.Max = 1
	if _, err := history.Run(o.Name); errors.Is(err, driver.ErrReleaseNotFound) {
		install := action.NewInstall(configuration)
		install.ReleaseName, install.Namespace = o.Name, o.Namespace
		_, err = install.Run(made, nil)
		return results, err
	} else if err != nil {
		return nil, err
	}
	upgrade := action.NewUpgrade(configuration)
	upgrade.Namespace = o.Namespace
	_, err = upgrade.Run(o.Name, made, nil)
	return results, err
}

func helm3Configuration(o order) (*action.Configuration, error) {
	kube.ManagedFieldsManager = "helm" // as cmd/helm/helm.go has it
	configuration := new(action.Configuration)
	return configuration, configuration.Init(flagsOf(o), o.Namespace, o.Driver, func(string, ...any) {})
}

// helm3Rollback does what `helm rollback` does.
func helm3Rollback(o order) ([]result, error) {
	configuration, err := helm3Configuration(o)
	if err != nil {
		return nil, err
	}
	rollback := action.NewRollback(configuration)
	rollback.Version = o.Revision
	return nil, rollback.Run(o.Name)
}

// helm3Uninstall does what `helm uninstall --keep-history` does.
func helm3Uninstall(o order) ([]result, error) {
	configuration, err := helm3Configuration(o)
	if err != nil {
		return nil, err
	}
	uninstall := action.NewUninstall(configuration)
	uninstall.KeepHistory = true
	_, err = uninstall.Run(o.Name)
	return nil, err
}

func flagsOf(o order) *genericclioptions.ConfigFlags {
	flags := genericclioptions.NewConfigFlags(true).WithDiscoveryBurst(300).WithDiscoveryQPS(-1)
	flags.KubeConfig, flags.Namespace = &o.Kubeconfig, &o.Namespace
	return flags
}

// chartParts gives the text of the templates and of `crds/`, where a chart has its definitions.
func chartParts(o order) (templates string, definitions string, results []result, err error) {
	objects, err := o.objects()
	if err != nil {
		return "", "", nil, err
	}
	var inTemplates, inDefinitions []string
	for _, object := range objects {
		text, err := object.MarshalJSON()
		if err != nil {
			return "", "", nil, err
		}
		results = append(results, result{nameOf(object), "applied"})
		if isDefinition(object) {
			inDefinitions = append(inDefinitions, string(text))
		} else {
			inTemplates = append(inTemplates, strings.ReplaceAll(string(text), "{{", `{{ "{{" }}`))
		}
	}
	return strings.Join(inTemplates, "\n---\n"), strings.Join(inDefinitions, "\n---\n"), results, nil
}
