/** Ignore rules on the command line: explain, ignore --list, status and ignore --print. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runInWorld } from '../../test/fakes/cli-world.ts'
import { MemoryForge } from '../../test/fakes/memory-forge.ts'
import { DEPLOYMENT, KPTFILE, TurnWorld, WEB, WEB_CONFIG } from '../../test/fakes/turn-world.ts'
import { wrapText } from './print/explain-lines.ts'

const POLICY = `
  priority: 100
  mode: Propose
  ignore:
  - {target: {kind: Service}, paths: [/spec/replicas], reason: "KEDA scales shop", expires: "2026-12-31"}
  - {target: {labels: "app=web"}, paths: ["spec.template.spec.containers[name=*].env"], reason: "ops sets colours"}
  - {target: {name: old}, reason: "trial", expires: "2026-10-01"}`

function context(): TurnWorld {
  const world = new TurnWorld(POLICY, {
    'apps/web/Kptfile': `${KPTFILE}  annotations:\n    backporch.dev/mode: Warn\n    backporch.dev/ignore: metadata.annotations["ops/*"]\n    backporch.dev/reason: notes of operations\n`,
    'apps/web/deployment.yaml': DEPLOYMENT.replace(
      '# who',
      '# who\n  annotations: {backporch.dev/ignore: spec.paused, backporch.dev/reason: canary tool}',
    ),
  })
  world.edit(WEB, 'spec.replicas', 5, 'kubectl-scale')
  world.edit(WEB, 'spec.template.spec.containers[name=app].env[name=COLOR].value', 'red')
  return world
}

test('explain lists the rules for a change in order, with why each did not apply', async () => {
  const { code, stdout } = await runInWorld(context(), ['explain', 'apps/web', '1'])
  assert.equal(code, 0)
  const order = [
    /^mode Warn <- Kptfile annotation \(apps\/web\/Kptfile:6\) > policy\/test \(\.drift\/policy\.yaml:1\)/m,
    /^rules presets, annotations \(object, then Kptfile\), policies by priority: the first match hides$/m,
    /^1 {2}Deployment shop\/web {2}spec\.replicas {2}\(modified\)$/m,
    /^ {3}writer {2}kubectl-scale \(Update, human-tool\), owns the field; last write 2026-11-21T09:30:00Z$/m,
    /^ {3}rules {3}\d+ rules tried, in this order$/m,
    /^ {5}preset:hpa {2}no: no HorizontalPodAutoscaler targets it$/m,
    /^ {5}apps\/web\/deployment\.yaml:8 \(annotation of the object\) {2}no: field: wanted spec\.paused, this is spec\.replicas$/m,
    /^ {5}apps\/web\/Kptfile:7 \(annotation of the Kptfile\)\s+no: field: wanted metadata\.annotations\["ops\/\*"\], this is spec\.replicas$/m,
    /^ {5}\.drift\/policy\.yaml:8 \(policy\/test, priority 100\) {2}no: kind: wanted Service, this is Deployment$/m,
    /^ {5}\.drift\/policy\.yaml:9 \(policy\/test, priority 100\)\s+no: field: wanted .*containers\[name=\*\]\.env, this is spec\.replicas$/m,
    /^ {5}\.drift\/policy\.yaml:10 \(policy\/test, priority 100\) {2}old\s+not tried: it ended on 2026-10-01$/m,
  ]
  const locations = order.map((wanted) => stdout.search(wanted))
  assert.ok(
    locations.every(
      (position, index) => position !== -1 && position > (locations[index - 1] ?? -1),
    ),
    `${locations.join()}\n${stdout}`,
  )
})

test('an ignored change can be selected by number or object, and shows the hiding rule', async () => {
  for (const selector of ['2', 'deployment/web']) {
    const { stdout } = await runInWorld(context(), ['explain', 'apps/web', selector])
    assert.match(
      stdout,
      /^2 {2}Deployment shop\/web {2}spec\.template\..*\.value {2}\(modified\)\n {3}state {3}Ignored, no drift: ops sets colours/m,
    )
    assert.match(stdout, /hides it, without an end: ops sets colours$/m)
  }
})

test('without a selector explain summarises many changes and names the command for details', async () => {
  const world = context()
  world.edit(WEB_CONFIG, 'data.color', 'red')
  world.edit(WEB_CONFIG, 'data.size', '6')
  const { stdout } = await runInWorld(world, ['explain', 'apps/web'])
  assert.match(stdout, /rules tried, none hides it$/m)
  assert.match(stdout, /rules tried, one hides it$/m)
  assert.match(stdout, /^each rule with its answer: backporch explain apps\/web 1$/m)
})

test('an annotation that only the live object has hides nothing, and explain says so', async () => {
  const world = context()
  world.edit(WEB, 'metadata.annotations["backporch.dev/mode"]', 'Off')
  world.edit(WEB, 'metadata.annotations["backporch.dev/reason"]', 'hidden')
  const { stdout } = await runInWorld(world, ['explain', 'apps/web', 'deployment/web'])
  assert.match(stdout, /^[1-3] {2}Deployment shop\/web {2}spec\.replicas {2}\(modified\)$/m)
  assert.match(
    stdout,
    /^ {3}note {4}backporch\.dev\/mode counts with its value in git, not with the live one$/m,
  )
})

test('explain describes a preset and lists the available ones', async () => {
  const world = context()
  assert.match(
    (await runInWorld(world, ['explain', 'preset:hpa'])).stdout,
    /^preset:hpa: .*\n.*\nsee https:\/\//,
  )
  const unknown = await runInWorld(world, ['explain', 'preset:autoscaler'])
  assert.equal(unknown.code, 2)
  assert.match(unknown.stderr, /presets are .*\bhpa\b/)
})

test('text is wrapped to the terminal width, except for longer words', () => {
  assert.deepEqual(wrapText('  a ', 'bb ccc dddddddddd e', 9), [
    '  a bb',
    '    ccc',
    '    dddddddddd',
    '    e',
  ])
})

test('ignore --list shows each rule with its place, expiry and hits', async () => {
  const world = context()
  await world.plan()
  const { stdout } = await runInWorld(world, ['ignore', '--list'])
  const rows = stdout
    .trimEnd()
    .split('\n')
    .map((line) => line.split(/ {3,}/))
  assert.deepEqual(rows, [
    ['WHERE', 'TARGET', 'FIELDS', 'REASON', 'EXPIRES', 'LAST-MATCHED', 'HITS'],
    [
      '.drift/policy.yaml:8',
      'Service',
      '/spec/replicas',
      'KEDA scales shop',
      '2026-12-31',
      '-',
      '-',
    ],
    [
      '.drift/policy.yaml:9',
      'with app=web',
      'spec.template.spec.containers[name=*].env',
      'ops sets colours',
      '-',
      'now',
      '1',
    ],
    ['.drift/policy.yaml:10', 'old', 'everything', 'trial', '2026-10-01 (expired)', '-', '-'],
    [
      'apps/web/Kptfile:7',
      'every object of apps/web',
      'metadata.annotations["ops/*"]',
      'notes of operations',
      '-',
      'never',
      '0',
    ],
    [
      'apps/web/deployment.yaml:8',
      'apps/Deployment/shop/web',
      'spec.paused',
      'canary tool',
      '-',
      'never',
      '0',
    ],
  ])
  const { stdout: document } = await runInWorld(world, ['ignore', '--list', '-o', 'json'])
  const list: { kind: string; items: { state: string }[] } = JSON.parse(document)
  assert.deepEqual(
    [list.kind, list.items.map(({ state }) => state).join()],
    ['IgnoreRuleList', 'Untried,Matching,Expired,Unmatched,Unmatched'],
  )
})

test('ignore --list covers the whole repository, and output formats need --list', async () => {
  for (const [argv, text] of [
    [['apps/web', '--list'], /ignore --list takes no package/],
    [['--list', '--print'], /'--list' cannot be used with option '--print'/],
    [['apps/web', '1', '-m', 'why', '-o', 'json'], /fix: remove it, or add --list/],
  ] as const) {
    const { code, stdout, stderr } = await runInWorld(context(), ['ignore', ...argv])
    assert.deepEqual([code, stdout], [2, ''])
    assert.match(stderr, text)
  }
})

test('status reports rules that no longer match anything', async () => {
  const world = context()
  await world.plan()
  const { stderr } = await runInWorld(world, ['status'])
  assert.match(
    stderr,
    /^note: the ignore rule at \.drift\/policy\.yaml:10 ended on 2026-10-01 and no longer matches anything$/m,
  )
  assert.doesNotMatch((await runInWorld(world, ['status', '-q'])).stderr, /ignore rule/)
})

test('-o markdown names the ignore rules that have ended, and -o json has them as notes', async () => {
  const world = context()
  await world.plan()
  for (const command of ['status', 'diff', 'scan']) {
    const { stdout } = await runInWorld(world, [command, '-o', 'markdown'])
    assert.match(
      stdout,
      /### Ignore rules that match nothing\n\n- the ignore rule at `\.drift\/policy\.yaml:10` ended on `2026-10-01` and no longer matches/,
      command,
    )
    const { notes } = JSON.parse((await runInWorld(world, [command, '-o', 'json'])).stdout)
    assert.deepEqual(
      notes.map(({ cause }: { cause: string }) => cause),
      ['rule-hides-nothing'],
      command,
    )
  }
})

test('an invalid annotation hides nothing and is reported with its line', async () => {
  const world = context()
  world.repository.commitByHand('main', {
    'apps/web/Kptfile': `${KPTFILE}  annotations:\n    backporch.dev/ignore: data..x\n`,
  })
  const { code, stderr } = await runInWorld(world, ['diff'])
  assert.equal(code, 1)
  assert.match(
    stderr,
    /^note: apps\/web\/Kptfile:6: backporch\.dev\/ignore: wanted a field name at character 6 of "data\.\.x"; it hides nothing$/m,
  )
})

test('ignore --print prints a policy that hides the named change once committed', async () => {
  const world = context()
  const { code, stdout, stderr } = await runInWorld(world, [
    'ignore',
    'apps/web',
    '1',
    '--print',
    '-m',
    'KEDA trial',
    '--for',
    '30d',
  ])
  assert.equal(code, 0, stderr)
  assert.match(stdout, /expires: "2026-12-21"\n/)
  world.repository.commitByHand('main', { '.drift/printed.yaml': stdout })
  const after = await runInWorld(world, ['diff', '--show-ignored'])
  assert.deepEqual(
    [after.code, /Ignored: Deployment shop\/web spec\.replicas: KEDA trial/.test(after.stdout)],
    [0, true],
  )
})

test('ignore proposes the rule on a branch, and the line is hidden once that is merged', async () => {
  const world = context()
  const before = new Map(world.repository.branches)
  const argv = ['ignore', 'apps/web', '1', '-m', 'KEDA trial', '--for', '30d']
  const dry = await runInWorld(world, [...argv, '--dry-run'])
  assert.equal(dry.code, 0, dry.stderr)
  assert.match(dry.stdout, /would be proposed:\n(?:.*\n)*\+ {4}reason: KEDA trial\n/)
  assert.deepEqual(world.repository.branches, before)

  const { code, stdout, stderr } = await runInWorld(world, argv)
  assert.equal(code, 0, stderr)
  const [, branch = ''] =
    /proposed: (drift\/ignore-[0-9a-f]{8})\n {2}edits \.drift\/policy\.yaml\n/.exec(stdout) ?? []
  assert.deepEqual(
    world.repository
      .paths(branch)
      .filter(
        (path) => world.repository.text(branch, path) !== world.repository.text('main', path),
      ),
    ['.drift/policy.yaml'],
  )
  assert.match(
    stdout,
    /^ {2}next: review it, then merge it into main; the rule holds from then on$/m,
  )
  // In somebody's clone the command is known.
  const clone = await runInWorld(world, argv, { cloneState: 'clone' })
  assert.match(
    clone.stdout,
    new RegExp(
      `^  next: review it, then merge it into main: git merge ${branch}; the rule holds from then on$`,
      'm',
    ),
  )
  // The same again is the same branch.
  const after = new Map(world.repository.branches)
  assert.match((await runInWorld(world, argv)).stdout, new RegExp(`proposed: ${branch}\n`))
  assert.deepEqual(world.repository.branches, after)
  world.repository.commitByHand('main', {
    '.drift/policy.yaml': world.repository.text(branch, '.drift/policy.yaml') ?? null,
  })
  const shown = await runInWorld(world, ['diff', '--show-ignored'])
  assert.deepEqual(
    [shown.code, /Ignored: Deployment shop\/web spec\.replicas: KEDA trial/.test(shown.stdout)],
    [0, true],
  )
})

test('on a forge, ignore opens one pull request that states its origin, and reuses it', async () => {
  const world = context()
  const forge = new MemoryForge(world.repository)
  world.forge = forge
  const argv = ['ignore', 'apps/web', '1', '-m', 'KEDA trial']
  const { code, stdout, stderr } = await runInWorld(world, argv)
  assert.equal(code, 0, stderr)
  assert.match(stderr, /check warns of a rule without an end/)
  assert.match(stdout, /proposed: .*1/)
  assert.match(stdout, /^ {2}next: review it, then merge it; the rule holds from then on$/m)
  const again = await runInWorld(world, argv)
  assert.equal(again.stdout.split('\n')[0], stdout.split('\n')[0])
  const [opened, ...others] = forge.proposals
  assert.deepEqual(
    [others.length, opened?.title],
    [0, 'chore(drift): ignore Deployment/web spec.replicas'],
  )
  assert.match(opened?.body ?? '', /requested on the command line/)
})

const REFUSED: readonly (readonly [argv: readonly string[], error: RegExp])[] = [
  [['1'], /the rule has no reason/],
  [['1', '--print'], /the rule has no reason/],
  [['1', '--print', '-m', ' '], /the rule has no reason/],
  [['9', '--print', '-m', 'why'], /^error BP1011: /],
  [
    ['1', '--print', '-m', 'why', '--for', '30d', '--expires', '2026-12-31'],
    /--for and --expires are both set/,
  ],
  [['1', '--print', '-m', 'why', '--expires', '2026-02-31'], /wanted a date like 2026-12-31/],
]

for (const [argv, error] of REFUSED) {
  test(`rejects ignore ${argv.join(' ')}`, async () => {
    const { code, stdout, stderr } = await runInWorld(context(), ['ignore', 'apps/web', ...argv])
    assert.deepEqual([code, stdout], [2, ''])
    assert.match(stderr, error)
  })
}
