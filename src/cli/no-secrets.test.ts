import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Failure } from '@backporch/kyaml/failure'
import { findValueAt } from '@backporch/kyaml/field'
import { getResourceKey, readResource } from '@backporch/kyaml/resource'
import { runInWorld } from '../../test/fakes/cli-world.ts'
import { editedBy, path, withMetadata } from '../../test/fakes/live-object.ts'
import { MemoryForge } from '../../test/fakes/memory-forge.ts'
import {
  assertSilent,
  base64,
  commitHead,
  inPath,
  worldWithSecrets,
} from '../../test/fakes/secret-world.ts'
import { TurnWorld, WEB, WEB_CONFIG } from '../../test/fakes/turn-world.ts'
import { formsInUse, mustHideForms } from '../../test/hostile/credential-forms.ts'
import { placedForms, withoutSecret } from '../../test/hostile/placed-forms.ts'
import { testEachSeed } from '../../test/seeds/seeds.ts'
import { formatDocument } from '../record/write-document.ts'

const COMMANDS: readonly (readonly string[])[] = [
  ['diff'],
  ['diff', '-o', 'wide', '--show-ignored'],
  ['diff', '-o', 'json'],
  ['diff', '-o', 'yaml'],
  ['diff', '-o', 'name'],
  ['diff', '-o', 'jsonl'],
  ['diff', '-o', 'markdown'],
  ['diff', '-o', 'github'],
  ['diff', '-o', 'sarif'],
  ['diff', '--yaml'],
  ...['table', 'json', 'yaml', 'jsonl', 'markdown'].map((output) => [
    'preview',
    '--head',
    'change',
    '-o',
    output,
  ]),
  ['scan', '--dry-run', '-o', 'sarif'],
  ['explain', 'apps/web'],
  ['explain', 'apps/web', 'all'],
  ['ignore', 'apps/web', '--print', '-m', 'why'],
  ['ignore', 'apps/web', '1', '--print', '-m', 'why'],
  ['scan', '--dry-run', '-o', 'json'],
  ['scan'],
  ['get', 'drifts', '-o', 'wide'],
  ['get', 'drifts', '-o', 'json'],
  ['status', '-o', 'wide'],
  ['status', '-o', 'yaml'],
  ['status', '-o', 'markdown'],
  ['report'],
  ['ignore', 'apps/web', '1', '--dry-run', '-m', 'why'],
  ['scan', '--dry-run', '-o', 'yaml'],
  ['adopt', 'apps/web', '--dry-run', '-o', 'json'],
  ['release', 'apps/web', '--dry-run', '-o', 'yaml'],
  ['ignore', 'apps/web', '1', '-m', 'why'],
  ['status', '-o', 'json'],
  ['get', 'drifts', '-o', 'github'],
  ['get', 'drifts', '-o', 'sarif'],
  ['get', 'drifts', '-o', 'jsonl'],
  ['adopt', 'apps/web', '-m', 'why'],
  ['adopt', 'apps/web', '1'],
  ['release', 'apps/web', '-m', 'why'],
  ['restore', 'apps/web'],
  ['approve', 'apps/web', '--yes'],
  ['scan'],
  ['history', '-o', 'wide'],
  ['history', '-o', 'json'],
  ['history', '-o', 'yaml'],
  ['history', '-o', 'name'],
  ['get', 'packages', '-o', 'json'],
  ['ignore', '--list', '-o', 'json'],
]

for (const metadataOnly of [false, true]) {
  test(`no command prints or writes a credential (${metadataOnly ? 'Secrets as metadata only' : 'Secrets in full'})`, async () => {
    const world = worldWithSecrets(metadataOnly)
    commitHead(world)
    const authored = world.repository.everything()
    const codes: number[] = []
    for (const argv of COMMANDS) {
      const { stdout, stderr, code } = await runInWorld(world, [
        ...argv,
        ...(argv[0] === 'diff' || argv[0] === 'adopt' ? ['--debug'] : []),
      ])
      codes.push(code)
      assertSilent(stdout, `stdout of ${argv.join(' ')}`)
      assertSilent(stderr, `stderr of ${argv.join(' ')}`)
    }
    // What the author himself put into the repository is not ours to hide.
    const written = world.repository.everything().replace(authored, '')
    const own = written.split('\n').filter((line) => !authored.includes(line))
    assertSilent(own.join('\n'), 'git')
    assert.ok(own.length > 100, 'nothing was written, so nothing was shown')
    assert.ok(codes.includes(1) && codes.filter((code) => code === 2).length <= 4, codes.join())
  })
}

