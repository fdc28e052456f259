import assert from 'node:assert/strict'
import { test } from 'node:test'
import { builtInFunctions } from '../../../../functions/built-in-functions.ts'
import { adopted, changeIn, refused } from '../../../../test/fakes/adoption-samples.ts'
import {
  APPLY_SETTERS,
  CATALOG,
  filesOf,
  settersConfig,
  webKptfile,
} from '../../../../test/fakes/pipeline-files.ts'
import { adoptThroughPipeline } from './adoption.ts'

/** Every kind of place at once, kept rendered: what the functions would write stands in the files. */
const WEB: { readonly [path: string]: string } = {
  Kptfile: webKptfile(`${APPLY_SETTERS}    - image: ${CATALOG}/set-namespace:v0.4.6
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
`),
  'setters.yaml': settersConfig(`  # how many at night
  replicas: "3"
  host: shop
  domain: example.com
  color: blue
`),
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

test('edits a setter in the file of configPath, and its rendered value in the manifest', () => {
  assert.deepEqual(adopted(WEB, changeIn(WEB, 'Deployment', 'spec.replicas', 5)), {
    'apps/web/setters.yaml': ['-  replicas: "3"', '+  replicas: "5"'],
    'apps/web/deployment.yaml': [
      '-  replicas: 3 # kpt-set: ${replicas}',
      '+  replicas: 5 # kpt-set: ${replicas}',
    ],
  })
})

test('edits one of the two setters of a pattern', () => {
  assert.deepEqual(
    adopted(
      WEB,
      changeIn(
        WEB,
        'Deployment',
        'spec.template.spec.containers[name=app].env[name=HOST].value',
        'store.example.com',
      ),
    ),
    {
      'apps/web/setters.yaml': ['-  host: shop', '+  host: store'],
      'apps/web/deployment.yaml': [
        '-              value: shop.example.com # kpt-set: ${host}.${domain}',
        '+              value: store.example.com # kpt-set: ${host}.${domain}',
      ],
    },
  )
})

test('rejects a setter that feeds another field too, and names that field', () => {
  const failure = refused(WEB, changeIn(WEB, 'ConfigMap', 'data.color', 'red'))
  assert.equal(failure.code, 'BP2001')
  assert.match(
    failure.why,
    /the setter color of apply-setters \(apps\/web\/setters\.yaml:12\), and an edit there would also change data\.again of ConfigMap shop\/web/,
  )
})

test('joins two fields of one setter that drifted alike into one edit', () => {
  const changes = [
    changeIn(WEB, 'ConfigMap', 'data.color', 'red'),
    changeIn(WEB, 'ConfigMap', 'data.again', 'red'),
  ]
  assert.deepEqual(Object.keys(adopted(WEB, ...changes)).sort(), [
    'apps/web/config.yaml',
    'apps/web/setters.yaml',
  ])
})

test('edits the tag in the set-image config in the Kptfile', () => {
  assert.deepEqual(
    adopted(
      WEB,
      changeIn(WEB, 'Deployment', 'spec.template.spec.containers[name=app].image', 'shop/web:1.5'),
    ),
    {
      'apps/web/Kptfile': ['-        newTag: "1.4"', '+        newTag: "1.5"'],
      'apps/web/deployment.yaml': [
        '-          image: shop/web:1.4',
        '+          image: shop/web:1.5',
      ],
    },
  )
})

test('edits a field that no function writes in its manifest', () => {
  assert.deepEqual(adopted(WEB, changeIn(WEB, 'ConfigMap', 'data.plain', 'no')), {
    'apps/web/config.yaml': ['-  plain: "yes"', '+  plain: "no"'],
  })
})

test('adds a new environment variable to the manifest', () => {
  const change = changeIn(
    WEB,
    'Deployment',
    'spec.template.spec.containers[name=app].env[name=DEBUG]',
    { name: 'DEBUG', value: '1' },
  )
  assert.deepEqual(adopted(WEB, change), {
    'apps/web/deployment.yaml': ['+            - name: DEBUG', '+              value: "1"'],
  })
})

test("rejects changing one object's label that the function sets on every object", () => {
  const failure = refused(WEB, changeIn(WEB, 'ConfigMap', 'metadata.labels.team', 'other'))
  assert.equal(failure.code, 'BP2001')
  assert.match(
    failure.why,
    /the label team of set-labels \(apps\/web\/Kptfile:14\), and an edit there would also change metadata\.labels\.team of Deployment shop\/web/,
  )
})

test('adds a manually added annotation of one object to its manifest', () => {
  assert.deepEqual(
    adopted(WEB, changeIn(WEB, 'ConfigMap', 'metadata.annotations["example.com/note"]', 'hot')),
    {
      'apps/web/config.yaml': ['+    example.com/note: hot'],
    },
  )
})

test('removes a released field from its manifest', () => {
  assert.deepEqual(
    adopted(WEB, changeIn(WEB, 'ConfigMap', 'data.plain', 'no', { resolution: 'Release' })),
    {
      'apps/web/config.yaml': ['-  plain: "yes"'],
    },
  )
})

const ARGS = {
  ...WEB,
  'setters.yaml': `${WEB['setters.yaml']}  size: "64"\n`,
  'deployment.yaml': `${WEB['deployment.yaml']}          args:
            - serve
            - --size=64 # kpt-set: --size=\${size}
`,
}

test('edits a setter item of an atomic list at the setter, and the other items in the manifest', () => {
  const args = 'spec.template.spec.containers[name=app].args'
  const setter = ['-  size: "64"', '+  size: "96"']
  const item = [
    '-            - --size=64 # kpt-set: --size=${size}',
    '+            - --size=96 # kpt-set: --size=${size}',
  ]
  assert.deepEqual(adopted(ARGS, changeIn(ARGS, 'Deployment', args, ['serve', '--size=96'])), {
    'apps/web/deployment.yaml': item,
    'apps/web/setters.yaml': setter,
  })
  assert.deepEqual(
    adopted(ARGS, changeIn(ARGS, 'Deployment', args, ['run', '--size=96', '--quiet'])),
    {
      'apps/web/deployment.yaml': [
        '-            - serve',
        item[0],
        '+            - run',
        item[1],
        '+            - --quiet',
      ],
      'apps/web/setters.yaml': setter,
    },
  )
  // Of what is not kept rendered, the list in the manifest is nobody's business.
  const unrendered = {
    ...ARGS,
    'deployment.yaml': ARGS['deployment.yaml'].replace('--size=64', '--size=0'),
  }
  assert.deepEqual(
    adopted(unrendered, changeIn(unrendered, 'Deployment', args, ['serve', '--size=96'])),
    {
      'apps/web/setters.yaml': setter,
    },
  )
})

test('rejects a --via that gives another value, and lists the valid names', () => {
  const change = changeIn(WEB, 'Deployment', 'spec.replicas', 5, { via: 'manifest' })
  const failure = refused(WEB, change)
  assert.equal(failure.code, 'BP2014')
  assert.equal(
    failure.what,
    'cannot adopt spec.replicas of Deployment shop/web by way of "manifest"',
  )
  assert.match(
    failure.why,
    /these do: the setter replicas of apply-setters \(apps\/web\/setters\.yaml:9\) as "setter:replicas"$/,
  )
  assert.deepEqual(Object.keys(adopted(WEB, { ...change, via: 'setter:replicas' })).sort(), [
    'apps/web/deployment.yaml',
    'apps/web/setters.yaml',
  ])
})

test('a wrong --via lists only the locations of its own changes', () => {
  const label = changeIn(WEB, 'ConfigMap', 'data.plain', 'no')
  const failure = refused(
    WEB,
    label,
    changeIn(WEB, 'Deployment', 'spec.replicas', 5, { via: 'setter:nope' }),
  )
  assert.match(
    failure.why,
    /these do: the setter replicas of apply-setters \(apps\/web\/setters\.yaml:9\) as "setter:replicas"$/,
  )
})

test('rejects two live values that need different values of one setter', () => {
  const failure = refused(
    WEB,
    changeIn(WEB, 'ConfigMap', 'data.color', 'red'),
    changeIn(WEB, 'ConfigMap', 'data.again', 'green'),
  )
  assert.equal(failure.code, 'BP2001')
  assert.match(failure.what, /^cannot adopt data\.(color|again) of ConfigMap/)
})

test('releasing a field filled by a setter removes it from the manifest and keeps the setter', () => {
  assert.deepEqual(
    adopted(WEB, changeIn(WEB, 'Deployment', 'spec.replicas', 5, { resolution: 'Release' })),
    {
      'apps/web/deployment.yaml': ['-  replicas: 3 # kpt-set: ${replicas}'],
    },
  )
})

test('a file that is stored rendered keeps nothing that a render removes', () => {
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
  assert.deepEqual(
    adopted(
      texts,
      changeIn(texts, 'ConfigMap', 'metadata.annotations["example.com/note"]', undefined),
    ),
    {
      'apps/web/config.yaml': ['-  annotations:', '-    example.com/note: cold'],
    },
  )
})

test('removes a missing object from its file', () => {
  const change = changeIn(WEB, 'ConfigMap', '', undefined, { change: 'missing' })
  const { texts: edited } = adoptThroughPipeline({
    packagePath: 'apps/web',
    files: filesOf(WEB),
    changes: [change],
    functions: builtInFunctions,
  })
  assert.deepEqual([...edited.keys()], ['apps/web/config.yaml'])
})
