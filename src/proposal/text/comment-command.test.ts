import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from '../../../test/seeds/fast-check.ts'
import { COMMANDS, parseCommentCommands } from './comment-command.ts'

const PLAIN = { selectors: [], duration: undefined, reason: undefined }

const UNDERSTOOD: readonly (readonly [body: string, ...commands: object[]])[] = [
  ['/adopt', { ...PLAIN, verb: 'adopt' }],
  ['/drift adopt 1,3', { ...PLAIN, verb: 'adopt', selectors: ['1', '3'] }],
  ['/adopt 1, 3', { ...PLAIN, verb: 'adopt', selectors: ['1', '3'] }],
  [
    '/adopt 2:spec.ports[name="a,b"]',
    { ...PLAIN, verb: 'adopt', selectors: ['2:spec.ports[name="a,b"]'] },
  ],
  ['/ADOPT all', { ...PLAIN, verb: 'adopt' }],
  ['/release 2:spec.replicas', { ...PLAIN, verb: 'release', selectors: ['2:spec.replicas'] }],
  ['/restore deployment/web 4', { ...PLAIN, verb: 'restore', selectors: ['deployment/web', '4'] }],
  ['/adopt 1 -- peak season', { ...PLAIN, verb: 'adopt', selectors: ['1'], reason: 'peak season' }],
  [
    '/adopt 1 --via everywhere -- as in the base',
    { ...PLAIN, verb: 'adopt', selectors: ['1'], via: 'everywhere', reason: 'as in the base' },
  ],
  [
    '/release --via=image:nginx 2',
    { ...PLAIN, verb: 'release', selectors: ['2'], via: 'image:nginx' },
  ],
  ['/snooze 7d', { ...PLAIN, verb: 'snooze', duration: 604_800 }],
  [
    '/ignore 1:spec.replicas --for 30d -- KEDA trial',
    { verb: 'ignore', selectors: ['1:spec.replicas'], duration: 2_592_000, reason: 'KEDA trial' },
  ],
  ['/exclude prod-us-*', { ...PLAIN, verb: 'exclude', selectors: ['prod-us-*'] }],
  ['/snooze 1d12h', { ...PLAIN, verb: 'snooze', duration: 129_600 }],
  ['/snooze 2W', { ...PLAIN, verb: 'snooze', duration: 1_209_600 }],
  ['/show ignores', { ...PLAIN, verb: 'show', selectors: ['ignores'] }],
  ['/drift', { ...PLAIN, verb: 'help' }],
  [
    'looks right to me\r\n/adopt 1\r\n/restore 2\r\n',
    { ...PLAIN, verb: 'adopt', selectors: ['1'] },
    { ...PLAIN, verb: 'restore', selectors: ['2'] },
  ],
]

for (const [body, ...commands] of UNDERSTOOD) {
  test(`parses a command: ${JSON.stringify(body)}`, () => {
    assert.deepEqual(parseCommentCommands(body), { commands, refused: [] })
  })
}

for (const body of [
  '> /adopt 1',
  'please /adopt',
  '    /adopt',
  '```\n/adopt\n```',
  '~~~~\n```\n/adopt\n~~~~\n',
  '```\n/adopt',
  '/approve',
  '/lgtm cancel',
  '/adopt/1',
  '//adopt',
  '',
]) {
  test(`ignores text that is no command: ${JSON.stringify(body)}`, () => {
    assert.deepEqual(parseCommentCommands(body), { commands: [], refused: [] })
  })
}

for (const [body, why] of [
  ['/drift merge', /no command merge/],
  ['/snooze', /a time like/],
  ['/snooze 7d 8d', /a time like/],
  ['/snooze 99999w', /a time like/],
  ['/ignore 1', /needs a reason/],
  ['/restore 1 --via everywhere', /\/restore takes no --via/],
  ['/adopt 1 --via', /the name of a place/],
  ['/adopt 1 --via=', /the name of a place/],
  ['/ignore -- because', /what to ignore/],
  ['/ignore 1 --for soon -- because', /--for with a time/],
  ['/adopt 1 --force', /no flag --force/],
  ['/recheck 1', /takes nothing more/],
  ['/show me', /\/show ignores/],
  ['/exclude a b', /one name of a cluster/],
] as const) {
  test(`rejects with the correct form: ${body}`, () => {
    const { commands, refused } = parseCommentCommands(body)
    assert.deepEqual(commands, [])
    assert.match(refused[0]?.why ?? '', why)
    assert.equal(refused[0]?.line, body)
  })
}

test('a closed fence ends the code block', () => {
  assert.equal(parseCommentCommands('```yaml\n/adopt 1\n```\n/adopt 2').commands.length, 1)
})

for (const [verb, { example }] of Object.entries(COMMANDS))
  test(`the help example of /${verb} parses as this command`, () => {
    const { commands, refused } = parseCommentCommands(example)
    assert.deepEqual([commands.map((command) => command.verb), refused], [[verb], []])
  })

test('a comment may hold ten commands; the eleventh is rejected', () => {
  const { commands, refused } = parseCommentCommands('/adopt 1\n'.repeat(12))
  assert.deepEqual([commands.length, refused.length], [10, 2])
})

test('any text parses, and no reason or line has a line break or a hidden character', () => {
  const word = fc.constantFrom(
    '/adopt',
    '/drift',
    ...Object.keys(COMMANDS),
    '--',
    '--for',
    '7d',
    '1,2',
    '`',
    '```',
    '@all',
    '\u202e',
    '\u001b[31m',
    '\n',
    '> ',
  )
  fc.assert(
    fc.property(fc.array(fc.oneof(word, fc.string()), { maxLength: 30 }), (words) => {
      const { commands, refused } = parseCommentCommands(words.join(' '))
      for (const text of [
        ...commands.map(({ reason }) => reason ?? ''),
        ...refused.map(({ line }) => line),
      ]) {
        assert.doesNotMatch(text, /[\p{Cc}\u202e]/u)
      }
      assert.ok(commands.length <= 10)
    }),
  )
})
