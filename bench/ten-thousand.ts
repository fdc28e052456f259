/**
 * 10,000 drifted objects of one cause in 40 clusters of one repository, on the emulated GitHub with its limits enforced (80 writes a
 * minute, 500 an hour, 6 pushes a minute). Waits for limits are skipped and count in full; everything else is real time. Then ten turns
 * in which nothing changed. Of one cluster with 200 objects, 20 of which drift, it is what an ordinary controller costs.
 *
 * node bench/ten-thousand.ts [CLUSTERS [OBJECTS [DRIFTED]]]
 */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { MassDrift } from '../test/fleet/mass-drift.ts'

const AGAIN = 10
const MEBIBYTE = 1024 * 1024

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void
const [clusters = 40, objects = 250, drifted = objects] = process.argv.slice(2).map(Number)
const began = performance.now()
const world = new MassDrift(clusters, objects, undefined, () => performance.now() - began)
await world.start()
try {
  const rows: string[] = []
  const measured = async (name: string, work: () => Promise<unknown>): Promise<void> => {
    const [from, waited, requests] = [
      performance.now(),
      world.clock.skipped,
      world.emulator.requests.length,
    ]
    const [pushed, written, cpu] = [
      world.pushes.taken.length,
      world.content.taken.length,
      process.cpuUsage(),
    ]
    await work()
    const { user, system } = process.cpuUsage(cpu)
    const { rss } = process.memoryUsage()
    const took = performance.now() - from
    collect()
    const cells = [
      name,
      (took / 1000).toFixed(1),
      ((user + system) / 1e6).toFixed(2),
      ((world.clock.skipped - waited) / 1000).toFixed(1),
      world.emulator.requests.length - requests,
      world.content.taken.length - written,
      world.pushes.taken.length - pushed,
      world.openPulls.length,
      Math.round(rss / MEBIBYTE),
      Math.round(process.memoryUsage().heapUsed / MEBIBYTE),
    ]
    rows.push(`| ${cells.join(' | ')} |`)
    console.error(rows.at(-1))
  }
  await measured('nothing drifts', () => world.turn())
  for (let turn = 1; turn <= AGAIN; turn += 1)
    await measured(`nothing drifts, ${turn} later`, () => world.turn())
  await measured(`${clusters * drifted} objects drift, to the open pull request`, async () => {
    world.edit(world.clusters, drifted)
    while (world.openPulls.length === 0) {
      await world.turn()
      // Drift that must settle first is observed again after a minute.
      if (world.openPulls.length === 0) world.clock.skipped += 60_000
    }
  })
  for (let turn = 1; turn <= AGAIN; turn += 1)
    await measured(`nothing new, ${turn} later`, () => world.turn())
  const head = [
    'step',
    'wall s',
    'CPU s',
    'waited (skipped) s',
    'requests to the forge',
    'of them writes',
    'pushes',
    'open pull requests',
  ]
  console.log(`| ${[...head, 'memory, MiB', 'of it live objects, MiB'].join(' | ')} |`)
  console.log('| --- '.repeat(head.length + 2).concat('|'))
  console.log(rows.join('\n'))
  const { pushes, content } = world
  console.log(
    `\nbusiest minute: ${pushes.busiestMinute} pushes, ${content.busiestMinute} writes; refused: ${pushes.refused}, ${content.refused}`,
  )
  console.log(
    `title: ${world.openPulls[0]?.title}, body of ${world.openPulls[0]?.body.length} characters`,
  )
  for (const problem of new Set(world.emulator.problems))
    console.log(`not as GitHub describes it: ${problem}`)
} finally {
  await world.stop()
}
