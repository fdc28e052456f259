package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/argoproj/gitops-engine/pkg/diff"
	"github.com/argoproj/gitops-engine/pkg/sync"
	"github.com/argoproj/gitops-engine/pkg/sync/common"
	"github.com/argoproj/gitops-engine/pkg/utils/kube"
	"github.com/argoproj/gitops-engine/pkg/utils/tracing"
	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/kubectl/pkg/util/openapi"
)

const (
	argoManager  = "argocd-controller" // common.ArgoCDSSAManager of Argo CD
	argoPatience = 60 * time.Second
	argoPause    = 100 * time.Millisecond
)

type argoSides struct {
	config  *rest.Config
	kubectl *kube.KubectlCmd
	schemas openapi.Resources
	parser  *managedfields.GvkParser
	targets []*unstructured.Unstructured
	// nil where nothing is there
	lives []*unstructured.Unstructured
}

// argoApply does what a sync of an Application of these manifests does (controller/sync.go, SyncAppState).
func argoApply(o order, serverSide bool) ([]result, error) {
	sides, err := readArgoSides(o)
	if err != nil {
		return nil, err
	}
	syncContext, cleanup, err := sync.NewSyncContext(
		"main", sync.ReconciliationResult{Live: sides.lives, Target: sides.targets}, sides.config, sides.config, sides.kubectl, o.Namespace, sides.schemas,
		sync.WithLogr(logr.Discard()),
		sync.WithOperationSettings(false, false, false, false),
		sync.WithManifestValidation(true),
		sync.WithServerSideApply(serverSide),
		sync.WithServerSideApplyManager(argoManager),
		sync.WithClientSideApplyMigration(true, common.DefaultClientSideApplyMigrationManager),
	)
	if err != nil {
		return nil, err
	}
	defer cleanup()
	for deadline := time.Now().Add(argoPatience); ; time.Sleep(argoPause) {
		syncContext.Sync()
		phase, message, objects := syncContext.GetState()
		if !phase.Completed() {
			if time.Now().After(deadline) {
				return nil, errors.New("the sync does not end: " + message)
			}
			continue
		}
		var results []result
		for _, object := range objects {
			if object.Status != common.ResultCodeSynced {
				return nil, fmt.Errorf("%s: %s", object.ResourceKey.String(), object.Message)
			}
			key := object.ResourceKey
			name := objectName{object.Version, key.Kind, key.Namespace, key.Name}
			if key.Group != "" {
				name.APIVersion = key.Group + "/" + object.Version
			}
			results = append(results, result{name, object.Message})
		}
		if phase != common.OperationSucceeded {
			return nil, errors.New(message)
		}
		return results, nil
	}
}

// argoDiff does what the application controller does to tell Synced from OutOfSync, with its default settings.
// Server-side is the diff strategy, not the sync option.
func argoDiff(o order, serverSide bool) ([]result, error) {
	sides, err := readArgoSides(o)
	if err != nil {
		return nil, err
	}
	options := []diff.Option{
		diff.WithNormalizer(withoutStatus{}),
		diff.WithGVKParser(sides.parser),
		diff.WithManager(argoManager),
		diff.WithLogr(logr.Discard()),
	}
	if serverSide {
		applier, cleanup, err := kube.ManageServerSideDiffDryRuns(sides.config, sides.schemas, tracing.NopTracer{}, logr.Discard(), nil)
		if err != nil {
			return nil, err
		}
		defer cleanup()
		options = append(options, diff.WithServerSideDiff(true), diff.WithServerSideDryRunner(diff.NewK8sServerSideDryRunner(applier)))
	}
	var results []result
	for i, target := range sides.targets {
		if sides.lives[i] == nil {
			results = append(results, result{nameOf(target), "created"})
			continue
		}
		compared, err := diff.Diff(target, sides.lives[i], options...)
		if err != nil {
			return nil, err
		}
		if compared.Modified {
			results = append(results, result{nameOf(target), "modified"})
		}
	}
	return results, nil
}

// withoutStatus is Argo CD's default for every kind (resource.compareoptions, ignoreResourceStatusField: all).
type withoutStatus struct{}

func (withoutStatus) Normalize(object *unstructured.Unstructured) error {
	unstructured.RemoveNestedField(object.Object, "status")
	return nil
}

func readArgoSides(o order) (*argoSides, error) {
	config, err := o.config()
	if err != nil {
		return nil, err
	}
	sides := &argoSides{config: config, kubectl: &kube.KubectlCmd{Log: logr.Discard(), Tracer: tracing.NopTracer{}}}
	if sides.schemas, sides.parser, err = sides.kubectl.LoadOpenAPISchema(config); err != nil {
		return nil, err
	}
	mapper, err := mapperOf(config)
	if err != nil {
		return nil, err
	}
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	if sides.targets, err = o.objects(); err != nil {
		return nil, err
	}
	if err := withNamespace(sides.targets, mapper, o.Namespace); err != nil {
		return nil, err
	}
	for _, target := range sides.targets {
		if !o.Unmarked {
			track(target, o)
		}
		live, err := readLive(client, mapper, target)
		if err != nil {
			return nil, err
		}
		sides.lives = append(sides.lives, live)
	}
	return sides, nil
}

// track marks the object as the Application's, as Argo CD 3 does by default (util/argo/resource_tracking.go).
func track(target *unstructured.Unstructured, o order) {
	namespace := target.GetNamespace()
	if namespace == "" {
		namespace = o.Namespace
	}
	annotations := target.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	kind := target.GroupVersionKind()
	annotations["argocd.argoproj.io/tracking-id"] = fmt.Sprintf("%s:%s/%s:%s/%s", o.Name, kind.Group, kind.Kind, namespace, target.GetName())
	target.SetAnnotations(annotations)
}

func readLive(client dynamic.Interface, mapper meta.RESTMapper, target *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	kind := target.GroupVersionKind()
	mapping, err := mapper.RESTMapping(kind.GroupKind(), kind.Version)
	if meta.IsNoMatchError(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var live *unstructured.Unstructured
	resource := client.Resource(mapping.Resource)
	if mapping.Scope.Name() == meta.RESTScopeNameNamespace {
		live, err = resource.Namespace(target.GetNamespace()).Get(context.Background(), target.GetName(), metav1.GetOptions{})
	} else {
		live, err = resource.Get(context.Background(), target.GetName(), metav1.GetOptions{})
	}
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	return live, err
}
