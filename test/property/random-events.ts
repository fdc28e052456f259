/** Random days of a fleet whose changes are watched, and what the watch loses of them. */
import fc from 'fast-check'
import type { EventPath } from '../fakes/event-path.ts'
import type { WatchEvent } from '../fakes/memory-watch.ts'
import { autoscalers, edits, outages, reports, syncs } from './days-in-clusters.ts'
import { comments, commits, decisions, waits } from './days-in-git.ts'
import type { Day, Size } from './event-day.ts'

export interface Fault {
  readonly name: string
  /** What happens to the events that are not told yet. */
  readonly fault: (path: EventPath) => void
}

export function days(size: Size): fc.Arbitrary<Day> {
  return fc.oneof(
    { weight: 6, arbitrary: edits(size) },
    { weight: 2, arbitrary: autoscalers(size) },
    { weight: 2, arbitrary: reports(size) },
    { weight: 3, arbitrary: outages(size) },
    { weight: 3, arbitrary: commits(size) },
    { weight: 2, arbitrary: syncs(size) },
    { weight: 2, arbitrary: decisions },
    { weight: 2, arbitrary: comments },
    { weight: 2, arbitrary: waits },
  )
}

export const faults: fc.Arbitrary<Fault> = fc.oneof(
  { weight: 4, arbitrary: fc.constant({ name: 'all is told', fault: () => undefined }) },
  fc.nat().map((pick) => ({
    name: `event ${pick} is lost`,
    fault: (path: EventPath) =>
      each(path, (waiting) =>
        waiting.length === 0 ? waiting : waiting.toSpliced(pick % waiting.length, 1),
      ),
  })),
  fc.constant({
    name: 'each event is told twice',
    fault: (path: EventPath) => each(path, (waiting) => [...waiting, ...waiting]),
  }),
  fc.constant({
    name: 'events of objects arrive in reverse order',
    fault: (path: EventPath) =>
      each(path, (waiting) =>
        [...Map.groupBy(waiting, ({ key }) => key).values()].reverse().flat(),
      ),
  }),
  fc.constantFrom('apps/Deployment', '/ConfigMap').map((kind) => ({
    name: `${kind} cannot be watched in all namespaces`,
    fault: (path: EventPath) => {
      for (const watch of path.watches.values()) watch.forbidden.add(kind)
    },
  })),
  fc.constant({
    name: 'the watches begin again',
    fault: (path: EventPath) => {
      for (const watch of path.watches.values()) watch.relist()
    },
  }),
)

/** An older state of an object is told after the present one. */
export const staleFaults: fc.Arbitrary<Fault> = fc.oneof(
  { weight: 3, arbitrary: faults },
  fc.nat().map((pick) => ({
    name: `an old event ${pick} arrives again`,
    fault: (path: EventPath) => {
      for (const { told, waiting } of path.watches.values()) {
        const old = told[pick % Math.max(1, told.length)]
        if (old !== undefined && told.length > 0) waiting.push(old)
      }
    },
  })),
)

function each(path: EventPath, change: (waiting: WatchEvent[]) => WatchEvent[]): void {
  for (const watch of path.watches.values()) watch.waiting = change(watch.waiting)
}
