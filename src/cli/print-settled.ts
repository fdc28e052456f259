/** What `settle: backporch` wrote to clusters: one line for each decision. */
import type { PendingSettle } from '../plan/decisions/pending-settles.ts'
import type { Settled, SettleOutcome } from '../reconcile/apply/settle.ts'
import type { OutputOptions } from './flags/options.ts'
import { isTable } from './flags/outputs.ts'
import { Terminal } from './print/terminal.ts'
import type { World } from './world.ts'

export function printSettled(settled: SettleOutcome['settled'], options: OutputOptions, world: World): void {
  if (!isTable(options.output)) return
  const terminal = new Terminal(world.stdout, { color: options.color, ascii: options.ascii === true, env: world.env })
  const ok = terminal.style(terminal.glyph('ok'), 'green')
  for (const { pending, result } of settled) world.stdout.write(`${ok} ${settledText(result, pending)}\n`)
}

export function settledText({ writes, handedOver }: Settled, { record, cluster }: PendingSettle): string {
  const restored = record.spec.changes.filter(({ resolution }) => resolution === 'Restore').length
  const count = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? '' : 's'}`
  const written = `sent ${count(writes, 'write')} to ${cluster} for ${count(restored, 'approved change')}`
  const handed = `gave ${count(handedOver, 'object')} back to the syncer`
  const parts = [...(writes > 0 || handedOver === 0 ? [written] : []), ...(handedOver > 0 ? [handed] : [])]
  return `${parts.join(', ')} (${record.metadata.name})`
}