test('a change with a credential in its path is selected by the printed path, and its release lasts', async () => {
  const world = new TurnWorld()
  world.edit(WEB_CONFIG, `metadata.finalizers[="${inPath('one')}"]`, inPath('one'))
  world.edit(WEB_CONFIG, `metadata.finalizers[="${inPath('two')}"]`, inPath('two'))
  const { stdout } = await runInWorld(world, ['diff', '-o', 'json'])
  const paths: string[] = JSON.parse(stdout).items[0].spec.changes.map(
    ({ path }: { path: string }) => path,
  )
  assert.equal(new Set(paths).size, 2)
  for (const path of paths)
    assert.match(path, /^metadata\.finalizers\[=hmac-sha256:[0-9a-f]{16}\]$/)

  const released = await runInWorld(world, ['release', 'apps/web', `1:${paths[0]}`])
  assert.equal(released.code, 0, released.stderr)
  const open = await runInWorld(world, ['get', 'drifts', '-o', 'json'])
  const plan = JSON.parse(open.stdout).items[0].spec.changes.map(
    ({ resolution }: { resolution: string }) => resolution,
  )
  assert.deepEqual(plan, ['Release', 'Restore'])
  assert.equal((await runInWorld(world, ['approve', '--yes'])).code, 0)
  const after = await runInWorld(world, ['diff', '--show-ignored'])
  assert.match(
    after.stdout,
    /Released: ConfigMap shop\/web metadata\.finalizers\[=credential:redacted\]/,
  )

  const unknown = await runInWorld(world, [
    'restore',
    'apps/web',
    `1:metadata.finalizers[="${inPath('three')}"]`,
  ])
  assert.match(
    unknown.stderr,
    /^error BP1011: the selector with the credential in it names no open change$/m,
  )
  for (const run of [released, open, after, unknown])
    assertSilent(run.stdout + run.stderr, 'the command')
  assertSilent(world.repository.everything(), 'git')
})

test('no credential reaches a diff program or the summary of a step', async () => {
  for (const metadataOnly of [false, true]) {
    const world = worldWithSecrets(metadataOnly)
    let files = 0
    await runInWorld(world, ['diff', '--yaml'], {
      env: { BACKPORCH_EXTERNAL_DIFF: 'diff' },
      externalDiff: (_program, texts) => {
        files += texts.length
        for (const { name, git, live } of texts) assertSilent(git + live, name)
      },
    })
    assert.ok(files >= 3)
    let summary = ''
    const appendText = (_path: string, text: string): void => {
      summary += text
    }
    await runInWorld(world, ['diff', '-o', 'github'], {
      env: { GITHUB_STEP_SUMMARY: '/summary' },
      appendText,
    })
    assertSilent(summary, 'step summary')
    assert.match(summary, /hidden/)
  }
})

test('a server response that the adapter hides is not printed', async () => {
  const world = worldWithSecrets()
  world.cluster.outage = new Failure({
    code: 'BP3006',
    what: 'cannot patch',
    why: 'timeout',
    remedy: 'try again',
    cause: new Error('body: c4n4ry-err-00'),
  })
  for (const argv of [['diff'], ['diff', '-o', 'json'], ['scan']]) {
    const { stdout, stderr } = await runInWorld(world, argv)
    assertSilent(stdout + stderr, argv.join(' '))
  }
})

test('a pipe gets RFC 3339 and no colours, a terminal gets ages and colours', async () => {
  const world = new TurnWorld()
  world.edit(WEB, 'spec.replicas', 5)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colours
  const colours = /\u001b\[/
  const pipe = await runInWorld(world, ['diff'])
  assert.equal(pipe.code, 1)
  assert.match(pipe.stdout, /2026-11-21T09:30:00Z/)
  assert.doesNotMatch(pipe.stdout, colours)
  const terminal = await runInWorld(world, ['diff'], { isTTY: true })
  assert.match(terminal.stdout, /3\dm ago/)
  assert.match(terminal.stdout, colours)
  assert.doesNotMatch(
    (await runInWorld(world, ['diff'], { isTTY: true, env: { NO_COLOR: '1' } })).stdout,
    colours,
  )
  assert.match(
    (await runInWorld(world, ['diff'], { env: { CLICOLOR_FORCE: '1' } })).stdout,
    colours,
  )
  const ascii = await runInWorld(world, ['diff', '--ascii'])
  assert.match(ascii.stdout, /^[ -~\n]+$/)
  assert.match(ascii.stdout, /3 -> 5/)
})

test('hostile names and values add no lines or colours to any output', async () => {
  const hostile = 'a\u001b[31mred\u202e\nerror BP0000: x\n  fix: run this'
  const world = new TurnWorld()
  world.edit(WEB_CONFIG, `data[${JSON.stringify(hostile)}]`, hostile, hostile)
  world.cluster.change(WEB, (live) =>
    editedBy(hostile, withMetadata(live, {}), 'spec.replicas', hostile),
  )
  for (const argv of [
    ['diff'],
    ['diff', '--show-ignored', '-o', 'wide'],
    ['explain', 'apps/web'],
    ['ignore', 'apps/web', '--print', '-m', 'why'],
    ['scan'],
    ['get', 'drifts', '-o', 'wide'],
    ['status'],
    ['reject', '--yes', '--as', hostile, '-m', hostile],
    ['history', '-o', 'wide'],
    ['report'],
  ]) {
    const { stdout, stderr } = await runInWorld(world, argv)
    assert.doesNotMatch(
      stdout + stderr,
      // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
      /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e]/,
      argv.join(' '),
    )
    assert.doesNotMatch(stdout + stderr, /^(error BP0000| {2}fix: run this)/m, argv.join(' '))
  }
})

