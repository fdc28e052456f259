/** What policies say about showing values, on the command line: `hide`, `show`, and why in `explain`. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runInWorld } from '../../test/fakes/cli-world.ts'
import { TurnWorld, WEB, WEB_CONFIG } from '../../test/fakes/turn-world.ts'

const COLOR = 'spec.template.spec.containers[name=app].env[name=COLOR].value'

function context(rules: string, token = 'of-no-value-1'): TurnWorld {
  const world = new TurnWorld(`\n  priority: 100\n  mode: Propose\n${rules}`)
  world.edit(WEB, 'spec.replicas', 5, 'kubectl-scale')
  world.edit(WEB, COLOR, 'canary4711', 'kubectl-edit')
  if (token !== '') world.edit(WEB_CONFIG, 'data.token', token, 'kubectl-edit')
  return world
}

async function outputs(world: TurnWorld): Promise<string> {
  const calls = [
    ['diff'],
    ['diff', '-o', 'json'],
    ['diff', '--yaml'],
    ['diff', '-o', 'markdown'],
    ['explain', 'apps/web'],
    ['adopt', 'apps/web', '--dry-run'],
    ['scan'],
  ]
  const runs: string[] = []
  for (const call of calls) {
    const { stdout, stderr } = await runInWorld(world, call)
    runs.push(stdout, stderr)
  }
  return runs.join('\n')
}

test('without a rule an ordinary value is shown and a credential is not', async () => {
  const text = await outputs(context(''))
  assert.match(text, /canary4711/)
  assert.doesNotMatch(text, /of-no-value-1/)
  assert.match(
    text,
    /^ {3}value {3}not shown: the name token says that it is a credential; a policy can show it with spec\.show$/m,
  )
})

for (const [how, rule] of [
  [
    'its path',
    `{target: {kind: Deployment}, paths: ["${COLOR}"], reason: "the colour of the quarter"}`,
  ],
  [
    'a path with a wildcard and a JSON Pointer',
    '{paths: ["/spec/template/spec/containers/*/env/*/value"]}',
  ],
  ['a path above it', '{paths: [spec.template]}'],
  ['a pattern', '{patterns: ["canary[0-9]+"], reason: "the colour of the quarter"}'],
] as const) {
  test(`a value hidden by ${how} is in no output and cannot be adopted`, async () => {
    const world = context(`  hide:\n  - ${rule}`, '')
    const text = await outputs(world)
    assert.doesNotMatch(text, /canary4711/)
    assert.match(text, /not shown: \.drift\/policy\.yaml:\d+ hides it/)
    assert.match(
      (await runInWorld(world, ['adopt', 'apps/web', `deployment/web:${COLOR}`, '--dry-run']))
        .stderr,
      /BP2002/,
    )
    const all = (await runInWorld(world, ['adopt', 'apps/web', '--dry-run'])).stdout
    assert.match(all, /COLOR.* is planned as Restore and not as Adopt: the value is a credential/)
    assert.doesNotMatch(all, /canary4711/)
  })
}

test('a rule for another kind hides nothing', async () => {
  assert.match(
    await outputs(context(`  hide:\n  - {target: {kind: Service}, patterns: [canary]}`)),
    /canary4711/,
  )
})

test('a value shown by policy has its reason, and can be adopted', async () => {
  const world = context(
    '  show:\n  - {target: {kind: ConfigMap}, paths: [data.token], reason: "the name of a design token"}',
  )
  const text = await outputs(world)
  assert.match(text, /of-no-value-1/)
  assert.match(text, /shown: \.drift\/policy\.yaml:\d+ shows it: the name of a design token/)
  assert.doesNotMatch(
    (await runInWorld(world, ['adopt', 'apps/web', '--dry-run'])).stdout,
    /planned as Restore/,
  )
})

test('a hiding rule wins over a showing rule', async () => {
  const text = await outputs(
    context(
      '  hide:\n  - {paths: [data.token]}\n  show:\n  - {paths: [data.token], reason: "a test"}',
    ),
  )
  assert.doesNotMatch(text, /of-no-value-1/)
})

for (const [about, rules, text] of [
  ['no reason to show', '  show:\n  - {paths: [data.token]}', /reason/],
  ['nothing to hide', '  hide:\n  - {target: {kind: ConfigMap}}', /wanted paths, patterns or both/],
  ['an invalid expression', '  hide:\n  - {patterns: ["("]}', /not an RE2 expression/],
] as const) {
  test(`a rule with ${about} is rejected`, async () => {
    const { code, stderr } = await runInWorld(context(rules), ['diff'])
    assert.equal(code, 2)
    assert.match(stderr, /BP1005/)
    assert.match(stderr, text)
  })
}
