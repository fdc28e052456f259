/** What becomes of the objects of a folder: namespaces, several sources, overrides in the folder, and what Argo CD takes a folder for. */
import type { JsonObject } from '@backporch/kyaml/json'
import type { ArgoCase, ArgoCases, FileTexts } from '../argo-case.ts'
import { CHART, config } from './charts.ts'

const object = (apiVersion: string, kind: string, metadata: string): string =>
  `apiVersion: ${apiVersion}\nkind: ${kind}\nmetadata: ${metadata}\n`
const A = config('a', 'x: "1"')
const B = config('b', 'x: "2"')
const TWO: FileTexts = { 'app/a.yaml': A, 'app/sub/b.yaml': B }
const overridden = (
  text: string,
  more: Partial<ArgoCase> = {},
  name = '.argocd-source.yaml',
): ArgoCase => ({
  files: { ...TWO, [`app/${name}`]: text },
  ...more,
})
const typed = (files: FileTexts, source: JsonObject = {}): ArgoCase => ({ files, source })
const KUSTOMIZATION = 'resources: [a.yaml]\nnamePrefix: k-\n'
const EMPTY_OPTIONS = { kustomize: {}, helm: {}, directory: {} }

export const DIRECTORY_OBJECTS: ArgoCases = {
  'a namespaced object without a namespace': typed({ 'app/a.yaml': A }),
  'a namespaced object with a namespace': typed({
    'app/a.yaml': object('v1', 'ConfigMap', '{name: a, namespace: own}'),
  }),
  'a namespaced object with an empty namespace': typed({
    'app/a.yaml': object('v1', 'ConfigMap', '{name: a, namespace: ""}'),
  }),
  'a cluster-scoped object': typed({ 'app/a.yaml': object('v1', 'Namespace', '{name: a}') }),
  'cluster-scoped objects with a namespace': typed({
    'app/a.yaml': object('v1', 'Namespace', '{name: a, namespace: wrong}'),
    'app/b.yaml': object(
      'rbac.authorization.k8s.io/v1',
      'ClusterRole',
      '{name: a, namespace: wrong}',
    ),
    'app/c.yaml': object(
      'apiextensions.k8s.io/v1',
      'CustomResourceDefinition',
      '{name: a, namespace: wrong}',
    ),
    'app/d.yaml': object('storage.k8s.io/v1', 'StorageClass', '{name: a, namespace: wrong}'),
  }),
  'a kind that the cluster does not know': typed({
    'app/a.yaml': object('example.com/v1', 'Widget', '{name: a}'),
  }),
  'a namespace that is a number': typed({
    'app/a.yaml': object('v1', 'ConfigMap', '{name: a, namespace: 1}'),
  }),
  'no namespace in the destination': {
    files: {
      'app/a.yaml': A,
      'app/b.yaml': object('v1', 'ConfigMap', '{name: b, namespace: own}'),
    },
    spec: { destination: { server: 'https://kubernetes.default.svc' } },
  },
  'one object with the namespace of the destination, and without': typed({
    'app/a.yaml': A,
    'app/b.yaml': A.replace('name: a', 'name: a\n  namespace: shop').replace('"1"', '"2"'),
  }),
  'a List with objects of other namespaces': typed({
    'app/a.yaml':
      'apiVersion: v1\nkind: List\nmetadata: {namespace: of-the-list}\nitems:\n- {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}\n- {apiVersion: v1, kind: ConfigMap, metadata: {name: b, namespace: own}}\n',
  }),
  'marks of other Applications': typed({
    'app/a.yaml': A.replace(
      'name: a',
      'name: a\n  labels: {app.kubernetes.io/instance: other}\n  annotations: {argocd.argoproj.io/tracking-id: "other:/ConfigMap:shop/a"}',
    ),
  }),
  'hooks and options of Argo CD': typed({
    'app/a.yaml': object(
      'batch/v1',
      'Job',
      '{name: a, annotations: {argocd.argoproj.io/hook: PreSync}}',
    ),
    'app/b.yaml': object(
      'v1',
      'ConfigMap',
      '{name: b, annotations: {argocd.argoproj.io/hook: Skip}}',
    ),
    'app/c.yaml': object(
      'v1',
      'ConfigMap',
      '{name: c, annotations: {argocd.argoproj.io/sync-options: Prune=false, argocd.argoproj.io/sync-wave: "3"}}',
    ),
  }),
  'objects that are for tools only': typed({
    'app/a.yaml': object(
      'v1',
      'ConfigMap',
      '{name: a, annotations: {config.kubernetes.io/local-config: "true"}}',
    ),
    'app/b.yaml': object('kpt.dev/v1alpha1', 'ResourceGroup', '{name: b}'),
    'app/c.yaml': B,
  }),
  'a Secret with stringData': typed({
    'app/a.yaml': `${object('v1', 'Secret', '{name: a}')}stringData: {x: "y"}\ndata: {z: eg==}\n`,
  }),
  'two sources': {
    files: { ...TWO, 'other/c.yaml': config('c', 'a: b') },
    sources: [{ path: 'app' }, { path: 'other' }],
  },
  'two sources with one object': {
    files: { 'app/a.yaml': A, 'other/a.yaml': A.replace('"1"', '"2"') },
    sources: [{ path: 'app' }, { path: 'other' }],
  },
  'spec.source and spec.sources': {
    files: { 'app/a.yaml': A, 'other/b.yaml': B },
    sources: [{ path: 'other' }],
    spec: { source: { repoURL: 'https://git.example.com/deploy.git', path: 'app' } },
  },
  'a source of files for others': {
    files: { 'app/a.yaml': A, 'other/b.yaml': B },
    sources: [{ path: 'app' }, { ref: 'values' }],
  },
  'a source of files for others that has a path': {
    files: { 'app/a.yaml': A, 'other/b.yaml': B },
    sources: [{ path: 'app' }, { path: 'other', ref: 'values' }],
  },
  'options in one of two sources': {
    files: TWO,
    sources: [
      { path: 'app', directory: { recurse: true, exclude: 'a.yaml' } },
      { path: 'app/sub' },
    ],
  },
  'empty options of a directory in one of several sources': {
    files: { 'app/kustomization.yaml': KUSTOMIZATION, 'app/a.yaml': A },
    sources: [{ path: 'app', directory: {} }],
  },
  'empty options of kustomize in one of several sources': {
    files: { 'app/a.yaml': A },
    sources: [{ path: 'app', kustomize: {} }],
  },
  'an override: recurse': overridden('directory: {recurse: true}\n'),
  'an override over options': overridden('directory: {exclude: a.yaml}\n', {
    source: { directory: { recurse: true } },
  }),
  'an override that takes options away': overridden('directory: {recurse: null}\n', {
    source: { directory: { recurse: true } },
  }),
  'an override that takes all options away': overridden('directory: null\n', {
    source: { directory: { recurse: true } },
  }),
  'an override of the path and the address, which does not count': overridden(
    'path: app/sub\nrepoURL: https://example.com/x\ntargetRevision: next\nchart: x\ndirectory: {recurse: true}\n',
  ),
  'an override of the Application': overridden(
    'directory: {recurse: true}\n',
    {},
    '.argocd-source-shop.yaml',
  ),
  'an override of another Application': overridden(
    'directory: {recurse: true}\n',
    {},
    '.argocd-source-other.yaml',
  ),
  'an override of an Application in another namespace': overridden(
    'directory: {recurse: true}\n',
    { metadata: { namespace: 'team' } },
    '.argocd-source-team_shop.yaml',
  ),
  'an override by the bare name of an Application in another namespace': overridden(
    'directory: {recurse: true}\n',
    { metadata: { namespace: 'team' } },
    '.argocd-source-shop.yaml',
  ),
  'two overrides': {
    files: {
      ...TWO,
      'app/.argocd-source.yaml': 'directory: {recurse: true, exclude: a.yaml}\n',
      'app/.argocd-source-shop.yaml': 'directory: {exclude: b.yaml}\n',
    },
  },
  'an override that is empty': overridden(''),
  'an override of a comment': overridden('# nothing\n'),
  'an override that is null': overridden('null\n'),
  'an override that is a list': overridden('- a\n'),
  'an override that is a text': overridden('text\n'),
  'an override that is no YAML': overridden('directory: [\n'),
  'an override of several documents': overridden(
    'directory: {recurse: true}\n---\ndirectory: {recurse: false}\n',
  ),
  'an override with a wrong type': overridden('directory: {recurse: "yes"}\n'),
  'an override with a truth value of YAML 1.1': overridden('directory: {recurse: yes}\n'),
  'an override with a key twice': overridden(
    'directory: {recurse: true}\ndirectory: {recurse: false}\n',
  ),
  'an override with an unknown field': overridden(
    'directory: {recurse: true, depth: 2}\nother: 1\n',
  ),
  'an override in other letters': overridden('Directory: {Recurse: true}\n'),
  'an override with an anchor': overridden('x: &d {recurse: true}\ndirectory: *d\n'),
  'an override with the name .yml': overridden(
    'directory: {recurse: true}\n',
    {},
    '.argocd-source.yml',
  ),
  'an override that is a folder': { files: { ...TWO, 'app/.argocd-source.yaml/x': '' } },
  'an override in a folder below': {
    files: { ...TWO, 'app/sub/.argocd-source.yaml': 'directory: {recurse: true}\n' },
  },
  'an override that adds options of another tool': overridden('kustomize: {namePrefix: x-}\n', {
    source: { directory: { recurse: true } },
  }),
  'an override that makes it kustomize': overridden('kustomize: {namePrefix: x-}\n'),
  'an override that makes it kustomize, and there is a kustomization': {
    files: {
      ...TWO,
      'app/.argocd-source.yaml': 'kustomize: {namePrefix: x-}\n',
      'app/kustomization.yaml': 'resources: [a.yaml]\n',
    },
  },
  'an override with empty options of kustomize': overridden('kustomize: {}\n'),
  'an override that makes a kustomization a directory': {
    files: {
      'app/a.yaml': A,
      'app/kustomization.yaml': KUSTOMIZATION,
      'app/.argocd-source.yaml': 'directory: {}\n',
    },
  },
  'an override that makes a kustomization a directory of one file': {
    files: {
      'app/a.yaml': A,
      'app/kustomization.yaml': KUSTOMIZATION,
      'app/.argocd-source.yaml': 'directory: {include: a.yaml}\n',
    },
  },
  'an override with a plugin': overridden('plugin: {name: x}\n'),
  'an override with Helm': overridden('helm: {releaseName: x}\n'),
  'a link as an override': {
    files: { ...TWO, 'other.yaml': 'directory: {recurse: true}\n' },
    links: { 'app/.argocd-source.yaml': '../other.yaml' },
  },
  'a kustomization in a folder of manifests': typed(
    { 'app/a.yaml': A, 'app/sub/kustomization.yaml': 'resources: []\n' },
    { directory: { recurse: true } },
  ),
  'a kustomization with options of a directory': typed(
    { 'app/a.yaml': A, 'app/kustomization.yaml': KUSTOMIZATION },
    { directory: { recurse: true } },
  ),
  'a kustomization with empty options of a directory': typed(
    { 'app/a.yaml': A, 'app/kustomization.yaml': KUSTOMIZATION },
    { directory: { recurse: false } },
  ),
  'a kustomization with include alone': typed(
    { 'app/a.yaml': A, 'app/kustomization.yaml': KUSTOMIZATION },
    { directory: { include: 'a.yaml' } },
  ),
  'a kustomization with an empty include': typed(
    { 'app/a.yaml': A, 'app/kustomization.yaml': KUSTOMIZATION },
    { directory: { include: '', exclude: '' } },
  ),
  'a kustomization with options of jsonnet': typed(
    { 'app/a.yaml': A, 'app/kustomization.yaml': KUSTOMIZATION },
    { directory: { jsonnet: { extVars: [{ name: 'a', value: 'b' }] } } },
  ),
  'a kustomization with empty options of jsonnet': typed(
    { 'app/a.yaml': A, 'app/kustomization.yaml': KUSTOMIZATION },
    { directory: { jsonnet: { extVars: [] } } },
  ),
  'a kustomization that is read as a manifest': typed(
    {
      'app/a.yaml': A,
      'app/kustomization.yaml':
        'apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nmetadata: {name: k}\nresources: [a.yaml]\n',
    },
    { directory: { recurse: true } },
  ),
  'empty options of every tool': typed(TWO, EMPTY_OPTIONS),
  'empty options of every tool, and a kustomization': typed(
    { 'app/a.yaml': A, 'app/kustomization.yaml': KUSTOMIZATION },
    EMPTY_OPTIONS,
  ),
  'options of two tools': typed(TWO, {
    directory: { recurse: true },
    kustomize: { namePrefix: 'x-' },
  }),
  'options of a tool, and empty ones of another': typed(TWO, {
    directory: { recurse: true },
    kustomize: { images: [] },
  }),
  'Chart.yaml with options of a directory': typed(
    { 'app/a.yaml': A, 'app/Chart.yaml': CHART },
    { directory: { recurse: true } },
  ),
  'Chart.yaml in a folder below': typed({
    'app/a.yaml': A,
    'app/chart/Chart.yaml': CHART,
    'app/chart/values.yaml': 'a: b\n',
  }),
  'Chart.yaml in a folder below, with recurse': typed(
    { 'app/a.yaml': A, 'app/chart/Chart.yaml': CHART, 'app/chart/values.yaml': 'a: b\n' },
    { directory: { recurse: true } },
  ),
  'chart.yaml in small letters': typed({ 'app/a.yaml': A, 'app/chart.yaml': CHART }),
  'options of kustomize without a kustomization': typed(TWO, { kustomize: { namePrefix: 'x-' } }),
}
