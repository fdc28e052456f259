/** What `explain` prints about hidden values is in the guide, with what a policy can do about it; and harmless values are shown by every command. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import type { Json } from '@backporch/kyaml/json'
import { isLikelySecret } from '@backporch/kyaml/redaction'
import { formatDocument } from '../../src/record/write-document.ts'
import { runInWorld } from '../fakes/cli-world.ts'
import { appliedBy, path } from '../fakes/live-object.ts'
import { KPTFILE, TurnWorld, WEB, WEB_CONFIG } from '../fakes/turn-world.ts'
import { base64, Draw } from './credential-forms.ts'
import { HARMLESS } from './credential-places.ts'

const GUIDE = readFileSync(new URL('../../docs/guides/secrets.md', import.meta.url), 'utf8')
const TOKEN = `ghp_${new Draw('hidden reasons').text(36)}`
const RANDOM = new Draw('a random word').text(40)
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration'

/** Reasons by the first cell of their row, and whether `show` helps. */
function reasonsOfTheGuide(): readonly {
  readonly reason: RegExp
  readonly text: string
  readonly canShow: boolean
}[] {
  const rows = tableBelow('### Reasons')
  return rows.flatMap(([printed = '', , show = '']) =>
    [...printed.matchAll(/`([^`]+)`/g)].map(([, text = '']) => {
      const pattern = text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replaceAll('…', '.+')
      return { text, reason: new RegExp(`^${pattern}$`), canShow: show.startsWith('yes') }
    }),
  )
}

function tableBelow(heading: string): readonly (readonly string[])[] {
  const [, below = ''] = GUIDE.split(`${heading}\n`)
  const [table = ''] = /(?:^\|.*\n)+/m.exec(below) ?? []
  const [, , ...rows] = table.split('\n').filter((line) => line !== '')
  return rows.map((row) =>
    row
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  )
}

const PLACES: readonly (readonly [
  object: string,
  location: string,
  value: Json,
  wanted: string,
])[] = [
  [WEB_CONFIG, 'data.password', 'hunter2', 'the name … says that it is a credential'],
  [
    WEB,
    'spec.list',
    [{ value: 'x4711', name: `${TOKEN}-password` }],
    'its name says that it is a credential',
  ],
  [
    WEB_CONFIG,
    'data["a.ini"]',
    'password = hunter2\n',
    'a name in it says that its value is a credential',
  ],
  [
    WEB_CONFIG,
    'data.form',
    TOKEN,
    'it is or has a token, a key, an address, a header, a command or a line of a file with a credential',
  ],
  [
    WEB_CONFIG,
    'data.basic',
    `Basic ${base64('ada:hunter2')}`,
    'it has a user with a password in base64',
  ],
  [WEB_CONFIG, 'data.random', RANDOM, 'it has a long random word'],
  [
    WEB_CONFIG,
    'data.issued',
    `dapi${'0123456789abcdef'.repeat(2)}`,
    'it has a token of a known issuer',
  ],
  [
    WEB_CONFIG,
    'data.manifest',
    `kind: Secret\ndata:\n  color: ${base64('blue')}\n`,
    'it has the manifest of a Secret',
  ],
  [WEB_CONFIG, 'data.encoded', base64('password=hunter2'), 'in another encoding, …'],
  [WEB_CONFIG, `data["${TOKEN}"]`, 'blue', 'a part of its location is a credential'],
  [WEB, 'spec.map', { [TOKEN]: 'blue' }, 'a name in it is a credential'],
  [
    WEB,
    'spec.manifest',
    { kind: 'Secret', data: { color: base64('blue') } },
    'it is inside of a Secret',
  ],
  [
    WEB,
    'spec.template.metadata.annotations',
    { [LAST_APPLIED]: '{}' },
    'it is a copy of the whole object',
  ],
  [
    '/Secret/shop/db',
    'data.color',
    base64('blue'),
    'of a Secret only type and known labels, annotations and finalizers are shown',
  ],
  [WEB_CONFIG, 'data.mine', 'blue', '… hides it'],
]

/** Values to try under the names of a row, by what its second cell says is hidden. */
const TRIED: readonly (readonly [
  says: RegExp,
  hidden: readonly string[],
  shown: readonly string[],
])[] = [
  [/^every value except a flag or a reference$/, ['hunter2', 'word'], ['true', '$(OTHER)']],
  [/^every value except one word/, ['session=x4711'], ['simple', 'RBAC']],
  [/^`user:password`$/, ['ada:hunter2'], ['app:8080', 'word']],
  [/^every value except a community of BGP/, ['public', 'hunter2'], ['65000:100', 'no-export']],
  [
    /^values that look random or like a chosen password/,
    ['Tiger4711_x', 'Zk3vQm9XbT2LrY7wPd5N'],
    ['web', 'shop-2'],
  ],
  [/^none, if the value is a number$/, ['hunter2'], ['4096', '90k']],
  [/^none$/, [], ['hunter2', 'word']],
]

for (const [names = '', says = ''] of tableBelow('### Names')) {
  const row = TRIED.find(([pattern]) => pattern.test(says))
  test(`the guide says what is hidden under ${names}`, () => {
    assert.ok(row !== undefined, says)
    const [, hidden, shown] = row
    for (const [, name = ''] of names.matchAll(/`([^`]+)`/g)) {
      const [key = '', text] = name.split('=')
      if (text !== undefined)
        assert.equal(isLikelySecret(path('data.text'), `${name}\n`), false, name)
      else {
        assert.deepEqual(
          hidden.filter((value) => !isLikelySecret(path(`data["${key}"]`), value)),
          [],
          name,
        )
        assert.deepEqual(
          shown.filter((value) => isLikelySecret(path(`data["${key}"]`), value)),
          [],
          name,
        )
      }
    }
  })
}

