package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/argoproj/argo-cd/v3/controller"
	"github.com/argoproj/argo-cd/v3/pkg/apis/application/v1alpha1"
	"github.com/argoproj/argo-cd/v3/reposerver/apiclient"
	"github.com/argoproj/argo-cd/v3/reposerver/repository"
	apppath "github.com/argoproj/argo-cd/v3/util/app/path"
	"github.com/argoproj/argo-cd/v3/util/argo"
	"github.com/argoproj/argo-cd/v3/util/git"
	utilio "github.com/argoproj/argo-cd/v3/util/io"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

const commit = "0123456789abcdef0123456789abcdef01234567"

// answer does what GetRepoObjs of controller/state.go does, with the repository server in the same process.
func (q question) answer() (answered answer, err error) {
	// A panic ends a comparison with an error.
	defer func() {
		if recovered := recover(); recovered != nil {
			err = fmt.Errorf("panic: %v", recovered)
		}
	}()
	root, err := os.MkdirTemp("", "argo-")
	if err != nil {
		return answered, err
	}
	defer os.RemoveAll(root)
	if root, err = filepath.EvalSymlinks(root); err != nil {
		return answered, err
	}
	spec := argo.NormalizeApplicationSpec(&q.Application.Spec)
	sources := spec.GetSources()
	if len(sources) == 0 {
		return answered, errors.New("no sources")
	}
	repositoryOf := func(_ context.Context, address string, _ string) (*v1alpha1.Repository, error) {
		return &v1alpha1.Repository{Repo: address}, nil
	}
	references, err := argo.GetRefSources(context.Background(), sources, spec.Project, repositoryOf, nil)
	if err != nil {
		return answered, err
	}
	targets := []*unstructured.Unstructured{}
	for i := range sources {
		folder := filepath.Join(root, fmt.Sprint(i))
		if err := os.Mkdir(folder, 0o700); err != nil {
			return answered, err
		}
		response, objects, err := q.generate(folder, spec, &sources[i], references)
		if err != nil {
			return answered, err
		}
		answered.Sources = append(answered.Sources, *response)
		targets = append(targets, objects...)
	}
	objects, conditions, err := controller.DeduplicateTargetObjects(spec.Destination.Namespace, targets, kinds(q.ClusterScoped))
	if err != nil {
		return answered, err
	}
	answered.Objects = objects
	for _, condition := range conditions {
		answered.Warnings = append(answered.Warnings, condition.Message)
	}
	return answered, nil
}

// generate does what runManifestGenAsync of reposerver/repository/repository.go does around GenerateManifests. Every source has its own working tree:
// Argo CD cleans it in between.
func (q question) generate(root string, spec *v1alpha1.ApplicationSpec, source *v1alpha1.ApplicationSource, references v1alpha1.RefTargetRevisionMapping) (*generated, []*unstructured.Unstructured, error) {
	if spec.HasMultipleSources() && source.Path == "" && source.Chart == "" {
		return &generated{Type: "none"}, nil, nil
	}
	tree := filepath.Join(root, "repository")
	if err := written(tree, q.Files, q.Links); err != nil {
		return nil, nil, err
	}
	paths := utilio.NewRandomizedTempPaths(root)
	paths.Add(git.NormalizeGitURL(source.RepoURL), tree)
	for address, files := range q.Others {
		other := filepath.Join(root, path.Base(address))
		if err := written(other, files, nil); err != nil {
			return nil, nil, err
		}
		paths.Add(git.NormalizeGitURL(address), other)
	}
	if err := apppath.CheckOutOfBoundsSymlinks(tree); err != nil {
		return nil, nil, fmt.Errorf("repository contains out-of-bounds symlinks: %w", err)
	}
	if err := known(spec, source, references); err != nil {
		return nil, nil, err
	}
	folder, err := apppath.Path(tree, source.Path)
	if err != nil {
		return nil, nil, err
	}
	request := &apiclient.ManifestRequest{
		Repo:               &v1alpha1.Repository{Repo: source.RepoURL},
		Revision:           source.TargetRevision,
		AppLabelKey:        q.AppLabelKey,
		AppName:            q.Application.InstanceName(q.Namespace),
		Namespace:          spec.Destination.Namespace,
		ApplicationSource:  source,
		KubeVersion:        q.KubeVersion,
		ApiVersions:        q.APIVersions,
		TrackingMethod:     q.TrackingMethod,
		HasMultipleSources: spec.HasMultipleSources(),
		RefSources:         references,
		ProjectName:        spec.Project,
		ProjectSourceRepos: []string{"*"},
		// reposerver/repository.go of the settings: helm.valuesFileSchemas of a new installation.
		HelmOptions: &v1alpha1.HelmOptions{ValuesFileSchemes: []string{"https", "http"}},
	}
	response, err := repository.GenerateManifests(context.Background(), folder, tree, commit, request, false, git.NoopCredsStore{}, resource.MustParse("10M"), paths)
	if err != nil {
		return nil, nil, errors.New(strings.ReplaceAll(err.Error(), root+"/", ""))
	}
	objects := []*unstructured.Unstructured{}
	for _, manifest := range response.Manifests {
		object, err := v1alpha1.UnmarshalToUnstructured(manifest)
		if err != nil {
			return nil, nil, err
		}
		objects = append(objects, object)
	}
	commands := []string{}
	for _, command := range response.Commands {
		commands = append(commands, strings.ReplaceAll(command, root+"/", ""))
	}
	return &generated{Type: response.SourceType, Commands: commands}, objects, nil
}

// known is the part of runManifestGenAsync about references that needs no git.
func known(spec *v1alpha1.ApplicationSpec, source *v1alpha1.ApplicationSource, references v1alpha1.RefTargetRevisionMapping) error {
	if !spec.HasMultipleSources() || source.Helm == nil {
		return nil
	}
	candidates := append([]string{}, source.Helm.ValueFiles...)
	for _, parameter := range source.Helm.FileParameters {
		candidates = append(candidates, parameter.Path)
	}
	for _, candidate := range candidates {
		if name := strings.Split(candidate, "/")[0]; strings.HasPrefix(name, "$") {
			target, ok := references[name]
			if !ok {
				return fmt.Errorf("source referenced %q, which is not one of the available sources", name)
			}
			if target.Chart != "" {
				return errors.New("source has a 'chart' field defined, but Helm charts are not yet not supported for 'ref' sources")
			}
		}
	}
	return nil
}

// kinds is a cluster: what is not cluster-scoped has a namespace.
type kinds []string

func (k kinds) IsNamespaced(kind schema.GroupKind) (bool, error) {
	for _, each := range k {
		if each == kind.Group+"/"+kind.Kind {
			return false, nil
		}
	}
	return true, nil
}
