import assert from 'node:assert/strict'
import { test } from 'node:test'
import { builtInFunctions } from '../../../functions/built-in-functions.ts'
import { adopted, changeIn, refused } from '../../../test/fakes/adoption-samples.ts'
import { APPLY_SETTERS, filesOf, webKptfile } from '../../../test/fakes/pipeline-files.ts'
import { adoptThroughPipeline, listAdoptionProblems } from '../kpt/adopt/adoption.ts'

/** The ConfigMap of the setters has no annotation, so kpt applies it too. */
const SETTERS =
  'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: setters\ndata:\n  replicas: "3"\n  color: blue\n'
const WEB = {
  Kptfile: webKptfile(APPLY_SETTERS),
  'setters.yaml': SETTERS,
  'deployment.yaml':
    'apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\nspec:\n  replicas: 3 # kpt-set: ${replicas}\n',
}

const LINES = {
  'apps/web/setters.yaml': ['-  replicas: "3"', '+  replicas: "5"'],
  'apps/web/deployment.yaml': [
    '-  replicas: 3 # kpt-set: ${replicas}',
    '+  replicas: 5 # kpt-set: ${replicas}',
  ],
}

test('edits a setter in an applied ConfigMap, and a note names the entry', () => {
  const change = changeIn(WEB, 'Deployment', 'spec.replicas', 5)
  assert.deepEqual(adopted(WEB, change), LINES)
  const input = {
    packagePath: 'apps/web',
    files: filesOf(WEB),
    changes: [change],
    functions: builtInFunctions,
  }
  assert.deepEqual(adoptThroughPipeline(input).notes, [
    {
      cause: 'config-applied',
      subject: 'ConfigMap setters',
      text: 'the edit also changes data.replicas of ConfigMap setters: the config of a function is also an object of the cluster, because it has no annotation config.kubernetes.io/local-config: "true"',
    },
  ])
  assert.deepEqual(listAdoptionProblems(input), [undefined])
})

test('with the local-config annotation, there is no applied object and no note', () => {
  const texts = {
    ...WEB,
    'setters.yaml': SETTERS.replace(
      '  name: setters\n',
      '  name: setters\n  annotations:\n    config.kubernetes.io/local-config: "true"\n',
    ),
  }
  const change = changeIn(texts, 'Deployment', 'spec.replicas', 5)
  const input = {
    packagePath: 'apps/web',
    files: filesOf(texts),
    changes: [change],
    functions: builtInFunctions,
  }
  assert.deepEqual(adoptThroughPipeline(input).notes, [])
})

for (const [how, reference] of [
  ['envFrom', 'envFrom: [{configMapRef: {name: setters}}]'],
  ['env', 'env: [{name: COLOR, valueFrom: {configMapKeyRef: {name: setters, key: color}}}]'],
] as const)
  test(`rejects changing a ConfigMap that a pod of the package reads with ${how}, and explains its role`, () => {
    const texts = {
      ...WEB,
      'deployment.yaml': `${WEB['deployment.yaml']}  template:\n    spec:\n      containers:\n      - name: app\n        ${reference}\n`,
    }
    const { why, remedy } = refused(texts, changeIn(texts, 'Deployment', 'spec.replicas', 5))
    assert.match(
      why,
      /would also change data\.replicas of ConfigMap setters: the config of a function is also an object of the cluster, because/,
    )
    assert.match(remedy, /^annotate the config with config\.kubernetes\.io\/local-config: "true"/)
  })

test('rejects changing another field of such a ConfigMap, or another object', () => {
  const texts = {
    ...WEB,
    'setters.yaml': `${SETTERS}  again: "3" # kpt-set: \${replicas}\n`,
  }
  const { why } = refused(texts, changeIn(texts, 'Deployment', 'spec.replicas', 5))
  assert.match(
    why,
    /would also change data\.again of ConfigMap setters: the config of a function is also/,
  )
  const service = {
    ...WEB,
    'config.yaml':
      'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: web\ndata:\n  replicas: "3" # kpt-set: ${replicas}\n',
  }
  const other = refused(service, changeIn(service, 'Deployment', 'spec.replicas', 5))
  assert.match(other.why, /would also change data\.replicas of ConfigMap web$/)
})
