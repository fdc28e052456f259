/** Kustomizations, and what an Application has for them in `spec.source.kustomize`. */
import type { JsonObject } from '@backporch/kyaml/json'
import type { ArgoCase, ArgoCases, FileTexts } from '../argo-case.ts'
import { config } from './charts.ts'

export const DEPLOYMENT = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  labels: {app: web}
spec:
  replicas: 1
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      initContainers: [{name: init, image: busybox}]
      containers:
      - {name: web, image: "nginx:1.0", envFrom: [{configMapRef: {name: settings}}]}
      - {name: log, image: "registry.example.com:5000/log/agent@sha256:1111111111111111111111111111111111111111111111111111111111111111"}
`
const SERVICE =
  'apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {selector: {app: web}, ports: [{port: 80}]}\n'
const ROLE =
  'apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: reader}\nrules: []\n'
export const FILES: FileTexts = {
  'app/kustomization.yaml':
    'resources: [deployment.yaml, service.yaml, settings.yaml, role.yaml]\n',
  'app/deployment.yaml': DEPLOYMENT,
  'app/service.yaml': SERVICE,
  'app/settings.yaml': config('settings', 'a: b'),
  'app/role.yaml': ROLE,
  'more/kustomization.yaml':
    'apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\ncommonAnnotations: {component: more}\n',
  'count/kustomization.yaml':
    'apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\npatches:\n- patch: |-\n    apiVersion: apps/v1\n    kind: Deployment\n    metadata: {name: web}\n    spec: {replicas: 7}\n',
}
const DIGEST = 'sha256:2222222222222222222222222222222222222222222222222222222222222222'
const RESOURCES = 'resources: [deployment.yaml, service.yaml, settings.yaml, role.yaml]\n'
const options = (
  kustomize: JsonObject,
  files: FileTexts = {},
  more: Partial<ArgoCase> = {},
): ArgoCase => ({
  files: { ...FILES, ...files },
  source: { kustomize },
  ...more,
})
/** With more in the kustomization. */
const over = (text: string, kustomize: JsonObject = {}): ArgoCase =>
  options(kustomize, { 'app/kustomization.yaml': `${RESOURCES}${text}` })
const named = (name: string, kustomize: JsonObject = {}): ArgoCase => {
  const { 'app/kustomization.yaml': text = '', ...rest } = FILES
  return { files: { ...rest, [`app/${name}`]: text }, source: { kustomize } }
}
const MERGE = 'apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {replicas: 5}\n'
const LABELS = { tier: 'front' }
const VARIABLES =
  '$ARGOCD_APP_NAME-${ARGOCD_APP_NAMESPACE}-$ARGOCD_APP_PROJECT_NAME-${ARGOCD_APP_SOURCE_TARGET_REVISION}-$ARGOCD_APP_SOURCE_PATH'
const PREFIX = { namePrefix: 'p-' }

export const KUSTOMIZE_OPTIONS: ArgoCases = {
  'a kustomization': { files: FILES },
  'kustomization.yml': named('kustomization.yml'),
  Kustomization: named('Kustomization'),
  'kustomization.yml with options': named('kustomization.yml', {
    ...PREFIX,
    patches: [{ patch: MERGE }],
  }),
  'Kustomization with options': named('Kustomization', {
    ...PREFIX,
    images: ['nginx:2'],
    patches: [{ patch: MERGE }],
  }),
  'kustomization.yaml and kustomization.yml': {
    files: { ...FILES, 'app/kustomization.yml': 'resources: [role.yaml]\n' },
  },
  'Kustomization.yaml, which is no name of one': {
    files: { 'app/Kustomization.yaml': 'resources: []\n', 'app/a.yaml': config('a', 'b: c') },
  },
  'an empty kustomization': { files: { 'app/kustomization.yaml': '' } },
  'a kustomization without resources': { files: { 'app/kustomization.yaml': 'resources: []\n' } },
  'a kustomization that is broken': { files: { 'app/kustomization.yaml': 'resources: [\n' } },
  'a kustomization with an unknown field': over('unknown: 1\n'),
  'a kustomization that names a missing file': {
    files: { 'app/kustomization.yaml': 'resources: [none.yaml]\n' },
  },
  'a base above': {
    files: {
      'base/kustomization.yaml': 'resources: [a.yaml]\n',
      'base/a.yaml': config('a', 'b: c'),
      'app/kustomization.yaml': 'resources: [../base]\nnameSuffix: -s\n',
    },
  },
  'a base out of the repository': {
    files: { 'app/kustomization.yaml': 'resources: [../../base]\n' },
  },
  namePrefix: options(PREFIX),
  nameSuffix: options({ nameSuffix: '-s' }),
  'namePrefix that begins with a dash': options({ namePrefix: '-p-' }),
  'namePrefix over the one of the kustomization': over('namePrefix: own-\nnameSuffix: -own\n', {
    namePrefix: 'p-',
    nameSuffix: '-s',
  }),
  namespace: options({ namespace: 'there' }),
  'namespace over the one of the kustomization': over('namespace: own\n', { namespace: 'there' }),
  'a namespace of the kustomization': over('namespace: own\n'),
  'an image': options({ images: ['nginx:2'] }),
  'images with another name, a tag and a digest': options({
    images: [
      'nginx=example.com/nginx:2',
      `busybox=mirror/busybox@${DIGEST}`,
      `registry.example.com:5000/log/agent:3@${DIGEST}`,
    ],
  }),
  'an image with a port and without a tag': options({
    images: ['nginx=registry.example.com:5000/nginx'],
  }),
  'an image without anything': options({ images: ['nginx'] }),
  'an image that takes the digest away': options({
    images: ['registry.example.com:5000/log/agent:3'],
  }),
  'an image with an asterisk': over('images: [{name: nginx, newName: mine, newTag: "9"}]\n', {
    images: ['nginx=*:3', 'busybox=x:*'],
  }),
  'an image over the one of the kustomization': over(
    `images: [{name: nginx, newName: mine, digest: "${DIGEST}"}, {name: busybox, newTag: "1"}]\n`,
    { images: ['nginx:2'] },
  ),
  'an image twice': options({ images: ['nginx:2', 'nginx=other:3'] }),
  'an image that is not used': options({ images: ['none:1'] }),
  'an image with a variable': options({
    images: ['nginx=example.com/$ARGOCD_APP_NAME:${ARGOCD_APP_PROJECT_NAME}'],
  }),
  'an image with an empty tag': options({ images: ['nginx:'] }),
  'an image with several equals signs': options({ images: ['nginx=a=b:1'] }),
  'an image with a tag only': options({ images: [':1'] }),
  'an image with spaces': options({ images: [' nginx:2 '] }),
  'an empty image': options({ images: [''] }),
  'an image that looks like a flag': options({ images: ['--help'] }),
  commonLabels: options({ commonLabels: LABELS }),
  'two commonLabels': options({ commonLabels: { tier: 'front', team: 'a' } }),
  'commonLabels with variables': options({
    commonLabels: { a: '$ARGOCD_APP_NAME', b: '${ARGOCD_APP_NAMESPACE}.x' },
  }),
  'commonLabels over one of the kustomization': over('commonLabels: {tier: own}\n', {
    commonLabels: LABELS,
  }),
  'commonLabels over one of the kustomization with force': over(
    'commonLabels: {tier: own, x: other}\n',
    {
      commonLabels: LABELS,
      forceCommonLabels: true,
    },
  ),
  'commonLabels over one of labels': over('labels: [{pairs: {tier: own}}]\n', {
    commonLabels: LABELS,
  }),
  'commonLabels over one of labels with force': over('labels: [{pairs: {tier: own}}]\n', {
    commonLabels: LABELS,
    forceCommonLabels: true,
  }),
  'commonLabels over one of labels with selectors': over(
    'labels: [{pairs: {tier: own}, includeSelectors: true}]\n',
    {
      commonLabels: LABELS,
      forceCommonLabels: true,
    },
  ),
  labelWithoutSelector: options({ commonLabels: LABELS, labelWithoutSelector: true }),
  'two labels and labelWithoutSelector': options({
    commonLabels: { tier: 'front', team: 'a' },
    labelWithoutSelector: true,
  }),
  'two labels, labelWithoutSelector and force': options({
    commonLabels: { tier: 'front', team: 'a' },
    labelWithoutSelector: true,
    forceCommonLabels: true,
  }),
  'labelWithoutSelector beside labels': over('labels: [{pairs: {x: other}}]\n', {
    commonLabels: { tier: 'front', team: 'a' },
    labelWithoutSelector: true,
  }),
  'labelWithoutSelector over a label': over('labels: [{pairs: {tier: own}}]\n', {
    commonLabels: LABELS,
    labelWithoutSelector: true,
  }),
  'labelWithoutSelector over a label with force': over('labels: [{pairs: {tier: own}}]\n', {
    commonLabels: LABELS,
    labelWithoutSelector: true,
    forceCommonLabels: true,
  }),
  'labelWithoutSelector over commonLabels': over('commonLabels: {tier: own}\n', {
    commonLabels: LABELS,
    labelWithoutSelector: true,
  }),
  'labelWithoutSelector over commonLabels with force': over('commonLabels: {tier: own}\n', {
    commonLabels: LABELS,
    labelWithoutSelector: true,
    forceCommonLabels: true,
  }),
  labelIncludeTemplates: options({
    commonLabels: LABELS,
    labelWithoutSelector: true,
    labelIncludeTemplates: true,
  }),
  'labelIncludeTemplates beside labels': over(
    'labels: [{pairs: {x: other}, includeTemplates: true}, {pairs: {z: z}}]\n',
    {
      commonLabels: LABELS,
      labelWithoutSelector: true,
      labelIncludeTemplates: true,
    },
  ),
  'labelIncludeTemplates without labelWithoutSelector': options({
    commonLabels: LABELS,
    labelIncludeTemplates: true,
  }),
  'labelWithoutSelector without labels': options({
    ...PREFIX,
    labelWithoutSelector: true,
    labelIncludeTemplates: true,
    forceCommonLabels: true,
  }),
  'a label that Kubernetes does not accept': options({ commonLabels: { 'not valid': 'a b' } }),
  'a label with a colon in its value': options({ commonLabels: { a: 'b:c' } }),
  'a label with a comma in its value': options({ commonLabels: { a: 'b,c' } }),
  'a label with an empty value': options({ commonLabels: { a: '' } }),
  'a label with quotes': options({ commonLabels: { a: '"b"', c: '"d' }, forceCommonLabels: true }),
  'a label that is a number': options({
    commonLabels: { a: '1', b: 'true' },
    labelWithoutSelector: true,
    forceCommonLabels: true,
  }),
  commonAnnotations: options({ commonAnnotations: { a: 'b', c: 'd: e' } }),
  'commonAnnotations with a comma and quotes': options({
    commonAnnotations: { a: 'b,c', d: '"e"', f: "'g'", h: 'i "j"' },
  }),
  'commonAnnotations with an address': options({
    commonAnnotations: { a: 'https://example.com:80/x?y=z' },
  }),
  'commonAnnotations with lines': options({ commonAnnotations: { a: 'b\nc: d\n' } }),
  'commonAnnotations with an empty value': options({ commonAnnotations: { a: '' } }),
  'commonAnnotations with variables, which stay': options({ commonAnnotations: { a: VARIABLES } }),
  'commonAnnotations with variables': options({
    commonAnnotations: { a: VARIABLES, b: '$$x-$NONE-${NONE}.' },
    commonAnnotationsEnvsubst: true,
  }),
  'commonAnnotations with odd variables': options({
    commonAnnotations: {
      a: '$',
      b: '${',
      c: '$1x',
      d: '${ARGOCD_APP_NAME',
      e: '$$ARGOCD_APP_NAME',
      f: '${}x',
      g: '$ARGOCD_APP_NAME$ARGOCD_APP_PROJECT_NAME',
    },
    commonAnnotationsEnvsubst: true,
  }),
  'commonAnnotations over one of the kustomization': over('commonAnnotations: {a: own}\n', {
    commonAnnotations: { a: 'b' },
  }),
  'commonAnnotations over one of the kustomization with force': over(
    'commonAnnotations: {a: own, z: other}\n',
    {
      commonAnnotations: { a: 'b' },
      forceCommonAnnotations: true,
    },
  ),
  replicas: options({ replicas: [{ name: 'web', count: 3 }] }),
  'replicas that are a text': options({ replicas: [{ name: 'web', count: '3' }] }),
  'replicas that are 0': options({ replicas: [{ name: 'web', count: 0 }] }),
  'replicas that are less than 0': options({ replicas: [{ name: 'web', count: -1 }] }),
  'replicas that are no number': options({ replicas: [{ name: 'web', count: 'x' }] }),
  'replicas without a count': options({ replicas: [{ name: 'web' }] }),
  'replicas of something that is not there': options({ replicas: [{ name: 'none', count: 3 }] }),
  'replicas over those of the kustomization': over('replicas: [{name: web, count: 2}]\n', {
    replicas: [{ name: 'web', count: 3 }],
  }),
  'replicas and a prefix': options({ ...PREFIX, replicas: [{ name: 'web', count: 3 }] }),
  'replicas by the name with the prefix': options({
    ...PREFIX,
    replicas: [{ name: 'p-web', count: 3 }],
  }),
  patches: options({ patches: [{ patch: MERGE }] }),
  'patches with a target': options({
    patches: [
      {
        target: { kind: 'Deployment', name: 'w.*' },
        patch: '- {op: replace, path: /spec/replicas, value: 6}\n',
      },
    ],
  }),
  'patches with a target of labels and options': options({
    patches: [
      {
        target: { labelSelector: 'app=web' },
        patch: 'apiVersion: v1\nkind: Any\nmetadata: {name: any, labels: {x: y}}\n',
        options: { allowNameChange: false },
      },
    ],
  }),
  'patches that change the name': options({
    patches: [
      {
        target: { kind: 'Service' },
        patch: 'apiVersion: v1\nkind: Service\nmetadata: {name: renamed}\n',
        options: { allowNameChange: true },
      },
    ],
  }),
  'patches from a file': options(
    { patches: [{ path: 'patch.yaml' }] },
    { 'app/patch.yaml': MERGE },
  ),
  'patches after those of the kustomization': over(
    'patches: [{patch: "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {replicas: 2, paused: true}}"}]\n',
    { patches: [{ patch: MERGE }] },
  ),
  'patches of nothing': options({ patches: [{ patch: MERGE.replace('name: web', 'name: none') }] }),
  'patches with a target of nothing': options({
    patches: [{ target: { kind: 'None' }, patch: MERGE }],
  }),
  'patches and a prefix, by the name without it': options({
    ...PREFIX,
    patches: [{ patch: MERGE }],
  }),
  'patches beside an old field': over('patchesStrategicMerge: [patch.yaml]\n', {
    patches: [{ patch: MERGE }],
  }),
  'patches in a kustomization with an empty list': over('patches: []\n', {
    patches: [{ patch: MERGE }],
  }),
  'patches in a kustomization with null': over('patches:\n', { patches: [{ patch: MERGE }] }),
  components: options({ components: ['../more'] }),
  'two components': options({ components: ['../more', '../count'] }),
  'components after those of the kustomization': over('components: [../count]\n', {
    components: ['../more', '../count'],
  }),
  'a missing component': options({ components: ['../none'] }),
  'a missing component that may be missing': options({
    components: ['../none', '../more'],
    ignoreMissingComponents: true,
  }),
  'only missing components that may be missing': options({
    components: ['../none'],
    ignoreMissingComponents: true,
  }),
  'a component that is a file and may be missing': options({
    components: ['role.yaml'],
    ignoreMissingComponents: true,
  }),
  'a component out of the repository that may be missing': options({
    components: ['../../none'],
    ignoreMissingComponents: true,
  }),
  'ignoreMissingComponents alone in a folder of files': {
    files: { 'app/a.yaml': config('a', 'b: c') },
    source: { kustomize: { ignoreMissingComponents: true } },
  },
  'options that are no options of a build': options({
    forceCommonLabels: true,
    commonAnnotationsEnvsubst: true,
  }),
  'kubeVersion and apiVersions alone': options({ kubeVersion: '1.30.0', apiVersions: ['v1'] }),
  'a kubeVersion that is none': options({ kubeVersion: 'new' }),
  'generated ConfigMaps and their names': over(
    'configMapGenerator: [{name: gen, literals: [a=b]}]\n',
    {
      ...PREFIX,
      namespace: 'there',
      commonLabels: LABELS,
    },
  ),
  'a label that is a truth value of YAML 1.1': over('labels: [{pairs: {x: y}}]\n', {
    commonLabels: LABELS,
    labelWithoutSelector: true,
  }),
  'old fields of the kustomization': over(
    'commonLabels: {old: "1"}\npatchesJson6902:\n- target: {version: v1, kind: Service, name: web}\n  patch: |-\n    - {op: add, path: /spec/type, value: NodePort}\nvars: []\n',
    { commonLabels: LABELS, images: ['nginx:2'] },
  ),
  'bases of the kustomization': {
    files: {
      'base/kustomization.yaml': 'resources: [a.yaml]\n',
      'base/a.yaml': config('a', 'b: c'),
      'app/kustomization.yaml': 'bases: [../base]\n',
    },
    source: { kustomize: PREFIX },
  },
  'comments and the order of fields': {
    files: { ...FILES, 'app/kustomization.yaml': `# ours\nnamePrefix: own- # here\n${RESOURCES}` },
    source: { kustomize: { nameSuffix: '-s' } },
  },
  'everything at once': options({
    ...PREFIX,
    nameSuffix: '-s',
    namespace: 'there',
    images: ['nginx=x:2'],
    replicas: [{ name: 'web', count: 4 }],
    commonLabels: LABELS,
    labelWithoutSelector: true,
    labelIncludeTemplates: true,
    commonAnnotations: { a: VARIABLES },
    commonAnnotationsEnvsubst: true,
    patches: [
      { target: { kind: 'Deployment' }, patch: '- {op: add, path: /spec/paused, value: true}' },
    ],
    components: ['../more', '../count', '../none'],
    ignoreMissingComponents: true,
  }),
  'an override of images': {
    ...options(
      { images: ['nginx:2'], namePrefix: 'spec-' },
      { 'app/.argocd-source-shop.yaml': 'kustomize: {images: ["nginx:3", "busybox:4"]}\n' },
    ),
  },
  'an override of labels, which are merged': options(
    { commonLabels: { a: '1', b: '2' } },
    { 'app/.argocd-source.yaml': 'kustomize: {commonLabels: {b: null, c: "3"}}\n' },
  ),
  'an override of patches and components': options(PREFIX, {
    'app/.argocd-source.yaml':
      'kustomize: {patches: [{patch: "{apiVersion: v1, kind: Service, metadata: {name: web, labels: {x: y}}}"}], components: [../more]}\n',
  }),
  'an override of an image that is no text': options(PREFIX, {
    'app/.argocd-source.yaml': 'kustomize: {images: [{name: nginx}]}\n',
  }),
  'an override of a label that is a number': options(PREFIX, {
    'app/.argocd-source.yaml': 'kustomize: {commonLabels: {a: 1}}\n',
  }),
  'an override of a list, whose items keep fields of those before': options(
    {
      replicas: [{ name: 'none', count: 4 }],
      patches: [
        {
          target: { kind: 'Deployment' },
          patch: '- {op: replace, path: /metadata/name, value: never}',
        },
      ],
    },
    {
      'app/.argocd-source.yaml':
        'kustomize:\n  replicas: [{name: web}]\n  patches: [{patch: "- {op: add, path: /metadata/annotations, value: {of: deployments}}"}]\n',
    },
  ),
  'an override with null, which takes nothing away': options(
    { namePrefix: 'p-', images: ['nginx:2'] },
    { 'app/.argocd-source.yaml': 'kustomize: {namePrefix: null, images: null, nameSuffix: -s}\n' },
  ),
  'an override of replicas as numbers': options(PREFIX, {
    'app/.argocd-source.yaml': 'kustomize: {replicas: [{name: web, count: 6}]}\n',
  }),
  'a kustomization in the namespace of nothing': {
    ...options(PREFIX),
    spec: { destination: { server: 'https://kubernetes.default.svc' } },
  },
  'a project and a revision in variables': {
    ...options({
      commonLabels: { a: '${ARGOCD_APP_SOURCE_TARGET_REVISION}', b: '$ARGOCD_APP_PROJECT_NAME' },
    }),
    spec: { project: 'other' },
  },
  'variables of an Application in another namespace': {
    ...options({ commonLabels: { a: '$ARGOCD_APP_NAME', b: '$ARGOCD_APP_NAMESPACE' } }),
    metadata: { namespace: 'team' },
  },
  'variables in the source of several': {
    files: FILES,
    sources: [{ path: 'app', kustomize: { commonLabels: { a: '$ARGOCD_APP_SOURCE_PATH' } } }],
  },
}
