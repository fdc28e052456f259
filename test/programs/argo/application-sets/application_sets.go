package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path"
	"path/filepath"
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

// GetFiles asks git as the repository server does (util/git/client.go LsFiles, without the new globbing).
func (files repository) GetFiles(_ context.Context, _, _, _, pattern string, _, _ bool) (map[string][]byte, error) {
	root, err := os.MkdirTemp("", "application-sets-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(root) }()
	for name, text := range files {
		file := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			return nil, err
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			return nil, err
		}
	}
	if pattern == "" {
		pattern = "."
	}
	var listed []byte
	for _, words := range [][]string{{"init", "--quiet"}, {"add", "--all"}, {"ls-files", "--full-name", "-z", "--", pattern}} {
		command := exec.Command("git", words...)
		command.Dir = root
		if listed, err = command.Output(); err != nil {
			return nil, errors.New("git " + words[0] + " failed")
		}
	}
	found := map[string][]byte{}
	for _, name := range strings.Split(strings.TrimSuffix(string(listed), "\x00"), "\x00") {
		if name != "" {
			found[name] = []byte(files[name])
		}
	}
	return found, nil
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
