/** Kustomizations, and options that an Argo CD Application has for them (`spec.source.kustomize`). */
import type { JsonObject } from '@backporch/kyaml/json'

export const KUSTOMIZATIONS: { readonly [name: string]: string } = {
  plain: 'resources: [deployment.yaml]\n',
  full: `resources:
- deployment.yaml
namePrefix: a-
images:
- {name: nginx, newName: mine, newTag: "9"}
- {name: zed, newTag: "1"}
replicas:
- {name: web, count: 7}
labels:
- pairs: {l: one}
- pairs: {t: two}
  includeTemplates: true
commonAnnotations: {old: "1"}
components: [../there]
patches:
- target: {kind: ConfigMap}
  patch: |-
    - {op: add, path: /data/y, value: "2"}
`,
  selectors: 'resources: [deployment.yaml]\nlabels:\n- pairs: {s: sel}\n  includeSelectors: true\ncommonLabels: {c: d}\n',
  bases: 'bases: [sub]\n',
}

const DIGEST = 'sha256:2222222222222222222222222222222222222222222222222222222222222222'

export const OPTIONS: readonly JsonObject[] = [
  {},
  { namePrefix: 'p-', nameSuffix: '-s', namespace: 'there' },
  { images: ['nginx:2'] },
  { images: ['nginx=*:3', `zed@${DIGEST}`] },
  { images: ['nginx=reg.example.com:5000/n:4'] },
  { images: ['nginx=reg.example.com:5000/n'] },
  { images: ['nginx=*'] },
  { images: ['nginx=x:*'] },
  { images: ['nginx=x:*@*'] },
  { images: [`nginx=x:1@${DIGEST}`] },
  { images: ['nginx:2', 'nginx=x:3'] },
  { images: ['nginx'] },
  { replicas: [{ name: 'web', count: 4 }] },
  {
    replicas: [
      { name: 'web', count: '5' },
      { name: 'api', count: 0 },
    ],
  },
  { replicas: [{ name: 'web', count: 'x' }] },
  { commonLabels: { n: 'm' } },
  { commonLabels: { n: 'm', o: 'p' } },
  { commonLabels: { c: 'two' } },
  { commonLabels: { c: 'two' }, forceCommonLabels: true },
  { commonLabels: { n: 'm' }, labelWithoutSelector: true },
  { commonLabels: { n: 'm', o: 'p' }, labelWithoutSelector: true },
  { commonLabels: { n: 'm', o: 'p' }, labelWithoutSelector: true, forceCommonLabels: true },
  { commonLabels: { l: 'x' }, labelWithoutSelector: true },
  { commonLabels: { l: 'x' }, labelWithoutSelector: true, forceCommonLabels: true },
  { commonLabels: { n: 'm' }, labelWithoutSelector: true, labelIncludeTemplates: true },
  { commonLabels: { n: 'm', o: 'p' }, labelWithoutSelector: true, labelIncludeTemplates: true },
  { commonLabels: { n: 'm' }, labelIncludeTemplates: true },
  { commonAnnotations: { q: 'r: s' } },
  { commonAnnotations: { old: '2' } },
  { commonAnnotations: { old: '2' }, forceCommonAnnotations: true },
  { patches: [{ target: { kind: 'Deployment' }, patch: '- {op: replace, path: /spec/replicas, value: 8}' }] },
  { components: ['../here'] },
  { components: ['../there', '../here'] },
  { components: ['../here', '../none'], ignoreMissingComponents: true },
  {
    namePrefix: 'p-',
    images: ['nginx:2'],
    replicas: [{ name: 'web', count: 2 }],
    commonLabels: { n: 'm' },
    labelWithoutSelector: true,
    commonAnnotations: { q: 'r' },
    namespace: 'ns',
    patches: [{ patch: 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata: {z: "1"}' }],
  },
]

/** Files beside the kustomization, which is in `app`. */
export const BESIDE: { readonly [path: string]: string } = {
  'here/kustomization.yaml': 'apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\n',
  'there/kustomization.yaml': 'apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\n',
  'app/deployment.yaml': 'apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\n',
}
