package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"unicode/utf8"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"github.com/fluxcd/pkg/envsubst"
	"github.com/fluxcd/pkg/kustomize"
	"github.com/fluxcd/pkg/sourceignore"
	"github.com/fluxcd/pkg/ssa"
	ssautil "github.com/fluxcd/pkg/ssa/utils"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// A question about Flux without a cluster. Which fields count depends on `ask`.
type fluxQuestion struct {
	// build: what kustomize-controller has before it applies; substitute: a text of the variable language; artifact: which
	// files source-controller puts into an artifact.
	Ask string `json:"ask"`
	// Text by path.
	Files map[string]string `json:"files"`
	// The Kustomization.
	Object json.RawMessage `json:"object"`
	// Data of every ConfigMap and Secret that the Kustomization names.
	Variables map[string]string `json:"variables"`
	Text      string            `json:"text"`
	// spec.ignore of the GitRepository.
	Ignore *string `json:"ignore"`
}

// What Flux says: an error is an answer.
type fluxAnswer struct {
	Objects []*unstructured.Unstructured `json:"objects,omitempty"`
	Text    string                       `json:"text,omitempty"`
	Paths   []string                     `json:"paths,omitempty"`
	Error   string                       `json:"error,omitempty"`
}

// fluxAnswers reads questions until the input ends, and answers each with a line.
func fluxAnswers(in io.Reader, out io.Writer) error {
	decoder := json.NewDecoder(in)
	writer := bufio.NewWriter(out)
	for {
		var question fluxQuestion
		if err := decoder.Decode(&question); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("the question cannot be read: %w", err)
		}
		answer, err := question.answer()
		if err != nil {
			answer = fluxAnswer{Error: err.Error()}
		}
		if err := json.NewEncoder(writer).Encode(answer); err != nil {
			return err
		}
		if err := writer.Flush(); err != nil {
			return err
		}
	}
}

func (q fluxQuestion) answer() (answer fluxAnswer, err error) {
	// A panic ends a reconciliation with an error.
	defer func() {
		if recovered := recover(); recovered != nil {
			err = fmt.Errorf("panic: %v", recovered)
		}
	}()
	switch q.Ask {
	case "build":
		answer.Objects, err = q.build()
	case "substitute":
		answer.Text, err = envsubst.Eval(q.Text, func(name string) (string, bool) { return q.Variables[name], true })
		// The text is read as YAML next.
		if err == nil && !utf8.ValidString(answer.Text) {
			err = errors.New("no UTF-8")
		}
	case "artifact":
		answer.Paths, err = q.artifact()
	default:
		err = fmt.Errorf("unknown question %q", q.Ask)
	}
	return answer, err
}

// build does what internal/controller/kustomization_controller.go does of a Kustomization before it applies, without decryption.
func (q fluxQuestion) build() ([]*unstructured.Unstructured, error) {
	root, err := q.written()
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(root)
	// The controller has the object as its type: unknown and empty fields are gone.
	var object kustomizev1.Kustomization
	if err := json.Unmarshal(q.Object, &object); err != nil {
		return nil, err
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&object)
	if err != nil {
		return nil, err
	}
	untyped := unstructured.Unstructured{Object: content}
	folder := filepath.Join(root, object.Spec.Path)
	if _, err := os.Stat(folder); err != nil {
		return nil, err
	}
	if _, err := kustomize.NewGenerator(root, untyped).WriteFile(folder); err != nil {
		return nil, err
	}
	built, err := kustomize.SecureBuild(root, folder, false)
	if err != nil {
		return nil, err
	}
	for _, each := range built.Resources() {
		if each.GetName() == "" || each.GetKind() == "" || each.GetApiVersion() == "" {
			return nil, fmt.Errorf("no apiVersion, kind and name: %v", each.String())
		}
		if object.Spec.PostBuild == nil {
			continue
		}
		substituted, err := kustomize.SubstituteVariables(context.Background(), variables{data: q.Variables}, untyped, each)
		if err != nil {
			return nil, err
		}
		if substituted == nil {
			continue
		}
		if _, err := built.Replace(each); err != nil {
			return nil, err
		}
	}
	text, err := built.AsYaml()
	if err != nil {
		return nil, err
	}
	objects, err := ssautil.ReadObjects(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	isLabelled := map[*unstructured.Unstructured]bool{}
	for _, each := range objects {
		_, isLabelled[each], _ = unstructured.NestedFieldNoCopy(each.Object, "metadata", "labels")
	}
	// Labels of the owner are set first, which reads the other ones. They are left out of the answer.
	ssa.NewResourceManager(nil, nil, ssa.Owner{Group: fluxGroup}).SetOwnerLabels(objects, object.Name, object.Namespace)
	if common := object.Spec.CommonMetadata; common != nil {
		ssautil.SetCommonMetadata(objects, common.Labels, common.Annotations)
	}
	for _, each := range objects {
		labels := each.GetLabels()
		delete(labels, fluxGroup+"/name")
		delete(labels, fluxGroup+"/namespace")
		if len(labels) == 0 && !isLabelled[each] {
			labels = nil
		}
		each.SetLabels(labels)
	}
	return objects, nil
}

// artifact lists the files that source-controller archives of a working tree.
func (q fluxQuestion) artifact() ([]string, error) {
	root, err := q.written()
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(root)
	domain := strings.Split(root, string(filepath.Separator))
	patterns, err := sourceignore.LoadIgnorePatterns(root, domain)
	if err != nil {
		return nil, err
	}
	if q.Ignore != nil {
		patterns = append(patterns, sourceignore.ReadPatterns(strings.NewReader(*q.Ignore), domain)...)
	}
	// As SourceIgnoreFilter of fluxcd/pkg artifact/storage chooses: patterns of the user replace the default ones.
	matcher := sourceignore.NewDefaultMatcher(nil, domain)
	if len(patterns) > 0 {
		matcher = sourceignore.NewMatcher(append(sourceignore.VCSPatterns(domain), patterns...))
	}
	paths := []string{}
	err = filepath.Walk(root, func(path string, info os.FileInfo, err error) error {
		if err != nil || !info.Mode().IsRegular() {
			return err
		}
		if !matcher.Match(strings.Split(path, string(filepath.Separator)), false) {
			paths = append(paths, strings.TrimPrefix(path, root+"/"))
		}
		return nil
	})
	sort.Strings(paths)
	return paths, err
}

// written puts the files into a new folder.
func (q fluxQuestion) written() (string, error) {
	root, err := os.MkdirTemp("", "appliers-")
	if err != nil {
		return "", err
	}
	if root, err = filepath.EvalSymlinks(root); err != nil {
		return "", err
	}
	for path, text := range q.Files {
		full := filepath.Join(root, path)
		if err := os.MkdirAll(filepath.Dir(full), 0o700); err != nil {
			return "", err
		}
		if err := os.WriteFile(full, []byte(text), 0o600); err != nil {
			return "", err
		}
	}
	return root, nil
}

// variables is a cluster in which every ConfigMap and every Secret has the same data.
type variables struct {
	client.Client
	data map[string]string
}

func (v variables) Get(_ context.Context, _ types.NamespacedName, object client.Object, _ ...client.GetOption) error {
	switch object := object.(type) {
	case *corev1.ConfigMap:
		object.Data = v.data
	case *corev1.Secret:
		object.Data = map[string][]byte{}
		for name, value := range v.data {
			object.Data[name] = []byte(value)
		}
	}
	return nil
}
