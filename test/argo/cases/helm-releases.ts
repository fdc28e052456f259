/** What Argo CD says to a chart beside its values: release, namespace, versions, and what of the output it takes. */
import type { ArgoCases } from '../argo-case.ts'
import { CHART, config, dumped, printed, templated, WEB } from './charts.ts'

const RELEASE = `name: {{ .Release.Name | quote }}
namespace: {{ .Release.Namespace | quote }}
service: {{ .Release.Service | quote }}
install: "{{ .Release.IsInstall }} {{ .Release.IsUpgrade }} {{ .Release.Revision }}"
chart: "{{ .Chart.Name }} {{ .Chart.Version }} {{ .Chart.AppVersion }} {{ .Chart.Type }} {{ .Chart.IsRoot }}"
template: "{{ .Template.Name }} {{ .Template.BasePath }}"`
const VERSIONS = `kube: "{{ .Capabilities.KubeVersion }} {{ .Capabilities.KubeVersion.Version }} {{ .Capabilities.KubeVersion.Major }} {{ .Capabilities.KubeVersion.Minor }} {{ .Capabilities.KubeVersion.GitVersion }}"
helm: "{{ .Capabilities.HelmVersion.Version }}"
has: "{{ .Capabilities.APIVersions.Has "v1" }} {{ .Capabilities.APIVersions.Has "apps/v1/Deployment" }} {{ .Capabilities.APIVersions.Has "example.com/v1/Widget" }} {{ .Capabilities.APIVersions.Has "policy/v1/PodDisruptionBudget" }} {{ .Capabilities.APIVersions.Has "policy/v1beta1" }}"
semver: "{{ semverCompare ">=1.30-0" .Capabilities.KubeVersion.Version }}"`
const DEFINITION = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Widget, plural: widgets}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]
`
const hooked = (name: string, annotations: string): string =>
  `apiVersion: v1\nkind: Pod\nmetadata:\n  name: ${name}\n  annotations: {${annotations}}\nspec: {containers: [{name: a, image: b}]}\n`
const CRDS = { 'app/crds/widget.yaml': DEFINITION, 'app/crds/README.md': '{{ no template }}\n' }
const SCHEMA = {
  'app/values.schema.json':
    '{"type": "object", "properties": {"count": {"type": "integer", "maximum": 5}}}',
}

export const HELM_RELEASES: ArgoCases = {
  'the fields of the release and the chart': printed(RELEASE),
  'another releaseName': printed(RELEASE, { releaseName: 'other' }),
  'a releaseName that Helm does not accept': printed(RELEASE, { releaseName: 'Not_Valid' }),
  'a releaseName that is too long': printed(RELEASE, { releaseName: 'a'.repeat(54) }),
  'a releaseName that is a template': printed(RELEASE, { releaseName: '{{ "x" }}' }),
  'an Application in another namespace': printed(
    RELEASE,
    {},
    {},
    { metadata: { namespace: 'team' } },
  ),
  'an Application with a dot in its name': printed(
    RELEASE,
    {},
    {},
    { metadata: { name: 'shop.web' } },
  ),
  'another namespace of Helm': printed(RELEASE, { namespace: 'other' }),
  'no namespace of the destination': printed(
    RELEASE,
    {},
    {},
    { spec: { destination: { server: 'https://kubernetes.default.svc' } } },
  ),
  'a template that sets its namespace, and one that does not': templated(
    `${config('a', 'x: y').replace('name: a', 'name: a\n  namespace: {{ .Release.Namespace }}')}---\n${config('b', 'x: y')}---\napiVersion: v1\nkind: Namespace\nmetadata: {name: n, namespace: wrong}\n`,
    { namespace: 'other' },
  ),
  'the versions of the cluster': printed(VERSIONS),
  'the versions of a cluster with a longer version': printed(
    VERSIONS,
    {},
    {},
    { kubeVersion: 'v1.31.4-gke.1256000' },
  ),
  'a cluster with a version of EKS': printed(VERSIONS, {}, {}, { kubeVersion: '1.30+' }),
  'a cluster that says no version': printed(VERSIONS, {}, {}, { kubeVersion: '' }),
  'another kubeVersion': printed(VERSIONS, { kubeVersion: '1.28.3' }),
  'a kubeVersion with a vendor': printed(VERSIONS, { kubeVersion: 'v1.28.3+k3s1' }),
  'a kubeVersion that is none': printed(VERSIONS, { kubeVersion: 'new' }),
  'other apiVersions': printed(VERSIONS, {
    apiVersions: ['example.com/v1/Widget', 'example.com/v1'],
  }),
  'a cluster without apiVersions': printed(VERSIONS, {}, {}, { apiVersions: [] }),
  'a chart that is for other versions of the cluster': dumped(
    {},
    { 'app/Chart.yaml': `${CHART}kubeVersion: ">=1.33.0-0"\n` },
  ),
  'a chart that is for the version of the cluster': dumped(
    {},
    { 'app/Chart.yaml': `${CHART}kubeVersion: ">=1.30.0-0 <2"\n` },
  ),
  'a chart of the first version of the format': dumped(
    {},
    { 'app/Chart.yaml': 'apiVersion: v1\nname: web\nversion: 0.1.0\n' },
  ),
  'a chart without a version': dumped({}, { 'app/Chart.yaml': 'apiVersion: v2\nname: web\n' }),
  'a library chart': dumped({}, { 'app/Chart.yaml': `${CHART}type: library\n` }),
  'a deprecated chart': dumped({}, { 'app/Chart.yaml': `${CHART}deprecated: true\n` }),
  'passCredentials and the version of Helm': dumped({ passCredentials: true, version: 'v3' }),
  'a version of Helm that is not there': dumped({ version: 'v2' }),
  crds: dumped({}, CRDS),
  'skipCrds, and a definition in a template': dumped(
    { skipCrds: true },
    { ...CRDS, 'app/templates/crd.yaml': DEFINITION.replaceAll('widget', 'gadget') },
  ),
  'hooks, and a test': templated(
    [
      hooked('before', '"helm.sh/hook": "pre-install,pre-upgrade", "helm.sh/hook-weight": "-5"'),
      hooked('after', '"helm.sh/hook": post-install, "helm.sh/hook-delete-policy": hook-succeeded'),
      hooked('tested', '"helm.sh/hook": test'),
      hooked('tested-both', '"helm.sh/hook": "test,post-install"'),
      hooked('removed', '"helm.sh/hook": pre-delete'),
      hooked('kept', '"helm.sh/resource-policy": keep'),
    ].join('---\n'),
  ),
  skipTests: {
    ...templated(
      [
        hooked('tested', '"helm.sh/hook": test'),
        hooked('tested-both', '"helm.sh/hook": "test,post-install"'),
      ].join('---\n'),
      {
        skipTests: true,
      },
    ),
  },
  'a test in the folder of tests': dumped(
    { skipTests: true },
    {
      'app/templates/tests/a.yaml': hooked('tested', '"helm.sh/hook": test-success'),
      'app/templates/tests/b.yaml': config('no-test', 'a: b'),
    },
  ),
  'NOTES.txt, partials and hidden files': dumped(
    {},
    {
      'app/templates/NOTES.txt': '{{ fail "notes" }}',
      'app/templates/_a.tpl': '{{ define "a" }}x{{ end }}',
      'app/templates/.hidden.yaml': config('hidden', 'a: b'),
    },
  ),
  'NOTES.txt without an error': dumped(
    {},
    { 'app/templates/NOTES.txt': 'kind: {{ .Release.Name }}\n' },
  ),
  '.helmignore': dumped(
    {},
    {
      'app/.helmignore': '# no\nold/\n*.bak.yaml\n/templates/d.yaml\n',
      'app/templates/a.bak.yaml': config('a', 'x: y'),
      'app/templates/old/b.yaml': config('b', 'x: y'),
      'app/templates/c.yaml': config('c', 'x: y'),
      'app/templates/d.yaml': config('d', 'x: y'),
    },
  ),
  '.helmignore with an exception': dumped(
    {},
    {
      'app/.helmignore': '# no\nold/\n*.bak.yaml\n!b.bak.yaml\n',
      'app/templates/a.bak.yaml': config('a', 'x: y'),
      'app/templates/old/b.yaml': config('b', 'x: y'),
      'app/templates/c.yaml': config('c', 'x: y'),
    },
  ),
  'a schema that the values hold': dumped({}, SCHEMA),
  'a schema that the values break': dumped({ parameters: [{ name: 'count', value: '6' }] }, SCHEMA),
  'a schema that is not asked': dumped(
    { parameters: [{ name: 'count', value: '6' }], skipSchemaValidation: true },
    SCHEMA,
  ),
  'required, fail and default': printed('a: {{ required "a is needed" .Values.missing | quote }}'),
  'a template that fails': printed('a: {{ fail "no" }}'),
  'a template that is no template': printed('a: {{ .Values.'),
  'a field of a value that is not there': printed('a: {{ .Values.missing.field | quote }}'),
  'a value that is not there': printed(
    'a: "{{ .Values.missing }}"\nb: {{ .Values.missing | quote }}\nc: {{ default "d" .Values.missing }}',
  ),
  lookup: printed(
    'a: "{{ lookup "v1" "Secret" "shop" "token" }}"\nb: "{{ (lookup "v1" "Node" "" "").items }}"',
  ),
  getHostByName: printed('a: "{{ getHostByName "example.com" }}"'),
  'include, tpl and template': printed(
    'a: {{ include "web.name" . | quote }}\nb: {{ tpl .Values.template . | quote }}\nc: {{ tpl "{{ include \\"web.name\\" . }}" . | quote }}',
    { values: 'template: "{{ .Release.Name }}-{{ .Values.color }}"' },
    {
      'app/templates/_names.tpl':
        '{{- define "web.name" -}}\n{{ .Chart.Name }}-{{ .Release.Name | trunc 3 }}\n{{- end -}}\n',
    },
  ),
  Files: printed(
    'a: {{ .Files.Get "files/a.txt" | quote }}\nb: {{ .Files.Get "none" | quote }}\nc: {{ (.Files.Glob "files/*").AsConfig | quote }}\nd: {{ (.Files.Glob "files/*.txt").AsSecrets | quote }}\ne: {{ .Files.Lines "files/a.txt" | toJson | quote }}\nf: {{ .Files.Get "templates/all.yaml" | quote }}\ng: {{ .Files.Get "values.yaml" | len | quote }}',
    {},
    { 'app/files/a.txt': 'one\ntwo\n', 'app/files/b.bin': '\u0001' },
  ),
  'YAML in and out': printed(
    'a: {{ .Values | toYaml | quote }}\nb: {{ fromYaml "x: [1, 2.5, true]" | toJson | quote }}\nc: {{ toToml .Values.nested | quote }}\nd: {{ fromJsonArray "[1]" | toJson | quote }}\ne: {{ fromYaml "[" | toJson | quote }}',
  ),
  'functions of sprig': printed(
    'a: {{ "abc" | sha256sum | trunc 8 | quote }}\nb: {{ list 3 1 2 | sortAlpha | join "," | quote }}\nc: {{ dict "a" 1 | merge (dict "b" 2) | toJson | quote }}\nd: {{ "a b" | camelcase | snakecase | upper | b64enc | quote }}\ne: {{ semver "1.2.3" | toString | quote }}\nf: {{ "x" | indent 2 | nindent 2 | quote }}\ng: {{ until 3 | toJson | quote }}\nh: {{ printf "%05d %v %q" 7 1.50 "z" | quote }}\ni: {{ regexReplaceAll "a(.)" "abac" "${1}x" | quote }}\nj: {{ ternary "y" "n" true }}',
  ),
  'a function that Helm has not': printed('a: {{ env "HOME" | quote }}'),
  'one object in two templates': dumped(
    {},
    {
      'app/templates/a.yaml': config('same', 'a: one'),
      'app/templates/b.yaml': config('same', 'a: two'),
    },
  ),
  'empty documents, comments and a separator with spaces': templated(
    `\n---\n# only a comment\n---   \n{{ if .Values.missing }}\n${config('no', 'a: b')}{{ end }}\n---\n${config('yes', 'a: b')}\n---\n`,
  ),
  'a List': templated(
    `apiVersion: v1\nkind: List\nitems:\n- ${config('one', 'a: b').replaceAll('\n', '\n  ').trimEnd()}\n- ${config('two', 'a: b').replaceAll('\n', '\n  ').trimEnd()}\n`,
  ),
  'output that is no YAML': templated('apiVersion: v1\nkind: ConfigMap\n  metadata: [\n'),
  'output that is no object': templated('just a text\n'),
  'an object without a kind': templated('apiVersion: v1\nmetadata: {name: a}\n'),
  'a key twice in the output': templated(`${config('a', 'x: one\nx: two')}`),
  'the order of kinds': templated(
    ['Service', 'Widget', 'ConfigMap', 'Namespace', 'Job']
      .map((kind) => `apiVersion: v1\nkind: ${kind}\nmetadata: {name: a}\n`)
      .join('---\n'),
  ),
  'an override in the folder': dumped(
    { parameters: [{ name: 'color', value: 'spec' }] },
    {
      'app/.argocd-source.yaml':
        'helm:\n  parameters:\n  - {name: count, value: "8"}\n  valuesObject: {text: override}\n',
    },
  ),
  'an override of the Application over one of the folder': dumped(
    { values: 'color: spec\n' },
    {
      'app/.argocd-source.yaml':
        'helm: {releaseName: folder, parameters: [{name: count, value: "1"}]}\n',
      'app/.argocd-source-shop.yaml':
        'helm: {parameters: [{name: text, value: x}], values: null}\n',
    },
  ),
  'an override that makes the folder a directory': dumped(
    {},
    { 'app/.argocd-source.yaml': 'directory: {recurse: true, include: none}\n' },
  ),
  'options of Helm without a chart': {
    files: { 'app/a.yaml': config('a', 'x: y') },
    source: { helm: { releaseName: 'a' } },
  },
  'a chart and a kustomization': {
    files: {
      ...WEB,
      'app/kustomization.yaml': 'namePrefix: k-\nresources: [extra.yaml]\n',
      'app/extra.yaml': config('extra', 'a: b'),
    },
  },
  'a chart and a kustomization with options of Helm': {
    files: { ...WEB, 'app/kustomization.yaml': 'resources: []\n' },
    source: { helm: { releaseName: 'x' } },
  },
  'a file with the name of another Chart.yaml': {
    files: { 'app/MyChart.yaml': CHART, 'app/a.yaml': config('a', 'x: y') },
  },
}
