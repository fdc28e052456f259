import assert from 'node:assert/strict'
import { test } from 'node:test'
import { driftOf } from '../../../test/fakes/drift-samples.ts'
import { path } from '../../../test/fakes/live-object.ts'
import { builtInFunctions } from '../../adapters/functions/built-in-functions.ts'
import type { Drift, Resolution } from '../../drift/drift.ts'
import { Failure } from '../../failure.ts'
import { valueAt } from '../../krm/field-path.ts'
import type { Json } from '../../krm/json.ts'
import type { PackageFiles } from '../../package/package-files.ts'
import { answerCalls } from '../../render/answer-calls.ts'
import { renderPackage } from '../../render/render-package.ts'
import type { ResolvedChange } from '../resolution-edits.ts'
import { adoptThroughPipeline } from './adoption.ts'

const CATALOG = 'ghcr.io/kptdev/krm-functions-catalog'

/** Every kind of place at once, kept rendered: what the functions would write stands in the files. */
const WEB: { readonly [path: string]: string } = {
  Kptfile: `apiVersion: kpt.dev/v1
kind: Kptfile
metadata:
  name: web
pipeline:
  mutators:
    - image: ${CATALOG}/apply-setters:v0.2.0
      configPath: setters.yaml
    - image: ${CATALOG}/set-namespace:v0.4.5
      configMap:
        namespace: shop
    - image: ${CATALOG}/set-labels:v0.2.0
      configMap:
        team: store # who is called at night
    - image: ${CATALOG}/set-annotations:v0.1.4
      configMap:
        example.com/owner: ada
    - image: ${CATALOG}/set-image:v0.1.1
      configMap:
        name: shop/web
        newTag: "1.4"
`,
  'setters.yaml': `apiVersion: v1
kind: ConfigMap
metadata:
  name: setters
  annotations:
    config.kubernetes.io/local-config: "true"
data:
  # how many at night
  replicas: "3"
  host: shop
  domain: example.com
  color: blue
`,
  'deployment.yaml': `apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  namespace: shop
  labels:
    team: store
  annotations:
    example.com/owner: ada
spec:
  replicas: 3 # kpt-set: \${replicas}
  selector:
    matchLabels:
      app: web
      team: store
  template:
    metadata:
      labels:
        app: web
        team: store
      annotations:
        example.com/owner: ada
    spec:
      containers:
        - name: app
          image: shop/web:1.4
          env:
            - name: HOST
              value: shop.example.com # kpt-set: \${host}.\${domain}
            - name: LEVEL
              value: info
`,
  'config.yaml': `apiVersion: v1
kind: ConfigMap
metadata:
  name: web
  namespace: shop
  labels:
    team: store
  annotations:
    example.com/owner: ada
data:
  color: blue # kpt-set: \${color}
  again: blue # kpt-set: \${color}
  domain: example.com # kpt-set: \${domain}
  plain: "yes"
`,
}

function filesOf(texts: { readonly [path: string]: string }): PackageFiles {
  return Object.entries(texts)
    .map(([name, text]) => ({ path: name, mode: '100644' as const, content: new TextEncoder().encode(text) }))
    .sort((one, other) => (one.path < other.path ? -1 : 1))
}

function changeIn(
  texts: { readonly [path: string]: string },
  kind: string,
  place: string,
  live: Json | undefined,
  { resolution = 'Adopt', via, ...more }: Partial<Drift> & { resolution?: Resolution; via?: string } = {},
): ResolvedChange {
  const rendering = answerCalls(renderPackage('apps/web', filesOf(texts)), builtInFunctions)
  if ('failures' in rendering) throw rendering.failures[0]
  const desired = rendering.desired.resources.find(({ id }) => id.kind === kind)
  assert.ok(desired !== undefined)
  const git = place === '' ? desired.object : valueAt(desired.object, path(place))
  const change = live === undefined ? 'removed' : git === undefined ? 'added' : 'modified'
  return { desired, resolution, via, drift: { ...driftOf(place), id: desired.id, git, live, change, ...more } }
}

