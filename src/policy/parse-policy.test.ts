import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Failure } from '@backporch/kyaml/failure'
import * as fc from '../../test/seeds/fast-check.ts'
import { parsePolicyFiles } from './parse-policy.ts'

const HEAD = 'apiVersion: backporch.dev/v1alpha1\nkind: DriftPolicy\nmetadata: {name: prod}\n'

function problemsOf(...texts: readonly string[]): string[] {
  try {
    parsePolicyFiles(texts.map((text, index) => ({ path: `.drift/p${index}.yaml`, text })))
    return []
  } catch (thrown) {
    assert.ok(thrown instanceof Failure)
    assert.equal(thrown.code, 'BP1005')
    return thrown.why.split('\n').map((line) => line.trim())
  }
}

test('parses a complete policy', () => {
  const { policies, placements } = parsePolicyFiles([
    {
      path: '.drift/policy.yaml',
      text: `# who decides\n${HEAD}spec:
  priority: 5
  match: {clusters: ["prod-*"], packages: ["apps/**"]}
  mode: Propose
  ignore:
  - target: {kind: Deployment}
    paths: [spec.replicas, /metadata/annotations/example.com~1owner]
    managers: [hpa]
    reason: the autoscaler decides
    expires: 2026-12-31
---
apiVersion: backporch.dev/v1alpha1
kind: Placement
metadata: {name: everywhere}
spec: {clusters: ["*"], packages: ["**"]}
`,
    },
  ])
  assert.equal(placements.length, 1)
  const [policy] = policies
  assert.equal(policy?.where, '.drift/policy.yaml:2')
  assert.deepEqual(policy?.ignore, [
    {
      where: '.drift/policy.yaml:10',
      level: 'policy',
      policy: { name: 'prod', priority: 5 },
      target: { kind: 'Deployment' },
      paths: [
        {
          keyed: [
            { kind: 'field', name: 'spec' },
            { kind: 'field', name: 'replicas' },
          ],
        },
        { pointer: ['metadata', 'annotations', 'example.com/owner'] },
      ],
      managers: ['hpa'],
      reason: 'the autoscaler decides',
      expires: '2026-12-31',
    },
  ])
})

test('every problem of every file is reported at once, each with its file and line', () => {
  const first = `${HEAD}spec:
  mod: Propose
  mode: Loud
  priority: -1
  match: {clusters: []}
  ignore:
  - paths: [spec..replicas, "/a~2b"]
    reason: x
  - reason: hides everything
  - target: {}
    reason: hides everything too
  - managers: [a]
    expires: 2026-02-30
  decide: {closeSilence: 30}
  detect: {minAge: 2, settle: 0s, unobservedAfter: 0s}
  limits: {prHourlyLimit: -1, massMinClusters: 1}
  alsoKnownAs: ["https://git.example.com", "https://bot:canary@git.example.com/a", "git.example.com/*", "ssh://git@git.example.com/a/b"]
  windows:
  - {name: a, kind: hold, schedule: "0 0 31 2 *", duration: 1h}
  - {name: a, kind: adopt, schedule: "60 * * * *", duration: 1h, timezone: Mars/Base, except: [critical]}
`
  const problems = problemsOf(
    first,
    'apiVersion: v1\nkind: ConfigMap\n',
    `${HEAD}spec: {}\n`,
    '\nfoo: [1,\n',
  )
  const wanted: readonly (readonly [string, RegExp])[] = [
    ['.drift/p0.yaml:5', /unknown field spec\.mod/],
    ['.drift/p0.yaml:6', /spec\.mode/],
    ['.drift/p0.yaml:7', /spec\.priority/],
    ['.drift/p0.yaml:8', /spec\.match\.clusters/],
    ['.drift/p0.yaml:10', /spec\.ignore\.0\.paths\.0: wanted a field name/],
    ['.drift/p0.yaml:10', /spec\.ignore\.0\.paths\.1: .*~0/],
    ['.drift/p0.yaml:12', /spec\.ignore\.1: the rule hides everything/],
    ['.drift/p0.yaml:13', /spec\.ignore\.2: the rule hides everything/],
    ['.drift/p0.yaml:15', /spec\.ignore\.3\.reason/],
    ['.drift/p0.yaml:16', /spec\.ignore\.3\.expires: there is no such day/],
    ['.drift/p0.yaml:17', /spec\.decide\.closeSilence/],
    ['.drift/p0.yaml:18', /spec\.detect\.minAge/],
    ['.drift/p0.yaml:18', /spec\.detect\.unobservedAfter/],
    ['.drift/p0.yaml:19', /spec\.limits\.prHourlyLimit/],
    ['.drift/p0.yaml:19', /spec\.limits\.massMinClusters/],
    ['.drift/p0.yaml:20', /spec\.alsoKnownAs\.0: wanted a host and a path/],
    ['.drift/p0.yaml:20', /spec\.alsoKnownAs\.1: remove the password/],
    ['.drift/p0.yaml:20', /spec\.alsoKnownAs\.2: an address has no spaces and no wildcards/],
    ['.drift/p0.yaml:22', /spec\.windows\.0\.schedule: there is no such day/],
    ['.drift/p0.yaml:23', /spec\.windows\.1\.schedule: wanted five fields/],
    ['.drift/p0.yaml:23', /spec\.windows\.1\.timezone: there is no such timezone/],
    ['.drift/p1.yaml:2', /unknown kind "ConfigMap"/],
    ['.drift/p3.yaml', /./],
  ]
  for (const [where, why] of wanted) {
    assert.ok(
      problems.some((problem) => problem.startsWith(where) && why.test(problem)),
      `${where} ${why}\n${problems.join('\n')}`,
    )
  }
  assert.doesNotMatch(problems.join('\n'), /canary|alsoKnownAs\.3/)
})