/** Each is a turn over 114 objects; what prints them otherwise is in COMMANDS. */
const WITH_ALL_FORMS: readonly (readonly string[])[] = [
  ['diff', '-o', 'json', '--show-ignored', '--debug'],
  ['diff', '-o', 'sarif'],
  ['diff', '--yaml'],
  ['explain', 'apps/web'],
  ['restore', 'apps/web', '--dry-run', '--debug'],
  ['scan', '--dry-run', '-o', 'json'],
  ['release', 'apps/web', '--dry-run', '-o', 'json'],
  ['scan', '-o', 'markdown', '--debug'],
  ['status', '-o', 'json'],
  ['release', 'apps/web', '-m', 'why'],
  ['restore', 'apps/web'],
  ['approve', 'apps/web', '--yes'],
  ['scan', '--debug'],
  ['history', '-o', 'json'],
]

/** Every form of a credential that there is, each in an object that drifted into it. */
function worldWithAllForms(seed: string) {
  // The world in memory has no schema that says what a password is.
  const forms = placedForms(
    [...mustHideForms(seed), ...formsInUse(seed)].filter(
      ({ passwords }) => passwords === undefined,
    ),
    'shop',
  )
  const files = Object.fromEntries(
    forms.map((form, at) => [`apps/web/form-${at}.yaml`, formatDocument(withoutSecret(form))]),
  )
  const world = new TurnWorld('{mode: Propose}', files)
  const forge = new MemoryForge(world.repository)
  world.forge = forge
  const fixed = world.repository.everything()
  for (const { object, location } of forms) {
    const read = readResource(object)
    assert.ok(!('problem' in read))
    world.edit(getResourceKey(read.id), location, findValueAt(object, path(location)) ?? null)
  }
  return { world, forge, forms, fixed }
}

/** Names of the forms that the text has, plain or encoded. */
function leaksOf(
  forms: readonly { readonly name: string; readonly needles: readonly string[] }[],
  text: string,
): string[] {
  const leaks = forms.filter(({ needles }) =>
    needles.some((needle) =>
      [
        needle,
        JSON.stringify(needle).slice(1, -1),
        base64(needle).slice(0, -4),
        Buffer.from(needle).toString('hex'),
        encodeURIComponent(needle),
      ].some((form) => text.includes(form)),
    ),
  )
  return leaks.map(({ name }) => name)
}

const AT_NO_DOOR =
  'no form of a secret is told by a command, a pull request, a comment, a status, an issue or a branch'
const IN_NO_LOG =
  'no form of a secret is in the log of the controller, at the lowest level, in either format'

testEachSeed(import.meta.filename, AT_NO_DOOR, {}, async (_t, seed) => {
  const { world, forge, forms, fixed } = worldWithAllForms(String(seed))
  const reported: string[] = []
  for (const argv of WITH_ALL_FORMS) {
    const { stdout, stderr } = await runInWorld(world, argv)
    reported.push(stdout, stderr)
    for (const { number, title, body } of forge.proposals as readonly {
      number: number
      title?: string
      body?: string
    }[])
      reported.push(`${number} ${title ?? ''} ${body ?? ''}`)
    reported.push(
      JSON.stringify([
        forge.proposals,
        forge.comments,
        [...forge.statuses.values()],
        [...forge.issues.values()],
        forge.writes,
      ]),
    )
  }
  assert.ok(forge.proposals.length > 0, 'there is a pull request')
  assert.ok(
    reported.some((text) => text.includes(`form-${forms.length - 1}`)),
    'the last form is told of',
  )
  assert.ok(world.repository.everything().length > fixed.length, 'something was written')
  const text = [...reported, world.repository.everything()].join('\n')
  assert.deepEqual(leaksOf(forms, text), [])
})

testEachSeed(import.meta.filename, IN_NO_LOG, {}, async (_t, seed) => {
  for (const format of ['json', 'text']) {
    const { world, forms } = worldWithAllForms(String(seed))
    const { listRefs } = world.repository
    const { stdout, stderr } = await runInWorld(
      world,
      ['controller', '--log-format', format, '--log-level', 'trace', '--debug'],
      {
        waits: [
          () => {
            world.repository.listRefs = () =>
              Promise.reject(new Error('credential helper said password=c4n4ry-err-00'))
          },
          () => {
            world.repository.listRefs = listRefs
          },
        ],
      },
    )
    assert.match(stderr, /proposed apps\/web in prod/)
    assert.match(stderr, /BP9001/)
    assert.deepEqual(leaksOf(forms, stdout + stderr), [])
    assertSilent(stdout + stderr, `the log as ${format}`)
  }
  const secrets = worldWithSecrets()
  const { stderr } = await runInWorld(secrets, ['controller', '--log-level', 'trace'], {
    waits: [],
  })
  assert.match(stderr, /"outcome":"proposed"/)
  assertSilent(stderr, 'the log')
})
