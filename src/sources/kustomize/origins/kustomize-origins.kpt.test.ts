/** The reported origins are compared with what `kubectl kustomize` makes of an edit of them. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { DesiredResource } from '@backporch/kpt/desired-set'
import { type FieldPath, findValueAt, formatFieldPath } from '@backporch/kyaml/field'
import { isJsonArray, isJsonObject, type Json } from '@backporch/kyaml/json'
import { path } from '../../../../test/fakes/live-object.ts'
import { whyNoKubectl } from '../../../../test/kpt/find-kubectl.ts'
import { PackageBuilds } from '../../../adapters/functions/package-builds.ts'
import type { BuiltSource } from '../../build/built-source.ts'
import { createBuild, parsePrintedResources } from '../../build/read-built.ts'
import { KUSTOMIZE_TOOL } from '../../kustomize/kustomize-tool.ts'
import { KustomizeOrigins } from './kustomize-origins.ts'
import { formatBuiltOriginLines } from './origin-lines.ts'

type Texts = { readonly [path: string]: string }

const BUILDS = new PackageBuilds({ allowed: ['kubectl'], environment: process.env })

const TEXTS: Texts = {
  'bases/web/kustomization.yaml': `resources: [deployment.yaml]
commonLabels: {app: web}
configMapGenerator:
- name: settings
  literals:
  - size=5
  - color=red
  files: [app.conf]
`,
  'bases/web/app.conf': 'depth = 1\n',
  'bases/web/deployment.yaml': `apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  replicas: 1
  minReadySeconds: 5
  template:
    spec:
      containers:
      - name: app
        image: nginx:1.0
        env:
        - {name: LEVEL, value: info}
        - {name: MODE, value: slow}
        envFrom:
        - configMapRef: {name: settings}
        resources:
          limits: {cpu: 100m, memory: 1Gi}
`,
  'parts/tls/kustomization.yaml': `apiVersion: kustomize.config.k8s.io/v1alpha1
kind: Component
patches:
- target: {kind: Deployment, name: web}
  patch: |-
    - op: add
      path: /spec/template/spec/containers/0/env/-
      value: {name: TLS, value: strict}
`,
  'apps/web/kustomization.yaml': `namespace: shop
namePrefix: prod-
resources: [../../bases/web]
components: [../../parts/tls]
commonAnnotations: {owner: ada}
labels:
- pairs: {tier: front}
  includeTemplates: true
images:
- name: nginx
  newTag: "27"
replicas:
- {name: web, count: 3}
configMapGenerator:
- name: settings
  behavior: merge
  literals: [size=6]
patches:
- path: patch.yaml
- target: {kind: Deployment}
  patch: |-
    - op: replace
      path: /spec/minReadySeconds
      # why not
      value: 10
`,
  'apps/web/patch.yaml': `apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  template:
    spec:
      containers:
      - name: proxy
        image: envoy:1
      - name: app
        env:
        - {name: MODE, value: fast}
        resources:
          limits:
            cpu: 200m # two of ten
            memory: null
`,
}

async function build(
  texts: Texts,
): Promise<{ readonly source: BuiltSource; readonly resources: readonly DesiredResource[] }> {
  const files = new Map(
    Object.entries(texts).map(([file, text]) => [
      file,
      { path: file, mode: '100644' as const, content: new TextEncoder().encode(text) },
    ]),
  )
  const source: BuiltSource = {
    packagePath: 'apps/web',
    package: [],
    tool: KUSTOMIZE_TOOL,
    folder: 'apps/web',
    files,
    command: [],
  }
  const run = createBuild(source)
  const answer = 'tool' in run ? await BUILDS.build(run, new AbortController().signal) : run
  if ('failure' in answer) throw new TypeError(answer.failure.why)
  return { source, resources: parsePrintedResources(source, answer.text) }
}

function ofKind(resources: readonly DesiredResource[], kind: string): DesiredResource {
  const found = resources.find(({ id }) => id.kind === kind)
  assert.ok(found !== undefined)
  return found
}

function* leavesOf(value: Json | undefined, above: FieldPath): Generator<FieldPath> {
  if (isJsonObject(value))
    for (const [name, each] of Object.entries(value))
      yield* leavesOf(each, [...above, { kind: 'field', name }])
  else if (isJsonArray(value))
    for (const [index, each] of value.entries())
      yield* leavesOf(each, [...above, { kind: 'index', index }])
  else yield above
}

/** The file with the value at `file:line:column` of a line made another one. */
function withOther(line: string): Texts {
  const [, file = '', row = '', column = ''] = /(\S+):(\d+):(\d+)/.exec(line) ?? []
  const rows = (TEXTS[file] ?? '').split('\n')
  const whole = rows[Number(row) - 1] ?? ''
  const rest = whole.slice(Number(column) - 1)
  const [value = ''] = /^"?(?:[\w.:-]+=)?[\w.:-]+/.exec(rest) ?? []
  assert.notEqual(value, '', line)
  const other = /[0-9]$/.test(value)
    ? `${value}1`
    : value.endsWith('m')
      ? value.replace('m', '1m')
      : `${value}x`
  const changed = whole.slice(0, Number(column) - 1) + other + rest.slice(value.length)
  return { ...TEXTS, [file]: rows.with(Number(row) - 1, changed).join('\n') }
}

