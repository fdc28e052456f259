package main

import (
	"context"
	"errors"
	"path"
	"slices"
	"strings"

	"github.com/argoproj/argo-cd/v3/applicationset/controllers/template"
	"github.com/argoproj/argo-cd/v3/applicationset/generators"
	"github.com/argoproj/argo-cd/v3/applicationset/utils"
	"github.com/argoproj/argo-cd/v3/pkg/apis/application/v1alpha1"
	"github.com/sirupsen/logrus"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// applications are those that an ApplicationSet makes of the files of the repository.
func applications(set v1alpha1.ApplicationSet, files map[string]string) ([]v1alpha1.Application, error) {
	git := generators.NewGitGenerator(repository(files), set.Namespace)
	terminal := map[string]generators.Generator{"List": generators.NewListGenerator(), "Git": git}
	all := map[string]generators.Generator{
		"List":   terminal["List"],
		"Git":    git,
		"Matrix": generators.NewMatrixGenerator(terminal),
	}
	entry := logrus.NewEntry(logrus.StandardLogger())
	made, _, err := template.GenerateApplications(entry, set, all, &utils.Render{}, projects{})
	return made, err
}

// projects has every AppProject, without signature keys.
type projects struct{ client.Client }

func (projects) Get(context.Context, client.ObjectKey, client.Object, ...client.GetOption) error {
	return nil
}

type repository map[string]string

func (repository) GetFiles(context.Context, string, string, string, string, bool, bool) (map[string][]byte, error) {
	return nil, errors.New("files are not asked for here")
}

// GetDirectories as the repository server walks a checkout: hidden folders are left out.
func (files repository) GetDirectories(context.Context, string, string, string, bool, bool) ([]string, error) {
	var found []string
	for file := range files {
		for folder := path.Dir(file); folder != "."; folder = path.Dir(folder) {
			isHidden := slices.ContainsFunc(strings.Split(folder, "/"), func(part string) bool { return strings.HasPrefix(part, ".") })
			if !isHidden && !slices.Contains(found, folder) {
				found = append(found, folder)
			}
		}
	}
	slices.SortFunc(found, func(one, other string) int {
		return slices.Compare(strings.Split(one, "/"), strings.Split(other, "/"))
	})
	return found, nil
}
