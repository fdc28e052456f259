package main

import (
	"context"

	"github.com/fluxcd/cli-utils/pkg/kstatus/polling"
	"github.com/fluxcd/pkg/ssa"
	"github.com/fluxcd/pkg/ssa/normalize"
	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	crlog "sigs.k8s.io/controller-runtime/pkg/log"
)

const (
	fluxManager = "kustomize-controller"
	fluxGroup   = "kustomize.toolkit.fluxcd.io"
)

// fluxApply does what kustomize-controller does with a Kustomization of these manifests, with its options
// (internal/controller/kustomization_controller.go, apply).
func fluxApply(o order) ([]result, error) {
	manager, objects, err := fluxSides(o)
	if err != nil {
		return nil, err
	}
	options := ssa.DefaultApplyOptions()
	options.ExclusionSelector = map[string]string{fluxGroup + "/reconcile": "disabled", fluxGroup + "/ssa": "Ignore"}
	options.IfNotPresentSelector = map[string]string{fluxGroup + "/ssa": "IfNotPresent"}
	options.ForceSelector = map[string]string{fluxGroup + "/force": "enabled"}
	options.Cleanup = ssa.ApplyCleanupOptions{
		Annotations: []string{
			"kubectl.kubernetes.io/last-applied-configuration",
			fluxGroup + "/checksum",
			"fluxcd.io/sync-checksum",
		},
		Labels: []string{"fluxcd.io/sync-gc-mark"},
		FieldManagers: []ssa.FieldManager{
			{Name: "kubectl", OperationType: metav1.ManagedFieldsOperationApply},
			{Name: "kubectl", OperationType: metav1.ManagedFieldsOperationUpdate},
			{Name: "before-first-apply", OperationType: metav1.ManagedFieldsOperationUpdate},
			{Name: fluxManager, OperationType: metav1.ManagedFieldsOperationUpdate},
		},
		Exclusions: map[string]string{fluxGroup + "/ssa": "Merge"},
	}
	changes, err := manager.ApplyAllStaged(context.Background(), objects, options)
	if err != nil {
		return nil, err
	}
	actions := map[string]string{}
	for _, entry := range changes.Entries {
		actions[entry.ObjMetadata.String()] = string(entry.Action)
	}
	var results []result
	for _, object := range objects {
		key := object.GetNamespace() + "_" + object.GetName() + "_" + object.GroupVersionKind().Group + "_" + object.GetKind()
		results = append(results, result{nameOf(object), actions[key]})
	}
	return results, nil
}

// fluxDiff does what `flux diff kustomization` does.
func fluxDiff(o order) ([]result, error) {
	manager, objects, err := fluxSides(o)
	if err != nil {
		return nil, err
	}
	options := ssa.DefaultDiffOptions()
	options.Exclusions = map[string]string{fluxGroup + "/reconcile": "disabled", fluxGroup + "/ssa": "Ignore"}
	options.IfNotPresentSelector = map[string]string{fluxGroup + "/ssa": "IfNotPresent"}
	var results []result
	for _, object := range objects {
		entry, _, _, err := manager.Diff(context.Background(), object, options)
		if err != nil {
			return nil, err
		}
		switch entry.Action {
		case ssa.CreatedAction:
			results = append(results, result{nameOf(object), "created"})
		case ssa.ConfiguredAction:
			results = append(results, result{nameOf(object), "modified"})
		}
	}
	return results, nil
}

func fluxSides(o order) (*ssa.ResourceManager, []*unstructured.Unstructured, error) {
	crlog.SetLogger(logr.Discard())
	config, err := o.config()
	if err != nil {
		return nil, nil, err
	}
	mapper, err := mapperOf(config)
	if err != nil {
		return nil, nil, err
	}
	kube, err := client.New(config, client.Options{Mapper: mapper})
	if err != nil {
		return nil, nil, err
	}
	objects, err := o.objects()
	if err != nil {
		return nil, nil, err
	}
	// The namespace as spec.targetNamespace has it where an object names none.
	if err := withNamespace(objects, mapper, o.Namespace); err != nil {
		return nil, nil, err
	}
	owner := ssa.Owner{Field: fluxManager, Group: fluxGroup}
	manager := ssa.NewResourceManager(kube, polling.NewStatusPoller(kube, mapper, polling.Options{}), owner)
	if !o.Unmarked {
		manager.SetOwnerLabels(objects, o.Name, o.Namespace)
	}
	return manager, objects, normalize.UnstructuredList(objects)
}

func mapperOf(config *rest.Config) (meta.RESTMapper, error) {
	httpClient, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, err
	}
	return apiutil.NewDynamicRESTMapper(config, httpClient)
}

// withNamespace sets the namespace of namespaced objects that name none. A kind that is not there yet keeps what it has.
func withNamespace(objects []*unstructured.Unstructured, mapper meta.RESTMapper, namespace string) error {
	for _, object := range objects {
		if object.GetNamespace() != "" {
			continue
		}
		kind := object.GroupVersionKind()
		mapping, err := mapper.RESTMapping(kind.GroupKind(), kind.Version)
		if meta.IsNoMatchError(err) {
			continue
		}
		if err != nil {
			return err
		}
		if mapping.Scope.Name() == meta.RESTScopeNameNamespace {
			object.SetNamespace(namespace)
		}
	}
	return nil
}