/** Lines that changed, as `- old` and `+ new`, by file. */
function adopted(
  texts: { readonly [path: string]: string },
  ...changes: readonly ResolvedChange[]
): { readonly [path: string]: readonly string[] } {
  const edited = adoptThroughPipeline({ packagePath: 'apps/web', files: filesOf(texts), changes, functions: builtInFunctions })
  const diff = [...edited].map(([file, text]): [string, string[]] => {
    const before = (texts[file.slice('apps/web/'.length)] ?? '').split('\n')
    const after = text.split('\n')
    return [
      file,
      [
        ...before.filter((line) => !after.includes(line)).map((line) => `-${line}`),
        ...after.filter((line) => !before.includes(line)).map((line) => `+${line}`),
      ],
    ]
  })
  return Object.fromEntries(diff)
}

function refused(texts: { readonly [path: string]: string }, ...changes: readonly ResolvedChange[]): Failure {
  try {
    const edited = adoptThroughPipeline({ packagePath: 'apps/web', files: filesOf(texts), changes, functions: builtInFunctions })
    return assert.fail(`adopted:\n${[...edited].map(([file, text]) => `${file}\n${text}`).join('\n')}`)
  } catch (thrown) {
    if (thrown instanceof Failure) return thrown
    throw thrown
  }
}

test('a setter in the file of configPath, and what it renders to in the manifest', () => {
  assert.deepEqual(adopted(WEB, changeIn(WEB, 'Deployment', 'spec.replicas', 5)), {
    'apps/web/setters.yaml': ['-  replicas: "3"', '+  replicas: "5"'],
    'apps/web/deployment.yaml': ['-  replicas: 3 # kpt-set: ${replicas}', '+  replicas: 5 # kpt-set: ${replicas}'],
  })
})

test('one setter of a pattern of two', () => {
  assert.deepEqual(
    adopted(WEB, changeIn(WEB, 'Deployment', 'spec.template.spec.containers[name=app].env[name=HOST].value', 'store.example.com')),
    {
      'apps/web/setters.yaml': ['-  host: shop', '+  host: store'],
      'apps/web/deployment.yaml': [
        '-              value: shop.example.com # kpt-set: ${host}.${domain}',
        '+              value: store.example.com # kpt-set: ${host}.${domain}',
      ],
    },
  )
})

test('a setter that feeds another field too is refused, and names it', () => {
  const failure = refused(WEB, changeIn(WEB, 'ConfigMap', 'data.color', 'red'))
  assert.equal(failure.code, 'BP2001')
  assert.match(
    failure.why,
    /the setter color of apply-setters \(apps\/web\/setters\.yaml:12\), and an edit there would also move data\.again of ConfigMap shop\/web/,
  )
})

test('both fields of one setter, drifted alike, are one edit', () => {
  const changes = [changeIn(WEB, 'ConfigMap', 'data.color', 'red'), changeIn(WEB, 'ConfigMap', 'data.again', 'red')]
  assert.deepEqual(Object.keys(adopted(WEB, ...changes)).sort(), ['apps/web/config.yaml', 'apps/web/setters.yaml'])
})

test('the tag in the config of set-image, in the Kptfile', () => {
  assert.deepEqual(adopted(WEB, changeIn(WEB, 'Deployment', 'spec.template.spec.containers[name=app].image', 'shop/web:1.5')), {
    'apps/web/Kptfile': ['-        newTag: "1.4"', '+        newTag: "1.5"'],
    'apps/web/deployment.yaml': ['-          image: shop/web:1.4', '+          image: shop/web:1.5'],
  })
})

test('a field that no function writes, in its manifest', () => {
  assert.deepEqual(adopted(WEB, changeIn(WEB, 'ConfigMap', 'data.plain', 'no')), {
    'apps/web/config.yaml': ['-  plain: "yes"', '+  plain: "no"'],
  })
})

test('an environment variable that was added', () => {
  const change = changeIn(WEB, 'Deployment', 'spec.template.spec.containers[name=app].env[name=DEBUG]', { name: 'DEBUG', value: '1' })
  assert.deepEqual(adopted(WEB, change), {
    'apps/web/deployment.yaml': ['+            - name: DEBUG', '+              value: "1"'],
  })
})

test('a label that the function sets on every object is refused for one of them', () => {
  const failure = refused(WEB, changeIn(WEB, 'ConfigMap', 'metadata.labels.team', 'other'))
  assert.equal(failure.code, 'BP2001')
  assert.match(
    failure.why,
    /the label team of set-labels \(apps\/web\/Kptfile:14\), and an edit there would also move metadata\.labels\.team of Deployment shop\/web/,
  )
})