const container = 'spec.template.spec.containers[name=app]'
const PROVEN: readonly (readonly [kind: string, field: string])[] = [
  ['Deployment', 'spec.replicas'],
  ['Deployment', 'spec.minReadySeconds'],
  ['Deployment', `${container}.image`],
  ['Deployment', `${container}.env[name=TLS].value`],
  ['Deployment', `${container}.env[name=LEVEL].value`],
  ['Deployment', `${container}.resources.limits.cpu`],
  ['Deployment', 'spec.selector.matchLabels.app'],
  ['Deployment', 'spec.template.metadata.labels.tier'],
  ['ConfigMap', 'data.size'],
  ['ConfigMap', 'data.color'],
]

describe('locations of fields that kustomize built', { skip: whyNoKubectl() }, () => {
  test('are found for every field of every object', async () => {
    const { source, resources } = await build(TEXTS)
    const origins = new KustomizeOrigins({ folder: 'apps/web', files: source.files, resources })
    const reported = resources.flatMap((desired) =>
      [...leavesOf(desired.object, [])].map((each) => {
        const origin = origins.findOrigin(desired, each)
        const last = origin === undefined ? 'nothing' : formatBuiltOriginLines(origin).at(-1)
        return `${desired.id.kind} ${formatFieldPath(each)}  ${last}`
      }),
    )
    assert.ok(reported.length > 30)
    for (const line of reported)
      assert.match(
        line,
        / {2}(?:written by .*)?[\w./-]+:\d+(?::\d+)?\S*(?: \(newTag\))?(?:,? .*)?$/,
      )
    assert.deepEqual(
      reported.filter((line) => /no file|another value|may be|nothing|not there/.test(line)),
      [],
    )
  })

  test('the last writer of a field decides, and no earlier one', async () => {
    const { source, resources } = await build(TEXTS)
    const origins = new KustomizeOrigins({ folder: 'apps/web', files: source.files, resources })
    await Promise.all(
      PROVEN.map(async ([kind, name]) => {
        const at = path(name)
        const desired = ofKind(resources, kind)
        const origin = origins.findOrigin(desired, at)
        assert.ok(origin !== undefined)
        const lines = formatBuiltOriginLines(origin)
        const after = async (line: string): Promise<Json | undefined> =>
          findValueAt(ofKind((await build(withOther(line))).resources, kind).object, at)
        const before = findValueAt(desired.object, at)
        for (const [index, line] of lines.entries())
          if (index === lines.length - 1)
            assert.notDeepEqual(await after(line), before, `${name}: ${line}`)
          else if (!name.endsWith('.image'))
            assert.deepEqual(await after(line), before, `${name}: ${line}`)
      }),
    )
  })

  test('lists writers in the order in which kustomize applies them', async () => {
    const { source, resources } = await build(TEXTS)
    const origins = new KustomizeOrigins({ folder: 'apps/web', files: source.files, resources })
    const lines = (name: string) => {
      const origin = origins.findOrigin(ofKind(resources, 'Deployment'), path(name))
      return origin === undefined ? [] : formatBuiltOriginLines(origin)
    }
    assert.deepEqual(lines('spec.replicas'), [
      'bases/web/deployment.yaml:6:13',
      'written by the patch apps/web/patch.yaml:5:13',
      'written by replicas of apps/web/kustomization.yaml:13:22, which decides',
    ])
    assert.deepEqual(lines(`${container}.resources.limits.memory`), [
      'bases/web/deployment.yaml:19:39',
      'removed by the patch apps/web/patch.yaml:17:21',
    ])
    assert.match(
      lines(`${container}.envFrom[0].configMapRef.name`)[1] ?? '',
      /^written by kustomize, which puts the whole name of ConfigMap shop\/prod-settings-\w+ there \(bases\/web\/kustomization\.yaml:4\)$/,
    )
  })
})
