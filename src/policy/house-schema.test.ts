import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Failure } from '@backporch/kyaml/failure'
import { deriveEffectivePolicy, deriveHouseRules } from './effective-policy.ts'
import { NO_HOUSE_RULES } from './house-rules.ts'
import { parsePolicyFiles } from './parse-policy.ts'

function policies(...specs: readonly string[]) {
  const text = specs.map(
    (spec, index) =>
      `apiVersion: backporch.dev/v1alpha1\nkind: DriftPolicy\nmetadata: {name: p${index}}\nspec: ${spec}\n`,
  )
  return parsePolicyFiles([{ path: '.drift/a.policy', text: text.join('---\n') }])
}

test('a policy without house rules leaves commits and pull requests unchanged', () => {
  assert.deepEqual(deriveHouseRules(policies('{mode: Propose}')), NO_HOUSE_RULES)
})

test('each setting comes from the policy of the highest priority with a value, whatever it matches', () => {
  const set = policies(
    '{priority: 9, match: {packages: [infra/*]}, commit: {subjectPrefix: "OPS-1:"}, pullRequest: {labels: [gitops], draft: true}}',
    '{priority: 5, commit: {signOff: false, subjectPrefix: "OPS-2:", subject: "{{type}}: {{summary}}"}}',
    '{pullRequest: {reviewers: ["@ann", acme/platform], assignees: ["@ann", bob], labels: [other], milestone: "Q4", footer: "## Checklist"}}',
  )
  const house = deriveHouseRules(set)
  assert.deepEqual(house, {
    commit: { signOff: false, prefix: 'OPS-1:', template: '{{type}}: {{summary}}' },
    pullRequest: {
      title: { prefix: 'OPS-1:', template: '{{type}}: {{summary}}' },
      reviewers: ['ann', 'acme/platform'],
      assignees: ['ann', 'bob'],
      labels: ['gitops'],
      milestone: 'Q4',
      draft: true,
      footer: '## Checklist',
    },
  })
  assert.deepEqual(deriveEffectivePolicy(set, 'prod', 'apps/web').house, house)
  assert.deepEqual(
    deriveHouseRules(policies('{commit: {subjectPrefix: A}, pullRequest: {titlePrefix: B}}'))
      .pullRequest.title.prefix,
    'B',
  )
})

const REFUSED: readonly (readonly [spec: string, why: RegExp])[] = [
  ['{commit: {subject: "no summary"}}', /commit\.subject: wanted \{\{summary\}\} once/],
  [
    '{commit: {subject: "{{summary}} {{summary}}"}}',
    /commit\.subject: wanted \{\{summary\}\} once/,
  ],
  [
    '{commit: {subject: "{{packageName}} {{summary}}"}}',
    /unknown placeholder \{\{packageName\}\}; wanted \{\{type\}\} or \{\{summary\}\}/,
  ],
  ['{commit: {subjectPrefix: "two\\nlines"}}', /wanted one line without control characters/],
  ['{commit: {subjectPrefix: "kpt:x"}}', /Porch treats a line that begins with kpt: as its own/],
  ['{commit: {subjectPrefix: ""}}', /commit\.subjectPrefix/],
  ['{commit: {signoff: true}}', /signoff/],
  ['{pullRequest: {reviewers: ["ann bob"]}}', /wanted a login, or a team as org\/team/],
  ['{pullRequest: {assignees: [acme/platform]}}', /wanted the login of a person/],
  [
    '{pullRequest: {footer: "- [x] <!-- backporch:adopt=1 -->"}}',
    /a footer cannot have checkboxes or marks/,
  ],
  ['{pullRequest: {milestone: 7}}', /milestone/],
]

for (const [spec, why] of REFUSED) {
  test(`${spec} is rejected with its line`, () => {
    assert.throws(
      () => policies(spec),
      (thrown) =>
        thrown instanceof Failure &&
        thrown.code === 'BP1005' &&
        why.test(thrown.why) &&
        /a\.policy:4/.test(thrown.why),
    )
  })
}
