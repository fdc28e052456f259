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
import { listAdoptionProblems } from './adoption.ts'

const CONFIG = `apiVersion: v1
kind: ConfigMap
metadata:
  name: web
  namespace: dev
data:
  target: dev # kpt-set: \${ns}
  plain: "yes"
`
const SERVICE =
  'apiVersion: v1\nkind: Service\nmetadata:\n  name: web\n  namespace: dev\nspec:\n  type: ClusterIP\n'

/** The setter of an object also sets the namespace in the Kptfile, which the function after it gets with the next render only. */
const NAMESPACED = {
  Kptfile: webKptfile(`${APPLY_SETTERS}    - image: ${CATALOG}/set-namespace:v0.4.6
      configMap: {namespace: dev # kpt-set: \${ns}
      }
`),
  'setters.yaml': settersConfig('  ns: dev\n'),
  'config.yaml': CONFIG,
  'service.yaml': SERVICE,
}

/** The same as kpt writes it: a render changes nothing. */
const RENDERED = {
  ...NAMESPACED,
  Kptfile: `apiVersion: kpt.dev/v1
kind: Kptfile
metadata:
  name: web
pipeline:
  mutators:
  - image: ${CATALOG}/apply-setters:v0.2.0
    configPath: setters.yaml
  - image: ${CATALOG}/set-namespace:v0.4.6
    configMap:
      namespace: dev # kpt-set: \${ns}
`,
}

for (const [how, texts] of [
  ['as authored', NAMESPACED],
  ['rendered', RENDERED],
] as const)
  test(`rejects an edit whose second render changes every object, in a package that is stored ${how}`, () => {
    const change = changeIn(texts, 'ConfigMap', 'data.target', 'prod')
    const { code, why } = refused(texts, change)
    assert.equal(code, 'BP2001')
    assert.match(
      why,
      /^its value comes from the setter ns of apply-setters \(apps\/web\/setters\.yaml:8\), and an edit there would also change /,
    )
    assert.match(
      why,
      / change metadata\.namespace of ConfigMap dev\/web and metadata\.namespace of Service dev\/web when /,
    )
    assert.match(
      why,
      / when the package is rendered a second time, because the render before that changes apps\/web\/Kptfile$/,
    )
    const problems = listAdoptionProblems({
      packagePath: 'apps/web',
      files: filesOf(texts),
      changes: [change],
      functions: builtInFunctions,
    })
    assert.deepEqual(problems, [why])
  })

test('adopts other fields of such a package', () => {
  for (const texts of [NAMESPACED, RENDERED])
    assert.deepEqual(adopted(texts, changeIn(texts, 'ConfigMap', 'data.plain', 'no')), {
      'apps/web/config.yaml': ['-  plain: "yes"', '+  plain: "no"'],
    })
})

/** With the setter `field`, the search of the next render is for another field. */
function searching(by: string): { readonly [path: string]: string } {
  return {
    Kptfile: webKptfile(`${APPLY_SETTERS}    - image: ${CATALOG}/search-replace:v0.2.0
      configMap:
        by-path: data.none # kpt-set: data.\${field}
        ${by}
`),
    'setters.yaml': settersConfig('  field: none\n'),
    'config.yaml':
      'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: web\ndata:\n  field: none # kpt-set: ${field}\n',
    'notes.yaml': settersConfig('  size: small\n').replace('name: setters', 'name: notes'),
  }
}

const GROWING = searching('by-value-regex: "(.*)"\n        put-value: ${1}x')

test('rejects an edit after which the package never settles, with the changes of each render', () => {
  const { code, why } = refused(GROWING, changeIn(GROWING, 'ConfigMap', 'data.field', 'size'))
  assert.equal(code, 'BP2001')
  assert.match(
    why,
    /^with the edit of the setter field of apply-setters .* the pipeline is not idempotent: the file notes\.yaml changes with each render$/,
  )
})

test('accepts an edit after which the third render changes nothing', () => {
  const texts = searching('by-value: small\n        put-value: large')
  assert.deepEqual(adopted(texts, changeIn(texts, 'ConfigMap', 'data.field', 'size')), {
    'apps/web/Kptfile': [
      '-        by-path: data.none # kpt-set: data.${field}',
      '+        by-path: data.size # kpt-set: data.${field}',
    ],
    'apps/web/setters.yaml': ['-  field: none', '+  field: size'],
    'apps/web/config.yaml': [
      '-  field: none # kpt-set: ${field}',
      '+  field: size # kpt-set: ${field}',
    ],
  })
})

test('does not attribute changes that the unedited package shows too to the edit', () => {
  const texts = { ...NAMESPACED, 'setters.yaml': settersConfig('  ns: prod\n') }
  assert.deepEqual(adopted(texts, changeIn(texts, 'ConfigMap', 'data.plain', 'no')), {
    'apps/web/config.yaml': ['-  plain: "yes"', '+  plain: "no"'],
  })
})

test('rejects an edit that the second render reverts', () => {
  const texts = {
    Kptfile: webKptfile(`${APPLY_SETTERS}    - image: ${CATALOG}/set-image:v0.1.1
      configMap:
        name: shop/web
        newTag: "1.4" # kpt-set: \${tag}
`),
    'setters.yaml': settersConfig('  tag: "1.4"\n'),
    'pod.yaml':
      'apiVersion: v1\nkind: Pod\nmetadata:\n  name: web\nspec:\n  containers:\n  - name: app\n    image: shop/web:1.4\n',
  }
  const { why } = refused(
    texts,
    changeIn(texts, 'Pod', 'spec.containers[name=app].image', 'shop/web:1.5'),
  )
  assert.match(
    why,
    /^with the edit of the newTag of set-image \(apps\/web\/Kptfile:12\) the field gets another value when the package is rendered a second time/,
  )
})