test('an annotation of one object that was added by hand goes into its manifest', () => {
  assert.deepEqual(adopted(WEB, changeIn(WEB, 'ConfigMap', 'metadata.annotations["example.com/note"]', 'hot')), {
    'apps/web/config.yaml': ['+    example.com/note: hot'],
  })
})

test('a field that is released leaves its manifest', () => {
  assert.deepEqual(adopted(WEB, changeIn(WEB, 'ConfigMap', 'data.plain', 'no', { resolution: 'Release' })), {
    'apps/web/config.yaml': ['-  plain: "yes"'],
  })
})

const ARGS = {
  ...WEB,
  'setters.yaml': `${WEB['setters.yaml']}  size: "64"\n`,
  'deployment.yaml': `${WEB['deployment.yaml']}          args:
            - serve
            - --size=64 # kpt-set: --size=\${size}
`,
}

test('a list that is one field to the server, and an item of it from a setter: the setter, and the rest in the manifest', () => {
  const args = 'spec.template.spec.containers[name=app].args'
  const setter = ['-  size: "64"', '+  size: "96"']
  const item = ['-            - --size=64 # kpt-set: --size=${size}', '+            - --size=96 # kpt-set: --size=${size}']
  assert.deepEqual(adopted(ARGS, changeIn(ARGS, 'Deployment', args, ['serve', '--size=96'])), {
    'apps/web/deployment.yaml': item,
    'apps/web/setters.yaml': setter,
  })
  assert.deepEqual(adopted(ARGS, changeIn(ARGS, 'Deployment', args, ['run', '--size=96', '--quiet'])), {
    'apps/web/deployment.yaml': ['-            - serve', item[0], '+            - run', item[1], '+            - --quiet'],
    'apps/web/setters.yaml': setter,
  })
})

test('a place that is not among those that give the value is told, with those that do', () => {
  const change = changeIn(WEB, 'Deployment', 'spec.replicas', 5, { via: 'manifest' })
  const failure = refused(WEB, change)
  assert.equal(failure.code, 'BP2014')
  assert.equal(failure.what, 'cannot adopt spec.replicas of Deployment shop/web by way of "manifest"')
  assert.match(failure.why, /these do: the setter replicas of apply-setters \(apps\/web\/setters\.yaml:9\) as "setter:replicas"$/)
  assert.deepEqual(Object.keys(adopted(WEB, { ...change, via: 'setter:replicas' })).sort(), [
    'apps/web/deployment.yaml',
    'apps/web/setters.yaml',
  ])
})

test('two live values that one setter would have to give are told apart', () => {
  const failure = refused(WEB, changeIn(WEB, 'ConfigMap', 'data.color', 'red'), changeIn(WEB, 'ConfigMap', 'data.again', 'green'))
  assert.equal(failure.code, 'BP2001')
  assert.match(failure.what, /^cannot adopt data\.(color|again) of ConfigMap/)
})

test('a field that a setter fills is released: it leaves the manifest, and the setter stays', () => {
  assert.deepEqual(adopted(WEB, changeIn(WEB, 'Deployment', 'spec.replicas', 5, { resolution: 'Release' })), {
    'apps/web/deployment.yaml': ['-  replicas: 3 # kpt-set: ${replicas}'],
  })
})

test('of a file that is kept rendered nothing is left that a render takes away', () => {
  const texts = {
    ...WEB,
    Kptfile: (WEB['Kptfile'] ?? '').replace(/ {4}- image: \S+set-annotations.*\n.*\n.*\n/, ''),
    'config.yaml': `apiVersion: v1
kind: ConfigMap
metadata:
  name: web
  namespace: shop
  labels:
    team: store
  annotations:
    example.com/note: cold
data:
  color: blue # kpt-set: \${color}
`,
  }
  assert.deepEqual(adopted(texts, changeIn(texts, 'ConfigMap', 'metadata.annotations["example.com/note"]', undefined)), {
    'apps/web/config.yaml': ['-  annotations:', '-    example.com/note: cold'],
  })
})

test('an object that is gone leaves its file', () => {
  const change = changeIn(WEB, 'ConfigMap', '', undefined, { change: 'missing' })
  const edited = adoptThroughPipeline({ packagePath: 'apps/web', files: filesOf(WEB), changes: [change], functions: builtInFunctions })
  assert.deepEqual([...edited.keys()], ['apps/web/config.yaml'])
})

