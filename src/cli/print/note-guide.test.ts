import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { NOTE_CAUSES } from '@backporch/kyaml/note'
import { runInWorld } from '../../../test/fakes/cli-world.ts'
import { TurnWorld } from '../../../test/fakes/turn-world.ts'

test('explain describes every note cause and what to do about it', async () => {
  for (const cause of Object.keys(NOTE_CAUSES)) {
    const { code, stdout } = await runInWorld(new TurnWorld(), ['explain', `note:${cause}`])
    assert.deepEqual(
      [code, stdout.startsWith(`note ${cause}: it is about `), /^fix: \w/m.test(stdout)],
      [0, true, true],
      cause,
    )
  }
  const bare = await runInWorld(new TurnWorld(), ['explain', 'secret-in-git'])
  assert.match(
    bare.stdout,
    /^note secret-in-git: it is about a Secret with its values in git in plain text\nfix: encrypt /,
  )
  const none = await runInWorld(new TurnWorld(), ['explain', 'note:nothing'])
  assert.deepEqual([none.code, /causes are adoption-not-checked, /.test(none.stderr)], [2, true])
})

test('with -v a note ends with its cause, which explain accepts', async () => {
  const world = new TurnWorld()
  world.repository.commitByHand('main', {
    'apps/web/secret.yaml':
      'apiVersion: v1\nkind: Secret\nmetadata: {name: s, namespace: shop}\nstringData: {password: hunter2}\n',
  })
  const { stderr } = await runInWorld(world, ['diff', '-v'])
  const cause = /^note: .* \[([a-z-]+)\]$/m.exec(stderr)?.[1] ?? ''
  assert.equal(cause, 'secret-in-git')
  assert.equal((await runInWorld(world, ['explain', cause])).code, 0)
})

test('every note cause is used in the source', () => {
  const root = new URL('../..', import.meta.url).pathname
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter(
    (path) =>
      path.endsWith('.ts') && !path.endsWith('.test.ts') && !/(^|\/)note(-guide)?\.ts$/.test(path),
  )
  const text = files.map((path) => readFileSync(join(root, path), 'utf8')).join('')
  // The reader of YAML makes the name of its causes from a word.
  const named = (cause: string): boolean =>
    text.includes(`'${cause}'`) || (cause.startsWith('yaml-') && text.includes('`yaml-${'))
  assert.deepEqual(
    Object.keys(NOTE_CAUSES).filter((cause) => !named(cause)),
    [],
  )
})
