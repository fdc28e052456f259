/** The programs that may render, of each command: the flag, and the environment for all commands. A repository allows nothing. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { runInWorld } from '../../test/fakes/cli-world.ts'
import { InProcessRenderer } from '../../test/fakes/in-process-renderer.ts'
import { TurnWorld } from '../../test/fakes/turn-world.ts'
import type { AllowedFunctions } from './context/cli-context.ts'

async function allowedIn(
  argv: readonly string[],
  variable: string | undefined,
): Promise<readonly (readonly string[])[]> {
  const asked: AllowedFunctions[] = []
  const openRenderer = (allowed: AllowedFunctions): InProcessRenderer => {
    asked.push(allowed)
    return new InProcessRenderer()
  }
  const env = variable === undefined ? {} : { BACKPORCH_ALLOW_RENDER: variable }
  await runInWorld(new TurnWorld(), argv, { openRenderer, env })
  return asked.map(({ render = [] }) => render)
}

describe('BACKPORCH_ALLOW_RENDER', () => {
  for (const argv of [
    ['diff'],
    ['scan'],
    ['explain', 'apps/web'],
    ['adopt', 'apps/web'],
    ['approve'],

    ['render'],
    ['init', '--dry-run'],
  ])
    it(`allows its programs in ${argv[0]}`, async () => {
      const all = await allowedIn(argv, 'kubectl, /opt/helm')
      assert.ok(all.length > 0)
      for (const render of all) assert.deepEqual(render, ['kubectl', '/opt/helm'])
      for (const render of await allowedIn(argv, undefined)) assert.deepEqual(render, [])
    })

  it('adds to the flag and keeps the words of a command together', async () => {
    assert.deepEqual(
      await allowedIn(['diff', '--allow-render', 'helm'], ',jsonnet main.jsonnet,,helm,'),
      [['helm', 'jsonnet main.jsonnet']],
    )
  })

  it('allows nothing when it is empty', async () => {
    assert.deepEqual(await allowedIn(['diff'], ' '), [[]])
  })

  it('runs nothing from a fork', async () => {
    const world = ['preview', '--head', 'main', '--fork']
    const [own, untrusted] = await allowedIn(world, 'kubectl')
    assert.deepEqual([own, untrusted], [['kubectl'], []])
  })
})