const BAD: readonly (readonly [name: string, text: string, why: RegExp])[] = [
  ['a duplicate key', `${HEAD}spec: {}\nspec: {}\n`, /p0\.yaml:5: .*unique/i],
  ['a tab', `${HEAD}spec:\n\tmode: Off\n`, /p0\.yaml:5/],
  ['an alias without its anchor', `${HEAD}spec: *none\n`, /p0\.yaml:.*alias/i],
  ['a document without a kind', 'foo: bar\n', /unknown kind null/],
  ['a list', '- a\n', /unknown kind null/],
  [
    'another version',
    'apiVersion: backporch.dev/v2\nkind: DriftPolicy\nmetadata: {name: a}\nspec: {}\n',
    /p0\.yaml:1: apiVersion/,
  ],
  [
    'an invalid second document',
    `${HEAD}spec: {}\n---\nkind: Nothing\n`,
    /p0\.yaml:6: unknown kind "Nothing"/,
  ],
]

for (const [name, text, why] of BAD) {
  test(`rejects ${name}`, () => assert.match(problemsOf(text).join('\n'), why))
}

const SPECS: readonly (readonly [name: string, spec: string, why: RegExp | undefined])[] = [
  ['a digest that is a schedule', '{limits: {digest: "0 8 * * MON"}}', undefined],
  [
    'a digest that is neither a schedule nor off',
    '{limits: {digest: weekly}}',
    /spec\.limits\.digest: wanted five fields.*; or the word off/,
  ],
  ['a share above 100 %', '{limits: {stormShare: 101}}', /spec\.limits\.stormShare/],
  [
    'an escalation after the reminder',
    '{decide: {remindAfter: 1d, escalateAfter: 25h}}',
    undefined,
  ],
  [
    'an escalation at the reminder',
    '{decide: {remindAfter: 24h, escalateAfter: 1d}}',
    /escalateAfter: wanted longer than remindAfter \(24h\)/,
  ],
  [
    'an escalation before the default reminder',
    '{decide: {escalateAfter: 3d}}',
    /escalateAfter: wanted longer than remindAfter \(7d\)/,
  ],
  ['a late reminder without an escalation', '{decide: {remindAfter: 30d}}', undefined],
  [
    'a window with a label condition',
    '{windows: [{name: a, kind: adopt, when: {label: {incident: open}}}]}',
    undefined,
  ],
  [
    'a window without a schedule or label',
    '{windows: [{name: a, kind: hold}]}',
    /windows\.0\.schedule: wanted a schedule with a duration, or when/,
  ],
  [
    'a window with a schedule and a label',
    '{windows: [{name: a, kind: hold, schedule: "0 1 * * *", duration: 1h, when: {label: {a: b}}}]}',
    /windows\.0\.when: a window has either a schedule or when/,
  ],
  [
    'a schedule without a duration',
    '{windows: [{name: a, kind: hold, schedule: "0 1 * * *"}]}',
    /windows\.0\.duration: a window with a schedule needs a duration/,
  ],
  [
    'a duration without a schedule',
    '{windows: [{name: a, kind: hold, duration: 1h, when: {label: {a: b}}}]}',
    /windows\.0\.duration: only a window/,
  ],
  [
    'an empty label condition',
    '{windows: [{name: a, kind: hold, when: {label: {}}}]}',
    /windows\.0\.when\.label: wanted at least one label/,
  ],
  [
    'a label value that is not a string',
    '{windows: [{name: a, kind: hold, when: {label: {a: true}}}]}',
    /windows\.0\.when\.label\.a/,
  ],
]
for (const [name, spec, why] of SPECS) {
  test(`${why === undefined ? 'accepts' : 'rejects'} in a policy: ${name}`, () => {
    const problems = problemsOf(`${HEAD}spec: ${spec}\n`).join('\n')
    if (why === undefined) assert.equal(problems, '')
    else assert.match(problems, why)
  })
}

