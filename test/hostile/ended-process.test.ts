/** A package that ends the process, whatever ends it: the next controllers find out which one it is, and go on without it. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { PackageMarkFile } from '../../src/adapters/system/package-marks.ts'
import type { PackageMarks } from '../../src/ports/package-marks.ts'
import { temporaryFolder } from '../contract/git-remotes.ts'
import { runInWorld } from '../fakes/cli-world.ts'
import { logEvents } from '../fakes/log-events.ts'
import { TurnWorld } from '../fakes/turn-world.ts'

const HEAVY = {
  'apps/heavy/Kptfile': 'apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata: {name: heavy}\n',
  'apps/heavy/a.yaml':
    'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: heavy, namespace: shop}\n',
}

/** What the turn of a process says of each package: its state, or the code of its failure. */
interface Said {
  readonly [path: string]: unknown
}

class Processes {
  readonly world = new TurnWorld('{mode: Warn}', HEAVY)
  private readonly path = join(temporaryFolder(), 'marks.json')

  /** One turn of a new process that goes on. */
  async runs(): Promise<Said> {
    return this.run(new PackageMarkFile(this.path, '1'))
  }

  /** A new process that ends with the first packages that it observes. */
  async ends(): Promise<void> {
    const file = new PackageMarkFile(this.path, '1')
    const begin = async (keys: readonly string[]): Promise<never> => {
      await file.begin(keys)
      throw new Error('the process ended')
    }
    await this.run({
      getEndings: (key) => file.getEndings(key),
      begin,
      end: () => assert.fail('it has ended'),
    })
  }

  private async run(marks: PackageMarks): Promise<Said> {
    const { stderr } = await runInWorld(this.world, ['controller'], {
      packageMarks: () => marks,
      waits: [],
    })
    const said = [...logEvents(stderr, 'transition'), ...logEvents(stderr, 'failure')]
    return Object.fromEntries(
      said.map((event) => [String(event['package']), event['code'] ?? event['state']]),
    )
  }
}

test('the third process refuses a package that ended two in a row and says so, and the fourth tries it again', async () => {
  const processes = new Processes()
  await processes.ends()
  await processes.ends()
  assert.deepEqual(await processes.runs(), { 'apps/heavy': 'BP1111', 'apps/web': 'InSync' })
  assert.deepEqual(await processes.runs(), { 'apps/heavy': 'InSync' })
})

test('a single stopped process leaves no trace', async () => {
  const processes = new Processes()
  await processes.ends()
  assert.deepEqual(Object.keys(await processes.runs()).sort(), ['apps/heavy', 'apps/web'])
  await processes.ends()
  assert.equal((await processes.runs())['apps/heavy'], 'InSync')
})

test('observes a refused package again as soon as its content changes', async () => {
  const processes = new Processes()
  await processes.ends()
  await processes.ends()
  processes.world.repository.commitByHand('main', {
    'apps/heavy/a.yaml': HEAVY['apps/heavy/a.yaml'].replaceAll('heavy', 'light'),
  })
  assert.equal((await processes.runs())['apps/heavy'], 'Drifted')
})
