/** Cases of many options at once, chosen at random: the same for the same seed. */
import type { JsonObject } from '@backporch/kyaml/json'
import { type Choose, chooserOf } from '../../originals/odd-packages.ts'
import type { ArgoCase, ArgoCases } from '../argo-case.ts'
import { config } from './charts.ts'
import { FILES } from './kustomize-options.ts'

const SEED = 20261125
const PATHS = [
  'a.yaml',
  'b.yml',
  'c.json',
  'values.yaml',
  'sub/a.yaml',
  'sub/c.json',
  'sub/deep/b.yaml',
  '.hidden.yaml',
  'z/a.yaml',
  'notes.txt',
  'Chart.yaml.bak',
]
const PATTERNS = [
  '*',
  '*.yaml',
  'a*',
  '?.yaml',
  'sub/*',
  '**/a.yaml',
  '{a,b}.{yaml,yml}',
  '[!a]*',
  '*/deep/*',
  'sub',
  '{*.json,z/*}',
  '[a-b].*',
  '.*',
  '{sub/*',
  '\\*',
  'c.json',
]
const OVERRIDES = [
  'directory: {recurse: true}\n',
  'directory: {exclude: "a*"}\n',
  'directory: {include: "{a.yaml,sub/*}"}\n',
  'directory: {recurse: null}\n',
  '{}\n',
  'path: sub\n',
]

function one<T>(choose: Choose, list: readonly [T, ...T[]] | readonly T[]): T {
  return list[choose(list.length)] as T
}

/** The text of a file with one to three documents, of which no object is in another file. */
function documents(choose: Choose, path: string): string {
  const name = path.replaceAll(/[^a-z]/g, '-').replace(/^-/, '')
  if (path.endsWith('.json'))
    return JSON.stringify({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name },
      data: { n: 1 },
    })
  const texts = [
    config(name, 'x: "1"'),
    config(`${name}-two`, 'x: |\n  one\n  two'),
    `# only a comment\n`,
    `apiVersion: v1\nkind: Namespace\nmetadata: {name: ${name}, namespace: wrong}\n`,
    `apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: ${name}, namespace: own}\nspec: {a: 1.50, b: 0o7, c: yes, d: [1, {e: null}]}\n`,
    `apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Secret, metadata: {name: ${name}}}\n- {apiVersion: v1, kind: ConfigMap, metadata: {name: ${name}-item}}\n`,
    'null\n',
  ]
  const count = 1 + choose(3)
  return Array.from({ length: count }, () => texts.splice(choose(texts.length), 1)[0] ?? '').join(
    '---\n',
  )
}

function directoryCase(choose: Choose): ArgoCase {
  const paths = PATHS.filter(() => choose(3) > 0)
  const files: { [path: string]: string } = Object.fromEntries(
    paths.map((path) => [`app/${path}`, documents(choose, path)]),
  )
  if (choose(8) === 0)
    files['app/other.yaml'] = one(choose, [
      'color: blue\n',
      '- a\n',
      'x: [\n',
      '# +argocd:skip-file-rendering\nkind: A\n',
    ])
  if (choose(4) === 0)
    files[`app/.argocd-source${one(choose, ['', '-shop', '-other'])}.yaml`] = one(choose, OVERRIDES)
  const directory = {
    ...(choose(3) > 0 ? { recurse: choose(4) > 0 } : {}),
    ...(choose(2) === 0 ? { include: one(choose, PATTERNS) } : {}),
    ...(choose(2) === 0 ? { exclude: one(choose, PATTERNS) } : {}),
  }
  return { files, source: { directory } }
}

const TEXTS = [
  'resources: [deployment.yaml, service.yaml, settings.yaml, role.yaml]\n',
  'resources: [deployment.yaml, settings.yaml]\n',
]
const FIELDS = [
  'namePrefix: own-\n',
  'namespace: own\n',
  'images: [{name: nginx, newName: mine, newTag: "9"}]\n',
  'replicas: [{name: web, count: 2}]\n',
  'labels: [{pairs: {tier: own}}]\n',
  'labels: [{pairs: {x: other}, includeSelectors: true}, {pairs: {z: z}, includeTemplates: true}]\n',
  'commonLabels: {team: own}\n',
  'commonAnnotations: {note: own}\n',
  'components: [../count]\n',
  'configMapGenerator: [{name: gen, literals: [a=b]}]\n',
]
const OPTIONS: readonly JsonObject[] = [
  { namePrefix: 'p-' },
  { nameSuffix: '-s' },
  { namespace: 'there' },
  { images: ['nginx:2', 'busybox=b:1'] },
  { images: ['nginx=*:3'] },
  { replicas: [{ name: 'web', count: 4 }] },
  { commonLabels: { tier: 'front' } },
  { commonLabels: { tier: 'front', team: '$ARGOCD_APP_NAME' } },
  { labelWithoutSelector: true },
  { labelIncludeTemplates: true },
  { forceCommonLabels: true },
  { commonAnnotations: { note: 'a,b', more: '${ARGOCD_APP_NAMESPACE}' } },
  { commonAnnotationsEnvsubst: true },
  { forceCommonAnnotations: true },
  {
    patches: [
      { target: { kind: 'Deployment' }, patch: '- {op: add, path: /spec/paused, value: true}' },
    ],
  },
  {
    patches: [
      {
        patch:
          'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\ndata: {a: null, c: d}\n',
      },
    ],
  },
  { components: ['../more', '../none'], ignoreMissingComponents: true },
]

function kustomizeCase(choose: Choose): ArgoCase {
  const fields = FIELDS.filter(() => choose(5) === 0).filter(
    (text, at, all) => all.findIndex((other) => other.split(':')[0] === text.split(':')[0]) === at,
  )
  const kustomize: JsonObject = Object.assign({}, ...OPTIONS.filter(() => choose(4) === 0))
  const files = { ...FILES, 'app/kustomization.yaml': `${one(choose, TEXTS)}${fields.join('')}` }
  const overridden =
    choose(6) === 0
      ? { 'app/.argocd-source-shop.yaml': JSON.stringify({ kustomize: one(choose, OPTIONS) }) }
      : {}
  return { files: { ...files, ...overridden }, source: { kustomize } }
}

function cases(count: number, made: (choose: Choose) => ArgoCase): ArgoCases {
  return Object.fromEntries(
    Array.from({ length: count }, (_, index) => [
      `number ${index + 1}`,
      made(chooserOf(SEED + index)),
    ]),
  )
}

export const RANDOM_DIRECTORIES: ArgoCases = cases(200, directoryCase)
export const RANDOM_KUSTOMIZATIONS: ArgoCases = cases(100, kustomizeCase)
