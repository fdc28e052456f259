/** `settle: backporch`: the writes that merged commits authorise, after `approve` and, where that was cut short, in `scan`. */
import { type Failure, failuresOf } from '../failure.ts'
import { type PendingSettle, type Settled, settleByWriting } from '../reconcile/apply/settle.ts'
import { type CommonOptions, clusterTarget } from './flags/options.ts'
import { isTable } from './flags/outputs.ts'
import { Terminal } from './print/terminal.ts'
import type { Session } from './turn-session.ts'
import type { World } from './world.ts'

/**
 * Opens a connection that can write only when there is something to write. One decision that cannot be settled holds up no other.
 * @returns what could not be settled
 */
export async function settlePending(
  pending: readonly PendingSettle[],
  session: Session,
  options: CommonOptions,
  world: World,
): Promise<readonly Failure[]> {
  if (pending.length === 0) return []
  const failures: Failure[] = []
  const terminal = new Terminal(world.stdout, { color: options.color, ascii: options.ascii === true, env: world.env })
  const { writer, close } = await world.openWriter(clusterTarget(options))
  try {
    for (const one of pending) {
      try {
        const request = { ...session.request, packages: [one.packagePath || '.'] }
        const settled = await settleByWriting(session.ports, writer, request, one, world.signal)
        session.progress.end()
        if (isTable(options.output)) {
          const ok = terminal.style(terminal.glyph('ok'), 'green')
          world.stdout.write(`${ok} ${describeSettled(settled, one, session.ports.cluster.name)}\n`)
        }
      } catch (thrown) {
        if (world.signal.aborted) throw thrown
        failures.push(...failuresOf(thrown))
      }
    }
  } finally {
    close()
  }
  return failures
}

/** As a dry run names it. */
export function describeSettle({ record }: PendingSettle): string {
  const { changes, unit } = record.spec
  const restored = changes.filter(({ resolution }) => resolution === 'Restore').length
  return `apply ${restored} approved ${restored === 1 ? 'change' : 'changes'} of ${record.metadata.name} to ${unit.cluster}`
}

function describeSettled({ writes, handedOver }: Settled, { record }: PendingSettle, cluster: string): string {
  const restored = record.spec.changes.filter(({ resolution }) => resolution === 'Restore').length
  const count = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? '' : 's'}`
  const written = `sent ${count(writes, 'write')} to ${cluster} for ${count(restored, 'approved change')}`
  const handed = `gave ${count(handedOver, 'object')} back to the syncer`
  const parts = [...(writes > 0 || handedOver === 0 ? [written] : []), ...(handedOver > 0 ? [handed] : [])]
  return `${parts.join(', ')} (${record.metadata.name})`
}
