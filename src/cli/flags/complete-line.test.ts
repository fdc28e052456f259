import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runInWorld } from '../../../test/fakes/cli-world.ts'
import { TurnWorld } from '../../../test/fakes/turn-world.ts'

const NAMES = {
  packages: ['apps/db', 'apps/web', 'infra/dns', '.', '$(touch pwned)', 'with space', '-rf'],
  clusters: ['edge-07', 'prod-eu-1'],
}

const requested: string[] = []

async function complete(...words: string[]): Promise<string[]> {
  requested.length = 0
  const { code, stdout } = await runInWorld(new TurnWorld(), ['__complete', ...words], {
    localNames: async (kind, path) => {
      requested.push(path)
      return NAMES[kind]
    },
  })
  assert.equal(code, 0)
  return stdout.split('\n').flatMap((line) => (line === '' ? [] : [line.split('\t')[0] ?? '']))
}

const GOLDEN: readonly (readonly [words: readonly string[], wanted: readonly string[]])[] = [
  [['re'], ['report', 'render', 'restore', 'release', 'reject']],
  [
    ['get', ''],
    ['packages', 'drifts'],
  ],
  [['get', 'd'], ['drifts']],
  [
    ['status', '--p'],
    ['--package', '--path', '--partial'],
  ],
  // What the earlier script could not do: an argument before a flag.
  [['diff', 'apps/web', '--sh'], ['--show-ignored']],
  [['get', 'drifts', 'apps/web', '--si'], ['--since']],
  [['status', '-n', 'get', '--st'], ['--state']],
  [
    ['diff', 'apps/'],
    ['apps/db', 'apps/web'],
  ],
  [['diff', 'apps/db', 'apps/'], ['apps/web']],
  [['diff', '--package', 'apps/db', 'apps/'], ['apps/web']],
  [
    ['diff', ''],
    ['apps/db', 'apps/web', 'infra/dns', '.'],
  ],
  [['adopt', 'apps/web', ''], []],
  [['approve', 'i'], ['infra/dns']],
  [['explain', 'apps/w'], ['apps/web']],
  [['diff', '--package', 'infra'], ['infra/dns']],
  [['diff', '--package=infra'], ['--package=infra/dns']],
  [['diff', '--package', '=', 'infra'], ['infra/dns']],
  [
    ['diff', '--package', '='],
    ['apps/db', 'apps/web', 'infra/dns', '.'],
  ],
  [
    ['status', '--cluster', ''],
    ['edge-07', 'prod-eu-1'],
  ],
  [['diff', '--cluster=p'], ['--cluster=prod-eu-1']],
  [
    ['status', '--color', ''],
    ['auto', 'always', 'never'],
  ],
  [
    ['status', '-o', 'js'],
    ['json', 'jsonl'],
  ],
  [
    ['status', '--color=a'],
    ['--color=auto', '--color=always'],
  ],
  [['status', '--risk', 'c'], ['critical']],
  [['status', '--risk', 'critical,h'], ['critical,high']],
  [
    ['status', '--risk', 'critical,'],
    ['critical,high', 'critical,medium', 'critical,low'],
  ],
  [['status', '--risk=critical,h'], ['--risk=critical,high']],
  [['status', '--state', 'Dri'], ['Drifted']],
  [['status', '-n', ''], []],
  [['status', '--', '-'], []],
  [['diff', '--repo', ''], [':files']],
  [['diff', '--live', 'x'], [':files']],
  [
    ['completion', ''],
    ['bash', 'zsh', 'fish'],
  ],
  [['completion', 'bash', ''], []],
  [['nonsense', ''], []],
  [['version', ''], []],
]

for (const [words, wanted] of GOLDEN) {
  test(`completes ${words.map((word) => JSON.stringify(word)).join(' ')}`, async () =>
    assert.deepEqual(await complete(...words), wanted))
}

test('offers every visible flag of a command and no hidden one', async () => {
  const flags = await complete('diff', 'apps/web', '-')
  for (const flag of [
    '--namespace',
    '--selector',
    '--watch',
    '--verbose',
    '--no-exit-code',
    '--help',
  ])
    assert.ok(flags.includes(flag), flag)
  assert.ok(!flags.includes('--exit-code'))
})

test('reads names from the repository on the line, and from no remote repository', async () => {
  await complete('diff', '--repo', '../other', '')
  assert.deepEqual(requested, ['../other'])
  await complete('diff', '--repo=../other', '')
  assert.deepEqual(requested, ['../other'])
  assert.deepEqual(await complete('diff', '--repo', 'https://example.com/deploy', ''), [])
  assert.deepEqual(requested, [])
})
