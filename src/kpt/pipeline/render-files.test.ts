import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setEntry } from '@backporch/kyaml/yaml'
import { answerCalls } from '../function/answer-calls.ts'
import { createSuccess, type KrmFunction } from '../function/krm-function.ts'
import { passThroughText, renderFiles } from './render-files.ts'

const KPTFILE =
  'apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: shop\npipeline:\n  mutators:\n  - exec: puts-alias\n'

const putsAlias: KrmFunction = ({ items }) => {
  const [item] = items
  if (item !== undefined) setEntry(item, 'data', { kind: 'alias', name: 'nowhere' } as never)
  return createSuccess(items)
}

test('a step fails when its function returns invalid YAML', () => {
  const files = [
    { path: 'Kptfile', content: new TextEncoder().encode(KPTFILE), mode: '100644' as const },
  ]
  const rendering = answerCalls(
    renderFiles('apps/shop', files),
    passThroughText({ answer: ({ input }) => putsAlias(input) }),
  )
  assert.ok('failures' in rendering)
  assert.equal(rendering.failures.length, 1)
  const [{ code, what, where, why }] = rendering.failures
  assert.equal(code, 'BP1204')
  assert.match(what, /puts-alias/)
  assert.match(where ?? '', /^apps\/shop\/Kptfile:/)
  assert.match(why, /the YAML is not valid: the alias names no anchor/)
})
