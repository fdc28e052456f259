/**
 * 10,000 drifted objects of one cause in 40 clusters of one repository, on the emulated GitHub with its limits enforced (80 writes a
 * minute, 500 an hour, 6 pushes a minute). Waits for limits are skipped and count in full; everything else is real time.
 *
 * node bench/ten-thousand.ts [CLUSTERS [OBJECTS]]
 */
import { MassDrift } from '../test/fleet/mass-drift.ts'

const [clusters = 40, objects = 250] = process.argv.slice(2).map(Number)
const world = new MassDrift(clusters, objects)
await world.start()
try {
  const rows: string[] = []
  const measured = async (name: string, work: () => Promise<unknown>): Promise<void> => {
    const [from, waited, requests] = [performance.now(), world.clock.skipped, world.emulator.requests.length]
    const [pushed, written, cpu] = [world.pushes.taken.length, world.content.taken.length, process.cpuUsage()]
    await work()
    const { user, system } = process.cpuUsage(cpu)
    const cells = [
      name,
      ((performance.now() - from) / 1000).toFixed(1),
      ((user + system) / 1e6).toFixed(1),
      ((world.clock.skipped - waited) / 1000).toFixed(1),
      world.emulator.requests.length - requests,
      world.content.taken.length - written,
      world.pushes.taken.length - pushed,
      world.openPulls.length,
      Math.round(process.memoryUsage().rss / 1024 / 1024),
    ]
    rows.push(`| ${cells.join(' | ')} |`)
    console.error(rows.at(-1))
  }
  await measured('nothing drifts', () => world.turn())
  await measured(`${clusters * objects} objects drift, to the open pull request`, async () => {
    world.edit()
    while (world.openPulls.length === 0) {
      await world.turn()
      // What must rest first is looked at again after a minute.
      if (world.openPulls.length === 0) world.clock.skipped += 60_000
    }
  })
  await measured('the same again', () => world.turn())
  console.log('| step | real time, s | CPU, s | waited (skipped), s | requests | writes | pushes | open pull requests | memory, MiB |')
  console.log('|---|--:|--:|--:|--:|--:|--:|--:|--:|')
  console.log(rows.join('\n'))
  const { pushes, content } = world
  console.log(
    `\nbusiest minute: ${pushes.busiestMinute} pushes, ${content.busiestMinute} writes; refused: ${pushes.refused}, ${content.refused}`,
  )
  console.log(`title: ${world.openPulls[0]?.title}, body of ${world.openPulls[0]?.body.length} characters`)
  for (const problem of new Set(world.emulator.problems)) console.log(`not as GitHub describes it: ${problem}`)
} finally {
  await world.stop()
}