test('a policy name is unique over all files', () => {
  assert.match(
    problemsOf(`${HEAD}spec: {}\n`, `\n${HEAD}spec: {}\n`).join(),
    /p1\.yaml:2: the DriftPolicy prod is already declared at \.drift\/p0\.yaml:1/,
  )
})

test('an alias bomb is reported as a problem of the file', () => {
  const bomb = [
    'a: &a [x,x,x,x,x,x,x,x,x,x]',
    ...'bcdefg'
      .split('')
      .map(
        (name, index) => `${name}: &${name} [${Array(10).fill(`*${'abcdef'[index]}`).join(',')}]`,
      ),
  ]
  assert.match(problemsOf(bomb.join('\n')).join(), /alias/i)
})

test('empty files and documents of comments are valid', () => {
  assert.deepEqual(problemsOf('', '# nothing\n', '---\n---\n'), [])
})

test('any text parses or throws a Failure', () => {
  const line = fc.constantFrom(
    'kind: DriftPolicy',
    'kind: Placement',
    'spec:',
    '  ignore:',
    '  - paths: [a]',
    '    reason: x',
    '- x',
    '&a',
    '*a',
    '{',
    '"',
    '---',
    '\t',
  )
  fc.assert(
    fc.property(
      fc.array(fc.oneof(line, fc.string()), { maxLength: 8 }),
      (lines) => void problemsOf(lines.join('\n')),
    ),
  )
})

test('actors and risk overrides are parsed with their places and collected from all matching policies', () => {
  const text = `apiVersion: backporch.dev/v1alpha1
kind: DriftPolicy
metadata: {name: who}
spec:
  actors:
  - {manager: "acme-*", operation: Apply, class: gitops}
  - {user: "system:serviceaccount:ci:*", class: gitops}
  riskOverrides:
  - {target: {kind: ConfigMap, name: feature-flags}, risk: low, reason: flags are meant to change}
`
  const [policy] = parsePolicyFiles([{ path: '.drift/policy.yaml', text }]).policies
  assert.deepEqual(policy?.actors, [
    { where: '.drift/policy.yaml:6', manager: 'acme-*', operation: 'Apply', class: 'gitops' },
    { where: '.drift/policy.yaml:7', user: 'system:serviceaccount:ci:*', class: 'gitops' },
  ])
  const [override] = policy?.riskOverrides ?? []
  assert.deepEqual(
    [override?.where, override?.risk, override?.target],
    ['.drift/policy.yaml:9', 'low', { kind: 'ConfigMap', name: 'feature-flags' }],
  )
  const wrong = text
    .replace('{user: "system:serviceaccount:ci:*", class: gitops}', '{class: robot}')
    .replace('target: {kind: ConfigMap, name: feature-flags}, ', '')
  assert.throws(
    () => parsePolicyFiles([{ path: 'p', text: wrong }]),
    (error: Error) =>
      /p:7: spec.actors.1.class/.test(error.message) &&
      /p:9: spec.riskOverrides.0: the rule matches everything/.test(error.message),
  )
})
