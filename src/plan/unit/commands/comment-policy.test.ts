import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parsePolicyFiles } from '../../../policy/parse-policy.ts'
import { addRules, listUnitRules, removeRules } from './comment-policy.ts'

const UNIT = { cluster: 'prod', packagePath: 'apps/web', slug: 'apps--web' }
const RULE = {
  target: { kind: 'Deployment', name: 'web' },
  paths: ['spec.replicas'],
  reason: 'KEDA',
}

function policy(name: string, spec: string): string {
  return `apiVersion: backporch.dev/v1alpha1\nkind: DriftPolicy\nmetadata: {name: ${name}}\nspec: ${spec}\n`
}

function edited(
  files: readonly { readonly path: string; readonly text: string }[],
): string | undefined {
  return addRules(files, parsePolicyFiles(files), UNIT, [RULE])?.text
}

test('the rule is added to the policy that applies to the unit, in any document or style', () => {
  const low = policy('low', '{mode: Warn}')
  const high = policy('high', '\n  priority: 5\n  mode: Propose   # since May')
  const other = policy('other', '{priority: 9, match: {clusters: [elsewhere]}}')
  const text = `# top\n${low}---\n${other}---\n${high}\n# end\n`
  const result = edited([{ path: '.drift/all.yaml', text }]) ?? ''
  const added =
    '  ignore:\n  - target:\n      kind: Deployment\n      name: web\n    paths:\n    - spec.replicas\n    reason: KEDA\n'
  assert.ok(result.includes(added), result)
  assert.equal(result.replace(added, ''), text, 'not one other byte')
})

test('an existing or repeated rule is not added again', () => {
  const files = [{ path: '.drift/policy.yaml', text: policy('one', '{mode: Propose}') }]
  const once = [{ path: '.drift/policy.yaml', text: edited(files) ?? '' }]
  assert.equal(edited(once), undefined)
})

test('rule numbers count over all policies, and removing an added rule restores every byte', () => {
  const files = [
    {
      path: '.drift/a.yaml',
      text: policy('a', '\n  priority: 1\n  ignore:\n  - {target: {kind: Pod}, reason: one} # a'),
    },
    {
      path: '.drift/b.yaml',
      text: policy(
        'b',
        '\n  ignore:\n  # b\n  - {target: {kind: Job}, reason: two}\n  - {target: {kind: Node}, reason: three}',
      ),
    },
  ]
  const set = parsePolicyFiles(files)
  assert.deepEqual(
    listUnitRules(set, UNIT).map(({ rule }) => rule.reason),
    ['one', 'two', 'three'],
  )
  const added = addRules(files, set, UNIT, [RULE])
  assert.equal(added?.path, '.drift/a.yaml')
  const now = files.map((file) => (file.path === added?.path ? added : file))
  const [, ...rest] = listUnitRules(parsePolicyFiles(now), UNIT)
  assert.equal(rest[0]?.rule.reason, 'KEDA')
  assert.deepEqual(removeRules(now, rest.slice(0, 1)), [files[0]])
  const gone = removeRules(files, listUnitRules(set, UNIT).slice(1))
  assert.deepEqual(parsePolicyFiles(gone).policies[0]?.ignore, [])
})