async function explained(
  location: string,
  object: string,
  value: Json,
): Promise<readonly string[]> {
  const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'db', namespace: 'shop' } }
  const files = { 'apps/web/Kptfile': KPTFILE, 'apps/web/secret.yaml': formatDocument(secret) }
  const isOfSecret = object.startsWith('/Secret')
  const world = new TurnWorld(
    '\n  mode: Propose\n  hide:\n  - {paths: [data.mine]}',
    isOfSecret ? files : undefined,
  )
  if (isOfSecret) world.cluster.put(appliedBy(world.syncer, secret))
  world.edit(object, location, value)
  const { stdout } = await runInWorld(world, ['explain', 'apps/web'])
  // Long lines are wrapped at words.
  return [
    ...stdout.replace(/\n {11}(?=\S)/g, ' ').matchAll(/^ {3}value {3}not shown: (.*)$/gm),
  ].map(([, why = '']) => why)
}

for (const [object, location, value, wanted] of PLACES)
  test(`the guide names why explain hides ${wanted}`, async () => {
    const [why = 'nothing', ...more] = await explained(location, object, value)
    assert.deepEqual(more, [])
    const [reason, hint] = why.split('; ')
    const row = reasonsOfTheGuide().find((one) => one.reason.test(reason ?? ''))
    assert.equal(row?.text, wanted, why)
    if (wanted !== '… hides it')
      assert.equal(hint, row?.canShow === true ? 'a policy can show it with spec.show' : undefined)
  })

test('diff and explain show 60 harmless values', async () => {
  const world = new TurnWorld('\n  mode: Propose')
  for (const [location, value] of HARMLESS)
    world.edit(location.startsWith('data') ? WEB_CONFIG : WEB, location, value)
  const { stdout } = await runInWorld(world, ['diff', '-o', 'json'])
  const changes: readonly {
    readonly redacted?: boolean
    readonly path: string
    readonly reason: string
  }[] = JSON.parse(stdout).items[0].spec.changes
  assert.ok(changes.length >= HARMLESS.length - 2, `${changes.length}`)
  assert.deepEqual(
    changes.filter(({ redacted }) => redacted === true),
    [],
  )
  assert.doesNotMatch((await runInWorld(world, ['explain', 'apps/web'])).stdout, /not shown/)
})
