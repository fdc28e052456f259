import assert from 'node:assert/strict'
import { test } from 'node:test'
import { builtInFunctions } from '../../../../functions/built-in-functions.ts'
import { adopted, changeIn, refused } from '../../../../test/fakes/adoption-samples.ts'
import {
  APPLY_SETTERS,
  filesOf,
  settersConfig,
  webKptfile,
} from '../../../../test/fakes/pipeline-files.ts'
import type { ResolvedChange } from '../../edits/resolution-edits.ts'
import { listAdoptionProblems } from './adoption.ts'

const WEB = {
  Kptfile: webKptfile(APPLY_SETTERS),
  'setters.yaml': settersConfig('  a: one\n  b: two\n  c: three\n'),
  'config.yaml': `apiVersion: v1
kind: ConfigMap
metadata:
  name: web
data:
  x: one # kpt-set: \${a}
  v: two # kpt-set: \${b}
  z: one-two # kpt-set: \${a}-\${b}
  c: three # kpt-set: \${c}
  bc: two/three # kpt-set: \${b}/\${c}
`,
}

function drifted(values: Readonly<Record<string, string>>): readonly ResolvedChange[] {
  return Object.entries(values).map(([key, value]) =>
    changeIn(WEB, 'ConfigMap', `data.${key}`, value),
  )
}

const BOTH = { 'apps/web/setters.yaml': ['-  a: one', '-  b: two', '+  a: five', '+  b: six'] }

for (const order of [
  ['x', 'v', 'z', 'bc'],
  ['bc', 'z', 'v', 'x'],
  ['v', 'bc', 'x', 'z'],
] as const)
  test(`solves setters of several consistently drifted fields together, in the order ${order.join(' ')}`, () => {
    const values = { x: 'five', v: 'six', z: 'five-six', bc: 'six/three' }
    const changes = drifted(Object.fromEntries(order.map((key) => [key, values[key]])))
    const { 'apps/web/setters.yaml': setters } = adopted(WEB, ...changes)
    assert.deepEqual(setters, BOTH['apps/web/setters.yaml'])
    const problems = listAdoptionProblems({
      packagePath: 'apps/web',
      files: filesOf(WEB),
      changes,
      functions: builtInFunctions,
    })
    assert.deepEqual(
      problems,
      changes.map(() => undefined),
    )
  })

test('solves a chain of setters in which each field shares one with its neighbor', () => {
  const changes = drifted({ x: 'five', v: 'six', z: 'five-six', c: 'seven', bc: 'six/seven' })
  const { 'apps/web/setters.yaml': setters } = adopted(WEB, ...changes)
  assert.deepEqual(setters, [
    '-  a: one',
    '-  b: two',
    '-  c: three',
    '+  a: five',
    '+  b: six',
    '+  c: seven',
  ])
})

test('rejects inconsistently drifted fields, and names the contradicting field', () => {
  const changes = drifted({ x: 'five', v: 'six', z: 'five-seven', bc: 'six/three' })
  const { what, why } = refused(WEB, ...changes)
  assert.equal(what, 'cannot adopt data.z of ConfigMap web')
  assert.match(why, /would also change data\.v of ConfigMap web and data\.bc of ConfigMap web$/)
})

test('adoptable fields have no problem, and another field has its own', () => {
  const changes = drifted({ x: 'five', v: 'six', z: 'five-six', bc: 'six/three', c: 'nine' })
  const problems = listAdoptionProblems({
    packagePath: 'apps/web',
    files: filesOf(WEB),
    changes,
    functions: builtInFunctions,
  })
  assert.deepEqual(problems.slice(0, 4), [undefined, undefined, undefined, undefined])
  assert.match(problems[4] ?? '', /would also change data\.bc of ConfigMap web$/)
})

test('rejects a field without the change that completes its setter', () => {
  const { why } = refused(WEB, ...drifted({ x: 'five' }))
  assert.match(why, /the setter a of apply-setters .* would also change data\.z of ConfigMap web$/)
})