const PATTERN: { readonly [path: string]: string } = {
  Kptfile: `apiVersion: kpt.dev/v1
kind: Kptfile
metadata:
  name: web
pipeline:
  mutators:
    - image: ${CATALOG}/apply-setters:v0.2.0
      configMap: {left: x, right: y}
`,
  'config.yaml': `apiVersion: v1
kind: ConfigMap
metadata:
  name: web
data:
  both: x-y # kpt-set: \${left}-\${right}
`,
}

test('a live value that a pattern gives in several ways is not guessed, and --via chooses', () => {
  const ambiguous = refused(PATTERN, changeIn(PATTERN, 'ConfigMap', 'data.both', 'p-q-r'))
  assert.equal(ambiguous.code, 'BP2014')
  assert.match(ambiguous.why, /^2 places give the live value and move nothing else: the setter left .* as "setter:left\+setter:right"/)
})

test('of two functions that write one field the last one is edited', () => {
  const fight = {
    ...PATTERN,
    Kptfile: `apiVersion: kpt.dev/v1
kind: Kptfile
metadata:
  name: web
pipeline:
  mutators:
    - image: ${CATALOG}/set-labels:v0.2.0
      configMap: {team: first}
    - image: ${CATALOG}/set-labels:v0.2.0
      configMap: {team: last}
`,
  }
  assert.deepEqual(adopted(fight, changeIn(fight, 'ConfigMap', 'metadata.labels.team', 'live')), {
    'apps/web/Kptfile': ['-      configMap: {team: last}', '+      configMap: {team: live}'],
  })
})

test('a package whose rendering is not stable is refused, and says which field', () => {
  const grows = {
    ...PATTERN,
    Kptfile: `apiVersion: kpt.dev/v1
kind: Kptfile
metadata:
  name: web
pipeline:
  mutators:
    - image: ${CATALOG}/search-replace:v0.2.0
      configMap: {by-path: data.both, by-value-regex: "(.*)", put-value: "\${1}x"}
`,
  }
  const failure = refused(grows, changeIn(grows, 'ConfigMap', 'data.both', 'live'))
  assert.equal(failure.code, 'BP1207')
  assert.match(failure.why, /^data\.both of ConfigMap web gets another value with each render/)
})

test('a value copied by apply-replacements is edited where it is copied from', () => {
  const copied = {
    Kptfile: `apiVersion: kpt.dev/v1
kind: Kptfile
metadata:
  name: web
pipeline:
  mutators:
    - image: ${CATALOG}/apply-replacements:v0.1.1
      configPath: replacements.yaml
`,
    'replacements.yaml': `apiVersion: fn.kpt.dev/v1alpha1
kind: ApplyReplacements
metadata:
  name: replacements
  annotations:
    config.kubernetes.io/local-config: "true"
replacements:
  - source:
      kind: ConfigMap
      name: source
      fieldPath: data.host
    targets:
      - select: {kind: Service}
        fieldPaths: [spec.externalName]
`,
    'source.yaml': `apiVersion: v1
kind: ConfigMap
metadata:
  name: source
  annotations:
    config.kubernetes.io/local-config: "true"
data:
  host: db.example.com # ours
`,
    'service.yaml': 'apiVersion: v1\nkind: Service\nmetadata:\n  name: db\nspec:\n  type: ExternalName\n  externalName: db.example.com\n',
  }
  assert.deepEqual(adopted(copied, changeIn(copied, 'Service', 'spec.externalName', 'other.example.com')), {
    'apps/web/source.yaml': ['-  host: db.example.com # ours', '+  host: other.example.com # ours'],
    'apps/web/service.yaml': ['-  externalName: db.example.com', '+  externalName: other.example.com'],
  })
})

test('an object that a function puts in is edited in the config of the function', () => {
  const upserted = {
    Kptfile: `apiVersion: kpt.dev/v1
kind: Kptfile
metadata:
  name: web
pipeline:
  mutators:
    - image: ${CATALOG}/upsert-resource:v0.2.0
      configPath: put.yaml
`,
    'put.yaml': `apiVersion: v1
kind: List
metadata:
  name: put
  annotations:
    config.kubernetes.io/local-config: "true"
items:
  - apiVersion: v1
    kind: ConfigMap
    metadata:
      name: made
    data:
      a: b # as decided
`,
  }
  assert.deepEqual(adopted(upserted, changeIn(upserted, 'ConfigMap', 'data.a', 'live')), {
    'apps/web/put.yaml': ['-      a: b # as decided', '+      a: live # as decided'],
  })
})
