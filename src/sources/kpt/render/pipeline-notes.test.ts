import assert from 'node:assert/strict'
import { test } from 'node:test'
import { answerCalls } from '@backporch/kpt/function'
import { formatNoteSentence } from '@backporch/kyaml/note'
import { builtInFunctions } from '../../../../functions/built-in-functions.ts'
import { renderPackage } from './render-package.ts'

function render(configMap: string, value: string) {
  const kptfile = `apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: web\npipeline:\n  mutators:\n    - exec: apply-setters\n      configMap: ${configMap}\n`
  const files = [
    { path: 'Kptfile', text: kptfile },
    {
      path: 'a.yaml',
      text: `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  ${value}\n`,
    },
  ].map(({ path, text }) => ({
    path,
    mode: '100644' as const,
    content: new TextEncoder().encode(text),
  }))
  return answerCalls(renderPackage('apps/web', files), builtInFunctions)
}

test('reports setters without a matching comment, with their function', () => {
  const rendering = render('{colour: red}', 'color: blue # kpt-set: ${color}')
  assert.ok('desired' in rendering)
  assert.deepEqual(rendering.desired.notes.map(formatNoteSentence), [
    'apps/web/Kptfile:7 (mutator 1, apply-setters): no matches for input setter(s)',
  ])
})

test('a setter without a value fails the package with the original message and the function', () => {
  const rendering = render('{host: a}', 'url: plain # kpt-set: ${host}.${domain}')
  assert.ok('failures' in rendering)
  const [failure] = rendering.failures
  assert.equal(
    `${failure.code} ${failure.where}`,
    'BP1202 apps/web/Kptfile:7 (mutator 1, apply-setters)',
  )
  assert.match(failure.why, /values for setters \[\$\{domain\}\] must be provided/)
})

test('a package with a pipeline has the keys that kubectl reads, like one without', () => {
  const rendering = render('{colour: red}', 'on: blue')
  assert.ok('desired' in rendering)
  assert.deepEqual(
    rendering.desired.resources.map(({ object }) => object['data']),
    [{ true: 'blue' }],
  )
})

test('objects from a pipeline have no render annotations', () => {
  const rendering = render('{color: red}', 'color: blue # kpt-set: ${color}')
  assert.ok('desired' in rendering)
  assert.deepEqual(
    rendering.desired.resources.map(({ object }) => object),
    [{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data: { color: 'red' } }],
  )
})
